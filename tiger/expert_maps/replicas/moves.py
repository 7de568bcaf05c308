"""What has to move between two maps, and the order of GPUs and slots of a new map that moves least."""

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray


def find_moved(before: IntArray, after: IntArray) -> BoolArray:
    """Return which slots, [.., GPUs, slots of a GPU], receive an expert that their GPU did not hold before.

    A GPU that holds such an expert in several slots receives it once, for the first of them.
    """
    # Slots first, as numpy takes several times as long for sums along so short an axis as the slots of a GPU.
    old, new = (np.ascontiguousarray(np.moveaxis(slots, -1, 0)) for slots in (before, after))
    moved = np.ones(np.broadcast_shapes(old.shape, new.shape), np.bool_)
    for k, expert in enumerate(old):
        moved &= new != expert
        moved[k + 1 :] &= new[k + 1 :] != new[k]
    return np.ascontiguousarray(np.moveaxis(moved, 0, -1))


def align(before: IntArray, after: IntArray, nodes: int, speed: FloatArray | None = None) -> IntArray:
    """Return a layer's map with its nodes, GPUs and slots named so that most stays in place.

    Maps are [GPUs, slots of a GPU]; GPUs of a node stay together, only GPUs of the same `speed` [GPUs] change names,
    and no other order of nodes and GPUs moves fewer experts.
    """
    moved = find_moved(before[:, None], after[None, :]).sum(axis=-1)
    chosen = name_gpus(moved.astype(np.float64), nodes, speed)
    return np.array([keep_slots(*pair) for pair in zip(before.tolist(), after[chosen].tolist(), strict=True)])


def name_gpus(costs: FloatArray, nodes: int, speed: FloatArray | None = None) -> IntArray:
    """Return which GPU of a new map each GPU takes over, at the least sum of `costs` [GPUs, GPUs of the new map].

    GPUs of a node stay together: linear assignment for each two nodes, and then of nodes. A GPU takes over none of
    another speed.
    """
    from scipy.optimize import linear_sum_assignment  # which takes longer to import than a report to read

    if speed is not None and (unlike := speed[:, None] != speed).any():
        # More than all others come to: to leave every name as it is costs less.
        costs = np.where(unlike, 1 + 2 * np.abs(costs).sum(), costs)
    gpus = len(costs) // nodes
    parts = costs.reshape(nodes, gpus, nodes, gpus).transpose(0, 2, 1, 3)
    value, orders = np.zeros((nodes, nodes)), np.zeros((nodes, nodes, gpus), np.int64)
    for old, new in np.ndindex(nodes, nodes):
        rows, orders[old, new] = linear_sum_assignment(parts[old, new])
        value[old, new] = parts[old, new, rows, orders[old, new]].sum()
    old, new = linear_sum_assignment(value)
    return np.asarray((new[:, None] * gpus + orders[old, new]).ravel())


def keep_slots(before: list[int], after: list[int]) -> list[int]:
    """Return the experts of a GPU with those that it held before in their slots."""
    left, kept = list(after), list[bool]()
    for expert in before:
        kept.append(expert in left)
        if kept[-1]:
            left.remove(expert)
    return [expert if stays else left.pop() for expert, stays in zip(before, kept, strict=True)]
