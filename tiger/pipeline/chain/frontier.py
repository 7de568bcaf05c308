"""Cuts that trade the sum of loads for the largest of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.pipeline.chain.cut_dp import one_line, split
from tiger.pipeline.chain.minimax import TIE
from tiger.pipeline.chain.params import LineParams, never_stop
from tiger.pipeline.chain.sums import Total, count_pairs, least_sum, least_sum_of_all, stages_of, total
from tiger.pipeline.costs.stages import Position
from tiger.pipeline.models.layers import Layers

LEVELS = 16
WORK_LIMIT = 40_000_000
FORWARD_WEIGHTS = (1.0, 0.5, 0.75, 1.5, 2.0)
SAME_MIX = 1e-3

Cuts = tuple[int, ...]


def frontier(
    layers: Layers,
    positions: Sequence[Position],
    transfers_s: FloatArray,
    params: LineParams,
    stop: Callable[[], bool] = never_stop,
) -> tuple[Total, ...]:
    r"""Return cuts of which none has both a smaller sum of loads and a smaller largest load than another.

    The first has the least bottleneck and, with that, the least sum; the last the least sum of all. Between them the
    largest load is bounded at 16 levels in geometric progression, so that one of them comes close to the least

    .. math:: \sum_j t_j + (m - 1) \max_j t_j

    for any number m of microbatches, the time of an iteration as in Alpa. Fewer levels where they would take more than
    `WORK_LIMIT` steps of about 10 ns. Empty where nothing fits. Source: Zheng et al., Alpa,
    OSDI 2022, arXiv:2201.12023.
    """
    best = split(layers, positions, transfers_s, params, stop)
    if best is None:
        return ()
    stages = stages_of(one_line(layers, positions, transfers_s, params))
    found, left = [total(stages, best.cuts), least_sum_of_all(stages)], WORK_LIMIT
    tightest = best.bottleneck_s * (1 + TIE)
    # One microbatch asks for the least sum; for two and more, what the sum can gain has to make up for the bottleneck.
    gain = found[0].total_s - found[1].total_s
    worth = max(min(found[1].bottleneck_s, tightest + gain), tightest)
    for limit in np.geomspace(tightest, worth, LEVELS)[::-1] if tightest else ():
        # The least sum within a limit is often within a tighter one as well, which then needs no look.
        if limit > tightest and limit >= found[-1].bottleneck_s:
            continue
        left -= count_pairs(stages, limit)
        if left < 0 or stop():
            break
        found.append(least_sum(stages, limit))
    return _pareto(found)


def mixes(
    layers: Layers,
    positions: Sequence[Position],
    transfers_s: FloatArray,
    params: LineParams,
    stop: Callable[[], bool] = never_stop,
) -> tuple[Cuts, ...]:
    """Return different cuts on the frontiers of several weights of forward passes, those of weight 1 first.

    Where layers differ in the ratio of their passes, as with frozen ones, the sum of both is not what a schedule waits
    for; which weight suits it best is for a simulation to tell. One weight is enough where the ratio is the same.
    """
    ratio = layers.forward_s * layers.backward_s.sum() - layers.backward_s * layers.forward_s.sum()
    mixed = np.abs(ratio).max() > SAME_MIX * layers.forward_s.sum() * layers.backward_s.sum()
    found: dict[Cuts, None] = {}
    for weight in FORWARD_WEIGHTS if mixed else FORWARD_WEIGHTS[:1]:
        if found and stop():
            break
        weighted = [replace(position, forward_s=position.forward_s * weight) for position in positions]
        found.update((point.cuts, None) for point in frontier(layers, weighted, transfers_s, params, stop))
    return tuple(found)


def _pareto(found: Iterable[Total]) -> tuple[Total, ...]:
    """Return the cuts that no others better in both respects, by rising bottleneck."""
    kept: list[Total] = []
    for cuts in sorted(found, key=lambda cuts: (cuts.bottleneck_s, cuts.total_s, cuts.cuts)):
        if not kept or cuts.total_s < kept[-1].total_s * (1 - TIE):
            kept.append(cuts)
    return tuple(kept)
