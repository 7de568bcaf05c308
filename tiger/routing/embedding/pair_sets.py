"""Sets of pairs of a circuit's qubits, and which of them no layout makes adjacent all at once."""

from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import BoolArray
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.embedding import Embedder
from tiger.routing.gate_dag import GateDag

# Layouts that a set is compared with before a search, the last ones found: a few more or less take as long.
KEPT = 32
# What a search costs besides its calls, in calls: 0.25 ms, where a call on 127 qubits takes 3 us.
SEARCH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofParams:
    """Set how long proofs are looked for, in calls (places tried for a qubit): `work` in all, `one` for a set at most.

    More for a set has hardly raised a bound; `python -m benchmarks bounds` measures what these reach.
    """

    work: int = 1_000_000
    one: int = 2_000


class PairSets:
    """Decide which sets of a circuit's pairs embed in a device.

    A set is a number whose bit k stands for `pairs[k]`, `bits[v]` that of node v of the gate DAG, 0 for a node without.
    """

    def __init__(self, dag: GateDag, coupling: Coupling, params: ProofParams) -> None:
        ends = np.sort(dag.pairs, axis=1)
        self.pairs, number = np.unique(ends[ends[:, 0] >= 0], axis=0, return_inverse=True)
        self.bits = [0] * len(ends)
        for v, k in zip(np.flatnonzero(ends[:, 0] >= 0).tolist(), number.ravel().tolist(), strict=True):
            self.bits[v] = 1 << k
        self._qubits, self._embedder = dag.qubits, Embedder(coupling)
        self._left, self._one = params.work, params.one
        self._known = {0: True}
        self._layouts = list[int]()

    @property
    def is_spent(self) -> bool:
        """Return whether no work is left, so that no set is searched any more."""
        return self._left <= 0

    def embeds(self, chosen: int) -> bool:
        """Return whether a layout may make all pairs of a set adjacent; False is proved, True may be undecided."""
        # Without work left no search follows, and sets of a long circuit take kilobytes each to keep.
        known = self._known.get(chosen, True if self.is_spent else None)
        if known is None:
            known = self._known[chosen] = any(not chosen & ~layout for layout in self._layouts) or self._search(chosen)
        return known

    def note_layout(self, place: IndexArray) -> None:
        """Note that the pairs adjacent in a layout embed; `place[n]` is -1 for qubits without a place."""
        ends = place[self.pairs]
        adjacent = (ends >= 0).all(axis=1) & (self._embedder.coupling.hops[ends[:, 0], ends[:, 1]] == 1)
        self._layouts.insert(0, _set_of(adjacent))
        del self._layouts[KEPT:]

    def _search(self, chosen: int) -> bool:
        """Return the answer of a search about a set, True where it does not end."""
        found = self._embedder.decide(self.pairs[_list_members(chosen)], self._one)
        self._left -= found.calls + SEARCH
        if found.place is not None:
            place = np.full(self._qubits, -1, np.int32)
            place[: len(found.place)] = found.place
            self.note_layout(place)
        return found.place is not None or not found.complete


def _set_of(members: BoolArray) -> int:
    """Return the set of the pairs that are marked."""
    return int.from_bytes(np.packbits(members, bitorder="little").tobytes(), "little")


def _list_members(chosen: int) -> list[int]:
    """Return the numbers of the pairs of a set."""
    octets = np.frombuffer(chosen.to_bytes(chosen.bit_length() // 8 + 1, "little"), np.uint8)
    members: list[int] = np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()
    return members
