"""A mapping of low multicast cost: coarsen tasks and their sets, map the clusters, and anneal level by level.

Clusters join tasks that share many small sets, as the graph of pairs that stands for these says: its links rate them
as heavy edges are rated. Sets shrink with them, and those of one cluster are left out, so that a move of a cluster is
as cheap as that of a task and gains more.

Source: U. V. Catalyurek, C. Aykanat, doi:10.1109/71.780863 (heavy connectivity, multilevel partitioning of
hypergraphs); of two mappings' common clusters R. Andre, S. Schlag, C. Schulz, doi:10.1145/3205455.3205475.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import NetArrays
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop
from tiger.model.seeds import derive
from tiger.solvers.annealing.net_annealing import SLICE, net_state_of
from tiger.solvers.annealing.net_balance import NetBalance, anneal_balance
from tiger.solvers.annealing.net_kernels import reset_spans
from tiger.solvers.annealing.tiers import tiers_of
from tiger.solvers.generator import seed_state
from tiger.solvers.instance import Instance, differences, instance_of, uniform
from tiger.solvers.multilevel import kway
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.label_propagation import coarsen
from tiger.solvers.multilevel.multilevel import QUICK, dissect_fully

# Slots of a node from which on its clusters can be balanced.
FEWEST = 4
# Pairs of hosts whose distances are compared for the units of cost: all of up to 1,024 hosts, in 8 MB.
PAIRS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NetKWayParams:
    """Set the search: `passes` for each unit of effort, in which the largest cluster is one of `parts` of a node.

    The cheapest of `starts` mappings of clusters goes on. On every level each tier of the hardware gets `moves` a
    cluster in all, `quick` ones in the first pass, at `temperatures` from `hot` (`warm` after the first mapping) to
    `cold`, in units of what a set costs on two domains of that tier next to each other. The price of the squared
    overload of a mean cluster rises from `low` to `high` such units; the tasks themselves end with `last` times that.
    They are chosen on draws of the circuits and sparse matrices of `python -m benchmarks hypergraphs`.
    """

    passes: int = 2
    starts: int = 3
    parts: int = 32
    moves: int = 400
    quick: int = 150
    temperatures: int = 16
    hot: float = 1.0
    warm: float = 0.5
    cold: float = 0.12
    low: float = 0.3
    high: float = 3.0
    last: tuple[float, ...] = (3.0, 10.0, 30.0, 100.0)

    def plan(self, units: FloatArray, weight: float, hot: float, *, ends: bool) -> FloatArray:
        """Return plan[s, 1 + k], the temperature and the penalties of k tiers, the widest tier's rows first."""
        parts, cooling = [], hot * (self.cold / hot) ** np.linspace(0, 1, self.temperatures)
        for tier in range(len(units) - 1, -1, -1):
            rows = np.full((self.temperatures, 1 + len(units)), self.low)
            rows[:, 0] = units[tier] * cooling
            rows[:, 1 + tier] = np.geomspace(self.low, self.high, self.temperatures)
            rows[:, 2 + tier :] = self.high
            rows[:, 1:] *= units / weight**2
            parts.append(rows)
        if ends:
            rows = np.repeat(parts[-1][-1:], len(self.last), axis=0)
            rows[:, 1:] *= np.array(self.last)[:, None]
            parts.append(rows)
        return np.concatenate(parts)


class NetLevel(NamedTuple):
    """Hold a graph of clusters, what their sets have become, and `label[n]`, the cluster of each of the finer graph."""

    graph: Graph
    nets: NetArrays
    label: IntArray


def has_tiers(problem: Problem) -> bool:
    """Return whether some nodes are much closer to each other than to the rest, and regions of them are cut first."""
    return len(tiers_of(problem)) > 1


def applies(problem: Problem) -> bool:
    """Return whether tasks share nodes without other constraints, and distances both ways are in a table."""
    slots = problem.topology.slots[problem.topology.hosts]
    constrained = problem.tasks.memory is not None or len(problem.banned) or problem.pinned or problem.groups
    if constrained or len(slots) < 2 or int(slots.min()) < FEWEST:
        return False
    metric = problem.metric
    return metric.symmetric and metric is problem.topology.metric and len(differences(metric)[1]) > 0


@dataclass(frozen=True, slots=True)
class NetKWay:
    """Map clusters by the cost of their multicasts, then tasks; `led` says that the start is a good mapping."""

    arrays: NetArrays
    params: NetKWayParams = NetKWayParams()
    led: bool = False

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest of `effort` x `passes` mappings, of each with the best one, and the feasible `start[n]`.

        The start comes back where the search does not apply, or time is up.
        """
        best = start.copy()
        if not applies(problem) or not len(self.arrays.volumes):
            return Assignment(places=best)
        run = _Pass(problem, self.arrays, self.params, stop)
        least = run.cost(best)
        for number in range(effort * self.params.passes):
            for places in self._propose(run, best, number, derive(seed, number)):
                if places is not None and run.cost(places) < least:
                    best, least = places, run.cost(places)
                if stop():
                    return Assignment(places=best)
        return Assignment(places=best)

    def _propose(self, run: "_Pass", best: IntArray, number: int, seed: int) -> Iterator[IntArray | None]:
        """Yield the mapping of one pass, and what is found from the clusters that it and the best one agree on.

        The first time a good start is refined in its own clusters, and one that is not good is left alone.
        """
        quick = self.params.quick if not number else self.params.moves
        if not number and self.led:
            yield run.refine(best, best, quick, derive(seed, 0))
            return
        fresh = run.map_anew(quick, derive(seed, 1))
        yield fresh
        if fresh is not None and number:
            better, other = (best, fresh) if run.cost(best) <= run.cost(fresh) else (fresh, best)
            yield run.refine(better, other, self.params.moves, derive(seed, 2))


class _Pass:
    """Hold the arrays that all passes over a problem use."""

    def __init__(self, problem: Problem, nets: NetArrays, params: NetKWayParams, stop: Stop) -> None:
        self._problem, self._params, self._stop = problem, params, stop
        self._inst = inst = instance_of(problem)
        self._slots = problem.topology.slots
        self._cap = max(int(self._slots[problem.topology.hosts].min()) // params.parts, 1)
        self._tiers = tiers_of(problem)
        self._limit = np.stack([np.bincount(t, inst.slots, len(t)).astype(np.int64) for t in self._tiers])
        self._units = _units(problem, self._tiers) * (float(nets.volumes.mean()) or 1.0)
        sets = NetArrays(uniform(nets.starts), uniform(nets.pins), uniform(nets.volumes))
        ones, none = np.ones(len(inst.work), np.int64), np.zeros(len(inst.work), np.int64)
        flow = inst.out + inst.back
        graph = Graph(inst.indptr.copy(), inst.indices.copy(), flow, ones, none, inst.work.copy())
        self._finest = NetLevel(graph, sets, none)
        self._state = net_state_of(inst, sets)

    def cost(self, places: IntArray) -> float:
        """Return the cost of multicasts."""
        return float(reset_spans(self._inst, places, self._finest.nets, self._state))

    def map_anew(self, moves: int, seed: int) -> IntArray | None:
        """Return the mapping of one pass from scratch, None if it finds no room."""
        levels = self._coarsen(np.zeros(len(self._inst.work), np.int64), seed)
        clusters, budget = kway.problem_of(self._problem, levels[-1].graph), (self._params.hot, moves)
        inst, least, first = instance_of(clusters), np.inf, None
        for number in range(self._params.starts):
            if first is not None and self._stop():
                break
            draw = derive(seed, 0, number)
            # Cut in a third of the time of `kway.FIRST`, for 0 to 2 % more of what the annealing leaves.
            places = dissect_fully(clusters, inst, QUICK, draw, self._stop)
            value = self._anneal_level(levels[-1], places, budget, draw, ends=len(levels) == 1)
            if value < least:
                least, first = value, places
        if first is None:
            return None
        return self._anneal(levels[:-1], first[levels[-1].label], budget, seed) if levels[1:] else self._fit(first)

    def refine(self, places: IntArray, other: IntArray, moves: int, seed: int) -> IntArray | None:
        """Return a mapping annealed from the clusters that are on one node in both mappings, None without room."""
        levels, places = self._coarsen(places * len(self._slots) + other, seed), places.copy()
        for level in levels[1:]:
            coarse = np.empty(len(level.graph.weight), np.int64)
            coarse[level.label] = places
            places = coarse
        return self._anneal(levels, places, (self._params.warm, moves), seed)

    def _coarsen(self, side: IntArray, seed: int) -> list[NetLevel]:
        """Return the tasks and coarser levels, each cluster of tasks of one side."""
        levels = [self._finest]
        while True:
            graph, label = coarsen(levels[-1].graph, side, self._cap, derive(seed, len(levels)))
            if len(graph.weight) > kway.SHRINK * len(label):
                return levels
            coarse = np.empty(len(graph.weight), np.int64)
            coarse[label] = side
            side = coarse
            levels.append(NetLevel(graph, contract_nets(levels[-1].nets, label, len(graph.weight)), label))

    def _anneal(
        self, levels: list[NetLevel], places: IntArray, budget: tuple[float, int], seed: int
    ) -> IntArray | None:
        """Return places of tasks within the slots: every level starts from the mapping of the coarser one."""
        for number in range(len(levels) - 1, -1, -1):
            self._anneal_level(levels[number], places, budget, derive(seed, number), ends=number == 0)
            places = places[levels[number].label] if number else places
        return self._fit(places)

    def _fit(self, places: IntArray) -> IntArray | None:
        """Return places within the slots, None where tasks find no room."""
        if (np.bincount(places, minlength=len(self._slots)) <= self._slots).all():
            return places
        return kway.clear_overload(self._inst, places, self._stop)

    def _anneal_level(
        self, level: NetLevel, places: IntArray, budget: tuple[float, int], seed: int, *, ends: bool
    ) -> float:
        """Anneal the places of clusters, in place, until `stop` says so; return their cost and price of overload."""
        graph, size = level.graph, len(places)
        if not len(level.nets.volumes):
            return 0.0
        inst: Instance = self._inst._replace(work=uniform(graph.pull))
        balance = NetBalance(
            place=places,
            weight=graph.weight,
            label=self._tiers,
            load=np.stack([np.bincount(t[places], graph.weight, len(t)).astype(np.int64) for t in self._tiers]),
            limit=self._limit,
            listed=np.empty(size, np.int64),
            rank=np.empty(size, np.int64),
            size=np.zeros(1, np.int64),
        )
        net = net_state_of(inst, level.nets)
        plan = self._params.plan(self._units, float(graph.weight.mean()), budget[0], ends=ends)
        moves = max(budget[1] * size // self._params.temperatures // len(self._units), 1)
        cost = np.inf
        for part, (rows, count) in enumerate(_slices(plan, moves)):
            if self._stop():
                break
            cost = anneal_balance(inst, level.nets, net, balance, rows, count, seed_state(seed, part))
        over = np.maximum(balance.load - balance.limit, 0).astype(np.float64)
        return float(cost + (over**2).sum(axis=1) @ plan[-1, 1:])


def _slices(plan: FloatArray, moves: int) -> Iterator[tuple[FloatArray, int]]:
    """Yield the rows of a plan in parts, and the moves at each row, so that no part takes long."""
    repeats = -(-moves // SLICE)
    rows, count = np.repeat(plan, repeats, axis=0), -(-moves // repeats)
    for part in np.array_split(rows, min(-(-len(rows) * count // SLICE), len(rows))):
        yield np.ascontiguousarray(part), count


def _units(problem: Problem, tiers: IntArray) -> FloatArray:
    """Return the mean distance of a host to the closest one in another domain, for each tier, 1 where that is 0.

    Of many hosts evenly spaced ones are looked at.
    """
    hosts = problem.topology.hosts
    some = hosts[:: -(-(len(hosts) ** 2) // PAIRS)]
    distances = problem.metric.between(some[:, None], hosts[None, :])
    units = []
    for tier in tiers:
        least = np.where(tier[some][:, None] != tier[hosts][None, :], distances, np.inf).min(axis=1)
        least = least[np.isfinite(least) & (least <= problem.topology.metric.farthest)]
        units.append(float(least.mean()) if least.size else 0.0)
    return np.array([unit or 1.0 for unit in units])


def contract_nets(nets: NetArrays, label: IntArray, count: int) -> NetArrays:
    """Return the sets of `count` clusters `label[n]`: without those within one, and equal ones as one; O(p log p)."""
    size = len(nets.volumes)
    owner = np.repeat(np.arange(size), np.diff(nets.starts))
    incidences = np.unique(owner * count + label[nets.pins])
    owner, pins = incidences // count, incidences % count
    widths = np.bincount(owner, minlength=size)
    pins, volumes, widths = pins[widths[owner] > 1], nets.volumes[widths > 1], widths[widths > 1]
    starts = np.concatenate([[0], np.cumsum(widths)])
    if not len(widths):
        return NetArrays(uniform(starts), uniform(pins), uniform(volumes))
    # Equal sets have equal sums of random numbers; those of others are equal by chance once in 2^64.
    draws = np.random.default_rng(count).integers(0, 2**63, count, dtype=np.uint64)
    sums = np.add.reduceat(draws[pins], starts[:-1])
    order = np.lexsort((sums, widths))
    fresh = np.concatenate([[True], _differ(sums[order]) | _differ(widths[order])])
    first = order[fresh]
    merged = np.bincount(np.cumsum(fresh) - 1, volumes[order]).astype(np.float64)
    parts = np.concatenate([[0], np.cumsum(widths[first])])
    taken = np.repeat(starts[first] - parts[:-1], widths[first]) + np.arange(parts[-1])
    return NetArrays(uniform(parts), uniform(pins[taken]), uniform(merged))


def _differ(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each value but the first is another than the one before."""
    return np.asarray(values[1:] != values[:-1])
