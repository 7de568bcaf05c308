"""A map in use, improved a step at a time: what each number of moved experts brings in each layer."""

from typing import NamedTuple

import numpy as np

from tiger.expert_maps.replicas.exchange import PAIRS, find_exchanges
from tiger.expert_maps.replicas.loads import count_replicas
from tiger.expert_maps.replicas.moves import find_moved
from tiger.expert_maps.replicas.pools import Pools
from tiger.expert_maps.replicas.replacement import find_replacements
from tiger.model.arrays import FloatArray, IntArray

# A step has to lower the larger load by so much of it: less is an error of rounding.
LEAST = 1e-9
# An exchange moves an expert each way, a replacement one.
EXCHANGE_MOVES = 2
# A layer is left alone once its largest load is within so much of the mean: further steps gain next to nothing.
NEAR = 5e-3
# Steps for each slot of a layer at most: a descent ends long before, except where it goes down by next to nothing.
STEPS = 2


class Point(NamedTuple):
    """Hold a layer's map, [GPUs, slots of a GPU], its largest load and how many experts have moved."""

    slots: IntArray
    largest: float
    moved: int


def descend(pools: Pools, start: IntArray, nodes: int, most: int) -> list[list[Point]]:
    """Return for each layer, a pool, the maps on the way down from `start`, with at most so many experts moved.

    A step exchanges two replicas of a node, one of them on the GPU with the largest load, or gives a slot of an expert
    with several replicas to an expert of that GPU; the step that lowers the load most for an expert moved is taken.
    O(slots * slots of a GPU) a step.
    """
    slots, active = start.copy(), np.arange(len(start))
    enough = pools.weight.sum(axis=1) / pools.speeds.sum(axis=1) * (1 + NEAR)
    found = [[Point(start[k], time, 0)] for k, time in enumerate(largest_time(pools, slots).tolist())]
    for _ in range(STEPS * pools.slots):
        if not active.size:
            break
        part = pools.take(active)
        stepped = take_step(part, slots[active], nodes)
        moved = find_moved(start[active], stepped).sum(axis=(1, 2))
        going = (stepped != slots[active]).any(axis=(1, 2)) & (moved <= most)
        largest = largest_time(part, stepped)
        active, stepped, moved, largest = active[going], stepped[going], moved[going], largest[going]
        slots[active] = stepped
        for k, layer in enumerate(active.tolist()):
            if largest[k] < found[layer][-1].largest:
                found[layer].append(Point(stepped[k], float(largest[k]), int(moved[k])))
        active = active[largest > enough[active]]
    return found


def measure(pools: Pools, slots: IntArray) -> FloatArray:
    """Return the load of each slot, [pools, GPUs, slots of a GPU]."""
    flat = slots.reshape(len(slots), -1)
    share = pools.weight / count_replicas(flat, pools.experts)
    return np.asarray(np.take_along_axis(share, flat, axis=1).reshape(slots.shape))


def largest_time(pools: Pools, slots: IntArray) -> FloatArray:
    """Return the largest load of a GPU over its speed, [pools]."""
    return np.asarray((measure(pools, slots).sum(axis=2) / pools.speeds).max(axis=1))


def take_step(pools: Pools, slots: IntArray, nodes: int) -> IntArray:
    """Return slots after the best step of each layer, which is none where none helps."""
    most = max(1, PAIRS // (pools.slots * pools.size))
    parts = [slice(start, start + most) for start in range(0, len(slots), most)]
    return np.concatenate([_step_part(pools.take(part), slots[part], nodes) for part in parts])


def _step_part(pools: Pools, slots: IntArray, nodes: int) -> IntArray:
    """Take a step as `take_step` does, in layers that are few enough for one go."""
    value, rows = measure(pools, slots), np.arange(len(slots))
    time = value.sum(axis=2) / pools.speeds
    top, gpus = time.argmax(axis=1), pools.gpus // nodes
    # Only the GPUs of the node with the largest time take part.
    near = (top // gpus)[:, None] * gpus + np.arange(gpus)
    held, values = slots[rows[:, None], near], value[rows[:, None], near]
    node = pools._replace(gpus=gpus, speed=pools.speeds[rows[:, None], near])
    swap = find_exchanges(node, values, held)
    change = find_replacements(node, held, values, count_replicas(slots, pools.experts))
    peak = time.max(axis=1)
    gain = np.stack([(peak - swap[0]) / EXCHANGE_MOVES, peak - change[0]])
    better = gain.max(axis=0) > LEAST * peak
    after, local = held.reshape(len(slots), -1), top % gpus * pools.size
    swaps = rows[better & (gain[0] >= gain[1])]
    first, second = local[swaps] + swap[1][swaps], swap[2][swaps]
    after[swaps, first], after[swaps, second] = after[swaps, second], after[swaps, first]
    changes = rows[better & (gain[0] < gain[1])]
    after[changes, change[1][changes]] = change[2][changes]
    result = slots.copy()
    result[rows[:, None], near] = after.reshape(held.shape)
    return result
