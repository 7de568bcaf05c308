"""The mapping of a circuit: proposals, routing and search, in the order of a request."""

from dataclasses import dataclass, field

import numpy as np

from tiger.circuits.coupling import Coupling, IndexArray
from tiger.circuits.params import LayoutParams
from tiger.circuits.route import Route
from tiger.circuits.shortest import shortest_paths
from tiger.circuits.skeleton import Skeleton
from tiger.report import Stage


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mapped:
    """Hold the best route, and what every stage reached: its cost is in extra CX gates."""

    route: Route
    stages: tuple[Stage, ...] = field(default=())


def mapped(
    skeleton: Skeleton,
    coupling: Coupling,
    params: LayoutParams,
    *,
    fixed: IndexArray | None = None,
    known: tuple[Route, ...] = (),
) -> Mapped:
    """Map a circuit; `fixed[n]` is a layout it has to start from, `known` are routes that the result must not exceed.

    Same arguments, same route, whatever the number of threads.
    """
    start = np.arange(coupling.size, dtype=np.int32) if fixed is None else _completed(fixed, coupling.size)
    return Mapped(route=min((shortest_paths(skeleton, coupling, start), *known), key=lambda route: route.extra_cx))


def _completed(fixed: IndexArray, size: int) -> IndexArray:
    """Return a layout with the spare qubits on what it leaves free, in order."""
    free = np.setdiff1d(np.arange(size, dtype=np.int32), fixed)
    return np.concatenate([fixed.astype(np.int32), free])
