"""Windows: a block's cost is the cost of the full mapping, and what it allows is what the outside allows."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiger.model.metrics import DenseMetric, GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.window import Block, Capacity, fold, whole
from tiger.objectives.cost import cost_of

SEEDS = st.integers(0, 2**32 - 1)
RULES = st.sampled_from(["one-to-one", "levels", "capacity"])
HARDWARE = st.sampled_from(["dense", "links", "grid", "torus", "tree", "split"])
FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("pins", "forbidden", "memory")})


def random_block(problem, places, rng):
    """Draw free tasks, in any order, and nodes: those they occupy and some more, in any order."""
    tasks = (
        rng.permutation(problem.free)[: rng.integers(1, len(problem.free) + 1)] if len(problem.free) else problem.free
    )
    others = np.setdiff1d(np.arange(problem.topology.size), places[tasks])
    nodes = np.r_[np.unique(places[tasks]), rng.permutation(others)[: rng.integers(0, len(others) + 1)]]
    return Block(tasks=tasks, nodes=rng.permutation(nodes))


@pytest.mark.slow
@given(seed=SEEDS, rule=RULES, hardware=HARDWARE, flags=FLAGS)
def test_a_windows_cost_is_the_cost_of_the_mapping(random_problem, random_feasible, seed, rule, hardware, flags):
    """The law: for any block and any places of its tasks that the window allows."""
    problem, rng = random_problem(rule, seed, hardware=hardware, **flags), np.random.default_rng(seed)
    places = random_feasible(problem, rng)
    block = random_block(problem, places, rng)
    window = fold(problem, block, places)
    assert np.isclose(window.cost(window.local(places)), cost_of(problem, places).total, rtol=1e-9, atol=0)
    if window.allowed.any(axis=1).all():
        local = np.array([rng.choice(np.flatnonzero(row)) for row in window.allowed], np.int64)
        moved = window.place(places, local)
        assert np.isclose(window.cost(local), cost_of(problem, moved).total, rtol=1e-9, atol=0)


def lift(problem, gone, places):
    """Return the problem without some tasks, as far as `naive_broken` looks at it, and the places of the others."""
    kept = np.setdiff1d(np.arange(problem.tasks.size), gone)
    tasks = TaskGraph(
        names=tuple(problem.tasks.names[t] for t in kept),
        traffic=problem.tasks.traffic[kept][:, kept],
        memory=None if problem.tasks.memory is None else problem.tasks.memory[kept],
    )
    same = {name: getattr(problem, name) for name in ("topology", "rule", "pinned", "forbidden")}
    return SimpleNamespace(tasks=tasks, kept=kept, group_of=problem.group_of[kept], **same), places[kept].copy()


@pytest.mark.slow
@given(seed=SEEDS, rule=RULES)
def test_costs_of_many_mappings_are_those_of_each(random_problem, random_feasible, seed, rule):
    """Rows of local places cost what they cost one by one, and no rows cost nothing."""
    problem, rng = random_problem(rule, seed), np.random.default_rng(seed)
    places = random_feasible(problem, rng)
    window = fold(problem, random_block(problem, places, rng), places)
    locals_ = rng.integers(0, window.shape[1], (7, window.shape[0]))
    assert window.costs(locals_) == pytest.approx([window.cost(local) for local in locals_], rel=1e-12)
    assert window.costs(locals_[:0]).shape == (0,)


@pytest.mark.slow
@given(seed=SEEDS, rule=RULES)
def test_absent_tasks_cost_nothing(random_problem, random_feasible, naive_cost, seed, rule):
    """A mapping without some tasks costs what their work and traffic cost less."""
    problem, rng = random_problem(rule, seed), np.random.default_rng(seed)
    places = random_feasible(problem, rng)
    block = random_block(problem, places, rng)
    absent = np.flatnonzero(~np.isin(np.arange(problem.tasks.size), block.tasks) & (rng.random(6) < 0.5))
    present = ~np.isin(np.arange(problem.tasks.size), absent)
    kept = sp.diags_array(present.astype(float))
    tasks = SimpleNamespace(
        size=problem.tasks.size, work=problem.tasks.work * present, traffic=kept @ problem.tasks.traffic @ kept
    )
    less = SimpleNamespace(tasks=tasks, topology=problem.topology, metric=problem.metric)
    window = fold(problem, block, places, absent)
    assert window.cost(window.local(places)) == pytest.approx(naive_cost(less, places), rel=1e-9)


@pytest.mark.slow
@given(seed=SEEDS, rule=RULES, hardware=HARDWARE, flags=FLAGS)
def test_a_placement_is_allowed_unless_it_breaks_something_outside(
    random_problem, random_feasible, naive_broken, seed, rule, hardware, flags
):
    """With the block's other tasks lifted off, a task fits exactly where nothing but a missing way is broken."""
    problem, rng = random_problem(rule, seed, hardware=hardware, **flags), np.random.default_rng(seed)
    places = random_feasible(problem, rng)
    block = random_block(problem, places, rng)
    allowed = fold(problem, block, places).allowed
    for k, task in enumerate(block.tasks):
        alone, spots = lift(problem, np.setdiff1d(block.tasks, [task]), places)
        for q, node in enumerate(block.nodes):
            spots[np.searchsorted(alone.kept, task)] = node
            assert allowed[k, q] == (not naive_broken(alone, spots) - {"disconnected"})


@pytest.mark.slow
@given(seed=SEEDS, rule=RULES, flags=FLAGS)
def test_windows_find_the_optimum(random_problem, random_feasible, brute_force, naive_broken, seed, rule, flags):
    """The cheapest way to fill the whole window, by its own costs, groups and capacities, is the cheapest mapping."""
    problem = random_problem(rule, seed, tasks=4, nodes=4, **flags)
    window = fold(problem, whole(problem), random_feasible(problem, np.random.default_rng(seed)))
    best = np.inf
    for choice in itertools.product(range(window.shape[1]), repeat=window.shape[0]):
        local = np.array(choice, np.int64)
        apart = all(len(set(local[group])) == len(group) for group in window.groups)
        held = [(np.bincount(local, c.load, window.shape[1]) <= c.room).all() for c in window.capacities]
        if apart and all(held):
            best = min(best, window.cost(local))
    assert np.isclose(best, brute_force(problem)[0], rtol=1e-9)


@pytest.mark.slow
@given(seed=SEEDS, rule=RULES, flags=FLAGS)
def test_places_of_the_block_are_not_read(random_problem, random_feasible, seed, rule, flags):
    """A window depends on the tasks outside alone."""
    problem, rng = random_problem(rule, seed, **flags), np.random.default_rng(seed)
    places = random_feasible(problem, rng)
    block = random_block(problem, places, rng)
    other = places.copy()
    other[block.tasks] = rng.integers(0, problem.topology.size, len(block.tasks))
    first, second = fold(problem, block, places), fold(problem, block, other)
    assert (first.linear == second.linear).all()
    assert first.constant == second.constant
    assert [c.room.tolist() for c in first.capacities] == [c.room.tolist() for c in second.capacities]


@pytest.mark.slow
@given(seed=SEEDS, rule=RULES)
def test_placed_and_local_are_inverse(random_problem, random_feasible, seed, rule):
    """Writing local places into a mapping and reading them back changes nothing, and leaves the outside alone."""
    problem, rng = random_problem(rule, seed), np.random.default_rng(seed)
    places = random_feasible(problem, rng)
    window = fold(problem, random_block(problem, places, rng), places)
    local = rng.integers(0, window.shape[1], window.shape[0])
    moved = window.place(places, local)
    assert (window.local(moved) == local).all()
    outside = np.setdiff1d(np.arange(problem.tasks.size), window.block.tasks)
    assert (moved[outside] == places[outside]).all()


def test_literals(path_problem):
    """With b fixed in the middle, a costs 3 and c costs 2 on either end; their own traffic of 1 goes 2 hops."""
    window = fold(path_problem, Block(tasks=np.array([2, 0]), nodes=np.array([0, 2])), np.array([0, 1, 2]))
    assert window.shape == (2, 2)
    assert window.linear.tolist() == [[2.0, 2.0], [3.0, 3.0]]
    assert window.traffic.toarray().tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert window.distance.tolist() == [[0.0, 2.0], [2.0, 0.0]]
    assert window.constant == 0.0
    assert [group.tolist() for group in window.groups] == [[0, 1]]
    assert window.capacities == ()
    assert window.cost(np.array([1, 0])) == 7.0


def test_nodes_taken_outside_are_not_allowed(path_problem):
    """One-to-one, b on the middle node leaves the ends to a."""
    window = fold(path_problem, Block(tasks=np.array([0]), nodes=np.arange(3)), np.array([0, 1, 2]))
    assert window.allowed.tolist() == [[True, False, False]]


def test_local_says_where_a_task_is_not(path_problem):
    """A task on none of the window's nodes has the local place -1."""
    window = fold(path_problem, Block(tasks=np.array([0, 1]), nodes=np.array([1])), np.array([0, 1, 2]))
    assert window.local(np.array([2, 1, 0])).tolist() == [-1, 0]


def test_self_loops_cost_the_diagonal():
    """A dense matrix may say that a node is at a distance from itself."""
    tasks = TaskGraph(names=("a",), traffic=sp.csr_array([[2.0]]), work=np.zeros(1))
    topology = Topology(names=("x", "y"), metric=DenseMetric(np.array([[3.0, 9.0], [9.0, 5.0]])))
    problem = Problem(tasks=tasks, topology=topology, rule="one-to-one")
    window = fold(problem, whole(problem), np.array([0]))
    assert window.linear.tolist() == [[6.0, 10.0]]
    assert window.traffic.nnz == 0


def test_capacities_are_what_the_outside_leaves():
    """Of 3 slots and 10 bytes, task a outside takes 1 and 4; a second node holds nothing yet."""
    tasks = TaskGraph(names=("a", "b"), traffic=sp.csr_array((2, 2)), memory=np.array([4, 7]))
    metric = GridMetric((2,), (False,))
    topology = Topology(names=("x", "y"), metric=metric, slots=np.array([3, 1]), memory=np.array([10, 8]))
    problem = Problem(tasks=tasks, topology=topology, rule="capacity")
    slots, memory = fold(problem, Block(tasks=np.array([1]), nodes=np.arange(2)), np.array([0, 0])).capacities
    assert (slots.name, slots.load.tolist(), slots.room.tolist()) == ("slots", [1], [2, 1])
    assert (memory.name, memory.load.tolist(), memory.room.tolist()) == ("memory", [7], [6, 8])


@pytest.mark.parametrize(
    ("load", "room", "typical"),
    [
        ([4, 0, 2, 9], [9, 4, 3, 1, -5], [5.0, 3.0, 2.0, 1.0, 1.0]),
        ([0, 0], [5], [1.0]),
        ([], [5, 0], [1.0, 1.0]),
        ([10**15, 10**15 + 2], [10**15 + 2], [1e15 + 1]),
    ],
)
def test_the_typical_load_of_a_node_is_the_mean_of_those_that_fit(load, room, typical):
    """Loads of 0 do not count, and where there are no others it is 1."""
    capacity = Capacity(name="memory", load=np.array(load, np.int64), room=np.array(room))
    assert capacity.typical.tolist() == typical


@pytest.mark.slow
@given(seed=SEEDS, rule=RULES)
def test_tasks_know_the_number_of_their_group(random_problem, random_feasible, seed, rule):
    """Two tasks have the same number where they exclude each other, and none has one where nodes are shared."""
    problem, rng = random_problem(rule, seed), np.random.default_rng(seed)
    places = random_feasible(problem, rng)
    window = fold(problem, random_block(problem, places, rng), places)
    together = problem.group_of[window.block.tasks]
    assert ((window.group_of[:, None] == window.group_of) == (together[:, None] == together)).all()
    assert ((window.group_of < 0) == (rule == "capacity")).all()
    assert all((window.group_of[group] == number).all() for number, group in enumerate(window.groups))


def test_bug_room_is_exact_beyond_float64():
    """Bytes are counted in whole numbers, also where their sum is above 2**53."""
    large = 2**53 - 1
    tasks = TaskGraph(names=("a", "b", "c"), traffic=sp.csr_array((3, 3)), memory=np.array([large, large - 1, 1]))
    topology = Topology(names=("x",), metric=GridMetric((1,), (False,)), slots=np.array([3]), memory=np.array([large]))
    problem = Problem(tasks=tasks, topology=topology, rule="capacity")
    window = fold(problem, Block(tasks=np.array([2]), nodes=np.array([0])), np.zeros(3, int))
    assert window.capacities[1].room.tolist() == [1 - large]


@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_a_window_without_tasks_is_the_constant(random_problem, random_feasible, rule):
    """Where everything is pinned, the whole problem is a number."""
    problem = random_problem(rule, 3, memory=True)
    places = random_feasible(problem, np.random.default_rng(0))
    pinned = Problem(tasks=problem.tasks, topology=problem.topology, rule=rule, pinned=problem.mapping(places))
    window = fold(pinned, whole(pinned), places)
    assert window.shape == (0, pinned.topology.hosts.size)
    assert window.groups == ()
    assert window.cost(window.local(places)) == pytest.approx(cost_of(problem, places).total, rel=1e-9)


def test_whole_is_free_tasks_on_hosts(random_problem):
    """Pinned tasks and switches are outside."""
    problem = random_problem("capacity", 11, pins=True)
    block = whole(problem)
    assert (block.tasks == np.flatnonzero(problem.pins < 0)).all()
    assert (block.nodes == np.flatnonzero(problem.topology.slots > 0)).all()


def test_a_window_may_have_no_nodes(path_problem):
    """Then nothing is allowed, and nothing breaks."""
    window = fold(path_problem, Block(tasks=np.array([0]), nodes=np.array([], int)), np.array([0, 1, 2]))
    assert window.shape == (1, 0)
    assert window.local(np.array([0, 1, 2])).tolist() == [-1]
