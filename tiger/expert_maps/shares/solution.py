"""The shares of replicas in given batches, and the largest loads with them, with equal shares and with fixed ones."""

from typing import NamedTuple

import numpy as np

from tiger.expert_maps.params import Sharing
from tiger.expert_maps.replicas.loads import ExpertLoads, count_replicas
from tiger.model.arrays import FloatArray, IntArray


class ShareSolution(NamedTuple):
    """Hold the tokens of slots, [B, L, S], at which largest loads over speed, `largest` [B, L], are least."""

    tokens: FloatArray
    largest: FloatArray


def solve_shares(loads: ExpertLoads, slots: IntArray, batches: FloatArray) -> ShareSolution:
    """Return the best shares of the slots [L, S] of a map in batches [B, L, E], each for itself."""
    # Compiling waits until somebody asks.
    from tiger.expert_maps.shares.balancing import balance_board, set_board

    mean = batches.sum(axis=2) / loads.speeds.sum()
    tokens = np.zeros((*batches.shape[:2], slots.shape[1]))
    largest = np.zeros(batches.shape[:2])
    for layer, row in enumerate(slots):
        board = set_board(row, loads.speeds, scale_loads(batches[:, layer], mean[:, layer]))
        balance_board(board)
        tokens[:, layer] = board.share * mean[:, layer, None]
        largest[:, layer] = board.peak * mean[:, layer]
    return ShareSolution(tokens, largest)


def find_largest(loads: ExpertLoads, slots: IntArray, batches: FloatArray, sharing: Sharing) -> FloatArray:
    """Return the largest loads over speed of a map [L, S] in batches [B, L, E], [B, L]."""
    if sharing == "balanced":
        return solve_shares(loads, slots, batches).largest
    return np.asarray(
        (share_loads(loads, slots, share_equally(slots, loads.experts), batches) / loads.speeds).max(axis=2)
    )


def scale_loads(batches: FloatArray, mean: FloatArray) -> FloatArray:
    """Return loads [B, E] over the mean of devices in each batch, [B]; batches without tokens stay without."""
    return np.asarray(batches / np.where(mean > 0, mean, 1.0)[:, None])


def share_equally(slots: IntArray, experts: int) -> FloatArray:
    """Return equal shares of slots [L, S] in the tokens of their experts."""
    return np.asarray(1.0 / np.take_along_axis(count_replicas(slots, experts), slots, axis=1))


def fix_shares(loads: ExpertLoads, slots: IntArray, weight: FloatArray) -> FloatArray:
    """Return which share of its expert's tokens each slot [L, S] has at best for loads [L, E]: equal ones of none."""
    tokens = solve_shares(loads, slots, weight[None]).tokens[0]
    # Not those of the loads themselves, as tokens of tiny ones beside others are none.
    sums = np.zeros_like(weight)
    np.add.at(sums, (np.arange(len(slots))[:, None], slots), tokens)
    solved = np.take_along_axis(sums, slots, axis=1)
    return np.asarray(np.divide(tokens, solved, out=share_equally(slots, loads.experts), where=solved > 0))


def share_loads(loads: ExpertLoads, slots: IntArray, shares: FloatArray, batches: FloatArray) -> FloatArray:
    """Return the loads of devices in batches [B, L, E] by fixed shares [L, S] of slots, [B, L, G]."""
    held = np.take_along_axis(batches, np.broadcast_to(slots, (len(batches), *slots.shape)), axis=2) * shares
    return np.asarray(held.reshape(*batches.shape[:2], loads.num_gpus, -1).sum(axis=3))
