"""Tests of the multilevel search for a low cost of multicasts."""

import numpy as np
import pytest

from tests.objectives.test_multicast import sets_of
from tiger.model.constraints import Constraints, build_problem
from tiger.model.hyperedges import Hyperedges
from tiger.model.objective_arrays import NetArrays
from tiger.model.tasks import TaskGraph
from tiger.objectives.cost import violations
from tiger.objectives.multicast import multicast_of
from tiger.solvers.annealing import net_balance
from tiger.solvers.instance import instance_of
from tiger.solvers.multilevel import kway, net_kway
from tiger.solvers.multilevel.net_kway import NetKWay, NetKWayParams, contract_nets
from tiger.topologies.spec import build

FEW = NetKWayParams(parts=4, moves=40, quick=20)


@pytest.mark.slow
@pytest.mark.parametrize(("hardware", "led"), [("torus:3x3", False), ("torus:3x3", True), ("tree:2x4@1,10", True)])
def test_it_keeps_to_slots_and_gains(hardware: str, *, led: bool) -> None:
    """From a mapping that is good and one that is not, with one tier and two; the same seed ends alike."""
    problem = build_problem(sets_of(96, 5, count=150), build(hardware), Constraints(rule="capacity", imbalance=0.05))
    start = np.repeat(np.arange(problem.topology.size), problem.topology.slots)[:96]
    objective = multicast_of(problem)
    search = NetKWay(objective.arrays(), FEW, led=led)
    first, again = (search.search(problem, start, effort=2, seed=3, stop=bool).places for _ in range(2))
    assert violations(problem, first) == ()
    assert objective.value(first) < objective.value(start)
    assert first.tolist() == again.tolist()


def test_what_is_kept_while_moving_is_what_is_recomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost and loads that the kernel keeps are those of the places it leaves, on every level."""
    problem = build_problem(
        sets_of(96, 6, count=120), build("tree:2x4@1,10"), Constraints(rule="capacity", imbalance=0.1)
    )
    compiled, levels = net_balance.anneal_balance, list[int]()

    def check(inst, nets, net, held, *rest):
        """Run the kernel, and work out what it keeps again."""
        cost = compiled(inst, nets, net, held, *rest)
        loads = [np.bincount(tier[held.place], held.weight, 8) for tier in held.label]
        assert held.load.tolist() == np.array(loads).tolist()
        assert net_kway.reset_spans(inst, held.place, nets, net) == pytest.approx(cost)
        levels.append(len(held.place))
        return cost

    monkeypatch.setattr(net_kway, "anneal_balance", check)
    start = np.repeat(np.arange(8), problem.topology.slots)[:96]
    NetKWay(multicast_of(problem).arrays(), FEW).search(problem, start, effort=1, seed=0, stop=bool)
    assert len(set(levels)) > 1


@pytest.mark.parametrize(
    "terms",
    [Constraints(slots=8, pinned={"0": "1"}), Constraints(slots=3), Constraints(slots=8, forbidden=[("0", "1")])],
)
def test_it_leaves_other_constraints_alone(terms: Constraints) -> None:
    """The start comes back where tasks are pinned or forbidden, and where few share a node."""
    problem = build_problem(sets_of(12, 5, count=20), build("grid:4"), terms)
    start = np.arange(12) // 3
    search = NetKWay(multicast_of(problem).arrays(), FEW)
    assert not net_kway.applies(problem)
    assert search.search(problem, start, effort=1, seed=0, stop=bool).places.tolist() == start.tolist()


def test_it_stops_when_it_is_told_to() -> None:
    """What comes back is within the slots and no worse than the start."""
    problem = build_problem(sets_of(64, 5, count=99), build("torus:3x3"), Constraints(rule="capacity", imbalance=0.1))
    objective, start = multicast_of(problem), np.repeat(np.arange(9), problem.topology.slots)[:64]
    places = NetKWay(objective.arrays(), FEW).search(problem, start, effort=1, seed=0, stop=lambda: True).places
    assert violations(problem, places) == ()
    assert objective.value(places) <= objective.value(start)


def test_sets_of_clusters() -> None:
    """Those within a cluster are left out, a task's cluster counts once, and equal sets add up."""
    pins = np.array([0, 1, 0, 2, 3, 1, 4, 2, 4, 0, 5])
    nets = NetArrays(np.array([0, 2, 5, 7, 9, 11]), pins, np.array([9.0, 1, 2, 4, 8]))
    made = contract_nets(nets, np.array([0, 0, 1, 1, 1, 2]), 3)
    sets = [sorted(some.tolist()) for some in np.split(made.pins, made.starts[1:-1])]
    assert sorted(zip(sets, made.volumes.tolist(), strict=True)) == [([0, 1], 3.0), ([0, 2], 8.0)]
    assert not len(contract_nets(nets, np.zeros(6, np.int64), 1).volumes)


def test_bug_sets_that_were_all_within_clusters_were_contracted_again() -> None:
    """Pairs of tasks are in clusters of two at once, and these in larger ones: no set is left, and none is cut."""
    pairs = Hyperedges(starts=np.arange(0, 97, 2), pins=np.arange(96), volumes=np.ones(48))
    tasks = TaskGraph.of_hyperedges(tuple(map(str, range(96))), pairs)
    problem = build_problem(tasks, build("torus:2x2"), Constraints(rule="capacity", imbalance=0.2))
    start, objective = np.arange(96) % 4, multicast_of(problem)
    places = NetKWay(objective.arrays(), FEW).search(problem, start, effort=1, seed=0, stop=bool).places
    assert violations(problem, places) == ()
    assert objective.value(places) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("led", [True, False])
def test_bug_the_best_mapping_was_annealed_in_place_where_nothing_is_joined(*, led: bool) -> None:
    """Clusters of one task have one level, whose places were those of the mapping kept: it ended worse or overfull."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        nodes = int(rng.integers(4, 12))
        problem = build_problem(sets_of(5 * nodes, seed, count=9), build(f"ring:{nodes}"), Constraints(slots=5))
        objective, start = multicast_of(problem), rng.permutation(np.repeat(np.arange(nodes), 5))
        search = NetKWay(objective.arrays(), NetKWayParams(moves=4, quick=4), led=led)
        places = search.search(problem, start, effort=2, seed=seed, stop=bool).places
        assert violations(problem, places) == ()
        assert objective.value(places) <= objective.value(start)


def test_bug_distances_of_all_pairs_of_many_hosts_took_gigabytes() -> None:
    """Units come from evenly spaced hosts, and are those of all where hosts are alike."""
    problem = build_problem(sets_of(64, 5), build("tree:32x32x32@1,10,30"), Constraints(slots=4))
    assert net_kway._units(problem, net_kway.tiers_of(problem)).tolist() == [1.0, 10.0, 30.0]


def test_bug_a_mapping_of_clusters_with_an_emptied_region_was_cleared_task_by_task() -> None:
    """Where a large part of the tasks has to move, it is given up; a few are moved on."""
    problem = build_problem(sets_of(600, 3, count=900), build("torus:4x4"), Constraints(rule="capacity", imbalance=0.1))
    inst, slots = instance_of(problem), problem.topology.slots
    assert kway.clear_overload(inst, np.arange(600) % 8, bool) is None
    few = np.arange(600) % 16
    few[:160:16] = 1
    cleared = kway.clear_overload(inst, few, bool)
    assert cleared is not None
    assert (np.bincount(cleared, minlength=16) <= slots).all()
