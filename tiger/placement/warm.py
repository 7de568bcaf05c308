"""Compile the kernels of placing operators into numba's cache, or load them from there."""

from functools import cache, partial

import numpy as np

from tiger.placement.chain.params import never_stop
from tiger.placement.operators.bounds.bound import BoundParams, load_bound_s
from tiger.placement.operators.bounds.exact import place_exactly
from tiger.placement.operators.latency.list_scheduling import makespan_s
from tiger.placement.operators.latency.search import LatencyParams, search_latency
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.contiguous import split
from tiger.placement.operators.throughput.multilevel import CycleParams, search_multilevel
from tiger.placement.operators.throughput.search import AnnealerParams, search_placement
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.operators import Operators

# A small problem whose searches reach every kernel.
OPERATORS, DEVICES, PASSES, FEW = 40, 2, 200_000, 5
KERNELS = (
    "operators",
    "stages of operators",
    "bounds of operators",
    "many operators",
    "makespans",
)


@cache
def load(name: str) -> None:
    """Run a search by its name once in a process, on a chain with rungs; all graphs use the same compiled code.

    All take about a minute of compilation the first time after installation, and about a second from the cache.
    """
    terms, seen = _terms(), lambda *_: None
    match name:
        case "operators":
            search_placement(terms, AnnealerParams(), never_stop, seen)
        case "stages of operators":
            split(terms, AnnealerParams(), never_stop, seen)
        case "bounds of operators":
            place_exactly(terms, BoundParams(), never_stop, None)
            load_bound_s(terms, BoundParams(), never_stop, np.inf)
        case "many operators":
            # Few enough for a device that colocation groups are joined, and taken apart again.
            search_multilevel(terms, CycleParams(per_device=FEW), never_stop, seen)
        case _:
            found = search_latency(terms, LatencyParams(passes=PASSES), [], never_stop, seen)
            makespan_s(terms, np.zeros(terms.groups, np.int64) if found is None else found)


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


STAGES = tuple((name, partial(load, name)) for name in KERNELS)
