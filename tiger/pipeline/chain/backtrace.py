"""One line out of a trellis whose loads are all within a limit."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.chain.layered_graph import Trellis
from tiger.pipeline.chain.minimax import TIE, Bracket, Sweep, sweep

STARTS = 64


class Step(NamedTuple):
    """Hold a stage on the way: its owner, boundaries that it may begin at and, for each, the seconds of messages in."""

    owner: int
    starts: IntArray
    received_s: FloatArray


class Line(NamedTuple):
    """Hold the devices of q stages, the q + 1 cuts between them, and the largest load.

    `bound_s` is what no line goes below: the bottleneck itself, but for rounding, unless a search was stopped.
    """

    devices: tuple[int, ...]
    cuts: tuple[int, ...]
    bottleneck_s: float
    bound_s: float


class Walk(NamedTuple):
    """Hold who runs each stage, by number of owner, the cuts, and the largest load."""

    owners: tuple[int, ...]
    cuts: tuple[int, ...]
    bottleneck_s: float


def first_line(trellis: Trellis, bracket: Bracket) -> Line:
    """Return the line within the limit of a bracket, of the fewest stages, whose devices come first.

    Every owner uses its devices in their order.
    """
    walk = first_walk(trellis, bracket.high_s)
    fresh = [iter(members) for members in trellis.members]
    devices = tuple(next(fresh[owner]) for owner in walk.owners)
    return Line(devices, walk.cuts, walk.bottleneck_s, min(bracket.low_s, walk.bottleneck_s))


def first_walk(trellis: Trellis, limit_s: float) -> Walk:
    """Return the walk within a limit, of the fewest stages, whose owners have the first devices left.

    Of its cuts, those with the smallest messages, from the end. Only the 64 boundaries with the smallest messages are
    followed at a time, so that owners may not be the very first where more than those tie.
    """
    limit = limit_s * (1 + TIE)
    steps = _steps(trellis, sweep(trellis, limit), limit)
    cuts = [trellis.ahead_s.shape[1] - 1]
    loads = []
    sent: FloatArray = np.zeros(1)
    # From the end, where one cut is known, to the start, each stage within the limit for the cut behind it.
    for number, step in enumerate(reversed(steps)):
        load = _segment_loads(trellis, step, number, np.array(cuts[-1:]), sent)[:, 0]
        kept = np.flatnonzero(load <= limit)
        chosen = kept[np.argmin(step.received_s[kept])]
        cuts.append(int(step.starts[chosen]))
        loads.append(float(load[chosen]))
        sent = step.received_s[[chosen]]
    return Walk(tuple(step.owner for step in steps), tuple(reversed(cuts)), max(loads))


def _steps(trellis: Trellis, found: Sweep, limit: float) -> list[Step]:
    """Return the stages from the first on: always the first owners that lead to the end."""
    used = [0] * len(trellis.members)
    level = trellis.levels[found.depth]
    states = np.flatnonzero(found.rows[found.depth][:-1, 0] <= limit)
    owner = min(level.owner[states].tolist(), key=lambda c: trellis.members[c][0])
    states = states[level.owner[states] == owner]
    steps = [Step(owner, np.zeros(1, np.int64), np.zeros(1))]
    for depth in range(found.depth, 0, -1):
        used[steps[-1].owner] += 1
        step, states = _next_states(trellis, found, limit, (steps[-1], states, depth, used))
        steps.append(step)
    return steps


def _next_states(
    trellis: Trellis, found: Sweep, limit: float, at: tuple[Step, IntArray, int, list[int]]
) -> tuple[Step, IntArray]:
    """Return the stage behind that of the states at a level, and the states that it may be in."""
    step, states, depth, used = at
    level, below = trellis.levels[depth], trellis.levels[depth - 1]
    reached, follow = np.unique(level.options[states], return_index=True)
    via = level.via[states].ravel()[follow[reached >= 0]]
    reached = reached[reached >= 0]
    owners = below.owner[reached]
    # All states have the same owner so far, hence the same link to a state of another.
    for owner in sorted(set(owners.tolist()), key=lambda c: trellis.members[c][used[c] :][:1] or trellis.members[c]):
        mine = reached[owners == owner]
        sent = trellis.sent_s[via[owners == owner][0]]
        ends = np.flatnonzero((found.rows[depth - 1][mine] + sent <= limit).any(axis=0))
        ends = ends[(_segment_loads(trellis, step, depth, ends, sent[ends]) <= limit).any(axis=0)]
        if ends.size:
            break
    ends = np.sort(ends[np.argsort(sent[ends], kind="stable")[:STARTS]])
    alive: BoolArray = (found.rows[depth - 1][np.ix_(mine, ends)] + sent[ends] <= limit).any(axis=1)
    return Step(owner, ends, sent[ends]), mine[alive]


def _segment_loads(trellis: Trellis, step: Step, depth: int, ends: IntArray, sent_s: FloatArray) -> FloatArray:
    """Return the loads of a stage for each of its starts and ends, infinite where it cannot hold the layers."""
    passed = trellis.ahead_s[step.owner]
    windows = trellis.levels[depth].windows[step.owner]
    # In the order in which a sweep adds, so that rounding is the same.
    loads: FloatArray = (sent_s + passed[ends]) - passed[step.starts][:, None] + step.received_s[:, None]
    held = (ends > step.starts[:, None]) & (ends <= windows.last[step.starts][:, None])
    return np.where(held, loads, np.inf)
