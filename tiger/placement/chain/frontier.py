"""Cuts on the frontier between the sum of loads and the largest of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.model.rounding import TIE
from tiger.placement.chain.fixed_order import positions_graph, split
from tiger.placement.chain.params import LineParams, never_stop
from tiger.placement.chain.sums import CutCosts, costs_of_cuts, count_pairs, min_sum, min_unlimited_sum, stage_costs_of
from tiger.training.costs.stages import Position
from tiger.training.models.layers import Layers

# The figures are those of `python -m benchmarks.vary_plans tiger.placement.chain.frontier:NAME ..` with profiles.
# Levels between the smallest bottleneck and the smallest sum: 4, 8 or 32 of them lead to the same plans, none to plans
# that take 0.03 % longer in the mean, and up to 1.5 % on random devices.
LEVELS = 16
# Steps of all levels together, about 10 ns each.
WORK_LIMIT = 40_000_000
# Weights of forward passes in the loads, against 1 of backward passes: with 1 alone an iteration is 0.15 % longer in
# the mean, and 4.5 % with GPipe on alexnet.
FORWARD_WEIGHTS = (1.0, 0.5, 0.75, 1.5, 2.0)
# Shares of a layer in forward and in backward passes that differ by less than this are the same: heads of transformers
# differ by up to 0.05 of a model, where more weights take five times as long and, up to here, lead to the same plans.
SAME_MIX = 0.05

Cuts = tuple[int, ...]


def frontier(
    layers: Layers,
    positions: Sequence[Position],
    transfers_s: FloatArray,
    params: LineParams,
    stop: Callable[[], bool] = never_stop,
) -> tuple[CutCosts, ...]:
    r"""Return cuts of which none has both a smaller sum of loads and a smaller largest load than another.

    The first has the smallest bottleneck and, with that, the smallest sum; the last the smallest sum of all. Between
    them the largest load is bounded at 16 levels in geometric progression, so that one of them comes close to the
    minimum of

    .. math:: \sum_j t_j + (m - 1) \max_j t_j

    for any number m of microbatches, the time of an iteration as in Alpa. Fewer levels where they would take more than
    `WORK_LIMIT` steps. Empty where nothing fits. Source: Zheng et al., Alpa,
    OSDI 2022, arXiv:2201.12023.
    """
    best = split(layers, positions, transfers_s, params, stop)
    if best is None:
        return ()
    stages = stage_costs_of(positions_graph(layers, positions, transfers_s, params))
    found, left = [costs_of_cuts(stages, best.cuts), min_unlimited_sum(stages)], WORK_LIMIT
    tightest = best.bottleneck_s * (1 + TIE)
    # One microbatch asks for the smallest sum; with two and more, its gain has to make up for the larger bottleneck.
    gain = found[0].total_s - found[1].total_s
    worth = max(min(found[1].bottleneck_s, tightest + gain), tightest)
    for limit in np.geomspace(tightest, worth, LEVELS)[::-1] if tightest else ():
        # The smallest sum within a limit is often within a tighter one as well, which then is solved already.
        if limit > tightest and limit >= found[-1].bottleneck_s:
            continue
        left -= count_pairs(stages, limit)
        if left < 0 or stop():
            break
        found.append(min_sum(stages, limit))
    return _select_pareto(found)


def mix_weights(
    layers: Layers,
    positions: Sequence[Position],
    transfers_s: FloatArray,
    params: LineParams,
    stop: Callable[[], bool] = never_stop,
) -> tuple[Cuts, ...]:
    """Return different cuts on the frontiers of several weights of forward passes, those of weight 1 first.

    Where layers differ in the ratio of their passes, as frozen ones do, a schedule does not wait for the sum of both;
    simulations then compare the weights. One weight is enough where the ratio is the same.
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


def _select_pareto(candidates: Iterable[CutCosts]) -> tuple[CutCosts, ...]:
    """Return the cuts that no others surpass in both respects, by rising bottleneck."""
    kept: list[CutCosts] = []
    for cuts in sorted(candidates, key=lambda cuts: (cuts.bottleneck_s, cuts.total_s, cuts.cuts)):
        if not kept or cuts.total_s < kept[-1].total_s * (1 - TIE):
            kept.append(cuts)
    return tuple(kept)
