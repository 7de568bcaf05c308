"""The order of a zero-bubble schedule, found greedily by simulating it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.schedules.pass_seconds import PassCosts
from tiger.training.schedules.passes import BACKWARD, FORWARD, KINDS, WEIGHT

# How long a position waits for a message rather than begin a weight pass, in parts of that pass. Waiting pays at both
# ends of an iteration: 2 % of one with 2 p microbatches, and nothing of one with 32 p, so that it is tried up to 8 p.
# Without it the plans of `python -m benchmarks.vary_plans tiger.training.schedules.zerobubble:PATIENCE ..` take 0.26 %
# longer in the mean, up to 1 %.
PATIENCE, PATIENT_MICROBATCHES = (0.0, 0.25), 8
# Times that differ by this share of the longest pass are the same up to rounding.
SAME_TIME = 1e-9


@dataclass(slots=True, kw_only=True)
class _PositionState:
    """Hold the passes that a position has run so far, and when its inputs arrive, in the order of microbatches."""

    before: "_PositionState | None"
    after: "_PositionState | None"
    at: int
    limit: int
    taken_s: list[float]
    sent_s: list[float]
    inputs: list[float] = field(default_factory=list)
    gradients: list[float] = field(default_factory=list)
    forward: int = 0
    backward: int = 0
    weight: int = 0
    free_s: float = 0.0
    turn: int = BACKWARD


def zero_bubble_orders(
    costs: PassCosts, limits: Sequence[int], microbatches: int
) -> list[tuple[list[int], FloatArray]]:
    """Return orders of passes by their keys, and when every position is free; the one that ends first is to be used.

    The backward pass makes gradients of activations alone; a weight pass fills what time a position would otherwise
    wait, as in the schedule ZB-H1 of Qi et al. (arXiv:2401.10241), and position s holds at most `limits[s]`
    microbatches. With equal stages, F = B = W, m >= p and limits of p the bubble is (p - 1) (F + B - W) at every
    position. For others the order follows the simulated time, greedily: not optimal. O(p m log p).
    """
    tried = PATIENCE if microbatches <= PATIENT_MICROBATCHES * len(limits) else PATIENCE[:1]
    return [_order_greedily(_initial_states(costs, limits, microbatches), patience) for patience in tried]


def _initial_states(costs: PassCosts, limits: Sequence[int], microbatches: int) -> list[_PositionState]:
    """Return the positions before an iteration, all inputs at the first."""
    taken, sent = (part.reshape(-1, KINDS).tolist() for part in (costs.received_s + costs.passing_s, costs.sent_s))
    positions: list[_PositionState] = []
    for at, limit in enumerate(limits):
        before = positions[-1] if at else None
        positions.append(
            _PositionState(before=before, after=None, at=at, limit=limit, taken_s=taken[at], sent_s=sent[at])
        )
        if at:
            positions[at - 1].after = positions[at]
    positions[0].inputs = [0.0] * microbatches
    return positions


def _order_greedily(positions: list[_PositionState], patience: float) -> tuple[list[int], FloatArray]:
    """Return the order in which free positions run the passes that are ready, and when each is free at last."""
    order: list[int] = []
    same = SAME_TIME * max(max(position.taken_s) for position in positions)
    # Discrete events: a position becomes free, or a message arrives where one is waited for.
    events = [(0.0, 0)]
    while events:
        now, at = events[0]
        here = positions[at]
        if now < here.free_s:
            heappop(events)
            continue
        forward, backward, inputs, gradients = here.forward, here.backward, here.inputs, here.gradients
        ready = forward < len(inputs) and inputs[forward] <= now + same and forward - here.weight < here.limit
        back = backward < len(gradients) and gradients[backward] <= now + same
        # One forward and one backward pass in turn, whichever is ready, as in 1F1B; weight passes fill waits (ZB-H1).
        if back and not (ready and here.turn == FORWARD):
            here.backward, here.turn = backward + 1, FORWARD
            kind, arrived, other = BACKWARD, gradients[backward], here.before
        elif ready:
            here.forward, here.turn = forward + 1, BACKWARD
            kind, arrived, other = FORWARD, inputs[forward], here.after
        elif here.weight == backward:
            heappop(events)
            continue
        else:
            due = _next_arrival(here) if patience else now
            if now + same < due < now + patience * here.taken_s[WEIGHT]:
                heapreplace(events, (due, at))
                continue
            here.weight += 1
            kind, arrived, other = WEIGHT, now, None
        order.append(KINDS * at + kind)
        end = (arrived if arrived > here.free_s else here.free_s) + here.taken_s[kind]
        here.free_s = end + here.sent_s[kind]
        heapreplace(events, (here.free_s, at))
        if other is not None:
            (other.inputs if kind == FORWARD else other.gradients).append(end)
            if other.free_s <= end:
                heappush(events, (end, other.at))
        elif kind == FORWARD:
            gradients.append(end)
    return order, np.array([position.free_s for position in positions])


def _next_arrival(here: _PositionState) -> float:
    """Return when the next usable message arrives, of those already sent, or 0."""
    usable = here.gradients[here.backward : here.backward + 1]
    if here.forward - here.weight < here.limit:
        usable = usable + here.inputs[here.forward : here.forward + 1]
    return min(usable, default=0.0)
