"""Tests of what no placement of operators can meet."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.placement.operators.terms import Terms
from tiger.placement.operators.violations import ADVICE, find_stage_violations, find_violations
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.operators import Operators

DEVICES = {"x": 0, "y": 1, "host": 2}


def cluster(*kinds: str, room: float = 10.0) -> Cluster:
    """Return accelerators x and y of so much memory, and a host if there is to be one."""
    size = len(kinds)
    return Cluster(
        names=("x", "y", "host")[:size],
        speed=np.ones(size),
        memory_bytes=np.full(size, room),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((size, size), np.int64),
        kinds=tuple("cpu" if kind == "cpu" else "accelerator" for kind in kinds),
    )


def operators(memory: float = 4.0, *, bound: bool = False) -> Operators:
    """Return a, b and c, of which the first two are colocated, and c is a cpu's if it is to be bound."""
    return Operators(
        names=("a", "b", "c"),
        seconds=np.ones(3),
        memory_bytes=np.full(3, memory),
        source=np.array([0, 0]),
        target=np.array([1, 2]),
        colour=np.array([0, 0, 1]),
        cpu_only=np.array([False, False, bound]),
    )


def violations_of(model: Operators, on: Cluster, pinned: dict[int, int]) -> list[tuple[str, str]]:
    """Return what cannot be met."""
    return [(v.kind, v.message) for v in find_violations(model, on, pinned, Terms.from_operators(model, on, pinned))]


@pytest.mark.parametrize("pinned", [{}, {0: 1}, {0: 1, 1: 1, 2: 0}])
def test_what_can_be_met_is_not_told(pinned: dict[int, int]) -> None:
    """Two devices of 10 bytes hold 8 and 4."""
    assert violations_of(operators(), cluster("gpu", "gpu"), pinned) == []


def test_colocated_operators_pinned_apart() -> None:
    """Both are named."""
    found = violations_of(operators(), cluster("gpu", "gpu"), {0: 0, 1: 1})
    assert found == [("pinned", "'a' to 'x' and 'b' to 'y' are pinned apart, and colocated")]


def test_an_operator_of_a_cpu_where_there_is_none() -> None:
    """Or one that is pinned elsewhere."""
    found = violations_of(operators(bound=True), cluster("gpu", "gpu"), {})
    assert found == [("device", "operator 'c': only a cpu runs it, and the cluster has none")]
    found = violations_of(operators(bound=True), cluster("gpu", "gpu", "cpu"), {2: 0})
    assert found == [("device", "operator 'c': only a cpu runs it, and it is pinned to 'x'")]


def test_a_group_that_is_too_large_is_named() -> None:
    """By its operators; a cpu holds anything."""
    found = violations_of(operators(6.0), cluster("gpu", "gpu"), {})
    message = "the colocation group of 'a', 'b': 12 B, and no device it may go to has more than 10 B"
    assert found[0] == ("memory", message)
    assert violations_of(operators(6.0), cluster("gpu", "gpu", "cpu"), {}) == []


def test_memory_that_is_too_little_in_all() -> None:
    """Each group fits, and both together do not."""
    found = violations_of(operators(4.0), cluster("gpu"), {})
    assert ("memory", f"12 B in all, and the devices have 10 B; {ADVICE}") in found


def test_pins_that_press_into_one_device() -> None:
    """12 bytes into 10, with as many left beside it."""
    found = violations_of(operators(4.0), cluster("gpu", "gpu"), {0: 1, 2: 1})
    assert found == [("memory", "'y': 12 B have to go there, and it has 10 B")]


def test_bug_groups_on_a_cycle_that_fit_no_device_are_named() -> None:
    """Edges lead from a's group to c's and back, so that both share a stage: 12 bytes for 10."""
    model = replace(operators(), source=np.array([0, 2]), target=np.array([2, 1]))
    on = cluster("gpu", "gpu")
    found = find_stage_violations(model, Terms.from_operators(model, on, {}))
    message = (
        "the colocation group of 'a', 'b', operator 'c' have to share a stage, as edges lead from each to all: "
        "12 B, and no"
    )
    assert [violation.kind for violation in found] == ["memory"]
    assert found[0].message.startswith(message)
    assert not find_stage_violations(model, Terms.from_operators(model, cluster("gpu", "gpu", room=12.0), {}))


def test_groups_on_a_cycle_that_may_share_no_device_are_named() -> None:
    """One of them is a cpu's, the other is pinned to an accelerator."""
    model = replace(operators(bound=True), source=np.array([0, 2]), target=np.array([2, 1]))
    on = cluster("gpu", "gpu", "cpu")
    found = find_stage_violations(model, Terms.from_operators(model, on, {0: 0}))
    assert [violation.kind for violation in found] == ["device"]
