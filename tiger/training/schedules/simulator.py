"""The simulator of a schedule: when every pass of an iteration runs."""

from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.costs.stages import Workload
from tiger.training.schedules.pass_orders import Schedule
from tiger.training.schedules.pass_seconds import PassCosts
from tiger.training.schedules.passes import KINDS
from tiger.training.schedules.schedule_table import ScheduleTable, static_table, table_of
from tiger.training.schedules.zerobubble import zero_bubble_orders

# Orders that are kept: an evaluation asks for the seconds and then for the memory of the same stages.
RECENT_SEARCHES = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """Hold N passes in the order in which they were simulated, each at its position, and the iteration they make.

    `kind` is FORWARD, BACKWARD, WEIGHT or WHOLE. A pass runs from `start_s` to `end_s`; its position receives for
    `received_s` right before and sends for `sent_s` right after. `free_s[p]` is when a position has sent its last
    message, and its all-reduce of `closing_s[p]` begins. `bubble` is the share of p x `iteration_s` without passes.
    """

    schedule: Schedule
    position: IntArray
    kind: IntArray
    stage: IntArray
    microbatch: IntArray
    start_s: FloatArray
    end_s: FloatArray
    received_s: FloatArray
    sent_s: FloatArray
    free_s: FloatArray
    closing_s: FloatArray
    iteration_s: float
    bubble: float

    @property
    def positions(self) -> int:
        """Return p."""
        return len(self.free_s)


def simulate(workload: Workload, schedule: Schedule, microbatches: int) -> Timeline:
    """Return when the passes of one iteration run, every position in the order of its schedule.

    Messages are eager and not overlapped with passes: a position sends right after a pass, whether or not the receiver
    is ready, and receives right before the pass that needs the message, no earlier than it is sent. O(S m) for S
    stages, O(S m log p) with "zero-bubble". Raises InputError where the schedule cannot run so.
    """
    table, costs = table_for(workload, schedule, microbatches), PassCosts.of(workload, schedule)
    ends, free = _times(table, costs)
    key, end, iteration = np.array(table.key), np.array(ends), float(np.max(free + workload.closing_s))
    # Each of several pipelines has its own part of the microbatches.
    pipeline = key // KINDS // (len(workload.forward_s) // workload.pipelines)
    return Timeline(
        schedule=schedule,
        position=np.array(table.position),
        kind=key % KINDS,
        stage=key // KINDS,
        microbatch=np.array(table.microbatch) + pipeline * (microbatches // workload.pipelines),
        start_s=end - costs.passing_s[key],
        end_s=end,
        received_s=costs.received_s[key],
        sent_s=costs.sent_s[key],
        free_s=free,
        closing_s=workload.closing_s,
        iteration_s=iteration,
        bubble=bubble_of(workload, microbatches, iteration),
    )


def iteration_s(workload: Workload, schedule: Schedule, microbatches: int) -> float:
    """Return the seconds of one iteration, as `simulate` does, without the timeline. Raises InputError."""
    costs = PassCosts.of(workload, schedule)
    if schedule == "zero-bubble":
        return _search(costs, tuple(workload.closing_s.tolist()), _limits(workload, microbatches), microbatches)[0]
    free = _times(_fixed_table(workload, schedule, microbatches), costs)[1]
    return float(np.max(free + workload.closing_s))


def bubble_of(workload: Workload, microbatches: int, iteration: float) -> float:
    """Return the share of all positions' time in which no pass runs, 0 where an iteration takes no time."""
    busy = microbatches / workload.pipelines * float(workload.forward_s.sum() + workload.backward_s.sum())
    return max(0.0, 1 - busy / (workload.positions * iteration)) if iteration else 0.0


def table_for(workload: Workload, schedule: Schedule, microbatches: int) -> ScheduleTable:
    """Return the passes in order, which for "zero-bubble" depends on what they take. Raises InputError."""
    if schedule != "zero-bubble":
        return _fixed_table(workload, schedule, microbatches)
    return table_of(zero_bubble_order(workload, microbatches), workload.positions)


def zero_bubble_order(workload: Workload, microbatches: int) -> list[int]:
    """Return the passes of the zero-bubble schedule in order, by their keys. Raises InputError."""
    costs = PassCosts.of(workload, "zero-bubble")
    return _search(costs, tuple(workload.closing_s.tolist()), _limits(workload, microbatches), microbatches)[1]


def _fixed_table(workload: Workload, schedule: Schedule, microbatches: int) -> ScheduleTable:
    """Return the table of a schedule whose order does not depend on the seconds of passes."""
    positions = workload.positions
    return static_table(schedule, positions, len(workload.forward_s) // positions, microbatches)


def _limits(workload: Workload, microbatches: int) -> tuple[int, ...]:
    """Return how many microbatches each position may hold in a zero-bubble schedule.

    As many as there is room for, at most what 1F1B holds at its first position, and at least what it holds there.
    """
    positions = workload.positions
    spare = workload.room_bytes - workload.state_bytes - workload.working_bytes
    some = workload.held_bytes > 0
    most = np.full(positions, float(min(positions, microbatches)))
    with np.errstate(over="ignore"):
        most[some] = np.minimum(most[some], np.floor(spare[some] / workload.held_bytes[some]))
    least = np.minimum(positions - np.arange(positions), microbatches)
    return tuple(np.maximum(most, least).astype(np.int64).tolist())


@lru_cache(maxsize=RECENT_SEARCHES)
def _search(
    costs: PassCosts, closing_s: tuple[float, ...], limits: tuple[int, ...], microbatches: int
) -> tuple[float, list[int]]:
    """Return the seconds and the order of the shortest iteration known with backward passes split.

    Kept, as an evaluation asks for seconds and memory of the same stages in turn.
    """
    positions = len(closing_s)
    fixed = static_table("zero-bubble", positions, len(costs.sent_s) // (KINDS * positions), microbatches)
    # The fixed order comes first, as it holds the least where others are no faster.
    orders = [(fixed.key, _times(fixed, costs)[1]), *zero_bubble_orders(costs, limits, microbatches)]
    return min(((float(np.max(free + closing_s)), order) for order, free in orders), key=itemgetter(0))


def _times(table: ScheduleTable, costs: PassCosts) -> tuple[list[float], FloatArray]:
    """Return when every pass ends and when every position is free: a longest path along the table. O(N)."""
    taken, sent = (costs.received_s + costs.passing_s).tolist(), costs.sent_s.tolist()
    # The longest path through the passes, in the order of the table: a pass begins when its position is free and its
    # message has arrived. Number 0 stands for no message.
    free, ends = [0.0] * table.positions, [0.0]
    append = ends.append
    for position, key, waits in zip(table.position, table.key, table.waits, strict=True):
        start, arrived = free[position], ends[waits]
        # A conditional is twice as fast as max(), and searches spend most of their time in this loop.
        if arrived > start:
            start = arrived
        end = start + taken[key]
        append(end)
        free[position] = end + sent[key]
    del ends[0]
    return ends, np.array(free)
