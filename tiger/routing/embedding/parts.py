"""Devices in several parts: qubits that ever meet, even through others, have to be in one part from the start."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tiger.errors import InputError
from tiger.model.arrays import IntArray, lock
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.embedding import list_interactions
from tiger.routing.embedding.nearness import place_near_partners
from tiger.routing.gate_dag import GateDag

# Stands for the part of a qubit without a pair, which may go to any.
ANYWHERE = -1
# Steps of the search for a packing, which is NP-hard: what takes more is refused as if there were none.
TRIALS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Allotment:
    """Hold the part of the device `part[n]` for every circuit qubit, ANYWHERE for those without a pair, and a layout.

    `start[N]` has every qubit in its part, near those it has gates with.
    """

    part: IndexArray
    start: IndexArray


def allot_parts(dag: GateDag, coupling: Coupling, fixed: IndexArray | None = None) -> Allotment:
    """Give every connected component of a circuit a part of the device that has room for it.

    `fixed[n]` are device qubits that circuit qubits have to start from, -1 for the others. Components go, the largest
    first, into the largest part that has room, and when that fails, a search over all ways follows; it is exact for
    what fits into its 100,000 steps. Raises InputError, field `circuit`, when they do not fit, and field
    `initial_layout` when fixed places tear a component apart.
    """
    pins = np.full(dag.qubits, -1, np.int32) if fixed is None else fixed.astype(np.int32)
    if dag.qubits > coupling.size:
        raise InputError("circuit", f"expected at most {coupling.size} qubits, got {dag.qubits}")
    pairs = list_interactions(dag)
    part = np.full(dag.qubits, ANYWHERE, np.int32)
    if coupling.part.any():
        part = _pack_components(_components(pairs, dag.qubits), coupling, pins)
    else:
        part[pairs.ravel()] = 0
    pull = np.zeros((dag.qubits, dag.qubits))
    np.add.at(pull, (pairs[:, 0], pairs[:, 1]), 1.0)
    start = place_near_partners(pins, pull + pull.T, coupling, part)
    return Allotment(part=lock(part), start=lock(start))


def _components(pairs: IndexArray, qubits: int) -> IndexArray:
    """Return the connected component of every qubit, ANYWHERE for one without a pair."""
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(qubits, qubits))
    component: IndexArray = connected_components(graph, directed=False)[1].astype(np.int32)
    component[np.setdiff1d(np.arange(qubits), pairs)] = ANYWHERE
    return component


def _pack_components(component: IndexArray, coupling: Coupling, pins: IndexArray) -> IndexArray:
    """Return the part of every qubit: what fixed places say, and a packing of the other components."""
    part, room = np.full(len(component), ANYWHERE, np.int32), np.bincount(coupling.part).tolist()
    members = [np.flatnonzero(component == c) for c in np.unique(component[component >= 0])]
    # Fixed qubits take their room first, whether they have gates or not.
    for place in pins[pins >= 0]:
        room[coupling.part[place]] -= 1
    for qubits in members:
        part[qubits] = _fixed_part(qubits, coupling, pins)
        room[part[qubits[0]]] -= int((pins[qubits] < 0).sum()) * int(part[qubits[0]] >= 0)
    loose = sorted((qubits for qubits in members if part[qubits[0]] < 0), key=len, reverse=True)
    widest = sorted(range(len(room)), key=lambda p: -room[p])
    packing = pack([len(qubits) for qubits in loose], [room[p] for p in widest])
    if packing is None or min(room, default=0) < 0:
        sizes, parts = (
            sorted(map(len, members), reverse=True),
            sorted(np.bincount(coupling.part).tolist(), reverse=True),
        )
        found = f"connected parts of {_join_numbers(sizes)} qubits for parts of {_join_numbers(parts)} on the device"
        raise InputError(
            "circuit", f"expected connected parts of the circuit that fit those of the device, got {found}"
        )
    for qubits, choice in zip(loose, packing, strict=True):
        part[qubits] = widest[choice]
    return part


def _fixed_part(qubits: IntArray, coupling: Coupling, pins: IndexArray) -> int:
    """Return the part that the fixed qubits of a component are in, ANYWHERE if none is fixed."""
    parts = np.unique(coupling.part[pins[qubits[pins[qubits] >= 0]]])
    if len(parts) > 1:
        apart = [
            int(qubits[pins[qubits] >= 0][coupling.part[pins[qubits[pins[qubits] >= 0]]] == p][0]) for p in parts[:2]
        ]
        reason = f"expected qubits {apart[0]} and {apart[1]}, which have to meet, in one connected part of the device"
        raise InputError("initial_layout", reason)
    return int(parts[0]) if len(parts) else ANYWHERE


def pack(sizes: list[int], room: list[int]) -> list[int] | None:
    """Return a bin for every item so that none is overfull, None when there is no way or it takes too long to find.

    Depth first, bins in order, equal ones once; with the items largest first the first descent is first-fit decreasing.
    """
    choice, left, k = [-1] * len(sizes), list(room), 0
    dead = set[tuple[int, ...]]()
    for _ in range(TRIALS):
        if k == len(sizes):
            return choice
        if choice[k] >= 0:
            left[choice[k]] += sizes[k]
        # Of bins with the same room left only the first is tried.
        fits = (p for p in range(choice[k] + 1, len(left)) if left[p] >= sizes[k] and left[p] not in left[:p])
        choice[k] = next(fits, -1)
        if choice[k] < 0:
            # The same room for the same items left is as hopeless in any other order.
            dead.add((k, *sorted(left)))
            k -= 1
        else:
            left[choice[k]] -= sizes[k]
            k += (k + 1, *sorted(left)) not in dead
        if k < 0:
            return None
    return None


def _join_numbers(sizes: list[int]) -> str:
    """Return the first numbers as text."""
    return ", ".join(map(str, sizes[:5])) + (", .." if len(sizes) > 5 else "")
