"""Simulated annealing of the devices of vertices, on the power mean of loads.

Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Science 220 (1983), doi:10.1126/science.220.4598.671.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.rounding import TIE
from tiger.placement.operators.throughput.proposals import MoveProposal, propose
from tiger.placement.operators.throughput.state import (
    LoadState,
    apply_change,
    compute_change,
    move_vertex,
    recompute_loads,
)
from tiger.placement.operators.throughput.tables import Tables
from tiger.solvers.generator import draw_uniform
from tiger.solvers.kernel import inner_kernel, kernel


class Energy(NamedTuple):
    """Set what is annealed: the mean of loads of power 2^`doublings`, and `weight` seconds for every byte too many.

    A power mean falls with every load that is large, not with the largest alone, of which there may be several.
    """

    doublings: int
    weight: float


class Best(NamedTuple):
    """Hold the best places within memory `place[V]` and their largest load `value[0]`.

    `changed[:length[0]]` are the vertices that have moved since, each marked.
    """

    place: IntArray
    value: FloatArray
    changed: IntArray
    mark: IntArray
    length: IntArray


class AnnealingRun(NamedTuple):
    """Hold what a run of annealing changes; `load[k]` and `held[k]` are as they were before a proposal."""

    state: LoadState
    proposal: MoveProposal
    best: Best
    load: FloatArray
    held: FloatArray


@kernel
def anneal(tables: Tables, run: AnnealingRun, energy: Energy, temperatures: FloatArray, tries: int) -> None:
    """Try so many proposals at each of the temperatures, in seconds; O(temperatures x tries x k x degree)."""
    state, proposal = run.state, run.proposal
    for temperature in temperatures:
        # Loads are updated by differences, whose rounding adds up: computed from places once a temperature.
        recompute_loads(tables, state)
        now = energy_of(tables, state, energy)
        keep_best(tables, state, run.best)
        for _ in range(tries):
            count = propose(tables, state, proposal)
            if count == 0:
                continue
            # Loads are changed in place and copied back on rejection; places and counts follow on acceptance alone.
            _copy(state.load, run.load)
            _copy(state.held, run.held)
            _apply(tables, state, proposal, count)
            then = energy_of(tables, state, energy)
            # Metropolis et al. 1953, doi:10.1063/1.1699114.
            if then <= now or draw_uniform(proposal.generator) < np.exp((now - then) / temperature):
                now = then
                _accept(tables, run, count)
            else:
                _undo(tables, run, count)


@inner_kernel
def energy_of(tables: Tables, state: LoadState, energy: Energy) -> float:
    """Return the energy of a state, in seconds; O(k)."""
    # In units of the largest load, so that powers neither overflow nor vanish; 2^d by squaring, the root likewise.
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
def _apply(tables: Tables, state: LoadState, proposal: MoveProposal, count: int) -> None:
    """Change loads by all moves of a proposal, and places by all but the last."""
    for i in range(count):
        g, b = proposal.vertex[i], proposal.target[i]
        proposal.origin[i] = state.place[g]
        compute_change(tables, state, g, b)
        apply_change(tables, state, g, b)
        if i < count - 1:
            move_vertex(tables, state, g, b)


@inner_kernel
def _undo(tables: Tables, run: AnnealingRun, count: int) -> None:
    """Restore places and loads from before a proposal."""
    for i in range(count - 1):
        move_vertex(tables, run.state, run.proposal.vertex[i], run.proposal.origin[i])
    _copy(run.load, run.state.load)
    _copy(run.held, run.state.held)


@inner_kernel
def _copy(source: FloatArray, target: FloatArray) -> None:
    """Copy a vector."""
    for h in range(len(source)):
        target[h] = source[h]


@inner_kernel
def _accept(tables: Tables, run: AnnealingRun, count: int) -> None:
    """Finish the last move of a proposal, and keep the places if they are the best so far."""
    proposal, best = run.proposal, run.best
    move_vertex(tables, run.state, proposal.vertex[count - 1], proposal.target[count - 1])
    for i in range(count):
        g = proposal.vertex[i]
        if not best.mark[g]:
            best.mark[g] = 1
            best.changed[best.length[0]] = g
            best.length[0] += 1
    keep_best(tables, run.state, best)


@inner_kernel
def keep_best(tables: Tables, state: LoadState, best: Best) -> None:
    """Keep the places if they fit and their largest load is the least so far; copy what has changed since."""
    most = 0.0
    for h in range(len(state.load)):
        if state.held[h] > tables.capacity[h]:
            return
        most = max(most, state.load[h])
    if most < best.value[0] * (1.0 - TIE):
        best.value[0] = most
        for i in range(best.length[0]):
            g = best.changed[i]
            best.place[g] = state.place[g]
            best.mark[g] = 0
        best.length[0] = 0
