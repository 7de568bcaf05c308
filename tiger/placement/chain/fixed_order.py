"""The best cuts of layers into stages at given positions: the dynamic program of `cut_dp` on one order."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.placement.chain.backtrace import trace_line
from tiger.placement.chain.cut_dp import min_bottleneck
from tiger.placement.chain.fitting_runs import admitted_ends, fitting_ends, prefix_sums
from tiger.placement.chain.layered_graph import LayeredGraph, StageStates
from tiger.placement.chain.params import LineParams, never_stop
from tiger.placement.chain.range_minima import Windows
from tiger.training.costs.stage_positions import stage_positions
from tiger.training.costs.stages import Position
from tiger.training.models.layers import Layers


class StageCuts(NamedTuple):
    """Hold the cuts of S stages, the largest load among them, and a lower bound on that of all cuts."""

    cuts: tuple[int, ...]
    bottleneck_s: float
    bound_s: float


def split(
    layers: Layers,
    positions: Sequence[Position],
    transfers_s: FloatArray,
    params: LineParams,
    stop: Callable[[], bool] = never_stop,
) -> StageCuts | None:
    """Return the cuts into S stages with the least bottleneck, at positions by `params.style`; None where nothing fits.

    `transfers_s[S - 1, L + 1]` are the seconds of a message over each boundary from a stage to the next. Exact: the
    least largest load of a stage; a position of several stages gives each of them an equal share of its memory. Memory
    is linear in L: O(S L log L) twenty times.
    """
    graph = positions_graph(layers, positions, transfers_s, params)
    passed = np.array([_passes_s(position) for position in positions]).min(axis=0)
    if not np.isfinite(passed).all():
        return None
    low = max(float(passed.sum()) / (len(transfers_s) + 1), float(passed.max()))
    bracket = min_bottleneck(graph, low, stop)
    if bracket is None:
        return None
    line = trace_line(graph, bracket)
    return StageCuts(line.cuts, line.bottleneck_s, line.bound_s)


def positions_graph(
    layers: Layers, positions: Sequence[Position], transfers_s: FloatArray, params: LineParams
) -> LayeredGraph:
    """Return the graph of one order: stages at given positions."""
    stages, count = len(transfers_s) + 1, len(positions)
    levels, places = [], stage_positions(params.style, count, stages).tolist()
    # A position of a mirror also holds a stage of the other direction.
    each = stages // count * (2 if params.style == "mirror" else 1)
    for after in range(stages):
        at = places[stages - 1 - after]
        links = min(after, 1)
        levels.append(
            StageStates(
                owner=np.array([at]),
                options=np.zeros((1, links), np.int64),
                via=np.full((1, links), stages - 1 - after),
                windows={at: _windows(layers, positions[at], params, (after, at, each))},
            )
        )
    return LayeredGraph(
        ahead_s=np.array(
            [prefix_sums(np.where(np.isfinite(spent), spent, 0.0)) for spent in map(_passes_s, positions)]
        ),
        sent_s=2 * np.asarray(transfers_s, np.float64).reshape(stages - 1, layers.size + 1),
        members=tuple((at,) * (stages // count) for at in range(count)),
        levels=tuple(levels),
        shortest=stages - 1,
    )


def _windows(layers: Layers, position: Position, params: LineParams, place: tuple[int, int, int]) -> Windows:
    """Return the runs of layers that a stage can hold; `place` is stages behind, position, and its stages."""
    after, at, virtual = place
    capacity = position.memory_bytes * position.ranks / virtual
    last = fitting_ends(layers, capacity, params.in_flight(after))
    # No stage runs over a layer that its ranks cannot all-reduce.
    endless = np.append(np.flatnonzero(~np.isfinite(_passes_s(position))), layers.size)
    last = np.minimum(last, endless[np.searchsorted(endless, np.arange(layers.size + 1))])
    return Windows.of(np.minimum(last, admitted_ends(layers.size, params.pinned, {at})))


def _passes_s(position: Position) -> FloatArray:
    """Return the seconds of both passes of each layer."""
    return position.forward_s + position.backward_s
