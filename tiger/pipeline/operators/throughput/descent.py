"""Descent: groups at the borders of devices move to a neighbour's device for as long as that gains."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.moves import UNSTAGED
from tiger.pipeline.operators.throughput.state import State, recount, reload, state_of, weigh
from tiger.pipeline.operators.throughput.tables import Tables, tables_of
from tiger.solvers.kernel import kernel

GAIN = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentParams:
    """Set the powers 2^d of the means of loads that are made small in turn, and in how many rounds each at most."""

    doublings: tuple[int, ...] = (2, 4, 6)
    rounds: int = 8


def descend(terms: Terms, place: IntArray, params: DescentParams, seed: int, stop: Callable[[], bool]) -> IntArray:
    """Return places [C] that no single move to a neighbour's device makes better, or those of the last round.

    Places within memory and links stay so. O(k degree) for a class at a border.
    """
    made = tables_of(terms, np.arange(terms.classes), UNSTAGED)
    now = state_of(terms, made, place)
    rng, mark = np.random.default_rng(seed), np.full(terms.devices, -1, np.int64)
    scale = max(float(now.load.max()), 1e-300)
    for doublings in params.doublings:
        for _ in range(params.rounds):
            mark[:] = -1
            if stop() or not _round(made, now, rng.permutation(terms.classes), mark, scale, doublings):
                break
    return now.place


@kernel
def _round(tables: Tables, state: State, order: IntArray, mark: IntArray, scale: float, doublings: int) -> int:
    """Visit every group once, and return how many have moved."""
    moved = 0
    for g in order:
        # The device it is on stands for none: -1 would have every kernel compiled twice, for a literal too.
        a, best, least = state.place[g], state.place[g], -GAIN
        for j in range(tables.near_start[g], tables.near_start[g + 1]):
            b = state.place[tables.near[j]]
            if b == a or mark[b] == g or not tables.allowed[g, b]:
                continue
            mark[b] = g
            if state.held[b] + tables.memory[g] > tables.capacity[b]:
                continue
            weigh(tables, state, g, b)
            change = _change(state, scale, doublings)
            if change < least:
                best, least = b, change
        if best != a:
            weigh(tables, state, g, best)
            reload(tables, state, g, best)
            recount(tables, state, g, best)
            moved += 1
    return moved


@kernel
def _change(state: State, scale: float, doublings: int) -> float:
    """Return by how much the sum of the powers of loads would change, loads in units of the scale."""
    change = 0.0
    for h in range(len(state.load)):
        if state.step[h] != 0.0:
            now, then = state.load[h] / scale, max(state.load[h] + state.step[h], 0.0) / scale
            for _ in range(doublings):
                now *= now
                then *= then
            change += then - now
    return change
