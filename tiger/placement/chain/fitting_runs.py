"""The runs of consecutive layers that fit into the memory of a device, and that pins admit."""

from collections.abc import Collection, Mapping
from itertools import pairwise

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.costs.tolerances import MEMORY
from tiger.training.models.layers import Layers

# Whole numbers up to here, and their sums, are exact in float64.
WHOLE = 2.0**53


def prefix_sums(values: FloatArray) -> FloatArray:
    """Return the sums of the first 0 .. L values, [L + 1]."""
    return np.concatenate([[0.0], np.cumsum(values)])


def fitting_ends(layers: Layers, capacity_bytes: float, in_flight: float) -> IntArray:
    """Return, for each of L + 1 starts i, the largest end j such that layers i .. j - 1 fit; i where layer i does not.

    They hold their state, that of tied layers once, and the activations of `in_flight` microbatches. Where rounding
    leaves it open whether layers fit, they do: plans are checked again by what they hold in all.
    O((L log L) x (pairs of tied layers + 1)).
    """
    need = layers.state_bytes + in_flight * layers.held_bytes
    room = capacity_bytes * (1 + MEMORY)
    pairs = tied_pairs(layers)
    last = np.empty(layers.size + 1, np.int64)
    edges = np.unique([0, *(before + 1 for before, _ in pairs), layers.size + 1])
    for start, end in pairwise(edges):
        # From these starts on, a tied layer is free when the one before it in its group is in the run as well.
        free = [member for before, member in pairs if before >= start]
        own = need.copy()
        own[free] = in_flight * layers.held_bytes[free]
        # A layer that is too large by itself must not make the sums so large that others are lost in rounding.
        own = np.minimum(own, np.floor(2 * room) + 1)
        sums = prefix_sums(own)
        error = 0.0 if (own % 1 == 0).all() and sums[-1] < WHOLE else sum_error(sums)
        last[start:end] = np.searchsorted(sums, sums[start:end] + room + error, side="right") - 1
    return last


def sum_error(sums: FloatArray) -> float:
    """Return by how much a difference of two sums of the first 0 .. L values may be wrong, in any row [.., L + 1].

    Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2.
    """
    return float((sums.shape[-1] + 4) * np.finfo(np.float64).eps * sums[..., -1].max())


def tied_pairs(layers: Layers) -> list[tuple[int, int]]:
    """Return each tied layer with the one before it in its group, in the order of the former."""
    groups = [sorted(set(group)) for group in layers.tied]
    return sorted(pair for group in groups for pair in pairwise(group))


def admitted_ends(size: int, pinned: Mapping[int, int], hosts: Collection[int]) -> IntArray:
    """Return, for each of L + 1 starts i, the largest end j such that one of `hosts` may hold layers i .. j - 1.

    `pinned` gives the host of some layers. O(L log pins).
    """
    places = sorted(pinned)
    limits = [size]
    for k in reversed(range(len(places))):
        if pinned[places[k]] not in hosts:
            limits.append(places[k])
        elif k + 1 < len(places) and pinned[places[k]] != pinned[places[k + 1]]:
            limits.append(places[k + 1])
        else:
            limits.append(limits[-1])
    return np.array(limits[::-1], np.int64)[np.searchsorted(places, np.arange(size + 1))]
