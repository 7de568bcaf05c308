"""The arrays of a beam search: its states, their options, and what each level took, allocated once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiger.model.arrays import FloatArray, IntArray
from tiger.routing.coupling import IndexArray
from tiger.routing.swaps.frontier import RoutingArrays
from tiger.routing.swaps.fronts import Fronts, allocate_fronts
from tiger.solvers.lehmer import RNG_MODULUS
from tiger.solvers.records import allocate_records

# How many steps of a state may be tried: an array is as long for each of them.
OPTIONS = 6
# Neighbours are padded to a multiple of this, so that compiled loops over them take several at once.
LANES = 4
# Odd multipliers that spread positions over 31 bits: factors of Lehmer's generator (see `tiger.solvers.lehmer`).
FACTORS = (48_271, 16_807, 69_621)

# Bytes for `change`, above which there are no beams: on a device whose qubits have a few neighbours each there is room
# for 8,000 of them, but where one qubit is next to all others only for 640.
MOST_BYTES = 1 << 28

PlaceArray = NDArray[np.int16]
ChangeArray = NDArray[np.int8]


class BeamHeader:
    """Say of a state which front it has, how many gates are left, its hash, and what it has paid."""

    front: int
    left: int
    hash: int
    paid: int


class Moves(NamedTuple):
    """Hold what moves on a device change, for S slots and N device qubits of at most d neighbours, padded to e of them.

    `change[p, r, k]` is by how much the distance to r grows when a qubit moves from p to neighbour k: 0 where that is r
    itself, as a SWAP of both leaves their distance. `back[p, d]` is which neighbour p is of the neighbour k.
    `place_key[s, p]` and `node_key[v]` are numbers for slots on device qubits and for nodes done.
    """

    change: ChangeArray
    back: IndexArray
    place_key: IntArray
    node_key: IntArray


class Beam(NamedTuple):
    """Hold the states of a beam, three rows for each that goes on, allocated once and used for many.

    Of the circuit qubits only those with gates left count: each has a slot, `slot[N]`, -1 for the others, which are all
    alike. A row has `place[r, s]`, the device qubits of the slots, what was `last[r, s]` on them, a `header[r]`, its
    `value[r]`, and its best options `gain[r, o]`, `option[r, o, 4]`: a step, and the slots of a SWAP's qubits, -1 for
    none. `start_need[g]` and `start_place[N]` are the counts and the mapping at the beginning. `alive` and `free` are
    rows. `keys` and `order` serve to select. `origin[l, b]` and `taken[l, b, 2]` say for the states that level l leaves
    which state of the level before they come from, and by which step. `seen[t]` are hashes. `holder[N]` is which slot
    is on a device qubit, `ahead[s, e]` what the moves of a slot change, both scratch.
    """

    moves: Moves
    fronts: Fronts
    slot: IndexArray
    place: PlaceArray
    last: IndexArray
    header: Sequence[BeamHeader]
    value: FloatArray
    gain: FloatArray
    option: IndexArray
    start_need: IndexArray
    start_place: IndexArray
    alive: IndexArray
    free: IndexArray
    keys: FloatArray
    order: IndexArray
    origin: IndexArray
    taken: IndexArray
    seen: IntArray
    holder: IndexArray
    ahead: FloatArray


def build_moves(arrays: RoutingArrays) -> Moves:
    """Return the changes by moves on a device; O(N^2 d + g)."""
    neighbours, hops, count = arrays.neighbours, arrays.hops.astype(np.int32), len(arrays.pairs)
    size, degree = neighbours.shape
    change = np.zeros((size, size, _pad(degree)), np.int8)
    back = np.zeros((size, degree), np.int32)
    for k in range(degree):
        p = np.flatnonzero(neighbours[:, k] >= 0)
        q = neighbours[p, k]
        change[p, :, k] = hops[q] - hops[p]
        change[p, q, k] = 0
        back[p, k] = (neighbours[q] == p[:, None]).argmax(axis=1)
    place_keys = _hash_position(np.arange(_count_slots(arrays))[:, None], np.arange(size))
    return Moves(change, back, place_keys, _hash_position(np.array(-1), np.arange(count)))


def leave_moves_out() -> Moves:
    """Return the empty moves of routings without beams."""
    none = np.zeros((0, 0), np.int32)
    return Moves(np.zeros((0, 0, 0), np.int8), none, np.zeros((0, 0), np.int64), np.zeros(0, np.int64))


def fits_beams(arrays: RoutingArrays) -> bool:
    """Return whether what moves change finds room."""
    size, degree = arrays.neighbours.shape
    return bool(size * size * _pad(degree) <= MOST_BYTES)


def _pad(degree: int) -> int:
    """Return the number of neighbours with padding."""
    return -(-degree // LANES) * LANES


def _count_slots(arrays: RoutingArrays) -> int:
    """Return how many qubits have gates."""
    return len(np.unique(arrays.pairs[arrays.pairs >= 0]))


def _hash_position(a: IntArray, p: IntArray) -> IntArray:
    """Return a number for circuit qubit a on device qubit p, or for node p when a is -1."""
    mixed = (a + 2) * FACTORS[0] % RNG_MODULUS + (p + 1) * FACTORS[1]
    hashed: IntArray = mixed % RNG_MODULUS * FACTORS[2] % RNG_MODULUS * FACTORS[0] % RNG_MODULUS
    return hashed


def allocate_beam(arrays: RoutingArrays, width: int, most: int, moves: Moves) -> Beam:
    """Allocate a beam of up to `width` states for up to `most` levels."""
    count, size, rows = len(arrays.pairs), len(arrays.hops), 3 * width
    slots = _count_slots(arrays)

    def zeros(*shape: int) -> IndexArray:
        return np.zeros(shape, np.int32)

    return Beam(
        moves=moves,
        fronts=allocate_fronts(count, slots, width),
        slot=zeros(size),
        place=np.zeros((rows, slots), np.int16),
        last=zeros(rows, slots),
        header=allocate_records(BeamHeader, rows),
        value=np.zeros(rows),
        gain=np.zeros((rows, OPTIONS)),
        option=zeros(rows, OPTIONS, 4),
        start_need=zeros(count),
        start_place=zeros(size),
        alive=zeros(width),
        free=zeros(rows),
        keys=np.zeros(rows * OPTIONS),
        order=zeros(rows * OPTIONS),
        origin=zeros(most + 1, width),
        taken=zeros(most + 1, width, 2),
        seen=np.zeros(8 * width, np.int64),
        holder=np.full(size, -1, np.int32),
        ahead=np.zeros((slots, moves.change.shape[2])),
    )
