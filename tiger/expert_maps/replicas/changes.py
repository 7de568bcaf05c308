"""Changes of a map in use, layer by layer: what each lowers of the largest load, and which experts it moves."""

import numpy as np

from tiger.expert_maps.replicas.descent import Point, descend
from tiger.expert_maps.replicas.groups import all_gpus
from tiger.expert_maps.replicas.loads import ExpertLoads, gpu_times, keep_to_rules
from tiger.expert_maps.replicas.moves import align, find_moved
from tiger.model.arrays import FloatArray, IntArray

# Halvings of the price of a move until a cap on moves is met.
HALVINGS = 60


def list_changes(
    loads: ExpertLoads, in_use: IntArray, fresh: IntArray, price: float, most: int | None
) -> list[IntArray]:
    """Return maps [layers, slots] in whose layers loads and moves cost least, by a few prices of a move in load.

    For each layer, maps on the way down from the one in use, and the `fresh` one with its GPUs named so that most stays
    in place, are compared; with a cap, prices are raised to keep to it, and what is left of it goes to the layer that
    gains most. The first `price` is as if all GPUs received as many experts, the last as if one received all; every
    price is twice the one before, for which GPU receives how many is known only of a change as a whole.
    """
    shape = (loads.layers, loads.num_gpus, loads.size)
    points = _list_points(loads, in_use.reshape(shape), fresh.reshape(shape), most)
    # At the largest load of all for each move nothing moves; above, prices may not be finite.
    price = min(price, max(some[0].largest for some in points))
    chosen = [_choose(points, price * 2**k, most) for k in range(int(loads.num_gpus).bit_length())]
    return [np.array([point.slots for point in some]).reshape(loads.layers, -1) for some in chosen]


def align_layers(loads: ExpertLoads, in_use: IntArray, fresh: IntArray) -> IntArray:
    """Return a new map with nodes, GPUs and slots of each layer named so that most of the map in use stays in place."""
    shape = (loads.num_gpus, loads.size)
    pairs = zip(in_use, fresh, strict=True)
    aligned = [align(old.reshape(shape), new.reshape(shape), loads.pools, loads.speed) for old, new in pairs]
    return np.array(aligned).reshape(loads.layers, -1)


def _list_points(loads: ExpertLoads, before: IntArray, fresh: IntArray, most: int | None) -> list[list[Point]]:
    """Return the maps of each layer that are compared, that in use first."""
    points = descend(all_gpus(loads), before, loads.pools, loads.layers * loads.num_replicas if most is None else most)
    aligned = align_layers(loads, before, fresh)
    largest = gpu_times(loads, aligned).max(axis=1)
    aligned = aligned.reshape(before.shape)
    moved = find_moved(before, aligned).sum(axis=(1, 2))
    sound = keep_to_rules(loads, before)
    for layer, some in enumerate(points):
        # Steps keep to the rules where the map that they start from does, and may leave a fault of it as it is.
        if not sound[layer]:
            kept = keep_to_rules(loads, np.array([point.slots for point in some]))
            some[1:] = [point for point, keeps in zip(some[1:], kept[1:].tolist(), strict=True) if keeps]
        some.append(Point(aligned[layer], float(largest[layer]), int(moved[layer])))
    return points


def _choose(points: list[list[Point]], price: float, most: int | None) -> list[Point]:
    """Return the point of each layer whose load and moves cost least, at a price that keeps to the cap on moves."""
    moved = [np.array([point.moved for point in some]) for some in points]
    largest = [np.array([point.largest for point in some]) for some in points]
    chosen = _choose_at(moved, largest, price)
    if most is not None and _count(moved, chosen) > most:
        # At the load of a whole layer for each move, nothing moves.
        low, high = price, max(float(some.max()) for some in largest) + price
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            within = _count(moved, _choose_at(moved, largest, middle)) <= most
            low, high = (low, middle) if within else (middle, high)
        chosen = _choose_at(moved, largest, high)
        costs = [load + price * moves for load, moves in zip(largest, moved, strict=True)]
        _use_up(costs, moved, chosen, most - _count(moved, chosen))
    return [some[k] for some, k in zip(points, chosen, strict=True)]


def _use_up(costs: list[FloatArray], moved: list[IntArray], chosen: list[int], left: int) -> None:
    """Choose points that cost less in one layer after another, the largest gain first, while moves are left.

    One price reaches only points where each further move gains less than those before; a few moves are left over.
    """
    while True:
        gains = [
            np.where(moves - moves[k] <= left, cost[k] - cost, -np.inf)
            for cost, moves, k in zip(costs, moved, chosen, strict=True)
        ]
        layer = int(np.argmax([gain.max() for gain in gains]))
        point = int(gains[layer].argmax())
        if gains[layer][point] <= 0:
            return
        left -= int(moved[layer][point] - moved[layer][chosen[layer]])
        chosen[layer] = point


def _choose_at(moved: list[IntArray], largest: list[FloatArray], price: float) -> list[int]:
    """Return the place of the cheapest point of each layer; of equal ones the first, which moves least."""
    return [int((load + price * moves).argmin()) for load, moves in zip(largest, moved, strict=True)]


def _count(moved: list[IntArray], chosen: list[int]) -> int:
    """Return how many experts the points chosen move."""
    return sum(int(moves[k]) for moves, k in zip(moved, chosen, strict=True))
