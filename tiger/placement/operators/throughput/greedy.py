"""Greedy placements within memory: groups in a linear order into one device after another, or where most is left."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.placement.operators.terms import Terms
from tiger.solvers.kernel import kernel
from tiger.training.costs.tolerances import MEMORY

# A device may exceed its share of the work by so much, relatively, so that rounding does not spill the last group.
SLACK = 1e-9


def fill(terms: Terms, position: IntArray, count: int) -> IntArray | None:
    """Return groups [C] at `position[C]` of a line put into devices in turn, the fastest first; None if one fits none.

    The next device comes once one has its share of all work among `count` equally busy ones, or no memory for a group.
    Groups that may not go to a device go to the next that they may. O(k n + C (k + log C)).
    """
    whole = terms.work.sum(axis=1)
    devices = np.argsort(whole, kind="stable")
    share = 1 / (1 / np.maximum(whole[devices[:count]], 1e-300)).sum()
    limit = np.where(np.arange(terms.devices) < count, share * (1 + SLACK), np.inf)
    place = np.empty(terms.groups, np.int64)
    fits = _fill(_needs(terms, devices), np.argsort(position, kind="stable"), limit, np.zeros((2, len(limit))), place)
    return devices[place] if fits else None


def spread(terms: Terms) -> IntArray | None:
    """Return groups [C] put where the most memory is left, the largest first; None if one fits nowhere.

    Among devices with memory without end the one that becomes the least busy is taken. O(k n + C (k + log C)).
    """
    devices, place = np.arange(terms.devices), np.empty(terms.groups, np.int64)
    fits = _spread(
        _needs(terms, devices), np.argsort(-terms.memory, kind="stable"), np.zeros((2, terms.devices)), place
    )
    return place if fits else None


class GroupNeeds(NamedTuple):
    """Hold what groups need: `work[C, k]`, `memory[C]`, where they are `allowed[C, k]`, and the `capacity[k]`."""

    work: FloatArray
    memory: FloatArray
    allowed: BoolArray
    capacity: FloatArray


def _needs(terms: Terms, devices: IntArray) -> GroupNeeds:
    """Return what groups need on devices in an order."""
    rows = [np.bincount(terms.group_of, terms.work[d], terms.groups) for d in devices]
    work = np.ascontiguousarray(np.array(rows, np.float64).T)
    allowed = np.ascontiguousarray(terms.allowed[:, devices])
    return GroupNeeds(work, terms.memory, allowed, terms.capacity[devices] * (1 + MEMORY))


@kernel
def _fill(needs: GroupNeeds, order: IntArray, limit: FloatArray, used: FloatArray, place: IntArray) -> bool:
    """Fill devices in turn; the rows of `used` are their seconds and bytes. Return whether all groups fit."""
    devices, at = len(limit), 0
    for c in order:
        # The current device is full once half of the group would exceed its share of work, or the group its memory.
        while at < devices - 1 and (
            used[0, at] + needs.work[c, at] / 2 > limit[at] or used[1, at] + needs.memory[c] > needs.capacity[at]
        ):
            at += 1
        # A group that may not go there goes to the next device that it fits on.
        d = at
        while d < devices and not (needs.allowed[c, d] and used[1, d] + needs.memory[c] <= needs.capacity[d]):
            d += 1
        if d == devices:
            return False
        used[0, d] += needs.work[c, d]
        used[1, d] += needs.memory[c]
        place[c] = d
    return True


@kernel
def _spread(needs: GroupNeeds, order: IntArray, used: FloatArray, place: IntArray) -> bool:
    """Put groups where the most memory is left; the rows of `used` as before. Return whether all groups fit."""
    for c in order:
        # Worst fit, largest first; of equal room, as without an end of memory, the device with the least work.
        best, most, least = -1, 0.0, np.inf
        for d in range(len(needs.capacity)):
            left, busy = needs.capacity[d] - used[1, d] - needs.memory[c], used[0, d] + needs.work[c, d]
            if needs.allowed[c, d] and left >= 0.0 and (left > most or (left == most and busy < least)):
                best, most, least = d, left, busy
        if best < 0:
            return False
        used[0, best] += needs.work[c, best]
        used[1, best] += needs.memory[c]
        place[c] = best
    return True
