"""Compile the kernels of searches into numba's cache, or load them from there."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import IntArray
from tiger.model.metrics import DenseMetric, TreeMetric
from tiger.model.objective_arrays import NetArrays, TaskOrder
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Search, Stop
from tiger.model.sharing import Rule
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.solvers.registry import build_exact, maps_boxes, search_near
from tiger.solvers.registry import search as registry_search

# Tasks of the problems that kernels are compiled on, which any rule and hardware of them can hold.
TASKS = 16
KERNELS = (
    "greedy",
    "exact",
    "random",
    "embedding",
    "dense",
    "annealing",
    "moves",
    "bisection",
    "clusters",
    "multilevel",
    "repair",
    "refinement",
    "objective",
    "multicast",
    "ring",
)


@dataclass(frozen=True, slots=True)
class Repair:
    """Repair a mapping, which the multilevel search does where memory or forbidden pairs ask for it."""

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return a repaired `start[n]`, here one that breaks a rule, or the same."""
        from tiger.solvers.instance import instance_of
        from tiger.solvers.repair import repair_mapping

        places = repair_mapping(problem, instance_of(problem), start, stop)
        return Assignment(places=start if places is None else places)


@dataclass(frozen=True, slots=True)
class ChainContraction:
    """Contract the chains of tasks, which the quick multilevel searches do where there are thousands of tasks."""

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return `start[n]`."""
        from tiger.solvers.instance import instance_of
        from tiger.solvers.multilevel.dissection import Dissection
        from tiger.solvers.multilevel.low_degree import contract_chains

        contract_chains(Dissection(problem, instance_of(problem), seed).whole)
        return Assignment(places=start)


def warm(progress: Callable[[str], None]) -> None:
    """Load the kernels of every search; `progress` is called with the name of each.

    Takes about 40 s of compilation the first time after installation, and about a second from the cache.
    """
    for name in KERNELS:
        progress(name)
        load(name)


@cache
def load(name: str) -> None:
    """Run a search by the name of its stage once in a process, on 16 tasks; nothing for one without kernels.

    All problems use the same compiled code, whatever their rule or metric.
    """
    for search, problem in _exercises(name):
        search.search(problem, np.arange(TASKS) // (TASKS // problem.topology.size), effort=1, seed=0, stop=bool)


def load_search(name: str, problem: Problem) -> None:
    """Load the kernels that a search, by the name of its stage, calls on a problem."""
    load(name)
    boxes = name == "geometry" and maps_boxes(problem)
    if boxes:
        load("bisection")
        load("dense")
    if boxes or name in ("bisection", "clusters", "multilevel"):
        load("refinement")
    if name == "embedding":
        for other in ("greedy", "annealing", "refinement"):
            load(other)
    if name in ("bisection", "multilevel") and (problem.tasks.memory is not None or len(problem.banned)):
        load("repair")


def _exercises(name: str) -> tuple[tuple[Search, Problem], ...]:
    """Return searches that call all kernels of a stage, with problems for them."""
    if name not in KERNELS:
        return ()
    if name == "moves":
        return ((search_near(np.roll(np.arange(TASKS), 1), TASKS), _ring(1)),)
    if name == "objective":
        from tiger.solvers.annealing.objective_annealing import ObjectiveAnnealing

        return ((ObjectiveAnnealing(TaskOrder(np.arange(TASKS))), _ring(1)),)
    if name == "multicast":
        from tiger.solvers.annealing.net_annealing import NetAnnealing, NetParams
        from tiger.solvers.multilevel.net_kway import NetKWay, NetKWayParams

        nets = NetArrays(np.array([0, 3, 6]), np.array([0, 4, 8, 1, 5, 9]), np.ones(2))
        by_clusters = NetKWay(nets, NetKWayParams(parts=2, moves=8), led=True)
        return ((NetAnnealing(nets, NetParams(moves=8)), _ring(4)), (by_clusters, _ring(4)))
    if name == "embedding":
        from tiger.solvers.matching.graph_matching import GraphMatching
        from tiger.solvers.matching.partial_matching import MatchingParams

        # A ring lies on a ring, one with a chord does not, and grows ear by ear from what is too small for a cycle.
        matching, chord = GraphMatching(MatchingParams(fewest=1)), _ring_on_ring(TASKS // 2)
        by_ears = GraphMatching(MatchingParams(fewest=1, vertices=4, ball=4, by_ears=True))
        return ((matching, _ring_on_ring()), (matching, chord), (by_ears, chord))
    if name == "ring":
        from tiger.solvers.rings.ring_order import RingOrder, RingParams

        # The second one finds the slots too many for a table.
        return ((RingOrder(slowest=0.0), _ring(1)), (RingOrder(params=RingParams(slots=1)), _ring(1)))
    if name in ("bisection", "clusters", "multilevel"):
        from tiger.solvers.multilevel.kway import KWay, KWayParams
        from tiger.solvers.multilevel.multilevel import Multilevel

        # Annealing of regions asks for moves between them that change the cost.
        bisection = (Multilevel(), _ring(1, step=1.0))
        other = ChainContraction() if name == "bisection" else KWay(KWayParams(parts=1))
        return (bisection, (other, _ring(4)))
    if name == "repair":
        return ((Repair(), _ring(4, ("0", "0"))),)
    if name == "refinement":
        from tiger.solvers.annealing.refinement import Refinement, RefineParams

        return ((Refinement(RefineParams(shared_from=1)), _ring(4)),)
    if name in ("dense", "annealing"):
        from tiger.solvers.annealing.dense import Dense
        from tiger.solvers.annealing.local import Annealing
        from tiger.solvers.annealing.memetic import MemeticParams
        from tiger.solvers.annealing.node_blocks import BlockParams
        from tiger.solvers.annealing.shared_annealing import SharedAnnealing, SharedParams
        from tiger.solvers.annealing.tabu import TabuParams

        # The dense search ends in the moves of the other where costs differ much.
        annealing = (Annealing(), _ring(1))
        if name == "dense":
            tabu = Dense(params=MemeticParams(tabu=TabuParams(nodes=0, common=1.0, edge=math.inf)))
            trees = Dense(params=MemeticParams(blocks=BlockParams(nodes=0)))
            return ((Dense(), _ring(1)), (tabu, _ring(1)), (trees, _groups()), annealing)
        return (annealing, (SharedAnnealing(SharedParams(task_work=1)), _ring(4)))
    return ((build_exact(1) if name == "exact" else registry_search(name), _ring(1)),)


def _ring(slots: int, *forbidden: tuple[str, str], step: float = 0.0) -> Problem:
    """Return a ring of tasks, whose volumes grow by `step`, that fills a tree of nodes with `slots` slots."""
    turn = np.arange(TASKS)
    traffic = sp.csr_array((1.0 + step * turn, (turn, np.roll(turn, 1))), shape=(TASKS, TASKS))
    nodes = TASKS // slots
    tree = TreeMetric((nodes // 4, 4), (1.0, 2.0))
    topology = Topology(names=tuple(map(str, range(nodes))), metric=tree, slots=np.full(nodes, slots))
    tasks = TaskGraph(names=tuple(map(str, range(TASKS))), traffic=traffic)
    rule: Rule = "one-to-one" if slots == 1 else "capacity"
    return Problem(tasks=tasks, topology=topology, rule=rule, forbidden=forbidden)


def _groups() -> Problem:
    """Return groups of four tasks that exchange traffic, on a tree of such groups of nodes."""
    names, group = tuple(map(str, range(TASKS))), np.arange(TASKS) // 4
    together = sp.csr_array(np.triu(np.equal.outer(group, group), 1).astype(np.float64))
    topology = Topology(names=names, metric=TreeMetric((TASKS // 4, 4), (1.0, 2.0)))
    return Problem(tasks=TaskGraph(names=names, traffic=together), topology=topology, rule="one-to-one")


def _ring_on_ring(*chord: int) -> Problem:
    """Return a ring of tasks, the first one beside others too, on a ring of as many nodes."""
    turn = np.arange(TASKS)
    row, col = np.concatenate([turn, np.zeros(len(chord), np.int64)]), np.concatenate([np.roll(turn, -1), chord])
    gap = np.abs(turn[:, None] - turn)
    names = tuple(map(str, turn))
    tasks = TaskGraph(names=names, traffic=sp.csr_array((np.ones(len(row)), (row, col)), shape=(TASKS, TASKS)))
    topology = Topology(names=names, metric=DenseMetric(np.minimum(gap, TASKS - gap).astype(np.float64)))
    return Problem(tasks=tasks, topology=topology, rule="one-to-one")


STAGES = tuple((name, partial(load, name)) for name in KERNELS)
