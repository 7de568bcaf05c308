"""Compile the kernels of placing operators and experts, and of following a plan, into numba's cache, or load them."""

from collections.abc import Callable
from functools import cache

import numpy as np

from tiger.pipeline.chain.params import never_stop
from tiger.pipeline.experts.annealing import anneal_experts, start_annealing
from tiger.pipeline.experts.costs import ExpertProblem
from tiger.pipeline.experts.replicas.loads import ExpertLoads
from tiger.pipeline.experts.slots.annealing import anneal_slots
from tiger.pipeline.experts.slots.annealing import start_annealing as start_slots
from tiger.pipeline.experts.slots.objective import SlotProblem
from tiger.pipeline.hardware.cluster import Cluster, Curve
from tiger.pipeline.models.layers import Layers
from tiger.pipeline.models.operators import Operators
from tiger.pipeline.online.planner import OnlinePlanner
from tiger.pipeline.operators.bounds.bound import BoundParams, load_bound_s
from tiger.pipeline.operators.bounds.exact import place_exactly
from tiger.pipeline.operators.latency.list_scheduling import makespan_s
from tiger.pipeline.operators.latency.search import LatencyParams, search_latency
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.contiguous import split
from tiger.pipeline.operators.throughput.multilevel import MultilevelParams, search_multilevel
from tiger.pipeline.operators.throughput.search import SearchParams, search_placement
from tiger.pipeline.rebalancing.rebalancer import Rebalancer

# A small problem whose searches reach every kernel.
OPERATORS, DEVICES, PASSES, FEW = 40, 2, 200_000, 5
KERNELS = (
    "operators",
    "stages of operators",
    "bounds of operators",
    "many operators",
    "makespans",
    "experts",
    "measured stages",
)


def warm(progress: Callable[[str], None]) -> None:
    """Load the kernels of every search; `progress` is called with the name of the next.

    Takes about a minute of compilation the first time after installation, and about a second from the cache.
    """
    for name in KERNELS:
        progress(name)
        load(name)


@cache
def load(name: str) -> None:
    """Run a search by its name once in a process, on a chain with rungs; all graphs use the same compiled code."""
    terms, seen = _terms(), lambda *_: None
    match name:
        case "operators":
            search_placement(terms, SearchParams(), never_stop, seen)
        case "stages of operators":
            split(terms, SearchParams(), never_stop, seen)
        case "bounds of operators":
            place_exactly(terms, BoundParams(), never_stop, None)
            load_bound_s(terms, BoundParams(), never_stop, np.inf)
        case "many operators":
            # Few enough for a device that colocation groups are joined, and taken apart again.
            search_multilevel(terms, MultilevelParams(per_device=FEW), never_stop, seen)
        case "makespans":
            found = search_latency(terms, LatencyParams(passes=PASSES), [], never_stop, seen)
            makespan_s(terms, np.zeros(terms.groups, np.int64) if found is None else found)
        case "experts":
            _place_experts()
        case _:
            _follow()


def _cluster() -> Cluster:
    """Return two equal devices with a link."""
    return Cluster(
        names=tuple("ab"),
        speed=np.ones(DEVICES),
        memory_bytes=np.full(DEVICES, float(OPERATORS)),
        curves=(Curve.affine(100.0, 0.0),),
        link=np.zeros((DEVICES, DEVICES), np.int64),
    )


def _terms() -> Terms:
    """Return operators that send to the next and to the next but one."""
    at = np.arange(OPERATORS - 2)
    operators = Operators(
        names=tuple(f"op{k}" for k in range(OPERATORS)),
        seconds=np.array(1.0 + np.arange(OPERATORS) % 3, np.float64),
        memory_bytes=np.ones(OPERATORS),
        sent_bytes=np.ones(OPERATORS),
        source=np.concatenate([at, at]),
        target=np.concatenate([at + 1, at + 2]),
    )
    return Terms.from_operators(operators, _cluster(), {})


def _place_experts() -> None:
    """Anneal experts on two devices, too few to be annealed otherwise, and slots for them."""
    problem = ExpertProblem(counts=np.ones((1, 2, 2)), hops=1.0 - np.eye(2))
    place = np.array([[0, 1], [1, 0]])
    anneal_experts(start_annealing(problem, place), 1.0, 1, 0)
    loads = ExpertLoads(np.ones((2, 2)), 2, 1, 1, 2)
    slots = SlotProblem(loads, problem.counts, 1.0, problem.hops, problem.hops)
    anneal_slots(start_slots(slots, place), 1.0, 1, 0)


def _follow() -> None:
    """Take one step of a plan that is measured, and one of a plan that is rebalanced."""
    layers = Layers(
        names=("a", "b", "c"),
        forward_s=np.ones(3),
        backward_s=np.ones(3),
        parameter_bytes=np.ones(3),
        crossing_bytes=np.array([0.0, 1.0, 1.0, 0.0]),
    )
    planner = OnlinePlanner(layers, _cluster())
    planner.step([1.0] * planner.plan.stages)
    Rebalancer(layers, _cluster()).step([1.0, 2.0, 3.0])
