"""One line out of a layered graph, traced along its levels, whose loads are all within a limit."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.rounding import TIE
from tiger.placement.chain.cut_dp import Bracket, Sweep, sweep
from tiger.placement.chain.layered_graph import LayeredGraph

# Boundaries followed at a time, so that a step compares at most so many times the boundaries of a model.
STARTS = 64


class TracedStage(NamedTuple):
    """Hold a stage of the trace: its owner, boundaries that it may begin at, the seconds of messages in at each."""

    owner: int
    starts: IntArray
    received_s: FloatArray


class ChainResult(NamedTuple):
    """Hold the devices of q stages, the q + 1 cuts between them, and the largest load.

    `bound_s` is a lower bound on all lines: the bottleneck itself, up to rounding, unless a search was stopped.
    """

    devices: tuple[int, ...]
    cuts: tuple[int, ...]
    bottleneck_s: float
    bound_s: float


class OwnerLine(NamedTuple):
    """Hold who runs each stage, by number of owner, the cuts, and the largest load."""

    owners: tuple[int, ...]
    cuts: tuple[int, ...]
    bottleneck_s: float


def trace_line(graph: LayeredGraph, bracket: Bracket) -> ChainResult:
    """Return the line within the limit of a bracket, of the fewest stages, whose devices come first.

    Every owner uses its devices in their order.
    """
    line = trace_owners(graph, bracket.high_s)
    unused = [iter(members) for members in graph.members]
    devices = tuple(next(unused[owner]) for owner in line.owners)
    return ChainResult(devices, line.cuts, line.bottleneck_s, min(bracket.low_s, line.bottleneck_s))


def trace_owners(graph: LayeredGraph, limit_s: float) -> OwnerLine:
    """Return the line of owners within a limit, of the fewest stages, whose owners have the first unused devices.

    Of its cuts, those with the smallest messages, from the end. Only the 64 boundaries with the smallest messages are
    followed at a time, so that owners may not be the very first where more than those tie.
    """
    limit = limit_s * (1 + TIE)
    steps = _steps(graph, sweep(graph, limit), limit)
    cuts = [graph.ahead_s.shape[1] - 1]
    loads = []
    sent: FloatArray = np.zeros(1)
    # Backtracing of a dynamic program: from the end, where one cut is known, each stage takes a start from which it
    # is within the limit for the cut behind it.
    for number, step in enumerate(reversed(steps)):
        load = _segment_loads(graph, step, number, np.array(cuts[-1:]), sent)[:, 0]
        kept = np.flatnonzero(load <= limit)
        chosen = kept[np.argmin(step.received_s[kept])]
        cuts.append(int(step.starts[chosen]))
        loads.append(float(load[chosen]))
        sent = step.received_s[[chosen]]
    return OwnerLine(tuple(step.owner for step in steps), tuple(reversed(cuts)), max(loads))


def _steps(graph: LayeredGraph, allowed: Sweep, limit: float) -> list[TracedStage]:
    """Return the stages from the first on: always the owners with the first devices that lead to the end."""
    used = [0] * len(graph.members)
    level = graph.levels[allowed.depth]
    states = np.flatnonzero(allowed.rows[allowed.depth][:-1, 0] <= limit)
    owner = min(level.owner[states].tolist(), key=lambda c: graph.members[c][0])
    states = states[level.owner[states] == owner]
    steps = [TracedStage(owner, np.zeros(1, np.int64), np.zeros(1))]
    for depth in range(allowed.depth, 0, -1):
        used[steps[-1].owner] += 1
        step, states = _next_states(graph, allowed, limit, (steps[-1], states, depth, used))
        steps.append(step)
    return steps


def _next_states(
    graph: LayeredGraph, allowed: Sweep, limit: float, at: tuple[TracedStage, IntArray, int, list[int]]
) -> tuple[TracedStage, IntArray]:
    """Return the stage behind that of the states at a level, and the states that it may be in."""
    step, states, depth, used = at
    level, below = graph.levels[depth], graph.levels[depth - 1]
    reached, follow = np.unique(level.options[states], return_index=True)
    via = level.via[states].ravel()[follow[reached >= 0]]
    reached = reached[reached >= 0]
    owners = below.owner[reached]
    # All states have one owner, hence the same link to the states of another. Owners are tried by their next device.
    for owner in sorted(set(owners.tolist()), key=lambda c: graph.members[c][used[c] :][:1] or graph.members[c]):
        mine = reached[owners == owner]
        sent = graph.sent_s[via[owners == owner][0]]
        ends = np.flatnonzero((allowed.rows[depth - 1][mine] + sent <= limit).any(axis=0))
        ends = ends[(_segment_loads(graph, step, depth, ends, sent[ends]) <= limit).any(axis=0)]
        if ends.size:
            break
    ends = np.sort(ends[np.argsort(sent[ends], kind="stable")[:STARTS]])
    alive: BoolArray = (allowed.rows[depth - 1][np.ix_(mine, ends)] + sent[ends] <= limit).any(axis=1)
    return TracedStage(owner, ends, sent[ends]), mine[alive]


def _segment_loads(
    graph: LayeredGraph, step: TracedStage, depth: int, ends: IntArray, sent_s: FloatArray
) -> FloatArray:
    """Return the loads of a stage for each of its starts and ends, infinite where it cannot hold the layers."""
    passed = graph.ahead_s[step.owner]
    windows = graph.levels[depth].windows[step.owner]
    # In the order in which a sweep adds, so that rounding is the same.
    loads: FloatArray = (sent_s + passed[ends]) - passed[step.starts][:, None] + step.received_s[:, None]
    held = (ends > step.starts[:, None]) & (ends <= windows.last[step.starts][:, None])
    return np.where(held, loads, np.inf)
