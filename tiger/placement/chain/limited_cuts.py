"""The cheapest cuts at given positions, no load above a limit: by the sum of loads, or by what moves to them take."""

from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.rounding import TIE
from tiger.placement.chain.layered_graph import LayeredGraph
from tiger.placement.chain.range_minima import Windows
from tiger.solvers.kernel import allocating_kernel


class CutCosts(NamedTuple):
    """Hold cuts, the largest of their loads and the sum of all."""

    cuts: tuple[int, ...]
    bottleneck_s: float
    total_s: float


class StageCosts(NamedTuple):
    """Hold the costs of S stages by boundary [S, L + 1].

    They are the seconds of all layers before, those of messages in and out, and the last boundary at which a run of
    layers ends that a stage can hold, by that at which it begins.
    """

    ahead_s: FloatArray
    received_s: FloatArray
    sent_s: FloatArray
    last: IntArray

    @classmethod
    def of(cls, graph: LayeredGraph) -> Self:
        """Return the costs of the stages of a graph of one line, from the first on."""
        levels = graph.levels[::-1]
        owners = [int(level.owner[0]) for level in levels]
        none = np.zeros((1, graph.sent_s.shape[1]))
        return cls(
            ahead_s=graph.ahead_s[owners],
            received_s=np.vstack([none, graph.sent_s]),
            sent_s=np.vstack([graph.sent_s, none]),
            last=np.array([level.windows[owner].last for level, owner in zip(levels, owners, strict=True)], np.int64),
        )


def min_sum(stages: StageCosts, limit_s: float) -> CutCosts:
    """Return the cuts with the smallest sum of loads among those within a limit, which some cuts have to keep; exact.

    O(S r w), where w is the longest run of layers within the limit, and r the range of boundaries that a stage can
    begin at: narrow where the limit is.
    """
    prices = (stages.ahead_s - stages.received_s, stages.ahead_s + stages.sent_s)
    return costs_of_cuts(stages, tuple(cheapest_cuts(stages, prices, limit_s, ranges(stages, limit_s))[1].tolist()))


def min_unlimited_sum(stages: StageCosts) -> CutCosts:
    """Return the cuts with the smallest sum of loads, where some cuts are allowed; O(S L log L)."""
    count, size = stages.last.shape
    beyond = np.full((count + 1, size), np.inf)
    beyond[-1, -1] = 0.0
    for j in range(count - 1, -1, -1):
        ends = (stages.sent_s[j] + stages.ahead_s[j] + beyond[j + 1])[None]
        beyond[j] = Windows.of(stages.last[j]).minima(ends)[0] - stages.ahead_s[j] + stages.received_s[j]
    cuts = [0]
    for j in range(count):
        ends = slice(cuts[-1] + 1, stages.last[j, cuts[-1]] + 1)
        cuts.append(cuts[-1] + 1 + int(np.argmin((stages.sent_s[j] + stages.ahead_s[j] + beyond[j + 1])[ends])))
    return costs_of_cuts(stages, tuple(cuts))


def ranges(stages: StageCosts, limit_s: float) -> IntArray:
    """Return the first and the last boundary [S, 2] that each stage may begin at within a limit, by layers; O(S L)."""
    ends = np.arange(stages.last.shape[1]) + _counts(stages, limit_s)
    far = [0]
    for end in ends[:-1]:
        far.append(int(end[: far[-1] + 1].max()))
    near = [ends.shape[1] - 1]
    for end in ends[::-1]:
        near.append(int(np.argmax(end >= near[-1])))
    return np.array([near[:0:-1], far], np.int64).T.copy()


def costs_of_cuts(stages: StageCosts, cuts: tuple[int, ...]) -> CutCosts:
    """Return cuts with the loads that they make."""
    loads = [
        float(stages.sent_s[k, j] + stages.ahead_s[k, j] - stages.ahead_s[k, i] + stages.received_s[k, i])
        for k, (i, j) in enumerate(pairwise(cuts))
    ]
    return CutCosts(cuts, max(loads), sum(loads))


def count_pairs(stages: StageCosts, limit_s: float) -> int:
    """Return how many pairs of boundaries `min_sum` compares at most."""
    rows, widths = ranges(stages, limit_s), np.maximum(_counts(stages, limit_s).max(axis=1), 1)
    return int(((rows[:, 1] - rows[:, 0] + 1) * widths).sum())


def _counts(stages: StageCosts, limit_s: float) -> IntArray:
    """Return, for each stage and start, how many ends it can hold whose layers are within the limit."""
    reach = (stages.ahead_s + limit_s) * (1 + TIE)
    within = [np.searchsorted(*each, side="right") - 1 for each in zip(stages.ahead_s, reach, strict=True)]
    # A little too many at most, for the loads are compared in full as well.
    return np.asarray(np.minimum(stages.last, within) - np.arange(stages.last.shape[1]))


@allocating_kernel
def cheapest_cuts(
    stages: StageCosts, prices: tuple[FloatArray, FloatArray], limit_s: float, rows: IntArray
) -> tuple[float, IntArray]:
    """Return the least price of cuts whose loads are within a limit, infinite if there are none, and the cuts [S + 1].

    A stage from boundary i to j costs `prices[1][s, j] - prices[0][s, i]`, and begins at one of `rows[s]`, from first
    to last. Of cuts that cost the same those whose first stages are short. Exact; O(S r w) for ranges r of starts and
    stages of up to w layers within the limit.
    """
    count, size = stages.last.shape
    begun, ended = prices
    # beyond[s, i]: the least price of stage s and those behind it when it begins at boundary i (Bellman's recursion).
    beyond = np.full((count + 1, size), np.inf)
    follow = np.full((count + 1, size), size - 1)
    beyond[count, size - 1] = 0.0
    for s in range(count - 1, -1, -1):
        for i in range(rows[s, 0], rows[s, 1] + 1):
            for j in range(i + 1, min(stages.last[s, i], size - count + s) + 1):
                passed = stages.ahead_s[s, j] - stages.ahead_s[s, i]
                # The stage only gets longer from here on.
                if passed > limit_s:
                    break
                price = beyond[s + 1, j] + ended[s, j] - begun[s, i]
                if price < beyond[s, i] and passed + stages.sent_s[s, j] + stages.received_s[s, i] <= limit_s:
                    beyond[s, i] = price
                    follow[s, i] = j
    # Follow the ends from the first boundary; they mean nothing where no cuts are within the limit.
    cuts = np.zeros(count + 1, np.int64)
    for s in range(count):
        cuts[s + 1] = follow[s, cuts[s]]
    return beyond[0, 0], cuts
