"""Tests of the annealing of multicasts, compiled and not."""

import numpy as np
import pytest

from tests.objectives.test_multicast import sets_of
from tiger.model.constraints import Constraints, build_problem
from tiger.model.hyperedges import Hyperedges
from tiger.model.metrics import DenseMetric
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import violations
from tiger.objectives.multicast import multicast_of
from tiger.solvers.annealing import net_annealing
from tiger.solvers.annealing.net_annealing import DISTANCES, SLICE, NetAnnealing, NetParams
from tiger.solvers.instance import instance_of
from tiger.solvers.registry import objective_searches
from tiger.topologies.spec import build


@pytest.mark.parametrize(
    "terms",
    [
        Constraints(slots=4),
        Constraints(slots=3),
        Constraints(rule="one-to-one"),
        Constraints(slots=4, pinned={"0": "1,1"}),
    ],
)
def test_it_keeps_the_rules_and_gains(terms: Constraints) -> None:
    """Room or none, one task a node, and a pin; the same seed ends alike."""
    alone = terms.rule == "one-to-one"
    problem = build_problem(sets_of(24, 5, count=40), build("torus:5x5" if alone else "torus:2x4"), terms)
    start = np.arange(24) if alone else np.arange(24) // 3
    start[0] = problem.pins[0] if problem.pins[0] >= 0 else start[0]
    objective = multicast_of(problem)
    search = NetAnnealing(objective.arrays(), NetParams(moves=200))
    first, again = (search.search(problem, start, effort=1, seed=3, stop=bool).places for _ in range(2))
    assert violations(problem, first) == ()
    assert objective.value(first) < objective.value(start)
    assert first.tolist() == again.tolist()


@pytest.mark.parametrize(("hardware", "names"), [("tree:2x4@1,10", ["anneal"]), ("torus:3x3", [])])
def test_quick_proposals_come_before_clusters_on_trees(hardware: str, names: list[str]) -> None:
    """In the first round alone, at one temperature; they keep to slots, and gain what is to be had at once."""
    problem = build_problem(sets_of(128, 5, count=200), build(hardware), Constraints(rule="capacity", imbalance=0.05))
    objective = multicast_of(problem)
    first, later = (objective_searches(objective.arrays(), problem, first=first) for first in (True, False))
    assert [name for name, _ in later] == ["nets", "anneal"]
    assert [name for name, _ in first] == [*names, "nets", "anneal"]
    assert {t for ladder, _ in net_annealing.QUICK.portions(128, 50.0) for t in ladder} == {NetParams().least}
    start = np.repeat(np.arange(problem.topology.size), problem.topology.slots)[:128]
    for _, search in first[: len(names)]:
        found = search.search(problem, start, effort=1, seed=0, stop=bool).places
        assert violations(problem, found) == ()
        assert objective.value(found) < 0.9 * objective.value(start)


def test_what_is_kept_while_moving_is_what_is_recomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's own account of the best mapping is its value, by compiled code and by Python."""
    problem = build_problem(sets_of(12, 8, count=20), build("tree:2x2@1,10"), Constraints(slots=4))
    objective, found, compiled = multicast_of(problem), [], net_annealing.anneal_nets

    def keep(*arguments: object) -> float:
        """Run the kernel and note the cost that it returns."""
        found.append(compiled(*arguments))
        return found[-1]

    monkeypatch.setattr(net_annealing, "anneal_nets", keep)
    search = NetAnnealing(objective.arrays(), NetParams(moves=20))
    best = search.search(problem, np.arange(12) // 3, effort=1, seed=0, stop=bool).places
    assert objective.value(best) == pytest.approx(found[-1])


def test_it_stops_when_it_is_told_to() -> None:
    """The start comes back."""
    problem = build_problem(sets_of(12, 8), build("grid:4"), Constraints(slots=3))
    search = NetAnnealing(multicast_of(problem).arrays())
    start = np.arange(12) // 3
    assert search.search(problem, start, effort=1, seed=0, stop=lambda: True).places.tolist() == start.tolist()


def test_bug_it_never_ends_above_its_start() -> None:
    """A hot search leaves the optimum, which was forgotten."""
    problem = build_problem(sets_of(12, 8), build("grid:4"), Constraints(slots=12))
    objective, start = multicast_of(problem), np.zeros(12, np.int64)
    search = NetAnnealing(objective.arrays(), NetParams(moves=64, quick=0, hot=100.0, cold=90.0))
    assert search.search(problem, start, effort=1, seed=0, stop=bool).places.tolist() == start.tolist()


@pytest.mark.parametrize(("tasks", "distances"), [(270, 50.0), (10**6, 100.0), (2_000, 1.5e6), (500, 1e5)])
def test_bug_calls_that_look_at_many_distances_end_soon(tasks: int, distances: float) -> None:
    """One call took minutes, whatever the time limit, where sets were on a thousand nodes."""
    for temperatures, moves in NetParams().portions(tasks, distances):
        assert len(temperatures) * moves * min(distances, DISTANCES) <= 2 * SLICE * DISTANCES
        assert len(temperatures) * moves * distances <= 3 * SLICE * DISTANCES


def test_moves_that_are_too_dear_are_left_out() -> None:
    """A tree of 100,000 nodes is not built for less than a move a temperature."""
    assert list(NetParams().portions(100_000, 1e10)) == []


def test_the_unit_is_the_distance_to_the_closest_host() -> None:
    """Hosts at no distance and those that cannot be reached do not count; nothing is left of one node."""
    table = np.array([[0.0, 3, np.inf, 9], [3, 0, np.inf, 8], [np.inf, np.inf, 0, np.inf], [9, 8, np.inf, 0]])
    sets = Hyperedges(starts=np.array([0, 2, 4]), pins=np.array([0, 1, 1, 2]), volumes=np.array([5.0, 3.0]))
    tasks = TaskGraph.of_hyperedges(("a", "b", "c"), sets)
    for size, unit in ((4, (3 + 3 + 8) / 3), (1, 1.0)):
        hardware = Topology(names=tuple("wxyz"[:size]), metric=DenseMetric(table[:size, :size]), slots=np.full(size, 3))
        problem = build_problem(tasks, hardware, Constraints(rule="capacity"))
        assert net_annealing._unit(problem, instance_of(problem), multicast_of(problem).arrays()) == 4.0 * unit
