"""Shared fixtures: random small problems, feasible mappings of them, and slow but obvious oracles.

Every fixture below returns a plain function and lives for the whole session, so that hypothesis tests may use it:

    @given(seed=st.integers(0, 2**32 - 1))
    def test_something(seed, random_problem, random_feasible):
        problem = random_problem("capacity", seed, pins=True)
        places = random_feasible(problem, np.random.default_rng(seed))

- `random_problem(rule, seed, *, tasks=6, nodes=8, hardware=None, pins=False, forbidden=False, memory=False,
  whole=False, feasible=True) -> Problem`: the same arguments give the same problem. `hardware` is one of `HARDWARE`
  (None: drawn from all but "split", which is disconnected); links have lengths and bandwidths, dense matrices are
  asymmetric with a diagonal that is not 0. Nodes with 0 slots, undirected graphs, self-loops (not under levels) and
  tasks without traffic occur. With `feasible` some mapping is feasible, and pins and forbidden pairs fit it; one-to-one
  needs nodes >= tasks then. `whole` draws whole numbers, so that equal costs are equal floats.
- `random_topology(hardware, seed, *, nodes=8, whole=False) -> Topology`: one slot a node, no node costs.
- `random_feasible(problem, rng) -> places | None`: a feasible mapping by backtracking over tasks and nodes in random
  order; None is a proof that there is none (meant for up to about ten tasks).
- `random_places(problem, rng) -> places`: any mapping that keeps the pins, most often infeasible.
- `naive_cost(problem, places) -> float`, `naive_broken(problem, places) -> set of kinds`: read off the definitions (a
  task at -1 is not placed yet and breaks nothing).
- `brute_force(problem) -> (cost, places) | None`: the cheapest feasible mapping by complete enumeration, cut short only
  where a partial mapping already costs as much.
- `ladder` (a task graph) and `path_problem` (a problem) are small enough to check by hand.
"""

import gc
import itertools
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings
from numpy.typing import NDArray

from tests.fuzz.profile import LONG
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology

settings.register_profile("tiger", deadline=None, max_examples=100 if LONG else 10)
settings.load_profile("tiger")
# Collecting thousands of tests makes objects by the million that stay: looking at them for garbage again and again
# took a twentieth of the run.
gc.disable()

Places = NDArray[np.int64]
RULES = ("one-to-one", "levels", "capacity")
HARDWARE = ("dense", "links", "grid", "torus", "tree", "split")
ATTEMPTS = 200


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files at the top, which run whole programs and pages: nobody should wait for one in the end."""
    items.sort(key=lambda item: len(item.path.parts))


def pytest_collection_finish() -> None:
    """Begin to collect garbage, but for what is there before the first test."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", name="random_problem")
def _random_problem() -> Callable[..., Problem]:
    return random_problem


@pytest.fixture(scope="session", name="random_topology")
def _random_topology() -> Callable[..., Topology]:
    return random_topology


@pytest.fixture(scope="session", name="random_feasible")
def _random_feasible() -> Callable[..., Places | None]:
    return random_feasible


@pytest.fixture(scope="session", name="random_places")
def _random_places() -> Callable[..., Places]:
    return random_places


@pytest.fixture(scope="session", name="naive_cost")
def _naive_cost() -> Callable[..., float]:
    return naive_cost


@pytest.fixture(scope="session", name="naive_broken")
def _naive_broken() -> Callable[..., set[str]]:
    return naive_broken


@pytest.fixture(scope="session", name="brute_force")
def _brute_force() -> Callable[..., tuple[float, Places] | None]:
    return brute_force


@pytest.fixture(scope="session")
def ladder() -> TaskGraph:
    """Return the 11-task graph of the original tool's first example, with unit traffic."""
    edges = "0-1 0-2 0-3 1-4 2-5 3-6 3-7 4-5 4-9 5-8 6-8 7-10 8-9 8-10 9-10"
    row, col = zip(*(map(int, edge.split("-")) for edge in edges.split()), strict=True)
    return TaskGraph(names=tuple(map(str, range(11))), traffic=sp.csr_array((np.ones(15), (row, col)), shape=(11, 11)))


@pytest.fixture(scope="session")
def path_problem() -> Problem:
    """Return tasks a, b, c on the path x - y - z, one to one; a-b talk 3, b-c 2, a-c 1.

    The cost is 9 with c in the middle, 8 with a there and 7 with b there.
    """
    traffic = sp.csr_array(np.array([[0.0, 3, 1], [0, 0, 2], [0, 0, 0]]))
    tasks = TaskGraph(names=("a", "b", "c"), traffic=traffic, directed=False)
    line = Topology(names=("x", "y", "z"), metric=GridMetric((3,), (False,)), links=Links.unit([(0, 1), (1, 2)]))
    return Problem(tasks=tasks, topology=line, rule="one-to-one")


def random_problem(
    rule: str,
    seed: int,
    *,
    tasks: int = 6,
    nodes: int = 8,
    hardware: str | None = None,
    pins: bool = False,
    forbidden: bool = False,
    memory: bool = False,
    whole: bool = False,
    feasible: bool = True,
) -> Problem:
    """Draw a problem; see the top of this file."""
    rng = np.random.default_rng([seed, *rule.encode()])
    for _ in range(ATTEMPTS):
        kind = hardware or str(rng.choice(HARDWARE[:-1]))
        topology = random_topology(kind, int(rng.integers(2**32)), nodes=nodes, whole=whole)
        topology = _equip(topology, rule, tasks, rng, memory=memory)
        bare = Problem(tasks=_random_tasks(rule, tasks, rng, memory=memory, whole=whole), topology=topology, rule=rule)
        planted = random_feasible(bare, rng)
        if planted is None and not feasible:
            planted = rng.integers(0, nodes, tasks)
        if planted is not None:
            pinned = rng.random(tasks) < (0.3 if pins else 0.0)
            banned = rng.random((tasks, nodes)) < (0.15 if forbidden else 0.0)
            banned[np.arange(tasks), planted] = False
            names, places = bare.tasks.names, topology.names
            return Problem(
                tasks=bare.tasks,
                topology=topology,
                rule=rule,
                pinned={names[t]: places[planted[t]] for t in np.flatnonzero(pinned)},
                forbidden=frozenset((names[t], places[p]) for t, p in np.argwhere(banned)),
            )
    raise ValueError(f"found no feasible problem of {tasks} tasks on {nodes} nodes under {rule} in {ATTEMPTS} draws")


def random_topology(hardware: str, seed: int, *, nodes: int = 8, whole: bool = False) -> Topology:
    """Draw hardware of a kind; see the top of this file."""
    rng = np.random.default_rng([seed, *hardware.encode()])
    names = tuple(f"p{k}" for k in rng.permutation(nodes))
    if hardware == "dense":
        return Topology(names=names, metric=DenseMetric(_numbers(rng, (nodes, nodes), whole=whole)))
    if hardware in ("grid", "torus"):
        dims = _factors(nodes, rng)
        wrap = tuple(bool(hardware == "torus" and rng.random() < 0.7) for _ in dims)
        hop = float(_numbers(rng, (), whole=whole)) + 1.0
        return Topology(names=names, metric=GridMetric(dims, wrap, hop), links=_grid_links(dims, wrap))
    if hardware == "tree":
        fanouts = _factors(nodes, rng)
        steps = np.sort(_numbers(rng, len(fanouts), whole=whole))
        return Topology(names=names, metric=TreeMetric(fanouts, tuple(steps.tolist())))
    parts = 2 if hardware == "split" and nodes > 1 else 1
    return Topology.from_links(names, _random_links(nodes, parts, rng, whole=whole))


def random_feasible(problem: Problem, rng: np.random.Generator) -> Places | None:
    """Draw a feasible mapping by backtracking; see the top of this file."""
    pinned = problem.pins.tolist()
    order = sorted(rng.permutation(problem.tasks.size).tolist(), key=lambda task: pinned[task] < 0)
    board = _Board(problem)

    def extend(depth: int) -> bool:
        if depth == len(order):
            return True
        task = order[depth]
        choices = [pinned[task]] if pinned[task] >= 0 else rng.permutation(problem.topology.size).tolist()
        for node in choices:
            if board.fits(task, node):
                board.put(task, node)
                if extend(depth + 1):
                    return True
                board.take(task, node)
        return False

    return np.array(board.places, np.int64) if extend(0) else None


def random_places(problem: Problem, rng: np.random.Generator) -> Places:
    """Draw any mapping that keeps the pins; see the top of this file."""
    anywhere = rng.integers(0, problem.topology.size, problem.tasks.size)
    return np.where(problem.pins >= 0, problem.pins, anywhere)


def naive_cost(problem: Problem, places: Places) -> float:
    """Add up compute and traffic one by one."""
    tasks, topology = problem.tasks, problem.topology
    total = sum(tasks.work[t] * topology.cost[places[t]] for t in range(tasks.size))
    volumes = tasks.traffic.toarray()
    for u, v in itertools.product(range(tasks.size), repeat=2):
        if volumes[u, v]:
            total += volumes[u, v] * float(problem.metric.between(places[u], places[v]))
    return float(total)


def naive_broken(problem: Problem, places: Places) -> set[str]:
    """Return the kinds of constraint that a mapping breaks, named as `tiger.objectives.cost.violations` names them."""
    tasks, topology, broken = problem.tasks, problem.topology, set()
    for t, p in enumerate(places.tolist()):
        if p < 0:
            continue
        if problem.pinned.get(tasks.names[t], topology.names[p]) != topology.names[p]:
            broken.add("pinned")
        if (tasks.names[t], topology.names[p]) in problem.forbidden:
            broken.add("forbidden")
    for p in range(topology.size):
        held = [t for t in range(tasks.size) if places[t] == p]
        groups = [problem.group_of[t] for t in held]
        if problem.rule != "capacity" and len(set(groups)) < len(groups):
            broken.add(problem.rule)
        if len(held) > (topology.slots[p] if problem.rule == "capacity" or topology.slots[p] == 0 else tasks.size):
            broken.add("slots")
        if held and tasks.memory is not None and topology.memory is not None:
            need = (sum if problem.rule == "capacity" else max)(int(tasks.memory[t]) for t in held)
            if need > topology.memory[p]:
                broken.add("memory")
    for u, v in zip(*tasks.traffic.nonzero(), strict=True):
        if min(places[u], places[v]) >= 0 and np.isinf(topology.metric.between(places[u], places[v])):
            broken.add("disconnected")
    return broken


def brute_force(problem: Problem) -> tuple[float, Places] | None:
    """Return the cheapest feasible mapping; see the top of this file."""
    board, pinned = _Board(problem), problem.pins.tolist()
    best: list[tuple[float, list[int]]] = []

    def extend(task: int, cost: float) -> None:
        if best and cost >= best[0][0]:
            return
        if task == len(pinned):
            best[:] = [(cost, list(board.places))]
            return
        for node in range(problem.topology.size) if pinned[task] < 0 else [pinned[task]]:
            if board.fits(task, node):
                board.put(task, node)
                extend(task + 1, cost + board.price(task, node))
                board.take(task, node)

    extend(0, 0.0)
    return (best[0][0], np.array(best[0][1], np.int64)) if best else None


class _Board:
    """Hold a partial mapping and say what may still be put where."""

    def __init__(self, problem: Problem) -> None:
        tasks, topology = problem.tasks, problem.topology
        held = tasks.memory is not None and topology.memory is not None
        self.shared = problem.rule == "capacity"
        self.places = [-1] * tasks.size
        self.slots = topology.slots.tolist()
        self.need = tasks.memory.tolist() if held else [0] * tasks.size
        self.room = topology.memory.tolist() if held else [0] * topology.size
        self.group_of = problem.group_of.tolist()
        self.taken: set[tuple[int, int]] = set()
        self.banned = set(map(tuple, problem.banned.tolist()))
        ends = problem.tasks.traffic.tocoo()
        self.talks: list[list[int]] = [[] for _ in range(tasks.size)]
        for u, v in zip(ends.row.tolist(), ends.col.tolist(), strict=True):
            self.talks[u].append(v)
            self.talks[v].append(u)
        everywhere = np.arange(topology.size)
        away = topology.metric.between(everywhere[:, None], everywhere[None, :])
        self.volumes, self.away = problem.tasks.traffic.toarray().tolist(), away.tolist()
        self.apart = (np.isinf(away) | np.isinf(away.T)).tolist()
        self.compute = np.outer(tasks.work, topology.cost).tolist()

    def fits(self, task: int, node: int) -> bool:
        """Return whether a task may join those already there."""
        if (task, node) in self.banned or not self.slots[node] or self.need[task] > self.room[node]:
            return False
        if not self.shared and (self.group_of[task], node) in self.taken:
            return False
        near = (node if other == task else self.places[other] for other in self.talks[task])
        return not any(place >= 0 and self.apart[node][place] for place in near)

    def put(self, task: int, node: int) -> None:
        """Put a task on a node."""
        self.places[task] = node
        self.taken.add((self.group_of[task], node))
        if self.shared:
            self.slots[node] -= 1
            self.room[node] -= self.need[task]

    def price(self, task: int, node: int) -> float:
        """Return what a task that has been put there adds to the cost of those placed before."""
        cost = self.compute[task][node]
        for other in {task, *self.talks[task]}:
            place = self.places[other]
            if place >= 0:
                cost += self.volumes[task][other] * self.away[node][place] if self.volumes[task][other] else 0.0
                if other != task and self.volumes[other][task]:
                    cost += self.volumes[other][task] * self.away[place][node]
        return cost

    def take(self, task: int, node: int) -> None:
        """Take it away again."""
        self.places[task] = -1
        self.taken.discard((self.group_of[task], node))
        if self.shared:
            self.slots[node] += 1
            self.room[node] += self.need[task]


def _numbers(rng: np.random.Generator, shape: int | tuple[int, ...], *, whole: bool) -> NDArray[np.float64]:
    """Draw numbers in [0, 9], about one in ten 0."""
    drawn = rng.uniform(0.1, 9.0, shape) * (rng.random(shape) > 0.1)
    return np.ceil(drawn) if whole else drawn


def _random_tasks(rule: str, tasks: int, rng: np.random.Generator, *, memory: bool, whole: bool) -> TaskGraph:
    """Draw a task graph; under levels without cycles, else with some self-loops."""
    volumes = _numbers(rng, (tasks, tasks), whole=whole)
    volumes *= rng.random((tasks, tasks)) < rng.uniform(0.1, 0.7)
    directed = rule == "levels" or rng.random() < 0.5
    if rule == "levels" or not directed:
        volumes = np.triu(volumes, k=int(rule == "levels"))
    order = rng.permutation(tasks)
    return TaskGraph(
        names=tuple(f"t{k}" for k in order),
        traffic=sp.csr_array(volumes[np.ix_(order, order)]),
        work=_numbers(rng, tasks, whole=whole),
        memory=rng.integers(0, 10, tasks) if memory else None,
        directed=bool(directed),
    )


def _equip(bare: Topology, rule: str, tasks: int, rng: np.random.Generator, *, memory: bool) -> Topology:
    """Return the hardware with node costs, slots and memory; some of the nodes that can be spared get no slot."""
    share = -(-tasks // bare.size) if rule == "capacity" else 1
    slots = rng.integers(share, share + 3, bare.size)
    spare = bare.size - (tasks if rule == "one-to-one" else 1)
    slots[rng.permutation(bare.size)[: rng.integers(0, max(spare, 0) // 4 + 2)][: max(spare, 0)]] = 0
    return Topology(
        names=bare.names,
        metric=bare.metric,
        links=bare.links,
        slots=slots,
        cost=rng.integers(0, 4, bare.size).astype(float),
        memory=rng.integers(4, 12 * share, bare.size) if memory else None,
    )


def _factors(nodes: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw factors, in random order, whose product is `nodes`."""
    factors, rest = [], nodes
    for prime in (2, 3, 5, 7):
        while rest % prime == 0 and rng.random() < 0.8:
            factors.append(prime)
            rest //= prime
    factors = [*factors, rest] if rest > 1 or not factors else factors
    return tuple(int(f) for f in rng.permutation(factors))


def _grid_links(dims: tuple[int, ...], wrap: tuple[bool, ...]) -> Links:
    """Return the links of a grid, one for each pair of neighbours."""
    index = np.arange(np.prod(dims)).reshape(dims)
    pairs = set()
    for axis, around in enumerate(wrap):
        ahead = np.roll(index, -1, axis)
        last = index.shape[axis] - (0 if around else 1)
        here, there = (np.take(x, range(last), axis).ravel().tolist() for x in (index, ahead))
        pairs |= {(min(e), max(e)) for e in zip(here, there, strict=True) if e[0] != e[1]}
    return Links.unit(sorted(pairs))


def _random_links(nodes: int, parts: int, rng: np.random.Generator, *, whole: bool) -> Links:
    """Draw links that join the nodes into so many parts: a random tree in each, and half as many links more."""
    part = np.r_[np.arange(parts), rng.integers(0, parts, nodes - parts)]
    pairs = []
    for label in range(parts):
        here = np.flatnonzero(part == label)
        pairs += [(here[rng.integers(k)], here[k]) for k in range(1, len(here))]
        pairs += [tuple(rng.choice(here, 2, replace=False)) for _ in range(len(here) // 2) if len(here) > 1]
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    lengths, speeds = (_numbers(rng, len(ends), whole=whole) + 1.0 for _ in range(2))
    return Links(u=ends[:, 0], v=ends[:, 1], weight=lengths, bandwidth=speeds)
