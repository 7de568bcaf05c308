"""Descent: vertices at the borders of devices move to a neighbour's device while that lowers the power mean of loads.

The refinement of a level of a multilevel method, greedy as in G. Karypis, V. Kumar, SIAM J. Sci. Comput. 20 (1998),
doi:10.1137/S1064827595287997.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.annealer import UNSTAGED
from tiger.placement.operators.throughput.state import LoadState, apply_change, compute_change, make_state, move_vertex
from tiger.placement.operators.throughput.tables import Tables, make_tables
from tiger.solvers.kernel import inner_kernel, kernel

# A gain below this, in units of a largest load, is rounding, and moves of nothing but rounding need not end.
GAIN = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentParams:
    """Set the powers 2^d, `doublings` d, of the sums of loads that are minimized in turn, in at most `rounds` each."""

    doublings: tuple[int, ...] = (2, 4, 6)
    rounds: int = 8


def descend(terms: Terms, place: IntArray, params: DescentParams, seed: int, stop: Callable[[], bool]) -> IntArray:
    """Return places [C] that no single move to a neighbour's device improves, or those of the last round.

    Places within memory and links stay so. O(k degree) for a group at a border.
    """
    tables = make_tables(terms, np.arange(terms.groups), UNSTAGED)
    state = make_state(terms, tables, place)
    rng, mark = np.random.default_rng(seed), np.full(terms.devices, -1, np.int64)
    scale = max(float(state.load.max()), 1e-300)
    for doublings in params.doublings:
        for _ in range(params.rounds):
            mark[:] = -1
            if stop() or not _round(tables, state, rng.permutation(terms.groups), mark, scale, doublings):
                break
    return state.place


@kernel
def _round(tables: Tables, state: LoadState, order: IntArray, mark: IntArray, scale: float, doublings: int) -> int:
    """Visit every vertex once, and return how many have moved."""
    moved = 0
    for g in order:
        # The device it is on stands for none: -1 would have every kernel compiled twice, for a literal too.
        a, best, least = state.place[g], state.place[g], -GAIN
        # Every device of a neighbour once; within memory.
        for j in range(tables.near_start[g], tables.near_start[g + 1]):
            b = state.place[tables.near[j]]
            if b == a or mark[b] == g or not tables.allowed[g, b]:
                continue
            mark[b] = g
            if state.held[b] + tables.memory[g] > tables.capacity[b]:
                continue
            compute_change(tables, state, g, b)
            change = _power_change(state, scale, doublings)
            if change < least:
                best, least = b, change
        # The best of them, if it is any better: steepest descent.
        if best != a:
            compute_change(tables, state, g, best)
            apply_change(tables, state, g, best)
            move_vertex(tables, state, g, best)
            moved += 1
    return moved


@inner_kernel
def _power_change(state: LoadState, scale: float, doublings: int) -> float:
    """Return by how much the sum of the powers of loads would change, loads in units of the scale."""
    change = 0.0
    for h in range(len(state.load)):
        if state.change[h] != 0.0:
            now, then = state.load[h] / scale, max(state.load[h] + state.change[h], 0.0) / scale
            for _ in range(doublings):
                now *= now
                then *= then
            change += then - now
    return change
