"""The best placement of few experts, by a dynamic program over all ways to share out those of a layer.

Devices that can be exchanged make many of these ways equal: the costs of the layers behind are the same for all of an
orbit, so that only one of each is looked at as the layer in front. Eight experts on four equal devices have 2,520 ways
in 105 orbits.
"""

from itertools import combinations, permutations
from math import factorial
from typing import NamedTuple

import numpy as np

from tiger.expert_maps.costs import ExpertProblem
from tiger.model.arrays import FloatArray, IntArray

# Devices whose orders are tried for symmetries: 720 of them.
DEVICE_LIMIT = 6
# Ways to share out a layer, and multiplications in all: a fifth of a second on one core.
WAY_LIMIT, WORK_LIMIT = 20_000, 2e9
# Entries of a table of costs at a time.
BLOCK = 2**22


class Ways(NamedTuple):
    """Hold the N ways `place[N, E]` to share out the experts of a layer, and their orbits under exchanges of devices.

    `orbit[N]` is the number of the orbit, `first[K]` one way of each, and `symmetries[P, G]` the exchanges, of which
    `turn[N]` is the one that makes the first way of the orbit of each.
    """

    place: IntArray
    orbit: IntArray
    first: IntArray
    symmetries: IntArray
    turn: IntArray


def place_by_layers(problem: ExpertProblem, ways: Ways) -> IntArray:
    """Return a placement that is optimal, out of all ways to share out a layer; O(L K N E G) for N ways in K orbits."""
    choices, behind = [], np.zeros(len(ways.first))
    for counts in problem.counts[::-1]:
        chosen, behind = _choose_next(counts, problem.hops, ways, behind)
        choices.append(chosen)
    return _follow_choices(ways, int(behind.argmin()), choices[::-1])


def list_few_ways(problem: ExpertProblem) -> Ways | None:
    """Return all ways to share out the experts of a layer, None where there are too many to look at."""
    if problem.devices > DEVICE_LIMIT or _count_ways(problem) > WAY_LIMIT:
        return None
    ways = _list_ways(problem)
    work = float(len(ways.first)) * len(ways.place) * len(problem.counts) * problem.experts * problem.devices
    return ways if work <= WORK_LIMIT else None


def _count_ways(problem: ExpertProblem) -> int:
    """Return N = E! / (E/G)!^G."""
    alike: int = factorial(problem.slots_per_device) ** problem.devices
    return factorial(problem.experts) // alike


def _list_ways(problem: ExpertProblem) -> Ways:
    """Return all ways to share out the experts of a layer."""
    place = np.full((1, problem.experts), -1)
    for device in range(problem.devices):
        free = problem.experts - device * problem.slots_per_device
        chosen = np.array(list(combinations(range(free), problem.slots_per_device)))
        # The free experts of every way, of which each choice takes some.
        experts = np.argwhere(place < 0)[:, 1].reshape(len(place), free)[:, chosen]
        place = np.repeat(place[:, None], len(chosen), axis=1)
        np.put_along_axis(place, experts, device, axis=2)
        place = place.reshape(-1, problem.experts)
    symmetries = _list_symmetries(problem.hops)
    powers = problem.devices ** np.arange(problem.experts)
    codes = np.array([symmetry[place] @ powers for symmetry in symmetries])
    least, orbit = np.unique(codes.min(axis=0), return_inverse=True)
    # The first way of an orbit is that of the least code, which no exchange changes.
    order = np.argsort(codes[0])
    first = order[np.searchsorted(codes[0], least, sorter=order)]
    return Ways(place, orbit, first, symmetries, codes.argmin(axis=0))


def _list_symmetries(hops: FloatArray) -> IntArray:
    """Return the exchanges [P, G] of devices that leave all hops as they are, none of them first."""
    orders = np.array(list(permutations(range(len(hops)))))
    same = (hops[orders[:, :, None], orders[:, None]] == hops).all(axis=(1, 2))
    kept: IntArray = orders[same]
    return kept


def _choose_next(counts: FloatArray, hops: FloatArray, ways: Ways, behind: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the best way [K] of the next layer for the first of each orbit, and its cost with all layers behind."""
    size, experts = ways.place.shape
    indicator = np.zeros((size, experts, len(hops)))
    np.put_along_axis(indicator, ways.place[:, :, None], 1.0, axis=2)
    flat, rest = indicator.reshape(size, -1).T, behind[ways.orbit]
    chosen, least = np.empty(len(ways.first), np.int64), np.empty(len(ways.first))
    rows = max(BLOCK // size, 1)
    for start in range(0, len(ways.first), rows):
        part = slice(start, start + rows)
        # Costs of each expert of the next layer on each device, [K, E, G].
        costs = np.einsum("ef,keg->kfg", counts, hops[ways.place[ways.first[part]]], optimize=True)
        table = costs.reshape(len(costs), -1) @ flat + rest
        chosen[part], least[part] = table.argmin(axis=1), table.min(axis=1)
    return chosen, least


def _follow_choices(ways: Ways, orbit: int, choices: list[IntArray]) -> IntArray:
    """Return the placement [L, E] of the first way of an orbit and the best ways behind it."""
    turned = np.arange(ways.symmetries.shape[1])
    layers = [ways.place[ways.first[orbit]]]
    for chosen in choices:
        way = int(chosen[orbit])
        layers.append(turned[ways.place[way]])
        # The next choice is that for the first way of the orbit, which the exchange makes of this one.
        turned = turned[np.argsort(ways.symmetries[ways.turn[way]])]
        orbit = int(ways.orbit[way])
    return np.array(layers)
