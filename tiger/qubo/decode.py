"""Samples back to mappings: which reads are feasible as they are, and the nearest mapping for those that are not."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from tiger.model.arrays import BitArray, BoolArray, FloatArray, IntArray
from tiger.model.window import Window
from tiger.qubo.encode import Qubo

# Linear costs count for less than a bit in all, so that they decide among the mappings that keep as many bits.
TIE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reads:
    """Hold r decoded samples: `bits[r, k, q]` of tasks on nodes and whether each is `feasible[r]` as it is.

    `missed[k]` and `crowded[q]` are the shares of reads in which a task has no node or several, and in which a node
    holds tasks that exclude each other or more than fits.
    """

    bits: BoolArray
    feasible: BoolArray
    missed: FloatArray
    crowded: FloatArray

    def local(self, read: int) -> IntArray:
        """Return the local places of a feasible read."""
        return np.asarray(self.bits[read].argmax(axis=1), np.int64)


def decode(qubo: Qubo, samples: BitArray) -> Reads:
    """Decode `samples[r, size]`, columns in the order of the variables; slack bits are not looked at."""
    tasks, nodes = qubo.window.shape
    bits = np.zeros((len(samples), tasks, nodes), bool)
    known = qubo.index >= 0
    bits[:, known] = samples[:, qubo.index[known]] > 0
    missed, overloaded = bits.sum(axis=2) != 1, np.zeros((len(samples), nodes), bool)
    for group in qubo.window.groups:
        overloaded |= bits[:, group].sum(axis=1) > 1
    for capacity in qubo.window.capacities:
        overloaded |= np.tensordot(bits, capacity.load, axes=(1, 0)) > capacity.room
    reads = max(len(samples), 1)
    return Reads(
        bits=bits,
        feasible=~missed.any(axis=1) & ~overloaded.any(axis=1),
        missed=missed.sum(axis=0) / reads,
        crowded=overloaded.sum(axis=0) / reads,
    )


def repair(window: Window, bits: BoolArray) -> IntArray | None:
    """Return feasible local places that keep as many of `bits[k, q]` as can be; None where none were found.

    Tasks of a group get different nodes by linear assignment, which is exact: no feasible mapping keeps more bits, and
    among equals the linear costs decide. Under capacities tasks are placed largest first, on a node of theirs while
    that has room, which can fail where memory is tight.
    """
    wish = _wish(window, bits)
    if not window.groups:
        return _pack(window, wish)
    local = np.zeros(window.shape[0], np.int64)
    for group in window.groups:
        rows, columns = linear_sum_assignment(wish[group])
        local[group[rows]] = columns
    return local


def _wish(window: Window, bits: BoolArray) -> FloatArray:
    """Return wish[k, q]: -1 for a set bit, a small share of the linear cost to break ties, inf where not allowed."""
    allowed = window.allowed
    # A share of 1e-3 over all tasks: no sum of linear costs outweighs a bit.
    base = np.where(allowed, window.linear, np.inf).min(axis=1)[:, None]
    rise = np.where(allowed, window.linear - base, 0.0)
    top = float(rise.max(initial=0.0)) or 1.0
    return np.where(allowed, rise / top * TIE / max(len(bits), 1) - bits, np.inf)


def _pack(window: Window, wish: FloatArray) -> IntArray | None:
    """Place tasks one by one, largest load first, each on the most wished-for node that still has room."""
    loads = np.array([capacity.load for capacity in window.capacities])
    room = np.array([capacity.room for capacity in window.capacities])
    local = np.zeros(len(wish), np.int64)
    kept = wish.min(axis=1) >= -TIE
    # First fit decreasing: the largest first, of equals those that keep their node.
    for task in np.lexsort((~kept, *-loads)):
        open_ = np.isfinite(wish[task]) & (room >= loads[:, task, None]).all(axis=0)
        if not open_.any():
            return None
        node = int(np.argmin(np.where(open_, wish[task], np.inf)))
        room[:, node] -= loads[:, task]
        local[task] = node
    return local
