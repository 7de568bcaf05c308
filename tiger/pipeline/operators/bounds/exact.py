"""Placements that are proved best: by branch and bound, or by a bound that meets one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.pipeline.costs.tolerances import MET, SUMS
from tiger.pipeline.operators.bounds.bound import BoundParams, load_bound_s
from tiger.pipeline.operators.bounds.branch_and_bound import search, search_input, search_root
from tiger.pipeline.operators.device_types import label_devices
from tiger.pipeline.operators.loads import loads_s
from tiger.pipeline.operators.terms import Terms

NODES, VISITS, SLICES = 4_000_000, 200_000_000, 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exact:
    """Hold the best place [C] found, None where there is none, whether it is proved best, and a bound in seconds."""

    place: IntArray | None
    proven: bool
    bound_s: float


def place_exactly(terms: Terms, params: BoundParams, stop: Callable[[], bool], start: IntArray | None) -> Exact:
    """Return a place [C] with the least largest load, no worse than the `start`, and whether that is proved.

    Depth first, the classes that cost most first, of devices that can be exchanged only one; within four million nodes
    a unit of effort, fewer where classes have many operators, and where that is not enough with the bound for all
    placements. `start[C]` keeps to memory and links. Proved without a place: nothing fits.
    """
    limit = np.inf if start is None else float(np.add(*loads_s(terms, start)).max())
    reads, stands = search_input(terms, label_devices(terms)), search_root(terms, limit)
    visits = (terms.operators + 2 * len(terms.consumer)) // terms.classes + 1
    done, nodes = False, min(NODES, VISITS // visits) // SLICES
    for _ in range(SLICES * params.effort):
        done = search(reads, stands, nodes)
        if done or stop():
            break
    place = stands.best if (stands.best >= 0).all() else start
    value = float(stands.value[0])
    bound = value * (1 - SUMS) if done else load_bound_s(terms, params, stop, value)
    return Exact(place=place, proven=done or value <= bound * (1 + MET), bound_s=bound)
