"""A quick mapping of tasks that share nodes: coarsen all of them once, map the clusters, and refine level by level.

Recursive bisection coarsens the tasks again for every cut, which takes most of its time. Here clusters of a sixteenth
of a node at most are mapped by it, and every finer graph starts from the mapping of the coarser one.

Source: G. Karypis, V. Kumar, doi:10.1006/jpdc.1997.1404 (multilevel k-way partitioning).
"""

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Search, Stop, Usage
from tiger.model.seeds import derive
from tiger.model.tasks import TaskGraph
from tiger.solvers.annealing import boundary_annealing, cost_changes, ejection_chains
from tiger.solvers.annealing.tiers import tiers_of
from tiger.solvers.instance import Instance, differences, instance_of
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.label_propagation import TieredCosts, coarsen, propagate
from tiger.solvers.multilevel.multilevel import QUICK, MultilevelParams, choose, dissect, dissect_fully

# How many tasks the largest clusters have at least: with 2 in place of 4 thorough mappings of 32,768 tasks near each
# other on 256 leaves cost 1.1 % more than by bisection of all tasks (four seeds).
FEWEST = 4
# The share of its vertices that coarsening must leave behind to go on, chains in a call that can't be stopped, some 25
# ms, and calls once time is up.
SHRINK, CHAINS, LATE_CALLS = 0.9, 16, 10
# One task in this many too many on its node shows that annealing of clusters has emptied a region: each task takes a
# chain of its own, a thousand of them seconds.
MOST_OVER = 20
# A mapping that begins dearer than this many times the start is given up with those after it: a brief refinement lowers
# those of halos of 102,400 tasks by 0.1 %, and two passes differ by 1 to 3 %. Clearing what is overfull may take longer
# than all before it, 4 s for 110,592 tasks on a torus.
BEATEN = 1.05
# The clusters of a first mapping are cut quickly, the first regions the better of two times. With QUICK's own later
# cuts, sweeps and regions 16,384 tasks on 256 nodes cost 2 % more, from -0.5 to 8.7 % (three graphs, four seeds).
FIRST = replace(QUICK, starts=2, first_rounds=2, later_cuts=2, most_regions=1024, sweeps=250, late=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class KWayParams:
    """Set the search.

    The largest cluster is one of `parts` of a node. Clusters are mapped by `first`. On every graph each tier of the
    hardware gets `sweeps` at temperatures from `hot` to `cold`, relative to a typical gain, where a unit of squared
    overload costs `penalty` / slots of a node, then `rising` times that; the tasks themselves end with `last` times
    that. In the sweeps without temperature a domain with more than `spill` times its slots lets vertices go to any
    node: with power-law graphs few nodes take most tasks, whose neighbours are then all there, and no mapping is found
    otherwise. Once time is up, the mapping at hand `completes`, or is given up. At 4 sweeps from 0.2 to 0.05, mappings
    of 32,768 and 65,536 tasks on 256 leaves cost 2 % less than without temperature. With `entries` neighbour entries or
    fewer there are `passes` for each unit of effort, of which those after the first are given up once time is up, and
    not refined where they begin dearer: the cheaper of two is 1 to 3 % below the mean of one on three problems of
    16,384 and 32,768 tasks (six seeds). A mapping that costs more than the `dearest` is given up.
    """

    parts: int = 16
    passes: int = 2
    entries: int = 800_000
    completes: bool = True
    dearest: float = np.inf
    first: MultilevelParams = FIRST
    sweeps: int = 4
    hot: float = 0.2
    cold: float = 0.05
    penalty: float = 6.0
    spill: float = 1.05
    rising: tuple[float, ...] = (4.0, 20.0)
    last: tuple[float, ...] = (30.0, 100.0, 300.0, 1e3, 1e4)

    def schedule(self, slots: int, *, ends: bool) -> FloatArray:
        """Return the penalty, the temperature and the spill of every sweep; `ends` says that they are the last ones."""
        factors = (1.0,) * self.sweeps + self.rising + (self.last if ends else ())
        rows = np.zeros((len(factors), 3))
        rows[:, 0] = np.array(factors) * (self.penalty / slots)
        rows[: self.sweeps, 1] = np.linspace(self.hot, self.cold, self.sweeps)
        rows[:, 2] = self.spill
        rows[: self.sweeps, 2] = np.inf
        return rows


def applies(problem: Problem, params: KWayParams | None = None) -> bool:
    """Return whether tasks share nodes without other constraints, and clusters of four fit between them."""
    slots, parts = problem.topology.slots[problem.topology.hosts], (params or KWayParams()).parts
    constrained = problem.tasks.memory is not None or len(problem.banned) or problem.pinned or problem.groups
    if constrained or len(slots) < 2 or int(slots.min()) < FEWEST * parts:
        return False
    # Moves read distances from a table, which some grids and trees of many levels have none of.
    metric = problem.metric
    return metric.symmetric and metric is problem.topology.metric and len(differences(metric)[1]) > 0


# For hundreds of thousands of tasks, where bisections of all of them take too long.
THOROUGH = KWayParams(parts=64, passes=1, completes=False, first=MultilevelParams())


@dataclass(frozen=True, slots=True)
class KWay:
    """Map clusters of tasks, then tasks, with no promise of quality; `finish` improves every mapping."""

    params: KWayParams = KWayParams()
    finish: Search | None = None
    usage: Usage = field(default=Usage(rounds="first"))

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest of `effort` mappings and the feasible `start[n]`, which comes back where none applies.

        The elite is the cheapest one but for the start. O(effort entries log(m)) time, O(entries + m) memory.
        """
        inst = instance_of(problem)
        if not inst.indices.size or not applies(problem, self.params):
            return Assignment(places=start.copy())
        best, least, unrefined = None, np.inf, np.inf
        params = replace(self.params, dearest=BEATEN * cost_changes.total(inst, start))
        passes = params.passes if inst.indices.size <= params.entries else 1
        for number in range(effort * passes):
            if stop():
                break
            places = map_by_clusters(problem, inst, params, derive(seed, number), stop)
            params = replace(params, completes=False)
            if places is None:
                break
            if cost_changes.total(inst, places) >= unrefined:
                continue
            unrefined = cost_changes.total(inst, places)
            if self.finish is not None:
                places = self.finish.search(problem, places, effort=1, seed=derive(seed, number, 1), stop=stop).places
            cost = cost_changes.total(inst, places)
            if cost < least:
                best, least = places, cost
        return choose(inst, start, best)


def map_by_clusters(problem: Problem, inst: Instance, params: KWayParams, seed: int, stop: Stop) -> IntArray | None:
    """Return places[n] within the slots by one pass over all levels, None where tasks found no room or it is dear.

    Once `stop` says so, there is no more refinement than what keeps nodes from being overfull.
    """
    slots = problem.topology.slots
    largest = int(slots[problem.topology.hosts].min())
    graphs, labels = _coarsen(inst, max(largest // params.parts, 1), seed)
    coarse = problem_of(problem, graphs[-1])
    cut = dissect_fully if params.completes else dissect
    places = cut(coarse, instance_of(coarse), params.first, seed, stop)
    if places is None or (not params.completes and stop()):
        return None
    tiers = tiers_of(problem)
    limit = np.stack([np.bincount(tier, inst.slots, len(slots)).astype(np.int64) for tier in tiers])
    for level in range(len(graphs) - 1, -1, -1):
        places = places[labels[level]] if level < len(labels) else places.copy()
        # The widest domains first: what crosses them costs most.
        for k in range(len(tiers) - 1, -1, -1):
            ends = level == k == 0
            if stop() and not ends:
                continue
            # Two slots a domain are kept free at the end, which halves the chains that clear what is overfull.
            costs = inst.distances, inst.row, inst.col, inst.price
            hardware = TieredCosts(*costs, tiers[k:].copy(), limit[k:] - 2 * ends, inst.hosts)
            propagate(graphs[level], hardware, places, params.schedule(largest, ends=ends), derive(seed, level, k))
    # What is overfull is cleared at a cost.
    return clear_overload(inst, places, stop) if cost_changes.total(inst, places) <= params.dearest else None


def _coarsen(inst: Instance, cap: int, seed: int) -> tuple[list[Graph], list[IntArray]]:
    """Return the graph of all tasks and coarser ones, and which vertex of the next one stands for each of a graph."""
    size = len(inst.work)
    ones, none = np.ones(size, np.int64), np.zeros(size, np.int64)
    graphs = [Graph(inst.indptr.copy(), inst.indices.copy(), inst.out + inst.back, ones, none, inst.work.copy())]
    labels: list[IntArray] = []
    while True:
        one = np.zeros(len(graphs[-1].weight), np.int64)
        graph, label = coarsen(graphs[-1], one, cap, derive(seed, len(graphs)))
        if len(graph.weight) > SHRINK * len(label):
            return graphs, labels
        graphs.append(graph)
        labels.append(label)


def problem_of(problem: Problem, graph: Graph) -> Problem:
    """Return the problem of mapping clusters, which need as much memory as they have tasks, and nodes have slots."""
    size, slots = len(graph.weight), problem.topology.slots
    both = sp.csr_array((graph.flow, graph.indices, graph.indptr), shape=(size, size))
    tasks = TaskGraph(
        names=tuple(map(str, range(size))),
        traffic=sp.triu(both, 1, "csr"),
        work=graph.pull,
        memory=graph.weight,
        directed=False,
    )
    topology = replace(problem.topology, slots=np.where(slots > 0, size, 0), memory=slots.astype(np.int64))
    return Problem(tasks=tasks, topology=topology, rule="capacity")


def clear_overload(inst: Instance, places: IntArray, stop: Stop) -> IntArray | None:
    """Return the places with what overfills nodes moved on to where there is room, None where that fails or is late.

    None too where hundreds of tasks, and one in `MOST_OVER`, are too many.
    """
    over = int(np.maximum(np.bincount(places, minlength=len(inst.slots)) - inst.slots, 0).sum())
    if over > max(len(places) // MOST_OVER, CHAINS * LATE_CALLS):
        return None
    lists, graph = ejection_chains.chains_of(inst, places), boundary_annealing.csr_graph_of(inst)
    left, late = 1, 0
    while left > 0 and late < LATE_CALLS:
        left = ejection_chains.clear_overload(inst, graph, lists, CHAINS)
        late += stop()
    return lists.place if left == 0 else None
