"""A lower bound on the SWAPs and BRIDGEs of a circuit: pairs that fit the device in no layout need one among them.

Between two SWAPs all gates run in one layout. So where the pairs of some gates embed in the coupling map in no layout,
a SWAP comes after the first of these gates and before the last, or one of them is a BRIDGE. Every node v gets a number
`begin` of SWAPs and BRIDGEs that any route has done before v, and `end` by when v is done, a BRIDGE of v included;
`begin` is at least the `end` of all that v waits for. Let W be v and what it waits for, however far back, as far as it
begins at `begin` of v or later. A route in which v ends with the t-th SWAP or BRIDGE, t being `begin` of v, carries out
all of W after it and before the next, in one layout. Where the pairs of W do not embed, `end` is at least t + 1. That
holds for every order of gates that the gate DAG admits, as W is what v waits for: those on other qubits, and those
that commute, may change places.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.pair_sets import PairSets, ProofParams
from tiger.routing.gate_dag import GateDag

# Nodes between two looks at the clock: about 0.1 s where every node needs a search.
NODES = 400
DEFAULT = ProofParams()


class SwapBound(NamedTuple):
    """Return how many SWAPs and BRIDGEs together any route has at least.

    At least `onward[g]` of them come from the begin of each node on, a BRIDGE of its own included, and `later[g]` after
    its end.
    """

    swaps: int
    onward: IntArray
    later: IntArray


def bound_swaps(
    dag: GateDag,
    coupling: Coupling,
    params: ProofParams = DEFAULT,
    fixed: IndexArray | None = None,
    stop: Callable[[], bool] = bool,
) -> SwapBound:
    """Return a lower bound on the SWAPs and BRIDGEs of a circuit, outside of control flow.

    `fixed[n]` is the layout that routes start from, None where that is open. Gates inside control flow are left out, a
    gate is a BRIDGE only where it may be one. Deterministic but for `stop`, which ends the count early; at most one
    search a gate and direction.
    """
    sets, nearest = PairSets(dag, coupling, params), np.zeros(len(dag.pairs), np.int64)
    if fixed is not None:
        sets.note_layout(fixed)
        nearest = _count_moves_of_fixed(dag, coupling, fixed)

    def ends() -> bool:
        """Return whether a count ends that searches alone raise."""
        return sets.is_spent or stop()

    ahead = _count_along(dag, sets.bits, sets, nearest.tolist(), ends if fixed is None else stop)
    back = _count_along(dag.reverse(), sets.bits[::-1], sets, [0] * len(nearest), ends)
    most = max(ahead.most, back.most, _count_missing(sets.pairs, coupling, fixed))
    return SwapBound(most, np.array(back.end[::-1], np.int64), np.array(back.begin[::-1], np.int64))


def _count_moves_of_fixed(dag: GateDag, coupling: Coupling, fixed: IndexArray) -> IntArray:
    """Return how many SWAPs and BRIDGEs it takes at least to carry out each node alone from a layout."""
    # A SWAP brings two qubits nearer by one hop, and a BRIDGE spans two.
    hops = coupling.hops[fixed[dag.pairs[:, 0]], fixed[dag.pairs[:, 1]]].astype(np.int64)
    return np.where(dag.pairs[:, 0] >= 0, hops - 1, 0)


class _Counts(NamedTuple):
    """Return how many SWAPs and BRIDGEs come before each node, how many by its end, and how many by the last end."""

    begin: list[int]
    end: list[int]
    most: int


def _count_along(
    dag: GateDag, bits: list[int], sets: PairSets, nearest: list[int], stop: Callable[[], bool]
) -> _Counts:
    """Count along a circuit in which `nearest[v]` SWAPs and BRIDGEs come by the end of v, and `bits[v]` is its pair.

    O(g) sets of pairs.
    """
    first, after, bridge = dag.first.tolist(), dag.after.tolist(), dag.bridge.tolist()
    begin, ends, before = [0] * len(bits), [0] * len(bits), [0] * len(bits)
    most = last = 0
    for v, own in enumerate(bits):
        if v % NODES == 0 and stop():
            return _Counts(begin, ends, most)
        # What is done with is given up, as sets of a long circuit take kilobytes each.
        begun, window, before[v] = begin[v], before[v], 0
        if nearest[v] - bridge[v] > begun:
            begun, window = nearest[v] - bridge[v], 0
        window |= own
        end = max(begun + (not sets.embeds(window)), nearest[v])
        # A gate that is no BRIDGE runs after the SWAP that it needs, so it belongs to what follows.
        if end > begun:
            window = 0 if bridge[v] else own
        begin[v], ends[v] = begun, end
        if end > most:
            most, last = end, 0
        last |= window if end == most else 0
        for w in after[first[v] : first[v + 1]]:
            if end > begin[w]:
                begin[w], before[w] = end, 0
            before[w] |= window if end == begin[w] else 0
    return _Counts(begin, ends, most + (not sets.embeds(last)))


def _count_missing(pairs: IndexArray, coupling: Coupling, fixed: IndexArray | None) -> int:
    """Return how many SWAPs and BRIDGEs it takes at least to make all pairs adjacent, each at some time.

    At the start a qubit is beside at most as many partners as its device qubit has neighbours. A SWAP makes that many
    new pairs of qubits adjacent as its two device qubits have neighbours that they do not share, and a BRIDGE serves
    one.
    """
    near = [set(row[row >= 0].tolist()) for row in coupling.neighbours]
    gains = (max(len(near[p] ^ near[q]) - 2, 1) for p, q in coupling.edges.tolist())
    if fixed is None:
        partners = np.sort(np.bincount(pairs.ravel(), minlength=coupling.size))[::-1]
        room = np.sort((coupling.neighbours >= 0).sum(axis=1))[::-1]
        # Of all ways to give qubits of many partners device qubits, degrees in the same order leave the fewest.
        missing = int(np.maximum(partners - room, 0).sum())
    else:
        missing = 2 * int((coupling.hops[fixed[pairs[:, 0]], fixed[pairs[:, 1]]] > 1).sum())
    # Every pair counts for both of its qubits.
    return -(-missing // (2 * max(gains, default=1)))
