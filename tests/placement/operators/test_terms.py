"""Tests of what a search reads."""

from dataclasses import replace

import numpy as np

from tests.placement.operators.instances import cluster
from tiger.placement.operators.terms import Terms
from tiger.training.models.operators import Operators

# a and c are colocated; b can only run on a cpu.
THREE = Operators(
    names=("a", "b", "c"),
    seconds=np.array([1.0, 2.0, 3.0]),
    cpu_s=np.array([4.0, 5.0, 6.0]),
    memory_bytes=np.array([1.0, 2.0, 4.0]),
    sent_s=np.array([7.0, 0.0, 0.0]),
    sent_bytes=np.array([2.0, 0.0, 0.0]),
    source=np.array([0, 0]),
    target=np.array([2, 1]),
    colour=np.array([0, 1, 0]),
    cpu_only=np.array([False, True, False]),
)


def test_work_is_that_of_the_kind_by_its_speed() -> None:
    """A row a device."""
    fast = replace(cluster("ac"), speed=np.array([2.0, 1.0]))
    assert Terms.from_operators(THREE, fast, {}).work.tolist() == [[0.5, 1, 1.5], [4, 5, 6]]


def test_sending_takes_what_is_stated_and_what_the_link_takes() -> None:
    """A row a curve: 1 and 2 bytes/s."""
    assert Terms.from_operators(THREE, cluster("aaa"), {}).send.tolist() == [[9, 0, 0], [8, 0, 0]]


def test_a_group_holds_what_its_members_do() -> None:
    """Members, consumers and producers are listed by their owners."""
    terms = Terms.from_operators(THREE, cluster("ac", 9.0), {})
    assert (terms.operators, terms.groups, terms.devices) == (3, 2, 2)
    assert (terms.memory.tolist(), terms.capacity.tolist()) == ([5, 2], [9, np.inf])
    assert (terms.member_start.tolist(), terms.member.tolist()) == ([0, 2, 3], [0, 2, 1])
    assert (terms.consumer_start.tolist(), terms.consumer.tolist()) == ([0, 2, 2, 2], [1, 2])
    assert (terms.producer_start.tolist(), terms.producer.tolist()) == ([0, 0, 1, 2], [0, 0])


def test_a_group_may_go_where_all_its_operators_may() -> None:
    """Those of the cpu alone to the cpu, pinned ones to their device."""
    terms = Terms.from_operators(THREE, cluster("aac"), {2: 1})
    assert terms.allowed.tolist() == [[False, True, False], [False, False, True]]


def test_contradictory_pins_leave_no_device() -> None:
    """Which is for the caller to see."""
    assert not Terms.from_operators(THREE, cluster("aac"), {0: 0, 2: 1}).allowed[0].any()
