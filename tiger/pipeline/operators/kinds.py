"""Devices that may be exchanged, and devices to begin with: all linked to each other, or accelerators alone."""

import dataclasses

import numpy as np

from tiger.model.arrays import IntArray
from tiger.pipeline.cluster import NO_LINK
from tiger.pipeline.operators.terms import Terms


def kinds(terms: Terms) -> IntArray:
    """Return a label per device [k], rising from 0 as they come; exchanging two of one label changes no load.

    Such are of one speed, memory and pins, and have the same links to all others. O(k (n + C) log k + k^2 labels).
    """
    rows = np.hstack([terms.work, terms.pays[:, None], terms.capacity[:, None], terms.allowed.T])
    sort = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    label, every = np.full(terms.devices, -1, np.int64), np.arange(terms.devices)
    for device in every:
        if label[device] < 0:
            same = terms.link == terms.link[device]
            # What lies between the two themselves may differ.
            same[:, device] = same[every, every] = True
            label[same.all(axis=1) & (sort == sort[device]) & (label < 0)] = label.max() + 1
    return label


def linked(terms: Terms, number: int) -> Terms:
    """Return the terms with devices that all have links to each other alone, or as they are for even numbers.

    These are drawn by number, one after the other, as long as there is one more. O(k^2).
    """
    reach = terms.link != NO_LINK
    np.fill_diagonal(reach, True)
    if reach.all() or number % 2 == 0:
        return terms
    kept = np.zeros(terms.devices, np.bool_)
    first = number // 2 % terms.devices
    for device in [first, *np.random.default_rng(number).permutation(terms.devices).tolist()]:
        kept[device] |= reach[device, kept].all()
    return dataclasses.replace(terms, allowed=terms.allowed & kept)


def paying(terms: Terms, number: int) -> Terms:
    """Return the terms without cpus for two numbers of four, as they are for others or where a class needs one."""
    allowed = terms.allowed & (terms.pays > 0)
    if number % 4 < 2 or not allowed.any(axis=1).all():
        return terms
    return dataclasses.replace(terms, allowed=allowed)
