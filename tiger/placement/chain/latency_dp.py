"""The dynamic program for latency: the least sum of passes and messages of all lines in a layered graph."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.placement.chain.cut_dp import last_reach, least_loads
from tiger.placement.chain.device_types import DeviceTypes
from tiger.placement.chain.dp_states import device_graph
from tiger.placement.chain.layered_graph import LayeredGraph
from tiger.placement.chain.params import LineParams
from tiger.training.models.layers import Layers


class LatencyLine(NamedTuple):
    """Hold the devices of q stages, the q + 1 cuts between them, their latency, and by how much rounding may be off."""

    devices: tuple[int, ...]
    cuts: tuple[int, ...]
    latency_s: float
    error_s: float


def quickest_line(graph: LayeredGraph) -> LatencyLine | None:
    r"""Return the line with the least latency, of the fewest stages where several have it; None if there is no line.

    .. math:: \min \sum_s \Big( \sum_{c_s \le i < c_{s+1}} \frac{f_i}{v_s} + T_{s,s+1}(c_{s+1}) \Big)

    over cuts c and the devices of stages s, of speed v, with T the seconds of a message forward. Exact, by Bellman's
    recursion from the last stage to the first. O(options x L log L), with 8 bytes for each state and boundary.
    """
    rows = _latencies(graph)
    starts = [(float(row[:, 0].min()), depth) for depth, row in enumerate(rows) if depth >= graph.shortest]
    least, depth = min(starts, default=(np.inf, 0))
    if not np.isfinite(least):
        return None
    owners, cuts = _trace(graph, rows, depth)
    unused = [iter(members) for members in graph.members]
    error_s = (len(owners) + 1) * graph.error_s
    return LatencyLine(tuple(next(unused[owner]) for owner in owners), cuts, least, error_s)


def latency_graph(layers: Layers, types: DeviceTypes, params: LineParams) -> LayeredGraph:
    """Return all lines over devices of such types, of layers with a forward pass alone."""
    graph = device_graph(layers, types, params)
    # Rows of messages count activations forward and gradients back, which take as long.
    return replace(graph, sent_s=graph.sent_s / 2)


def _latencies(graph: LayeredGraph) -> list[FloatArray]:
    """Return, by levels from the end, the least latency of a stage of each state and all behind it, by its start."""
    rows: list[FloatArray] = []
    for level in graph.levels:
        reach = last_reach(graph, level) if not rows else np.full((len(level.owner), graph.sent_s.shape[1]), np.inf)
        for k in range(level.options.shape[1]):
            # Number -1, no state, reads the last row, which is infinite.
            np.minimum(reach, rows[-1][level.options[:, k]] + graph.sent_s[level.via[:, k]], out=reach)
        rows.append(least_loads(graph, level, reach))
    return rows


def _trace(graph: LayeredGraph, rows: list[FloatArray], depth: int) -> tuple[list[int], tuple[int, ...]]:
    """Return the owners and cuts of the least latency from a level on."""
    state, owners, cuts = int(np.argmin(rows[depth][:, 0])), [], [0]
    for number in range(depth, -1, -1):
        level = graph.levels[number]
        owner, size = int(level.owner[state]), graph.sent_s.shape[1]
        beyond: FloatArray = np.full((1, size), np.inf)
        beyond[0, -1] = 0.0
        if number:
            beyond = rows[number - 1][level.options[state]] + graph.sent_s[level.via[state]]
        ends = slice(cuts[-1] + 1, int(level.windows[owner].last[cuts[-1]]) + 1)
        cut = ends.start + int(np.argmin(beyond.min(axis=0)[ends] + graph.ahead_s[owner][ends]))
        owners.append(owner)
        cuts.append(cut)
        if number:
            state = int(level.options[state, int(np.argmin(beyond[:, cut]))])
    return owners, tuple(cuts)
