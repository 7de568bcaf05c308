"""The arrays of a beam search: its states, their options, and what each level took, allocated once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import IndexArray
from tiger.circuits.records import allocate_records
from tiger.circuits.routing.frontier import RoutingArrays
from tiger.model.arrays import FloatArray, IntArray

# How many steps of a state may be tried: an array is as long for each of them.
OPTIONS = 6


class Header:
    """Say of a state how long its front is, its gates left, which nodes are touched, its hash, and what it has paid."""

    front: int
    left: int
    low: int
    high: int
    hash: int
    paid: int


class Beam(NamedTuple):
    """Hold the states of a beam, three rows for each that goes on, allocated once and used for many.

    A row has the mapping `place[r, N]`, what was `last[r, N]`, the counts `need[r, g]` within a range, the
    `front[r, f]`, a `header[r]`, and its best options `gain[r, o]`, `option[r, o, 2]`. `start_need[g]` and
    `start_place[N]` are the counts and the mapping at the beginning, `busy[N]` is 1 for
    qubits with gates left there. `alive` and `free` are rows. `keys` and `order`
    serve to select. `origin[l, b]` and `taken[l, b, 2]` say for the states that level l leaves which state of the level
    before they come from, and by which step. `seen[t]` are hashes.
    """

    place: IndexArray
    last: IndexArray
    need: IndexArray
    front: IndexArray
    header: Sequence[Header]
    value: FloatArray
    gain: FloatArray
    option: IndexArray
    start_need: IndexArray
    start_place: IndexArray
    busy: IndexArray
    alive: IndexArray
    free: IndexArray
    keys: FloatArray
    order: IndexArray
    origin: IndexArray
    taken: IndexArray
    seen: IntArray


def allocate_beam(arrays: RoutingArrays, width: int, most: int) -> Beam:
    """Allocate a beam of up to `width` states for up to `most` levels."""
    count, size, rows = len(arrays.pairs), len(arrays.hops), 3 * width

    def zeros(*shape: int) -> IndexArray:
        return np.zeros(shape, np.int32)

    return Beam(
        place=zeros(rows, size),
        last=zeros(rows, size),
        need=zeros(rows, count),
        front=zeros(rows, count + 1),
        header=allocate_records(Header, rows),
        value=np.zeros(rows),
        gain=np.zeros((rows, OPTIONS)),
        option=zeros(rows, OPTIONS, 2),
        start_need=zeros(count),
        start_place=zeros(size),
        busy=zeros(size),
        alive=zeros(width),
        free=zeros(rows),
        keys=np.zeros(rows * OPTIONS),
        order=zeros(rows * OPTIONS),
        origin=zeros(most + 1, width),
        taken=zeros(most + 1, width, 2),
        seen=np.zeros(8 * width, np.int64),
    )
