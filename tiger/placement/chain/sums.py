"""Cuts at given positions with the smallest sum of loads, none above a limit."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.rounding import TIE
from tiger.placement.chain.layered_graph import LayeredGraph
from tiger.placement.chain.range_minima import Windows

# Numbers of a table at a time: 2 MB, so that its chunks stay in the cache of a core.
CHUNK = 1 << 18


class CutCosts(NamedTuple):
    """Hold cuts, the largest of their loads and the sum of all."""

    cuts: tuple[int, ...]
    bottleneck_s: float
    total_s: float


class StageCosts(NamedTuple):
    """Hold the costs of a stage by boundary: seconds of all layers before, of messages in and out, its last ends."""

    ahead_s: FloatArray
    received_s: FloatArray
    sent_s: FloatArray
    last: IntArray


def min_sum(stages: list[StageCosts], limit_s: float) -> CutCosts:
    """Return the cuts with the smallest sum of loads among those within a limit, which some cuts have to keep.

    Exact. O(S r w), where w is the longest run of layers within the limit, and r the range of boundaries that a stage
    can begin at: narrow where the limit is.
    """
    totals: FloatArray = np.full(len(stages[0].last), np.inf)
    totals[-1] = 0.0
    behind = []
    for stage, rows in zip(reversed(stages), reversed(ranges(stages, limit_s)), strict=True):
        totals, ends = _sums_before(stage, totals, limit_s, rows)
        behind.append(ends)
    return costs_of_cuts(stages, _trace_cuts(behind))


def min_unlimited_sum(stages: list[StageCosts]) -> CutCosts:
    """Return the cuts with the smallest sum of loads, where some cuts are allowed; O(S L log L)."""
    totals: FloatArray = np.full(len(stages[0].last), np.inf)
    totals[-1] = 0.0
    cost = [totals]
    for stage in reversed(stages):
        beyond = (stage.sent_s + stage.ahead_s + cost[-1])[None]
        cost.append(Windows.of(stage.last).minima(beyond)[0] - stage.ahead_s + stage.received_s)
    cuts = [0]
    for stage, beyond in zip(stages, reversed(cost[:-1]), strict=True):
        ends = slice(cuts[-1] + 1, stage.last[cuts[-1]] + 1)
        cuts.append(cuts[-1] + 1 + int(np.argmin((stage.sent_s + stage.ahead_s + beyond)[ends])))
    return costs_of_cuts(stages, tuple(cuts))


def ranges(stages: list[StageCosts], limit_s: float) -> list[slice]:
    """Return the boundaries that each stage may begin at when all keep a limit, by layers alone; O(S L)."""
    ends = [np.arange(len(stage.last)) + _counts(stage, limit_s) for stage in stages]
    far = [0]
    for end in ends[:-1]:
        far.append(int(end[: far[-1] + 1].max()))
    near = [len(ends[0]) - 1]
    for end in reversed(ends):
        near.append(int(np.argmax(end >= near[-1])))
    return [slice(first, last + 1) for first, last in zip(near[:0:-1], far, strict=True)]


def costs_of_cuts(stages: list[StageCosts], cuts: tuple[int, ...]) -> CutCosts:
    """Return cuts with the loads that they make."""
    loads = [
        float(stage.sent_s[j] + stage.ahead_s[j] - stage.ahead_s[i] + stage.received_s[i])
        for stage, (i, j) in zip(stages, pairwise(cuts), strict=True)
    ]
    return CutCosts(cuts, max(loads), sum(loads))


def count_pairs(stages: list[StageCosts], limit_s: float) -> int:
    """Return how many pairs of boundaries `min_sum` compares."""
    each = zip(stages, ranges(stages, limit_s), strict=True)
    return sum((rows.stop - rows.start) * _width(stage, rows, limit_s) for stage, rows in each)


def stage_costs_of(graph: LayeredGraph) -> list[StageCosts]:
    """Return the costs of the stages of a graph of one line, from the first on."""
    none = np.zeros(graph.sent_s.shape[1])
    costs = []
    for number in range(len(graph.levels)):
        level = graph.levels[len(graph.levels) - 1 - number]
        owner = int(level.owner[0])
        received = graph.sent_s[number - 1] if number else none
        sent = graph.sent_s[number] if number < len(graph.levels) - 1 else none
        costs.append(StageCosts(graph.ahead_s[owner], received, sent, level.windows[owner].last))
    return costs


def _counts(stage: StageCosts, limit_s: float) -> IntArray:
    """Return, for each start, how many ends there are that the stage can hold and whose layers are within the limit."""
    within = np.searchsorted(stage.ahead_s, (stage.ahead_s + limit_s) * (1 + TIE), side="right") - 1
    # A little too many at most, for the loads are compared in full as well.
    return np.minimum(stage.last, within) - np.arange(len(within))


def _width(stage: StageCosts, rows: slice, limit_s: float) -> int:
    """Return the largest number of ends of the starts in a range, at least 1."""
    return max(int(_counts(stage, limit_s)[rows].max()), 1)


def _sums_before(stage: StageCosts, totals: FloatArray, limit_s: float, among: slice) -> tuple[FloatArray, IntArray]:
    """Return the smallest sums from each start of a stage on, and where the stage then ends, for a range of starts."""
    size, width, counts = len(totals), _width(stage, among, limit_s), _counts(stage, limit_s)
    padding = np.full(width, np.inf)
    costs = sliding_window_view(np.concatenate([(stage.sent_s + stage.ahead_s)[1:], padding]), width)
    beyond = sliding_window_view(np.concatenate([totals[1:], padding]), width)
    # Bellman's recursion, backwards: the load of a stage, and the smallest sum behind each of its ends.
    least, ends = np.full(size, np.inf), np.zeros(size, np.int64)
    chunk = max(CHUNK // width, 1)
    for first in range(among.start, among.stop, chunk):
        rows = slice(first, min(first + chunk, among.stop))
        loads = costs[rows] - stage.ahead_s[rows, None] + stage.received_s[rows, None]
        held = (loads <= limit_s) & (np.arange(width) < counts[rows, None])
        sums = np.where(held, loads + beyond[rows], np.inf)
        picks = sums.argmin(axis=1)
        least[rows] = sums[np.arange(len(picks)), picks]
        ends[rows] = np.arange(rows.start, rows.stop) + 1 + picks
    return least, ends


def _trace_cuts(behind: list[IntArray]) -> tuple[int, ...]:
    """Return the cuts from the first boundary on, by the end of a stage for each of its starts, last stage first."""
    cuts = [0]
    for ends in reversed(behind):
        cuts.append(int(ends[cuts[-1]]))
    return tuple(cuts)
