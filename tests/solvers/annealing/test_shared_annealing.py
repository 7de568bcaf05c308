"""Tests of annealing with a table of what tasks cost on shared nodes."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiger.feasibility.start import launch_order
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of, violations
from tiger.solvers import registry
from tiger.solvers.annealing.shared_annealing import (
    DRAW,
    FEWEST,
    AnnealedMapping,
    Draws,
    SharedAnnealing,
    SharedParams,
    anneal_shared,
    applies,
    fill,
    node_costs,
)
from tiger.solvers.instance import instance_of, state_of
from tiger.topologies.spec import build

FEW = SharedAnnealing(SharedParams(task_work=100_000))


def shared_problem(random_problem, seed):
    """Return a random problem of shared nodes with all that it may have, None where the search is not for it."""
    problem = random_problem("capacity", seed, tasks=8, nodes=4, pins=True, forbidden=True, memory=True)
    return problem if applies(problem) and not isinstance(launch_order(problem), tuple) else None


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
def test_it_ends_feasible_and_no_higher_than_it_began(random_problem, seed):
    """With pins, forbidden pairs, memory, slots and prices."""
    if (problem := shared_problem(random_problem, seed)) is None:
        return
    start = launch_order(problem)
    places = FEW.search(problem, start, effort=1, seed=seed, stop=bool).places
    assert not violations(problem, places)
    assert cost_of(problem, places).total <= cost_of(problem, start).total * (1 + 1e-12)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
def test_the_lowest_cost_is_that_of_the_mapping_kept(random_problem, seed):
    """The sum of all changes priced by the table is the change in cost, also where tasks that talk are swapped."""
    if (problem := shared_problem(random_problem, seed)) is None:
        return
    inst, start = instance_of(problem), launch_order(problem)
    if inst.movable.size:
        best, costs = start.copy(), node_costs(problem, inst, seed)
        fill(inst, costs, start)
        costs.sums[1] = costs.sums[0]
        anneal_shared(inst, costs, state_of(problem, start), best, Draws(1e9, 8, 20_000, seed))
        assert costs.sums[1] == pytest.approx(cost_of(problem, best).total, rel=1e-9)


@pytest.mark.slow
def test_small_problems_end_at_their_optimum(random_problem, brute_force):
    """At effort 1, where moves and swaps lead from any mapping to any other."""
    found = 0
    for seed in range(6):
        problem = random_problem("capacity", seed, tasks=8, nodes=4)
        if applies(problem) and not isinstance(start := launch_order(problem), tuple):
            places = SharedAnnealing().search(problem, start, effort=1, seed=0, stop=bool).places
            assert cost_of(problem, places).total == pytest.approx(brute_force(problem)[0])
            found += 1
    assert found > 2


def test_same_seed_same_mapping_and_a_stop_ends_it():
    """Another seed draws other proposals; what is stopped at once is the local optimum of the start."""
    problem = tight_problem(40, "torus:3x3")
    start = launch_order(problem)
    runs = [FEW.search(problem, start, effort=1, seed=seed, stop=bool).places.tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert FEW.search(problem, start, effort=1, seed=1, stop=lambda: True).places.tolist() == start.tolist()


class Clock:
    """A stop that knows how many seconds are left."""

    def __init__(self, left_s):
        self.left_s = left_s

    def __call__(self):
        """Return whether time is up."""
        return self.left_s <= 0


class Timed(AnnealedMapping):
    """An annealing of which a thousand units of work take a second, that keeps its temperatures."""

    def run(self, temperature, work, drawn):
        """Make moves and let time pass."""
        self.seen.append(temperature)
        part = super().run(temperature, work, drawn)
        self._stop.left_s -= work / 1000
        return part


@pytest.mark.parametrize(("left_s", "spent_s"), [(100.0, 100.0), (330.0, 330.0), (1000.0, 640.0)])
def test_it_cools_to_the_end_in_the_time_left(left_s, spent_s):
    """In 640 seconds, or as many as there are: then it goes on at the coldest temperature until time is up."""
    problem, temperatures, stop = tight_problem(40, "torus:3x3"), np.geomspace(10.0, 1.0, 64), Clock(left_s)
    annealing = Timed(problem, instance_of(problem), launch_order(problem), 0, stop)
    annealing.seen = []
    annealing.cool(temperatures, 640_000, 0.5)
    assert annealing.seen[:64] == temperatures.tolist()
    assert set(annealing.seen[64:]) <= {temperatures[-1]}
    assert left_s - stop.left_s == pytest.approx(spent_s, abs=10)
    assert stop() == (left_s == spent_s)


@pytest.mark.slow
def test_bug_it_ended_above_its_start_where_costs_are_decades_apart():
    """A sum of changes that went through huge costs lost the small ones, and seemed lower than it was."""
    for seed in (24, 25, 26):
        rng = np.random.default_rng(seed)
        traffic = rng.integers(0, 2, (6, 6)) * 10.0 ** rng.integers(-200, 60, (6, 6))
        tasks = TaskGraph(names=tuple("abcdef"), traffic=sp.csr_array(np.triu(traffic, 1)))
        nodes = replace(build("ring:3"), slots=np.full(3, 4))
        problem = Problem(tasks=tasks, topology=nodes, rule="capacity")
        start = SharedAnnealing().search(problem, launch_order(problem), effort=1, seed=0, stop=bool).places
        places = FEW.search(problem, start, effort=1, seed=seed, stop=bool).places
        assert cost_of(problem, places).total <= cost_of(problem, start).total


def test_bug_calls_were_long_where_all_tasks_talk():
    """A limit of time could be passed by a second; now a call makes the fewer moves the more each of them changes."""
    dense = Problem(
        tasks=TaskGraph(names=tuple(map(str, range(300))), traffic=sp.csr_array(np.ones((300, 300)))),
        topology=replace(build("torus:10x10"), slots=np.full(100, 3)),
        rule="capacity",
    )
    for problem in (tight_problem(300, "torus:10x10"), dense):
        inst, start = instance_of(problem), launch_order(problem)
        costs, state = node_costs(problem, inst, 0), state_of(problem, start)
        fill(inst, costs, start)
        made, _, tried = anneal_shared(inst, costs, state, start.copy(), Draws(1e9, FEWEST, 10_000_000, 0))
        changed = made * inst.indices.size // 300 * 100
        assert changed // 5 + tried * DRAW < 10_100_000
        assert (made < 2_000) == (problem is dense)


def test_bug_the_first_call_read_past_its_variates_where_tasks_are_few():
    """It drew from 8 tasks, and as large a share of the nodes, whatever their number."""
    for size in (4, 7, 8, 9):
        problem = tight_problem(size, "torus:4x4")
        assert AnnealedMapping(problem, instance_of(problem), launch_order(problem), 0, bool)._width == min(
            size, FEWEST
        )


def test_bug_costs_next_to_nothing_ended_in_a_traceback():
    """The coldest temperature of such costs would be 0."""
    talk = np.triu(np.random.default_rng(0).random((20, 20)) < 0.3, 1)
    tasks = TaskGraph(names=tuple(map(str, range(20))), traffic=sp.csr_array(talk * 5e-324))
    problem = Problem(tasks=tasks, topology=replace(build("grid:5"), slots=np.full(5, 20)), rule="capacity")
    start = np.arange(20) % 5
    places = FEW.search(problem, start, effort=1, seed=0, stop=bool).places
    assert cost_of(problem, places).total <= cost_of(problem, start).total


def test_bug_the_least_work_drew_no_moves():
    """The kernels were not all loaded by `tiger warm`, which asks for as little."""
    problem = tight_problem(16, "torus:2x2")
    annealing = AnnealedMapping(problem, instance_of(problem), launch_order(problem), 0, bool)
    temperatures = annealing.find_temperatures(SharedParams(), SharedParams(task_work=1).work(16, 1))
    assert len(temperatures)
    assert annealing._calls


@given(seed=st.integers(0, 2**32 - 1))
def test_the_table_holds_what_it_would_be_if_worked_out_anew(random_problem, seed):
    """After many moves: the cost of every task on every node, on its own, and of the mapping."""
    if (problem := shared_problem(random_problem, seed)) is None:
        return
    inst, start = instance_of(problem), launch_order(problem)
    if inst.movable.size:
        costs, state = node_costs(problem, inst, seed), state_of(problem, start)
        fill(inst, costs, start)
        anneal_shared(inst, costs, state, start.copy(), Draws(1e3, 8, 20_000, seed))
        kept = [array.copy() for array in (costs.cost, costs.own, costs.sums[:1])]
        fill(inst, costs, state.place)
        for before, after in zip(kept, (costs.cost, costs.own, costs.sums[:1]), strict=True):
            np.testing.assert_allclose(before, after, rtol=1e-9, atol=1e-9 * np.abs(costs.sums[0]))


@pytest.mark.slow
def test_draws_follow_the_weights():
    """Two tasks that talk, three nodes in a row: a task stays or moves by exp(-cost / temperature)."""
    tasks = TaskGraph(names=("a", "b"), traffic=sp.csr_array([[0.0, 1.0], [0.0, 0.0]]))
    nodes = replace(build("grid:3"), slots=np.full(3, 2))
    problem = Problem(tasks=tasks, topology=nodes, rule="capacity", pinned={"b": "0"})
    inst, costs = instance_of(problem), node_costs(problem, instance_of(problem), 0)
    visits = np.zeros(3)
    state = state_of(problem, np.array([0, 0]))
    fill(inst, costs, state.place)
    for seed in range(12_000):
        anneal_shared(inst, costs, state, state.place.copy(), Draws(0.7, 2, 1, seed))
        visits[state.place[0]] += 1
    weights = np.exp(-np.arange(3) / 0.7)
    assert visits / visits.sum() == pytest.approx(weights / weights.sum(), abs=0.02)


@pytest.mark.slow
def test_a_good_start_is_kept_and_a_poor_one_is_not():
    """The annealing begins cooler than its pilot from a mapping that the pilot does not reach."""
    rng = np.random.default_rng(0)
    side, along = np.arange(256) // 16, np.arange(256) % 16
    near = (np.abs(side[:, None] - side) + np.abs(along[:, None] - along)) == 1
    tasks = TaskGraph(names=tuple(map(str, range(256))), traffic=sp.csr_array(np.triu(near).astype(float)))
    nodes = replace(build("grid:8x8"), slots=np.full(64, 4))
    problem = Problem(tasks=tasks, topology=nodes, rule="capacity")
    good = (side // 2 * 8 + along // 2).astype(np.int64)
    params, hottest = SharedParams(task_work=200_000), []
    for start in (good, rng.permutation(good)):
        annealing = AnnealedMapping(problem, instance_of(problem), start, 0, bool)
        hottest.append(annealing.find_temperatures(params, params.work(256, 1))[0])
    assert hottest[0] < 0.5 * hottest[1]
    places = SharedAnnealing(params).search(problem, good, effort=1, seed=0, stop=bool).places
    assert cost_of(problem, places).total == cost_of(problem, good).total


@pytest.mark.long
def test_longer_annealing_ends_lower():
    """In the mean of a few seeds."""
    problem = tight_problem(40, "torus:3x4")
    start, brief = launch_order(problem), SharedAnnealing(SharedParams(task_work=5_000))
    ends = [
        np.mean(
            [cost_of(problem, brief.search(problem, start, effort=e, seed=k, stop=bool).places).total for k in range(4)]
        )
        for e in (1, 64)
    ]
    assert ends[1] < 0.98 * ends[0]


def test_it_is_for_mutual_finite_distances_and_shared_nodes():
    """And for tables that stay small."""
    nodes = tuple(map(str, range(3)))
    far = np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    tables = {
        "mutual": far,
        "one-way": far + np.triu(far),
        "split": far + [[0, 0, np.inf]] * 1,
        "itself": far + np.eye(3),
    }
    tables["split"] = np.where(far == 2, np.inf, far)
    tasks = TaskGraph(names=("a", "b"), traffic=sp.csr_array(np.eye(2)[::-1]))
    fits = {
        name: applies(Problem(tasks=tasks, topology=Topology(names=nodes, metric=DenseMetric(table)), rule="capacity"))
        for name, table in tables.items()
    }
    assert fits == {"mutual": True, "one-way": False, "split": False, "itself": False}
    assert not applies(Problem(tasks=tasks, topology=build("ring:4"), rule="one-to-one"))
    assert not applies(Problem(tasks=tasks, topology=build("ring:1025"), rule="capacity"))


def test_many_tasks_are_annealed_where_memory_is_scarce():
    """Elsewhere the multilevel search and refinement have the time."""
    tight = tight_problem(300, "torus:4x5")
    loose = Problem(tasks=tight.tasks, topology=build("torus:4x5"), rule="capacity")
    names = [[name for name, _ in registry.native_searches(problem)] for problem in (tight, loose)]
    assert "annealing" in names[0]
    assert "annealing" not in names[1]


def tight_problem(size, spec):
    """Return tasks of random traffic that need nearly all memory of the nodes."""
    rng, topology = np.random.default_rng(size), build(spec)
    traffic = sp.random_array(
        (size, size), density=4 / size, rng=rng, data_sampler=lambda size: 1.0 + np.arange(size) % 9
    )
    memory = rng.integers(1, 10, size)
    room = np.full(topology.size, int(1.1 * memory.sum() / topology.size) + 9)
    tasks = TaskGraph(names=tuple(map(str, range(size))), traffic=traffic.tocsr(), memory=memory)
    nodes = Topology(names=topology.names, metric=topology.metric, memory=room, slots=np.full(topology.size, size))
    return Problem(tasks=tasks, topology=nodes, rule="capacity")
