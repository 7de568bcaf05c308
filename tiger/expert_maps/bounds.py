"""Lower bounds on the hops of all placements of experts.

Two experts of consecutive layers that share a device are kept together, and a device has room for few, so that a bound
on what is kept in each pair of layers bounds what crosses. Two bounds, of which the tighter one counts for each pair:

- an expert is kept together with at most as many of the next layer as a device has seats, and the other way round. With
  one seat the best pairs are a linear assignment, otherwise Lagrange multipliers stand for one of the directions, and
  any of them give a bound;
- with X and Y the indicators of devices, the flow that is kept is tr(X' W Y), of which the average is the same for all
  placements; the rest is at most a sum of singular values (Donath and Hoffman, Lower bounds for the partitioning of
  graphs, IBM J. Res. Dev. 17, 1973).
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from tiger.expert_maps.costs import ExpertProblem
from tiger.expert_maps.hops import list_levels
from tiger.model.arrays import FloatArray

# Steps of the multipliers; the bound rises by less than 0.1 % of all transitions after these.
STEPS = 10
# Pairs of layers at a time: a fifth of a second where these have 256 experts.
BLOCK = 4
# What rounding can make of sums and singular values, relative to all transitions.
ERROR = 1e-12


def bound_hops(problem: ExpertProblem, stop: Callable[[], bool] = lambda: False) -> float:
    """Return a lower bound on the sum of hop weights of all placements, a looser one if it is stopped.

    A hop between groups of devices costs at least their distance, so that crossings of each level count by what it
    adds to the one inside it. O(levels L E^3).
    """
    bound, inside = 0.0, 0.0
    for distance, label in list_levels(problem.hops):
        groups = np.bincount(label)
        slots_per_device = problem.slots_per_device * int(groups.max())
        for start in range(0, len(problem.counts), BLOCK):
            # Crossings that are not looked at are at least none.
            if not stop():
                counts = problem.counts[start : start + BLOCK]
                bound += (distance - inside) * _bound_crossings(counts, len(groups), slots_per_device)
        inside = distance
    # One level of hops that weigh 1 is a sum of whole numbers, which has no error.
    return bound if inside in (0.0, 1.0) else bound * (1 - ERROR)


def _bound_crossings(counts: FloatArray, groups: int, slots_per_device: int) -> float:
    """Return a lower bound on the transitions between groups of devices, with at most so many seats in each."""
    total = counts.sum(axis=(1, 2))
    if slots_per_device == 1:
        kept = np.array([table[linear_sum_assignment(-table)].sum() for table in counts])
        return float((total - kept).sum())
    kept = _keep_partners(counts, slots_per_device)
    if groups * slots_per_device == counts.shape[1]:
        kept = np.minimum(kept, _keep_spectrum(counts, groups))
    return float(np.maximum(total * (1 - ERROR) - kept, 0).sum())


def _keep_partners(counts: FloatArray, slots_per_device: int) -> FloatArray:
    """Return upper bounds [L - 1] on the flow between experts of which each has at most so many partners."""
    forth, back = (
        _price_partners(counts, slots_per_device),
        _price_partners(counts.transpose(0, 2, 1), slots_per_device),
    )
    return np.minimum(forth, back)


def _price_partners(counts: FloatArray, slots_per_device: int) -> FloatArray:
    """Return the least Lagrangian bounds [L - 1] that subgradient steps find, with prices of the later experts.

    Each expert of the earlier layer takes the partners of most flow above their price; every price is paid once a seat.
    """
    layers, experts, _ = counts.shape
    prices = np.zeros((layers, 1, experts))
    least = np.full(layers, np.inf)
    scale = counts.max(axis=(1, 2), keepdims=True) / 2
    for step in range(STEPS):
        gains = counts - prices
        chosen = np.argpartition(gains, experts - slots_per_device, axis=2)[:, :, experts - slots_per_device :]
        taken = np.zeros(counts.shape, bool)
        np.put_along_axis(taken, chosen, True, axis=2)
        taken &= gains > 0
        bound = np.where(taken, gains, 0).sum(axis=(1, 2)) + slots_per_device * prices.sum(axis=(1, 2))
        least = np.minimum(least, bound)
        surplus = taken.sum(axis=1, keepdims=True) - slots_per_device
        prices = np.maximum(prices + scale / (slots_per_device * (1 + step)) * surplus, 0)
    return least


def _keep_spectrum(counts: FloatArray, groups: int) -> FloatArray:
    """Return upper bounds [L - 1] on the flow within equal groups, by singular values of the centred counts."""
    experts = counts.shape[1]
    centred = counts - counts.mean(axis=1, keepdims=True) - counts.mean(axis=2, keepdims=True)
    centred += counts.mean(axis=(1, 2), keepdims=True)
    values = np.linalg.svd(centred, compute_uv=False)[:, : groups - 1].sum(axis=1)
    total = counts.sum(axis=(1, 2))
    kept: FloatArray = total / groups + experts / groups * values + ERROR * experts * total
    return kept
