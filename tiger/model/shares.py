"""Even shares in whole numbers: ranks over hosts, and those of a host over its parts."""

from collections.abc import Sequence

import numpy as np

from tiger.model.arrays import IntArray


def apportion(count: int, room: IntArray) -> IntArray:
    """Return shares of `count` in proportion to `room`, each the floor or the ceiling of the exact one.

    They add up to `count`, which is at most the sum of the room; the largest remainders are rounded up, the first of
    equal ones before the others (Hamilton's method).
    """
    total = int(room.sum())
    if not total:
        return np.zeros_like(room)
    # Python's integers, as products of two numbers near 2**53 leave int64.
    pairs = [divmod(count * each, total) for each in room.tolist()]
    shares = np.array([whole for whole, _ in pairs], np.int64)
    rest = np.array([part / total for _, part in pairs])
    shares[np.argsort(-rest, kind="stable")[: count - int(shares.sum())]] += 1
    return shares


def share_evenly(count: int, room: IntArray, parts: Sequence[IntArray]) -> IntArray:
    """Return how much of `count` each unit takes, at most its room, evenly over the parts and over the units of each.

    `parts` are the groups that units are in, outermost first, each inside those before.
    """
    if not parts:
        return apportion(count, room)
    taken, (part, *inner) = np.zeros_like(room), parts
    numbers = np.unique(part)
    shares = apportion(count, np.array([room[part == number].sum() for number in numbers]))
    for number, share in zip(numbers, shares.tolist(), strict=True):
        own = part == number
        taken[own] = share_evenly(share, room[own], [each[own] for each in inner])
    return taken
