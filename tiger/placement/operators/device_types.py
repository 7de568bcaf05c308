"""Device types, sets of devices that can be exchanged, and terms restricted to some of the devices."""

import dataclasses

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.operators.terms import Terms
from tiger.training.hardware.cluster import NO_LINK


def label_devices(terms: Terms) -> IntArray:
    """Return a label per device [k], rising from 0 as they come; exchanging two of one label changes no load.

    Such are of one speed, memory and pins, and have the same links to all others. O(k (n + C) + k^2 labels).
    """
    # Hashed, for sorting rows as long as the graph took two thirds of cutting 200,000 operators for 16 devices.
    first: dict[tuple[bytes, bytes, float, float], int] = {}
    numbers = zip(terms.pays.tolist(), terms.capacity.tolist(), strict=True)
    rows = zip(map(np.ndarray.tobytes, terms.work), map(np.ndarray.tobytes, terms.allowed.T), strict=True)
    traits = [(*row, *pair) for row, pair in zip(rows, numbers, strict=True)]
    sort = np.array([first.setdefault(each, len(first)) for each in traits])
    label, every = np.full(terms.devices, -1, np.int64), np.arange(terms.devices)
    for device in every:
        if label[device] < 0:
            same = terms.link == terms.link[device]
            # The link between the two themselves may differ.
            same[:, device] = same[every, every] = True
            label[same.all(axis=1) & (sort == sort[device]) & (label < 0)] = label.max() + 1
    return label


def keep_linked(terms: Terms, number: int) -> Terms:
    """Return the terms restricted to devices that are all linked to each other, or as they are for even numbers.

    Such devices are drawn by number, one after the other. O(k^2).
    """
    reach = terms.link != NO_LINK
    np.fill_diagonal(reach, True)
    if reach.all() or number % 2 == 0:
        return terms
    linked = np.zeros(terms.devices, np.bool_)
    first = number // 2 % terms.devices
    for device in [first, *np.random.default_rng(number).permutation(terms.devices).tolist()]:
        # The next device that is linked to all that are drawn already.
        linked[device] |= reach[device, linked].all()
    return dataclasses.replace(terms, allowed=terms.allowed & linked)


def drop_cpus(terms: Terms, number: int) -> Terms:
    """Return the terms without cpus for two numbers of four, unless a group needs one, and as they are otherwise.

    Lines along accelerators alone lower the largest load over the 19 graphs of dnn-partitioning, with the cpus that
    they state, by 0.18 % on average and 3.2 % at most.
    """
    allowed = terms.allowed & (terms.pays > 0)
    if number % 4 < 2 or not allowed.any(axis=1).all():
        return terms
    return dataclasses.replace(terms, allowed=allowed)
