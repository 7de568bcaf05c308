"""Simulated annealing of the devices of groups, on the power mean of loads."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.pipeline.operators.throughput.generator import draw_uniform
from tiger.pipeline.operators.throughput.proposals import Proposal, propose
from tiger.pipeline.operators.throughput.state import State, recount, reload, settle, weigh
from tiger.pipeline.operators.throughput.tables import Tables
from tiger.solvers.kernel import inner_kernel, kernel

BETTER = 1e-12


class Energy(NamedTuple):
    """Set what is annealed: the mean of loads of power 2^doublings, and `weight` for every byte too many."""

    doublings: int
    weight: float


class Best(NamedTuple):
    """Hold the best places within memory `place[G]` and their largest load `value[0]`.

    `changed[:length[0]]` are the groups that have moved since, each marked.
    """

    place: IntArray
    value: FloatArray
    changed: IntArray
    mark: IntArray
    length: IntArray


class Walk(NamedTuple):
    """Hold what a run of annealing changes; `load[k]` and `held[k]` are as they were before a proposal."""

    state: State
    room: Proposal
    best: Best
    load: FloatArray
    held: FloatArray


@kernel
def anneal(tables: Tables, walk: Walk, energy: Energy, heats: FloatArray, tries: int) -> None:
    """Try so many proposals at each of the temperatures, in seconds; O(heats x tries x k x degree)."""
    state, room = walk.state, walk.room
    for heat in heats:
        # Afresh, for sums drift.
        settle(tables, state)
        now = energy_of(tables, state, energy)
        keep(tables, state, walk.best)
        for _ in range(tries):
            count = propose(tables, state, room)
            if count == 0:
                continue
            _copy(state.load, walk.load)
            _copy(state.held, walk.held)
            _perform(tables, state, room, count)
            then = energy_of(tables, state, energy)
            if then <= now or draw_uniform(room.generator) < np.exp((now - then) / heat):
                now = then
                _accept(tables, walk, count)
            else:
                _undo(tables, walk, count)


@inner_kernel
def energy_of(tables: Tables, state: State, energy: Energy) -> float:
    """Return the energy of a state, in seconds; O(k)."""
    most, total, over = state.load[np.argmax(state.load)], 0.0, 0.0
    for h in range(len(state.load)):
        part = state.load[h] / most if most > 0.0 else 0.0
        for _ in range(energy.doublings):
            part *= part
        total += part
        if state.held[h] > tables.capacity[h]:
            over += state.held[h] - tables.capacity[h]
    for _ in range(energy.doublings):
        total = np.sqrt(total)
    return float(most * total + energy.weight * over)


@inner_kernel
def _perform(tables: Tables, state: State, room: Proposal, count: int) -> None:
    """Change loads by all moves of a proposal, and places by all but the last."""
    for i in range(count):
        g, b = room.group[i], room.target[i]
        room.origin[i] = state.place[g]
        weigh(tables, state, g, b)
        reload(tables, state, g, b)
        if i < count - 1:
            recount(tables, state, g, b)


@inner_kernel
def _undo(tables: Tables, walk: Walk, count: int) -> None:
    """Take a proposal back."""
    for i in range(count - 1):
        recount(tables, walk.state, walk.room.group[i], walk.room.origin[i])
    _copy(walk.load, walk.state.load)
    _copy(walk.held, walk.state.held)


@inner_kernel
def _copy(source: FloatArray, target: FloatArray) -> None:
    """Copy a vector."""
    for h in range(len(source)):
        target[h] = source[h]


@inner_kernel
def _accept(tables: Tables, walk: Walk, count: int) -> None:
    """Finish a proposal, and keep what it leads to where that is the best so far."""
    room, best = walk.room, walk.best
    recount(tables, walk.state, room.group[count - 1], room.target[count - 1])
    for i in range(count):
        g = room.group[i]
        if not best.mark[g]:
            best.mark[g] = 1
            best.changed[best.length[0]] = g
            best.length[0] += 1
    keep(tables, walk.state, best)


@inner_kernel
def keep(tables: Tables, state: State, best: Best) -> None:
    """Keep the places where they fit and their largest load is the least so far; each move is copied at most once."""
    most = 0.0
    for h in range(len(state.load)):
        if state.held[h] > tables.capacity[h]:
            return
        most = max(most, state.load[h])
    if most < best.value[0] * (1.0 - BETTER):
        best.value[0] = most
        for i in range(best.length[0]):
            g = best.changed[i]
            best.place[g] = state.place[g]
            best.mark[g] = 0
        best.length[0] = 0
