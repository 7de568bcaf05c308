"""Cuts that systems make by default, as baselines and starts."""

from bisect import bisect_right
from itertools import pairwise

from tiger.model.arrays import FloatArray
from tiger.placement.chain.fitting_runs import prefix_sums
from tiger.training.models.layers import Layers

Cuts = tuple[int, ...]


def uniform_cuts(layers: Layers, stages: int) -> Cuts:
    """Return cuts with as many layers of kind "layer" in every stage as in the others, or one more or less.

    What comes before the first of them is with the first stage, what comes after the last with the last, as Megatron-LM
    places embedding and head. Where there are fewer of them than stages, layers of all kinds count alike.
    """
    _check(layers, stages)
    body = [k for k, kind in enumerate(layers.kinds) if kind == "layer"]
    counted = body if len(body) >= stages else list(range(layers.size))
    return (0, *(counted[round(len(counted) * k / stages)] for k in range(1, stages)), layers.size)


def by_time(layers: Layers, stages: int) -> Cuts:
    """Return the cuts with the least largest time of a stage, without messages, at equal speeds."""
    _check(layers, stages)
    return balanced_cuts(layers.forward_s + layers.backward_s, stages)


def balanced_cuts(weights: FloatArray, stages: int) -> Cuts:
    """Return the cuts of L weights with the least largest sum: bisection over limits; O(60 stages log L).

    Source: Pinar and Aykanat, J. Parallel Distrib. Comput. 64 (2004) 974, doi:10.1016/j.jpdc.2004.05.003.
    """
    sums = prefix_sums(weights).tolist()
    low, high = max(sums[-1] / stages, float(weights.max())), sums[-1]
    best = _fill(sums, stages, high)
    # Sixty halvings leave less than the last digit of a float64 between the ends.
    for _ in range(60):
        middle = (low + high) / 2
        cuts = _fill(sums, stages, middle)
        if max(sums[end] - sums[begin] for begin, end in pairwise(cuts)) <= middle:
            best, high = cuts, middle
        else:
            low = middle
    return best


def _fill(sums: list[float], stages: int, limit: float) -> Cuts:
    """Return cuts of stages that are filled in turn up to a limit, with at least one layer for each."""
    cuts = [0]
    for left in range(stages - 1, 0, -1):
        end = bisect_right(sums, sums[cuts[-1]] + limit) - 1
        # Every stage has a layer, and leaves one for each behind it.
        cuts.append(min(max(end, cuts[-1] + 1), len(sums) - 1 - left))
    return (*cuts, len(sums) - 1)


def _check(layers: Layers, stages: int) -> None:
    """Raise ValueError unless every stage can have a layer."""
    if not 1 <= stages <= layers.size:
        raise ValueError(f"expected 1 to {layers.size} stages, got {stages}")
