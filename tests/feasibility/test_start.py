"""Tests of the first mapping and of the reasons why there is none."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.feasibility import assignment_milp as pairing
from tiger.feasibility import start as feasibility
from tiger.feasibility.start import launch_order
from tiger.mapping.mapper import solve
from tiger.model.metrics import DenseMetric, GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.objectives.cost import violations

RULES = ("one-to-one", "levels", "capacity")


def tasks_of(count, pairs=(), memory=None):
    """Return tasks t0, t1, .. with unit traffic along pairs."""
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    traffic = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    return TaskGraph(names=tuple(f"t{k}" for k in range(count)), traffic=traffic, memory=memory)


def chains_of(*sizes, **fields):
    """Return tasks in chains of some sizes."""
    ends = np.cumsum(sizes)
    return tasks_of(sum(sizes), [(k, k + 1) for k in range(sum(sizes)) if k + 1 not in ends], **fields)


def nodes_of(count, **fields):
    """Return nodes p0, p1, .. in a line."""
    return Topology(names=tuple(f"p{k}" for k in range(count)), metric=GridMetric((count,), (False,)), **fields)


def islands_of(*sizes, **fields):
    """Return nodes p0, p1, .. in parts of some sizes without a way between them."""
    part = np.repeat(np.arange(len(sizes)), sizes)
    table = np.where(part[:, None] == part, 1.0, np.inf)
    return Topology(names=tuple(f"p{k}" for k in range(len(part))), metric=DenseMetric(table), **fields)


SPLIT = Topology.from_links(tuple(f"p{k}" for k in range(5)), Links.unit([(0, 1), (2, 3), (3, 4)]))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("hardware", [None, "split"])
def test_a_mapping_is_found_exactly_where_one_exists(rule, hardware, random_problem, random_feasible):
    """Tests against complete backtracking on problems that may be unsatisfiable, on connected and split hardware."""
    seen = set()
    for seed in range(30):
        options = {"pins": seed % 2 == 0, "forbidden": seed % 3 == 0, "memory": seed % 5 < 3, "feasible": False}
        problem = random_problem(rule, seed, tasks=5, nodes=5, hardware=hardware, **options)
        found = launch_order(problem)
        exists = random_feasible(problem, np.random.default_rng(seed)) is not None
        seen.add(exists)
        assert isinstance(found, np.ndarray) == exists, seed
        assert not exists or not violations(problem, found)
    assert seen == {True, False}


def scatter(seed):
    """Draw a small problem on hardware in parts, every fourth time with ways that are missing or lead one way only."""
    rng = np.random.default_rng(seed)
    rule = RULES[seed % 3]
    tasks, nodes = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    talks = np.triu(rng.random((tasks, tasks)) < rng.choice([0.2, 0.5]), k=int(rule == "levels" or rng.random() < 0.7))
    part = rng.integers(0, 3, nodes)
    table = np.where(part[:, None] == part, 1.0, np.inf)
    if seed % 4 == 0:
        table = np.where(rng.random((nodes, nodes)) < 0.3, np.where(np.isinf(table), 1.0, np.inf), table)
    slots = rng.integers(0, 4, nodes) if rule == "capacity" else rng.integers(0, 8, nodes).clip(max=1)
    slots[0] = max(slots[0], 1)
    unit, odd = [(1, 1), (10**11 + 7, 5)][seed % 2]
    memory = [rng.integers(0, top, size) * unit + rng.integers(0, odd, size) for top, size in ((8, tasks), (16, nodes))]
    names, places = [f"t{k}" for k in range(tasks)], [f"p{k}" for k in range(nodes)]
    pinned = {name: str(rng.choice(places)) for name in names if rng.random() < 0.1}
    forbidden = np.argwhere(rng.random((tasks, nodes)) < rng.choice([0.0, 0.3]))
    return Problem(
        tasks=tasks_of(tasks, np.argwhere(talks), memory[0] if seed % 5 else None),
        topology=Topology(names=tuple(places), metric=DenseMetric(table), slots=slots, memory=memory[1]),
        rule=rule,
        pinned=pinned,
        forbidden=frozenset((names[t], places[p]) for t, p in forbidden),
    )


def exists(problem, places, task=0):
    """Tell by backtracking whether any mapping is feasible."""
    if violations(problem, places):
        return False
    if task == problem.tasks.size:
        return True
    nodes = range(problem.topology.size)
    return any(exists(problem, np.append(places[:task], [p, *places[task + 1 :]]), task + 1) for p in nodes)


@pytest.mark.slow
def test_scattered_hardware_is_decided_as_by_backtracking():
    """Tests parts, missing and one-way ways, pins, forbidden pairs, memory: a mapping exactly where one exists."""
    kinds = set()
    for seed in range(200):
        problem = scatter(seed)
        found = launch_order(problem)
        feasible = exists(problem, np.full(problem.tasks.size, -1))
        kinds.add("feasible" if feasible else found[0].kind)
        assert isinstance(found, np.ndarray) == feasible, seed
        assert not feasible or not violations(problem, found)
    assert kinds >= {"feasible", "slots", "memory", "disconnected", "forbidden", "levels", "one-to-one"}
    assert "undecided" not in kinds


def test_tasks_fill_the_nodes_in_order():
    """Tests the order of a launcher: two slots a node, tasks in input order."""
    problem = Problem(tasks=tasks_of(5), topology=nodes_of(3, slots=np.array([2, 2, 2])), rule="capacity")
    assert launch_order(problem).tolist() == [0, 0, 1, 1, 2]


def test_tasks_of_a_level_fill_the_nodes_anew():
    """Tests that each level starts at the first node."""
    problem = Problem(tasks=tasks_of(3, [(0, 1), (0, 2)]), topology=nodes_of(3), rule="levels")
    assert launch_order(problem).tolist() == [0, 0, 1]


CASES = {
    "more tasks than slots": (tasks_of(3), nodes_of(2), "capacity", {}, "slots", "3 tasks need 3 slots, there are 2"),
    "more tasks than nodes": (tasks_of(3), nodes_of(2), "one-to-one", {}, "slots", "3 nodes with a slot, there are 2"),
    "memory in total": (
        tasks_of(2, memory=np.array([8, 8])),
        nodes_of(2, slots=np.array([2, 2]), memory=np.array([9, 6])),
        "capacity",
        {},
        "memory",
        "need 16 bytes, the nodes have 15",
    ),
    "memory of one task": (
        tasks_of(1, memory=np.array([7])),
        nodes_of(2, memory=np.array([6, 6])),
        "one-to-one",
        {},
        "memory",
        "'t0' needs 7 bytes",
    ),
    "memory that cannot be packed": (
        tasks_of(3, memory=np.array([6, 6, 6])),
        nodes_of(2, slots=np.array([3, 3]), memory=np.array([10, 10])),
        "capacity",
        {},
        "memory",
        "3 tasks ('t0', 't1', 't2') need 6 bytes or more each, and the memory of the nodes holds only 2 such tasks",
    ),
    "memory that cannot be divided": (
        tasks_of(4, memory=np.array([8, 4, 4, 4])),
        nodes_of(2, slots=np.array([3, 3]), memory=np.array([10, 10])),
        "capacity",
        {},
        "memory",
        "no way to divide 4 tasks ('t0', 't1', 't2', 't3') that need 20 bytes among 2 nodes ('p0', 'p1')",
    ),
    "slots that forbidden pairs leave": (
        tasks_of(2),
        nodes_of(2),
        "capacity",
        {"forbidden": frozenset({("t0", "p1"), ("t1", "p1")})},
        "slots",
        "2 tasks ('t0', 't1') have only 1 slots, on nodes ('p0') (given the forbidden pairs)",
    ),
    "two pins on one node": (
        tasks_of(2),
        nodes_of(2),
        "one-to-one",
        {"pinned": {"t0": "p0", "t1": "p0"}},
        "one-to-one",
        "'t0' and 't1'",
    ),
    "a pin onto a forbidden pair": (
        tasks_of(2),
        nodes_of(2),
        "one-to-one",
        {"pinned": {"t0": "p0"}, "forbidden": frozenset({("t0", "p0")})},
        "forbidden",
        "'t0' may not go to node 'p0'",
    ),
    "a pin onto a switch": (
        tasks_of(1),
        nodes_of(2, slots=np.array([1, 0])),
        "one-to-one",
        {"pinned": {"t0": "p1"}},
        "slots",
        "task 't0' is pinned to node 'p1', which has 0 slots",
    ),
    "a task that may go nowhere": (
        tasks_of(2),
        nodes_of(2),
        "one-to-one",
        {"forbidden": frozenset({("t1", "p0"), ("t1", "p1")})},
        "forbidden",
        "'t1' has no node",
    ),
    "three tasks for two nodes": (
        tasks_of(3),
        nodes_of(3),
        "one-to-one",
        {"forbidden": frozenset((f"t{k}", "p2") for k in range(3))},
        "one-to-one",
        "have only 2 nodes ('p0', 'p1')",
    ),
    "traffic across parts": (
        tasks_of(4, [(0, 1), (1, 2), (2, 3)]),
        SPLIT,
        "one-to-one",
        {},
        "disconnected",
        "the 4 tasks ('t0', 't1', 't2', 't3') exchange traffic and need to lie together, on 4 nodes; the largest "
        "connected part has 3",
    ),
    "a level across parts": (
        tasks_of(4, [(0, 1), (0, 2), (0, 3)]),
        islands_of(2, 2),
        "levels",
        {},
        "disconnected",
        "3 of them, which exclude each other, on 3 nodes; the largest connected part has 2",
    ),
    "slots of the parts": (
        chains_of(4),
        islands_of(2, 1, slots=np.array([1, 2, 1])),
        "capacity",
        {},
        "disconnected",
        "on 4 slots; the largest connected part has 3",
    ),
    "memory of the parts": (
        chains_of(2, 1, memory=np.array([5, 5, 1])),
        islands_of(2, 2, slots=np.full(4, 3), memory=np.array([5, 4, 4, 5])),
        "capacity",
        {},
        "disconnected",
        "the 2 tasks ('t0', 't1') exchange traffic and need to lie together, on 10 bytes; the largest",
    ),
    "parts beside the pins": (
        chains_of(3, 1),
        SPLIT,
        "one-to-one",
        {"pinned": {"t3": "p4"}},
        "disconnected",
        "on 3 nodes; no connected part open to them has more than 2 (given the pins)",
    ),
    "parts that no set of tasks may use whole": (
        chains_of(2),
        islands_of(1, 1),
        "capacity",
        {"forbidden": frozenset({("t0", "p0"), ("t1", "p1")})},
        "disconnected",
        "('t0', 't1')",
    ),
    "sets of the same size": (
        chains_of(2, 2, 2),
        islands_of(3, 3),
        "one-to-one",
        {},
        "disconnected",
        "sets of 2 (x 3) tasks, the largest with ('t0', 't1'), do not fit together into connected parts with 3 (x 2) "
        "nodes",
    ),
    "a pair too many on every node": (
        chains_of(2, 1),
        islands_of(2, 1),
        "one-to-one",
        {"forbidden": frozenset({("t0", "p2"), ("t1", "p2"), ("t2", "p2")})},
        "one-to-one",
        "3 tasks ('t0', 't1', 't2') that exclude each other have only 2 nodes ('p0', 'p1')",
    ),
    "pins across parts": (
        tasks_of(3, [(0, 1), (1, 2)]),
        SPLIT,
        "one-to-one",
        {"pinned": {"t0": "p0", "t2": "p2"}},
        "disconnected",
        "pinned to disconnected parts of the hardware: 't0' to 'p0' and 't2' to 'p2'",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_met_is_named(case):
    """Tests the kind and the words of the first violation."""
    tasks, topology, rule, limits, kind, words = CASES[case]
    found = launch_order(Problem(tasks=tasks, topology=topology, rule=rule, **limits))
    assert isinstance(found, tuple)
    assert found[0].kind == kind
    assert words in found[0].message


def test_components_of_the_tasks_find_the_parts_they_fit_in():
    """Tests that three talking tasks go to the part of three nodes although first fit begins with the other."""
    problem = Problem(tasks=tasks_of(5, [(0, 1), (1, 2), (3, 4)]), topology=SPLIT, rule="one-to-one")
    assert sorted(launch_order(problem)[:3].tolist()) == [2, 3, 4]


def test_a_level_that_is_pinned_whole_needs_no_matching():
    """Tests that only the second level, where first fit ends in a dead end, is matched."""
    limits = {"pinned": {"t0": "p1"}, "forbidden": frozenset({("t2", "p1")})}
    problem = Problem(tasks=tasks_of(3, [(0, 1), (0, 2)]), topology=nodes_of(2), rule="levels", **limits)
    assert launch_order(problem).tolist() == [1, 1, 0]


@pytest.mark.parametrize("limit", ["OPEN_CELLS", "SPLIT_CELLS", "ROUNDS"])
def test_a_dead_end_of_a_problem_too_large_to_decide_says_so(limit, monkeypatch):
    """Tests that an undecided problem is not called impossible."""
    monkeypatch.setattr(feasibility, limit, 0)
    tasks, topology, rule, limits, _, _ = CASES["three tasks for two nodes"]
    (violation,) = launch_order(Problem(tasks=tasks, topology=topology, rule=rule, **limits))
    assert violation.kind == "undecided"
    assert "not every way could be tried" in violation.message


def one_way(tasks, pairs, rule="one-to-one", **fields):
    """Return a problem on nodes p0, p1, .. where some node pairs have a way in one direction."""
    limits = {name: fields.pop(name) for name in ("pinned", "forbidden") if name in fields}
    size = 1 + max(map(max, pairs))
    table = np.full((size, size), np.inf)
    np.fill_diagonal(table, 0.0)
    for here, there in pairs:
        table[here, there] = 1.0
    nodes = Topology(names=tuple(f"p{k}" for k in range(size)), metric=DenseMetric(table), **fields)
    return Problem(tasks=tasks, topology=nodes, rule=rule, **limits)


def test_traffic_follows_ways_that_lead_one_way():
    """Tests a chain against the order of the nodes, which only lies on them backwards."""
    problem = one_way(tasks_of(3, [(1, 0), (2, 1)]), [(0, 1), (1, 2)])
    assert launch_order(problem).tolist() == [2, 1, 0]


def test_ways_left_out_of_a_program_prove_nothing_false(monkeypatch):
    """Tests that a program which had to leave out missing ways gives no mapping that uses them, and no proof."""
    monkeypatch.setattr(pairing, "PAIR_CELLS", 0)
    problem = one_way(tasks_of(3, [(1, 0), (2, 1)]), [(0, 1), (1, 2)], pinned={"t2": "p0"})
    found = launch_order(problem)
    assert isinstance(found, np.ndarray) or found[0].kind == "undecided"


def test_no_way_to_a_pinned_task_is_a_reason():
    """Tests two tasks of which one is pinned to a node that sends nothing."""
    found = launch_order(one_way(tasks_of(2, [(0, 1)]), [(0, 1)], pinned={"t0": "p1"}))
    assert [violation.kind for violation in found] == ["pinned"]


def test_a_byte_too_few_counts_beside_ways_that_lead_one_way():
    """Tests two tasks that talk both ways and miss sharing a node by one byte of 10^12, which no program can tell."""
    tasks = tasks_of(2, [(0, 1), (1, 0)], 5 * 10**11 + np.array([1, 4]))
    room = {"slots": np.array([2, 2]), "memory": np.full(2, 10**12 + 4)}
    assert [violation.kind for violation in launch_order(one_way(tasks, [(0, 1)], "capacity", **room))] == [
        "disconnected"
    ]
    more = room | {"memory": 10**12 + np.array([4, 5])}
    assert launch_order(one_way(tasks, [(0, 1)], "capacity", **more)).tolist() == [1, 1]


def quick(problem, seconds=5.0, limit_s=None):
    """Return what is found, which has to take a processor less than some seconds, and be feasible as a mapping."""
    begun = time.process_time()
    found = launch_order(problem, limit_s)
    assert time.process_time() - begun < seconds
    assert not isinstance(found, np.ndarray) or not violations(problem, found)
    return found


@pytest.mark.parametrize("rule", RULES)
def test_long_chains_find_their_parts(rule):
    """Tests two interleaved chains of 300 tasks on two paths of 300 nodes, which first fit mix_weights up."""
    tasks = tasks_of(600, [(k, k + 2) for k in range(598)])
    assert isinstance(quick(Problem(tasks=tasks, topology=islands_of(300, 300), rule=rule)), np.ndarray)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_many_equal_components_are_dealt_out_quickly(rule):
    """Tests 50 islands, exactly filled with 100 pairs, and with 4000 single tasks beside a pair."""
    pairs = Problem(tasks=chains_of(*[1, 2] * 50, 1, *[2] * 24, 1), topology=islands_of(*[4] * 50), rule=rule)
    assert isinstance(quick(pairs), np.ndarray)
    singles = Problem(tasks=chains_of(*[1] * 3998, 2), topology=islands_of(*[1] * 1999, 2001), rule=rule)
    assert isinstance(quick(singles, 5.0), np.ndarray)


def test_too_many_equal_components_are_refused_quickly():
    """Tests 100 pairs on 67 islands of 3 nodes, one node more than tasks."""
    problem = Problem(tasks=chains_of(*[2] * 100), topology=islands_of(*[3] * 67), rule="one-to-one")
    assert [violation.kind for violation in quick(problem)] == ["disconnected"]


@pytest.mark.long
def test_parts_of_thousands_of_nodes_are_decided():
    """Tests chains in the wrong order on more task-node pairs than a program may have."""
    problem = Problem(tasks=chains_of(1000, 1001), topology=islands_of(1001, 1000), rule="one-to-one")
    assert isinstance(quick(problem), np.ndarray)


def test_forbidden_pairs_inside_parts_count_when_tasks_are_dealt_out():
    """Tests that a pair which may use one node of a part is moved to another part, and singles give way."""
    forbidden = frozenset({*((f"t{k}", f"p{p}") for k in (0, 1) for p in (0, 1)), ("t2", "p3"), ("t2", "p4")})
    problem = Problem(tasks=chains_of(2, 1, 1), topology=islands_of(3, 2), rule="one-to-one", forbidden=forbidden)
    assert sorted(launch_order(problem)[:2].tolist()) == [3, 4]


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "parts"), [(24, [4]), (40, [5]), (24, [1, 3]), (48, [4, 4])])
def test_memory_that_fits_exactly_is_packed(tasks, parts):
    """Tests loads of up to 10^12 bytes that fill every node exactly, beside slots, pins, forbidden pairs and parts."""
    rng, nodes = np.random.default_rng(tasks), sum(parts)
    place = rng.permutation(np.arange(tasks) % nodes)
    memory = rng.integers(10**9, 10**12, tasks)
    part = np.repeat(np.arange(len(parts)), parts)[place]
    links = [(k, np.flatnonzero(part == part[k])[k % 3]) for k in range(0, tasks, 2)]
    room = np.bincount(place, weights=memory).astype(np.int64)
    problem = Problem(
        tasks=tasks_of(tasks, links, memory),
        topology=islands_of(*parts, slots=np.bincount(place) + rng.integers(0, 2, nodes), memory=room),
        rule="capacity",
        pinned={"t5": f"p{place[5]}"},
        forbidden=frozenset((f"t{k}", f"p{(place[k] + 1) % nodes}") for k in range(6, 12)),
    )
    assert isinstance(quick(problem, 5.0), np.ndarray)


def test_memory_that_almost_fits_is_proved_not_to():
    """Tests 24 odd loads on 4 equal nodes with a few bytes to spare, far less than any division leaves."""
    memory = np.random.default_rng(0).integers(10**9, 10**12, 24)
    topology = nodes_of(4, slots=np.full(4, 24), memory=np.full(4, int(memory.sum()) // 4 + 1))
    found = quick(Problem(tasks=tasks_of(24, memory=memory), topology=topology, rule="capacity"), 5.0)
    assert [violation.kind for violation in found] == ["memory"]


@pytest.mark.slow
@pytest.mark.parametrize("fill", [0.9, 0.99])
def test_hundreds_of_tasks_fill_memory_and_slots(fill):
    """Tests 300 random loads on 30 equal nodes with just enough slots."""
    memory = np.random.default_rng(1).integers(10**9, 10**12, 300)
    topology = nodes_of(30, slots=np.full(30, 10), memory=np.full(30, int(memory.sum() / 30 / fill)))
    problem = Problem(tasks=tasks_of(300, memory=memory), topology=topology, rule="capacity")
    assert isinstance(quick(problem, 5.0), np.ndarray)


def hard():
    """Return 100 random loads that fill 10 nodes exactly, one way or another."""
    rng = np.random.default_rng(0)
    memory, place = rng.integers(10**6, 10**9, 100), rng.integers(0, 10, 100)
    room = np.bincount(place, weights=memory).astype(np.int64)
    topology = nodes_of(10, slots=np.full(10, 100), memory=room)
    return Problem(tasks=tasks_of(100, memory=memory), topology=topology, rule="capacity")


@pytest.mark.long
def test_a_time_limit_is_kept_and_named():
    """Tests that a hard problem ends as undecided after the seconds given, from Python and by a solve."""
    (violation,) = quick(hard(), 10.0, limit_s=0.2)
    assert violation.kind == "undecided"
    assert "within 0.2 s no mapping was found" in violation.message
    begun = time.perf_counter()
    report = solve(hard(), time_limit_s=0.3)
    assert time.perf_counter() - begun < 10
    assert [violation.kind for violation in report.violations] == ["undecided"]


def test_no_time_at_all_is_enough_for_first_fit():
    """Tests that the time limit concerns what follows a dead end alone."""
    problem = Problem(tasks=tasks_of(2), topology=nodes_of(2), rule="one-to-one")
    assert launch_order(problem, 0.0).tolist() == [0, 1]


def test_running_out_of_time_says_so(monkeypatch):
    """Tests that a program cut short is not called impossible."""
    monkeypatch.setattr(feasibility, "LIMIT_S", 0.0)
    tasks, topology, rule, limits, _, _ = CASES["memory that cannot be packed"]
    found = launch_order(Problem(tasks=tasks, topology=topology, rule=rule, **limits))
    assert found[0].kind in ("undecided", "memory")


def test_a_large_problem_is_filled_quickly():
    """Tests 65,536 tasks on 256 nodes, which first fit has to do in about linear time."""
    problem = Problem(tasks=tasks_of(65_536), topology=nodes_of(256, slots=np.full(256, 256)), rule="capacity")
    begun = time.process_time()
    assert np.bincount(launch_order(problem)).tolist() == [256] * 256
    assert time.process_time() - begun < 5


@pytest.mark.slow
@pytest.mark.parametrize(("slots", "spare"), [(300, 1.05), (256, 1.01), (256, 1.0005)])
def test_large_problems_with_memory_pins_and_forbidden_pairs_start_quickly(slots, spare):
    """Tests 16,384 tasks of random memory on 64 nodes with few bytes to spare, 100 pins and 1,000 forbidden pairs."""
    rng, size = np.random.default_rng(3), 16_384
    memory, pinned = rng.integers(1, 1000, size), rng.permutation(size)
    problem = Problem(
        tasks=tasks_of(size, memory=memory),
        topology=nodes_of(64, slots=np.full(64, slots), memory=np.full(64, int(memory.sum() / 64 * spare))),
        rule="capacity",
        pinned={f"t{t}": f"p{rng.integers(64)}" for t in pinned[:100]},
        forbidden=[(f"t{t}", f"p{rng.integers(64)}") for t in pinned[100:1100]],
    )
    begun = time.process_time()
    assert not violations(problem, launch_order(problem))
    assert time.process_time() - begun < 2
