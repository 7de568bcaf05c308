"""The loads and held bytes of devices in a placement, recomputed from the terms alone."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray, distinct
from tiger.placement.operators.terms import Terms
from tiger.training.hardware.cluster import NO_LINK


def loads_s(terms: Terms, place: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the seconds of compute and of communication of every device [k], for groups on devices `place[C]`.

    Communication is infinite where it has no link, on a cpu too. O(n + e log e).
    """
    at = place[terms.group_of]
    compute: FloatArray = np.bincount(at, terms.work[at, np.arange(terms.operators)], terms.devices).astype(np.float64)
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    goal = at[terms.consumer]
    crosses = at[producer] != goal
    # Each operator once for every device that receives it.
    key = distinct(producer[crosses] * terms.devices + goal[crosses])
    sent, goal = key // terms.devices, key % terms.devices
    curve = terms.link[at[sent], goal]
    seconds = (
        np.where(curve == NO_LINK, np.inf, terms.send[curve, sent]) if len(terms.send) else np.full(len(sent), np.inf)
    )
    most = np.zeros(terms.operators)
    np.maximum.at(most, sent, seconds)
    paid = np.bincount(goal, seconds, terms.devices) + np.bincount(at, most, terms.devices)
    return compute, np.where((terms.pays > 0) | np.isinf(paid), paid, 0.0)


def held_bytes(terms: Terms, place: IntArray) -> FloatArray:
    """Return the bytes that every device holds [k], for groups on devices `place[C]`."""
    return np.bincount(place, terms.memory, terms.devices).astype(np.float64)
