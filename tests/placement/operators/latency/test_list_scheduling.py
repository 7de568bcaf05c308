"""Tests of list scheduling."""

from dataclasses import replace

import numpy as np
import pytest

from tests.placement.operators.instances import cluster, draw_terms
from tests.placement.operators.lattices import interpret
from tiger.placement.operators.latency import list_scheduling
from tiger.placement.operators.latency.list_scheduling import make_jobs, makespan_s, renumber_by_list, run_schedule
from tiger.placement.operators.terms import Terms
from tiger.training.models.operators import Operators


def diamond(kinds: str = "aa") -> Terms:
    """Return a -> b, c -> d of 1, 2, 3 and 1 seconds, 10 times that on a cpu, that send for half a second."""
    operators = Operators(
        names=tuple("abcd"),
        seconds=np.array([1.0, 2.0, 3.0, 1.0]),
        cpu_s=np.array([10.0, 20.0, 30.0, 10.0]),
        sent_s=np.full(4, 0.5),
        source=np.array([0, 0, 1, 2]),
        target=np.array([1, 2, 3, 3]),
    )
    return Terms.from_operators(operators, cluster(kinds), {})


@pytest.mark.parametrize(
    ("place", "seconds"),
    [([0, 0, 0, 0], 7.0), ([0, 1, 0, 0], 5.0), ([0, 0, 1, 0], 6.0), ([0, 1, 1, 0], 8.0), ([0, 0, 0, 1], 7.5)],
)
def test_makespans_of_a_diamond(place: list[int], seconds: float) -> None:
    """One device runs all in turn; two at once wait for messages, which take no time from either."""
    assert makespan_s(diamond(), np.array(place)) == seconds


def test_messages_to_a_cpu_take_their_time() -> None:
    """Though it pays for none in its load."""
    assert makespan_s(diamond("ac"), np.array([0, 0, 0, 1])) == 6 + 0.5 + 10


def test_without_a_link_there_is_no_end() -> None:
    """Whatever is sent."""
    terms = diamond()
    assert makespan_s(replace(terms, link=np.full((2, 2), -1)), np.array([0, 0, 0, 1])) == np.inf
    assert makespan_s(replace(terms, link=np.full((2, 2), -1)), np.array([1, 1, 1, 1])) == 7.0


def test_the_longest_way_goes_first() -> None:
    """Of b and c, which can begin at once, c."""
    assert make_jobs(diamond()).order.tolist() == [0, 2, 1, 3]


def test_ranks_of_a_diamond() -> None:
    """The tail leaves messages out."""
    assert make_jobs(diamond()).tail.tolist() == [5.0, 3.0, 4.0, 1.0]


@pytest.mark.parametrize("seed", range(8))
def test_operators_come_behind_what_they_consume(seed: int) -> None:
    """Also those that take no time."""
    terms = draw_terms(seed)
    position = np.argsort(make_jobs(terms).order)
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    assert (position[producer] < position[terms.consumer]).all()


@pytest.mark.parametrize("seed", range(8))
def test_operators_numbered_as_listed_end_when_they_did(seed: int) -> None:
    """To the last digit, and each sends to the operators that it sent to."""
    terms = draw_terms(seed)
    jobs = make_jobs(terms)
    listed = renumber_by_list(jobs)
    place = np.random.default_rng(seed).integers(0, terms.devices, terms.groups)
    ends = np.empty((2, terms.operators))
    last = [
        run_schedule(each, place, end, np.empty(terms.devices)) for each, end in zip((jobs, listed), ends, strict=True)
    ]
    assert last[0] == last[1]
    assert (ends[0][jobs.order] == ends[1]).all()
    for number, u in enumerate(jobs.order.tolist()):
        told = listed.consumer[listed.consumer_start[number] : listed.consumer_start[number + 1]]
        assert jobs.order[told].tolist() == jobs.consumer[jobs.consumer_start[u] : jobs.consumer_start[u + 1]].tolist()


@pytest.mark.parametrize("seed", range(8))
def test_makespans_are_those_of_the_definition(seed: int) -> None:
    """Of random placements, in plain Python."""
    terms = draw_terms(seed)
    place = np.random.default_rng(seed).integers(0, terms.devices, terms.groups)
    end, free = {}, [0.0] * terms.devices
    for u in make_jobs(terms).order.tolist():
        d = int(place[terms.group_of[u]])
        ready = [free[d]]
        for v in terms.producer[terms.producer_start[u] : terms.producer_start[u + 1]].tolist():
            h = place[terms.group_of[v]]
            ready.append(end[v] + (terms.send[terms.link[h, d], v] if h != d else 0.0))
        end[u] = free[d] = max(ready) + terms.work[d, u]
    assert makespan_s(terms, place) == pytest.approx(max(end.values()))


def test_compiled_and_plain_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit."""
    terms, place = draw_terms(5), np.zeros(draw_terms(5).groups, np.int64)
    compiled = makespan_s(terms, place)
    interpret(monkeypatch, list_scheduling)
    assert makespan_s(terms, place) == compiled
