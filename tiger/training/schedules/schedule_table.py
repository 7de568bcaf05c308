"""The table of a schedule: the passes of all positions in one sequence, each behind the pass that it waits for."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tiger.training.schedules.pass_orders import Schedule, pass_orders, pipelines_of
from tiger.training.schedules.passes import BACKWARD, FORWARD, KINDS, WEIGHT, WHOLE, Pass

# Tables that are kept for searches, which ask for a few shapes in turn; of those above this many passes only the last.
KEPT_TABLES, KEPT_LONG_TABLES, LONG = 32, 1, 2**14
# Stands for an input whose sender is not in the table yet; 0 stands for one that needs no message.
NOT_SENT = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleTable:
    """Hold N passes: at which of p positions each runs, its kind and stage, and which pass it waits for.

    `key` is KINDS x stage + kind. `waits[i]` is 1 + the number of the pass of another stage that makes what pass i
    needs, always one of those before it, and 0 where there is none.
    """

    positions: int
    position: list[int]
    key: list[int]
    microbatch: list[int]
    waits: list[int]


def static_table(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> ScheduleTable:
    """Return the table of an order that is fixed beforehand. O(p v m) once, then kept. Raises InputError."""
    kept = _kept_long if positions * virtual * microbatches > LONG else _kept
    return kept(schedule, positions, virtual, microbatches)


def _merge(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> ScheduleTable:
    """Return the passes of all positions, each behind the one that it waits for."""
    orders = pass_orders(schedule, positions, virtual, microbatches)
    table = ScheduleTable(positions=positions, position=[], key=[], microbatch=[], waits=[])
    ways = pipelines_of(schedule)
    sent = _list_sends(positions * virtual, ways, microbatches // ways)
    running = {position: _append_passes(table, sent, position, order) for position, order in enumerate(orders)}
    while running:
        # Every round runs each position up to the first pass whose message has not been sent.
        running = {position: steps for position, steps in running.items() if next(steps, None) is not None}
    return table


_kept = lru_cache(maxsize=KEPT_TABLES)(_merge)
_kept_long = lru_cache(maxsize=KEPT_LONG_TABLES)(_merge)


def table_of(order: list[int], positions: int) -> ScheduleTable:
    """Return the table of passes given by their keys, one stage a position, each kind in order of microbatches.

    O(p m).
    """
    key = np.array(order)
    count = np.bincount(key, minlength=KINDS * positions)
    grouped = np.argsort(key, kind="stable")
    microbatch, number = np.empty(len(key), np.int64), np.zeros((KINDS * positions, count.max()), np.int64)
    microbatch[grouped] = np.arange(len(key)) - np.repeat(np.cumsum(count) - count, count)
    number[key, microbatch] = np.arange(len(key)) + 1
    # A forward pass waits for that of the stage before, a backward pass for that of the stage behind.
    sender = np.where(key % KINDS == FORWARD, key - KINDS, key + KINDS)
    sent = (key % KINDS != WEIGHT) & (sender >= 0) & (sender < KINDS * positions)
    waits = np.where(sent, number[np.where(sent, sender, 0), microbatch], 0)
    return ScheduleTable(
        positions=positions,
        position=(key // KINDS).tolist(),
        key=order,
        microbatch=microbatch.tolist(),
        waits=waits.tolist(),
    )


def _list_sends(stages: int, ways: int, microbatches: int) -> dict[int, list[list[int]]]:
    """Return, for every kind of pass, stage and microbatch, 1 + the pass that sends its input, or NOT_SENT.

    The stages are those of `ways` pipelines, one after another.
    """
    sent = {kind: [[NOT_SENT] * microbatches for _ in range(stages)] for kind in (FORWARD, BACKWARD)}
    # The first forward pass and the last backward pass need no message; nor does a weight pass anywhere.
    for first in range(0, stages, stages // ways):
        sent[FORWARD][first], sent[BACKWARD][first - 1] = [0] * microbatches, [0] * microbatches
    sent[WEIGHT] = [[0] * microbatches] * stages
    sent[WHOLE] = sent[BACKWARD]
    return sent


def _append_passes(
    table: ScheduleTable, sent: dict[int, list[list[int]]], position: int, order: list[Pass]
) -> Iterator[Pass]:
    """Append the passes of a position in its order, and yield each that has to wait for another position."""
    for step in order:
        kind, microbatch, stage = step
        while (waits := sent[kind][stage][microbatch]) == NOT_SENT:
            yield step
        table.position.append(position)
        table.key.append(KINDS * stage + kind)
        table.microbatch.append(microbatch)
        table.waits.append(waits)
        after = stage + 1 if kind == FORWARD else stage - 1
        # What the last stage of a pipeline makes, nobody waits for; nor for weights.
        if kind != WEIGHT and 0 <= after < len(sent[kind]) and sent[kind][after][microbatch] == NOT_SENT:
            sent[kind][after][microbatch] = len(table.waits)
