"""The seconds that ranks with the same layers spend on messages to each other, in passes and after an iteration.

Ranks with the same layers are `ranks[d, t]`: groups of context ranks and of expert ranks are runs of consecutive rows,
and experts are the same in every `expert`-th row.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.collectives import all_gather_s, all_to_all_s
from tiger.training.models.traffic import GroupTraffic

Collective = Callable[[Cluster, IntArray, ArrayLike], FloatArray]


def group_passes_s(traffic: GroupTraffic, cluster: Cluster, ranks: IntArray) -> FloatArray:
    """Return the seconds `[d, 2, L]` that each of d rows of ranks spends in forward and in backward passes."""
    tensor, again = ranks.shape[1], 1 + traffic.repeats
    spent = np.zeros((len(ranks), 2, len(again)))
    # A layer that is recomputed is gathered once for both its passes.
    gathered = _gather_s(traffic.pass_gathered_bytes / tensor, cluster, ranks, traffic.expert)
    spent += gathered
    spent[:, 1] += _gather_s(traffic.pass_scattered_bytes / tensor, cluster, ranks, traffic.expert)
    passed = _runs_s(all_gather_s, cluster, ranks, traffic.context, traffic.context_bytes / tensor)
    spent += passed[:, None] * np.array([np.ones(len(again)), 1 + again])
    exchanged = _runs_s(all_to_all_s, cluster, ranks, traffic.expert, traffic.exchanged_bytes / tensor)
    spent += exchanged[:, None] * np.array([np.ones(len(again)), again])
    return spent


def closing_rings_s(cluster: Cluster, grid: IntArray, sent_bytes: FloatArray, expert: int) -> FloatArray:
    """Return the seconds [p] after an iteration on a grid `[p, d, t]`.

    Of `sent_bytes[2, 2, p]` the first row is reduce-scattered, the second all-gathered; dense layers, then experts.
    """
    if grid.shape[1] == 1:
        return np.zeros(len(grid))
    halves = sent_bytes.transpose(2, 0, 1)
    return np.array(
        [
            sum(float(_gather_s(part[:, None], cluster, ranks, expert)[0]) for part in parts)
            for ranks, parts in zip(grid, halves, strict=True)
        ]
    )


def _gather_s(size_bytes: FloatArray, cluster: Cluster, ranks: IntArray, expert: int) -> FloatArray:
    """Return the seconds [L] of gathering `size_bytes[2, L]`, dense layers and experts, of the slowest ring."""
    dense, experts = size_bytes
    spent = all_gather_s(cluster, ranks, dense) if dense.any() else np.zeros(len(dense))
    if not experts.any() or len(ranks) == expert:
        return spent
    return spent + all_gather_s(cluster, ranks.reshape(len(ranks) // expert, -1), experts)


def _runs_s(collective: Collective, cluster: Cluster, ranks: IntArray, size: int, sent_bytes: FloatArray) -> FloatArray:
    """Return the seconds `[d, L]` that each row spends on a collective among its run of `size` rows."""
    if size == 1 or not sent_bytes.any():
        return np.zeros((len(ranks), len(sent_bytes)))
    spent = [collective(cluster, group, sent_bytes) for group in ranks.reshape(-1, size, ranks.shape[1])]
    return np.repeat(spent, size, axis=0)
