"""Placements of one layer after another, each by a linear assignment of its experts to the seats of devices."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from tiger.expert_maps.costs import ExpertProblem, device_costs, hop_sum
from tiger.model.arrays import FloatArray, IntArray

# Rounds of sweeps that gain less than this share come in dozens where layers have hundreds of experts, seconds each.
GAIN = 1e-3


def place_in_order(problem: ExpertProblem) -> IntArray:
    """Return the placement [L, E] by numbers, as systems have it: the first E / G experts on the first device."""
    return np.tile(np.arange(problem.experts) // problem.slots_per_device, (problem.layers, 1))


def place_greedily(problem: ExpertProblem) -> IntArray:
    """Return the placement of layer after layer, each the best for the one before it, the first by numbers.

    With one expert a device and equal hops it is optimal: only the pairs that stay count, and each layer has its best.
    """
    place = place_in_order(problem)
    for layer, counts in enumerate(problem.counts, 1):
        place[layer] = _assign_layer(counts.T @ problem.hops[place[layer - 1]], problem.slots_per_device)
    return place


def sweep_layers(problem: ExpertProblem, start: IntArray, stop: Callable[[], bool]) -> IntArray:
    """Place single layers optimally between their neighbours, forth and back, until a round gains next to nothing.

    Block coordinate descent; O(L (E^2 G + E^3)) a round.
    """
    best, least, before = start, hop_sum(problem, start), np.inf
    while least < before * (1 - GAIN) and not stop():
        before = least
        place = best.copy()
        for layer in [*range(problem.layers), *reversed(range(problem.layers - 1))]:
            place[layer] = _assign_layer(device_costs(problem, place, layer), problem.slots_per_device)
        cost = hop_sum(problem, place)
        if cost < least:
            best, least = place, cost
    return best


def _assign_layer(costs: FloatArray, slots_per_device: int) -> IntArray:
    """Return the devices [E] of experts whose costs [E, G] are least in all, with so many seats on every device."""
    assigned: IntArray = linear_sum_assignment(np.repeat(costs, slots_per_device, axis=1))[1] // slots_per_device
    return assigned
