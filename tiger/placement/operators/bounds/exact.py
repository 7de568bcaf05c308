"""Placements proved optimal, by branch and bound or by a bound that meets them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.operators.bounds.bound import BoundParams, load_bound_s
from tiger.placement.operators.bounds.branch_and_bound import make_instance, make_root, search
from tiger.placement.operators.device_types import label_devices
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.terms import Terms
from tiger.training.costs.tolerances import MET, SUMS

# Limits for a unit of effort: nodes of branch and bound, and visits of operators and edges by these; `stop` is called
# SLICES times on the way.
NODES, VISITS, SLICES = 4_000_000, 200_000_000, 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExactPlacement:
    """Hold the best placement [C] found, None where none fits, whether it is proved optimal, and a bound in seconds."""

    place: IntArray | None
    proven: bool
    bound_s: float


def place_exactly(
    terms: Terms, params: BoundParams, stop: Callable[[], bool], start: IntArray | None
) -> ExactPlacement:
    """Return a placement [C] with the least largest load, no worse than the `start`, and whether that is proved.

    Depth first, the groups that cost most first, of devices that can be exchanged only one; within four million nodes
    a unit of effort, fewer where groups have many operators, and where that is not enough with the bound for all
    placements. `start[C]` keeps to memory and links. Proved without a place: nothing fits.
    """
    limit = np.inf if start is None else float(np.add(*loads_s(terms, start)).max())
    instance, tree = make_instance(terms, label_devices(terms)), make_root(terms, limit)
    visits = (terms.operators + 2 * len(terms.consumer)) // terms.groups + 1
    done, nodes = False, min(NODES, VISITS // visits) // SLICES
    for _ in range(SLICES * params.effort):
        done = search(instance, tree, nodes)
        if done or stop():
            break
    place = tree.best if (tree.best >= 0).all() else start
    value = float(tree.value[0])
    bound = value * (1 - SUMS) if done else load_bound_s(terms, params, stop, value)
    return ExactPlacement(place=place, proven=done or value <= bound * (1 + MET), bound_s=bound)
