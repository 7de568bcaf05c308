"""Replicas onto the GPUs of their pool, largest first."""

import numpy as np

from tiger.expert_maps.replicas.loads import count_replicas
from tiger.expert_maps.replicas.pools import Pools
from tiger.model.arrays import BoolArray, FloatArray, IntArray


def pack(pools: Pools, owners: IntArray) -> IntArray:
    """Return the experts of each slot, [pools, GPUs, slots of a GPU]: replicas in order of load, each to the lightest.

    LPT of Graham (1969, doi:10.1137/0117039) with as many replicas on every GPU; onto the GPU that is done first, where
    some are faster (Gonzalez, Ibarra and Sahni, 1977, doi:10.1137/0206013). Where the GPUs with room hold an
    expert as often as they may, another replica makes room for it. Slots that a GPU lacks are filled with the number
    behind the last expert. O(slots * GPUs) a pool.
    """
    count, rows = len(owners), np.arange(len(owners))
    share = pools.weight / count_replicas(owners, pools.experts)
    order = np.argsort(-np.take_along_axis(share, owners, axis=1), axis=1, kind="stable")
    queue = np.take_along_axis(owners, order, axis=1)
    slots = np.full((count, pools.gpus, pools.size), -1)
    load, filled = np.zeros((count, pools.gpus)), np.zeros((count, pools.gpus), np.int64)
    alike, speed, rooms = pools.alike, pools.speeds, pools.rooms
    for expert in queue.T:
        held = (slots == expert[:, None, None]).sum(axis=2)
        closed = (filled == rooms) | (held >= pools.copies)
        done = load if alike else (load + share[rows, expert][:, None]) / speed
        gpu, placed = np.where(closed, np.inf, done).argmin(axis=1), expert.copy()
        for row in np.flatnonzero(closed.all(axis=1)):
            if pools.room is None:
                gpu[row] = _make_room(slots[row], filled[row], held[row], pools)
            else:
                gpu[row], placed[row] = _replace_replica(slots[row], filled[row] < rooms[row], share[row], pools.copies)
            load[row] = np.where(slots[row] >= 0, share[row][slots[row]], 0.0).sum(axis=1)
        slots[rows, gpu, filled[rows, gpu]] = placed
        filled[rows, gpu] += 1
        load[rows, gpu] += share[rows, placed]
    slots[slots < 0] = pools.experts
    return slots


def _make_room(slots: IntArray, filled: IntArray, held: IntArray, pools: Pools) -> int:
    """Move a replica from a full GPU that may hold the expert to one with room, and return the former.

    The full one holds more replicas, and fewer of the expert, so it holds some other expert more often than the latter.
    """
    roomy = int(np.flatnonzero(filled < pools.size)[0])
    full = int(np.flatnonzero(held < pools.copies)[0])
    number = [int(np.sum(slots[full] == e) - np.sum(slots[roomy] == e)) for e in slots[full].tolist()]
    moved = int(np.argmax(number))
    slots[roomy, filled[roomy]] = slots[full, moved]
    filled[roomy] += 1
    filled[full] -= 1
    slots[full, moved] = slots[full, filled[full]]
    slots[full, filled[full]] = -1
    return full


def _replace_replica(slots: IntArray, roomy: BoolArray, share: FloatArray, copies: int) -> tuple[int, int]:
    """Return a GPU with room and the expert of the largest replica that it may hold, in place of one it may not.

    The latter has another replica: it is on all GPUs with room.
    """
    gpu = int(np.flatnonzero(roomy)[0])
    held = np.bincount(slots[gpu][slots[gpu] >= 0], minlength=len(share))
    return gpu, int(np.where(held < copies, share, -1.0).argmax())
