"""The bytes that every position holds in the course of an iteration, and whether they fit into its memory."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.costs.stage_positions import stage_positions
from tiger.training.costs.stages import Workload
from tiger.training.costs.tolerances import MEMORY
from tiger.training.schedules.pass_orders import SPLIT, Schedule, check_schedule, style_of, warm_up
from tiger.training.schedules.passes import BACKWARD, FORWARD, KINDS, WEIGHT, WHOLE
from tiger.training.schedules.schedule_table import static_table
from tiger.training.schedules.simulator import Timeline, zero_bubble_order

# Shapes of schedules whose counts are kept: searches ask for a few in turn.
KEPT_COUNTS = 32
# Times p microbatches of p positions, after which what they hold repeats itself: a position runs at most (v + 1) p
# passes before it alternates, and then groups of v p passes, by the end of the first of which it was at its fullest.
PERIODS = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemoryProfile:
    """Hold the bytes of each of p positions over time: `held_bytes[p][k]` from `when_s[p][k]` on, state included."""

    when_s: tuple[FloatArray, ...]
    held_bytes: tuple[FloatArray, ...]

    @property
    def peak_bytes(self) -> FloatArray:
        """Return the most that each position holds."""
        return np.array([series.max() for series in self.held_bytes])


def footprint(timeline: Timeline, workload: Workload) -> MemoryProfile:
    """Return the bytes held over time: of a microbatch from the start of its forward pass until no pass needs it.

    The last to need it is the backward pass, or the weight pass where the two are apart. O(S m).
    """
    state = workload.by_position(workload.state_bytes).sum(axis=0) + workload.working_bytes
    # A position runs one pass at a time, so that its rows are in the order of time already.
    begins, ends = timeline.kind == FORWARD, np.isin(timeline.kind, _last_kinds(timeline.schedule))
    sign = begins.astype(np.float64) - ends
    change = sign * workload.held_bytes[timeline.stage]
    moment = np.where(begins, timeline.start_s, timeline.end_s)
    moved = [np.flatnonzero((timeline.position == position) & (sign != 0)) for position in range(len(state))]
    still = np.zeros(1)
    return MemoryProfile(
        when_s=tuple(np.concatenate([still, moment[rows]]) for rows in moved),
        held_bytes=tuple(
            np.cumsum(np.concatenate([state[[position]], change[rows]])) for position, rows in enumerate(moved)
        ),
    )


def fits_memory(held_bytes: FloatArray, room_bytes: FloatArray) -> bool:
    """Return whether what each position holds fits into the memory of its smallest device, up to rounding."""
    return not (held_bytes > room_bytes * (1 + MEMORY)).any()


def peak_bytes(workload: Workload, schedule: Schedule, microbatches: int) -> FloatArray:
    """Return the most bytes that each position holds, which depends on the order of its passes and not on times.

    O(p v) where the order is known beforehand, after the first call; what `simulate` takes for "zero-bubble". Raises
    InputError.
    """
    positions = workload.positions
    state = workload.by_position(workload.state_bytes).sum(axis=0)
    if schedule == "zero-bubble":
        counts = _peaks(schedule, zero_bubble_order(workload, microbatches), positions, 1)
    else:
        counts = count_peak_activations(schedule, positions, len(workload.held_bytes) // positions, microbatches)
    activation_bytes = workload.by_position(workload.held_bytes).T
    still = state + workload.working_bytes
    return np.array([still[at] + (counts[at] @ activation_bytes[at]).max() for at in range(positions)])


@lru_cache(maxsize=KEPT_COUNTS)
def count_peak_activations(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> tuple[IntArray, ...]:
    """Return the microbatches that every position holds of each of its v stages at its fullest: p arrays [k, v].

    Stages that hold different amounts may be fullest at any of the k moments, of which none holds as much as another
    of every stage. For "zero-bubble" it is what fits at the least, as in 1F1B. O(p v m). Raises InputError.
    """
    check_schedule(schedule, positions, virtual, microbatches)
    if schedule != "gpipe" and microbatches > PERIODS * positions:
        return count_peak_activations(schedule, positions, virtual, PERIODS * positions)
    order = static_table(schedule, positions, virtual, microbatches).key
    # The order that "zero-bubble" starts from makes every weight gradient at once, and holds as much as 1F1B.
    return _peaks("1f1b" if schedule == "zero-bubble" else schedule, order, positions, virtual)


def in_flight(schedule: Schedule | None, microbatches: int, virtual: int = 1) -> Callable[[int], int]:
    """Return a function from the number of stages behind one to the microbatches that it has to hold, for v = 1.

    0 without a schedule. A zero-bubble schedule uses more memory where there is some, and needs as much as 1F1B.
    """
    if virtual > 1:
        raise ValueError(f"expected 1 stage at a position, got {virtual}: see count_peak_activations")
    if schedule is None:
        return lambda _: 0
    if schedule == "gpipe":
        return lambda _: microbatches
    return lambda after: min(microbatches, 1 + warm_up(schedule, (after + 1, 1, microbatches), 0))


def chunks_in_flight(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> Callable[[int], float]:
    """Return the mean microbatches in flight of a stage by the stages behind it, where a position has several."""
    peaks = count_peak_activations(schedule, positions, virtual, microbatches)
    most = [float(counts.sum(axis=1).max()) for counts in peaks]
    at = stage_positions(style_of(schedule), positions, positions * virtual)
    return lambda after: most[at[positions * virtual - 1 - after]] / virtual


def count_whole_microbatches(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> IntArray:
    """Return how many microbatches `[p]` every position holds of all its stages at one moment, or more."""
    peaks = count_peak_activations(schedule, positions, virtual, microbatches)
    return np.array([counts.min(axis=1).max() for counts in peaks])


def _last_kinds(schedule: Schedule) -> tuple[int, ...]:
    """Return the kinds of passes after which a stage does not need what its forward pass has left."""
    return (WEIGHT, WHOLE) if schedule in SPLIT else (BACKWARD,)


def _peaks(schedule: Schedule, order: list[int], positions: int, virtual: int) -> tuple[IntArray, ...]:
    """Return the largest counts that each position holds of its stages."""
    key = np.array(order)
    kind, stage = key % KINDS, key // KINDS
    change = np.zeros((len(key), virtual), np.int64)
    ends = np.isin(kind, _last_kinds(schedule))
    change[np.arange(len(key)), stage // positions] = (kind == FORWARD).astype(np.int64) - ends
    at = stage_positions(style_of(schedule), positions, positions * virtual)[stage]
    return tuple(_dominant_rows(np.cumsum(change[at == position], axis=0)) for position in range(positions))


def _dominant_rows(counts: IntArray) -> IntArray:
    """Return the rows [k, v] that no other row is at least as large as in every column."""
    if counts.shape[1] == 1:
        return np.array([[counts.max()]])
    # From the lexicographically largest down, a row that is covered at all is covered by one that is kept.
    left, kept = np.unique(counts, axis=0)[::-1], list[IntArray]()
    while len(left):
        kept.append(left[0])
        left = left[(left > left[0]).any(axis=1)]
    return np.array(kept)
