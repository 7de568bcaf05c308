r"""The shares of replicas for which the largest load of a device is least, exactly, by paths from full to free devices.

With loads \(w_e\) of experts and speeds \(s_g\) of devices, this solves the linear program of LPLB (deepseek-ai/LPLB)

\[ \min t \quad \text{such that} \quad \sum_{g \ni e} x_{eg} = w_e, \quad \sum_e x_{eg} \le t s_g, \quad x \ge 0, \]

whose optimum is \(\max_D \sum_{e \text{ on } D \text{ alone}} w_e / \sum_{g \in D} s_g\) over sets D of devices, by the
theorem of max flow and min cut (Ford and Fulkerson, 1956, doi:10.4153/CJM-1956-045-5).
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

# Shares and loads over speed that differ by less of the mean are the same.
SAME = 1e-10
# Sums of the same loads differ by a smaller part.
ROUNDING = 1e-14


class ShareBoard(NamedTuple):
    """Hold a layer's map and the shares of K batches that are being balanced on it.

    `slots[S]` are experts, whose `number[E]` of slots are listed in `where[E, M]`, at `rank[S]` there. Devices have
    `size[1]` slots each and `speed[G]`. In batch k, slots carry `share[K, S]`, devices `load[K, G]`, of which the
    largest over speed is `peak[K]`; where it is above 1, the mean, devices in `tight[K, G]` have all of it, and no
    share that could go elsewhere. The rest is scratch of the search for paths.
    """

    slots: IntArray
    number: IntArray
    where: IntArray
    rank: IntArray
    size: IntArray
    speed: FloatArray
    share: FloatArray
    load: FloatArray
    peak: FloatArray
    tight: IntArray
    queue: IntArray
    seen: IntArray
    leaves: IntArray
    enters: IntArray


def set_board(slots: IntArray, speed: FloatArray, weight: FloatArray) -> ShareBoard:
    """Return the board of a map [S] with equal shares of batches [K, E], to be balanced.

    Batches are to have as many tokens as the sum of the speeds, so that 1 is the mean.
    """
    experts, devices = weight.shape[1], len(speed)
    number = np.bincount(slots, minlength=experts)
    order = np.argsort(slots, kind="stable")
    rank = np.empty_like(slots)
    rank[order] = np.arange(len(slots)) - (np.cumsum(number) - number)[slots[order]]
    where = np.full((experts, min(len(slots), int(number.max()) + len(slots) - experts)), -1)
    where[slots, rank] = np.arange(len(slots))
    share = weight[:, slots] / number[slots]
    return ShareBoard(
        slots=slots.copy(),
        number=number,
        where=where,
        rank=rank,
        size=np.array([len(slots) // devices]),
        speed=np.ascontiguousarray(speed, np.float64),
        share=np.ascontiguousarray(share),
        load=share.reshape(len(weight), devices, -1).sum(axis=2),
        peak=np.ones(len(weight)),
        tight=np.zeros((len(weight), devices), np.int64),
        queue=np.zeros(devices, np.int64),
        seen=np.zeros(devices, np.int64),
        leaves=np.zeros(devices, np.int64),
        enters=np.zeros(devices, np.int64),
    )


@kernel
def balance_board(board: ShareBoard) -> None:
    """Balance the shares of all batches of a board."""
    for k in range(len(board.share)):
        balance_batch(board, k, 1.0)


@inner_kernel
def balance_batch(board: ShareBoard, k: int, least: float) -> None:
    """Make the largest load over speed of a batch least, from the shares that it has; it is known to be >= `least`.

    The fullest device sends along a shortest path to one that has less than the target. Where none can be reached,
    the devices that can be are alone with all their experts, and their mean is the next target: it is a lower bound.
    """
    load, speed = board.load[k], board.speed
    target = least
    while True:
        top = 0
        for g in range(1, len(load)):
            if load[g] * speed[top] > load[top] * speed[g]:
                top = g
        if load[top] <= (target + SAME) * speed[top]:
            break
        count, found = _find_path(board, k, top, target)
        if found >= 0:
            _send(board, k, top, found, target)
            continue
        all_load, all_speed = 0.0, 0.0
        for i in range(count):
            all_load += load[board.queue[i]]
            all_speed += speed[board.queue[i]]
        # Loads that are around the target by errors of rounding must not keep it where it is for ever.
        if all_load / all_speed <= target * (1.0 + ROUNDING):
            break
        target = all_load / all_speed
        for g in range(len(load)):
            board.tight[k, g] = board.seen[g]
    board.peak[k] = target


@inner_kernel
def _find_path(board: ShareBoard, k: int, top: int, target: float) -> tuple[int, int]:
    """Return how many devices are reached from the fullest one, and the first below the target, -1 for none.

    A device is reached from another that carries some of an expert that it has as well (Edmonds and Karp, 1972,
    doi:10.1145/321694.321699).
    """
    slots, share, queue, seen, size = board.slots, board.share[k], board.queue, board.seen, board.size[0]
    for g in range(len(seen)):
        seen[g] = 0
    queue[0], seen[top] = top, 1
    count, i = 1, 0
    while i < count:
        first, least = queue[i] * size, SAME * board.speed[queue[i]]
        i += 1
        for s in range(first, first + size):
            e = slots[s]
            if board.number[e] < 2 or share[s] <= least:
                continue
            for j in range(board.number[e]):
                other = board.where[e, j]
                q = other // size
                if seen[q]:
                    continue
                seen[q], board.leaves[q], board.enters[q] = 1, s, other
                queue[count] = q
                count += 1
                if board.load[k, q] < (target - SAME) * board.speed[q]:
                    return count, q
    return count, -1


@inner_kernel
def _send(board: ShareBoard, k: int, top: int, last: int, target: float) -> None:
    """Send as much as the path to a device allows, at most what one end is above and the other below the target."""
    share, load, size = board.share[k], board.load[k], board.size[0]
    amount = min(load[top] - target * board.speed[top], target * board.speed[last] - load[last])
    q = last
    while q != top:
        amount = min(amount, share[board.leaves[q]])
        q = board.leaves[q] // size
    q = last
    while q != top:
        share[board.leaves[q]] -= amount
        share[board.enters[q]] += amount
        q = board.leaves[q] // size
    load[top] -= amount
    load[last] += amount
