"""The schedule of a placement as Chrome trace events, the JSON that Perfetto and chrome://tracing open."""

import json
from collections.abc import Iterator

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.placement.drawing.iteration import KINDS, Events, Iteration, find_iteration
from tiger.placement.entry.report import PlacementReport
from tiger.training.hardware.rank_text import short_ranks

# The only process; threads are numbered from 1, as 0 stands for an idle processor.
PROCESS = 1
# Times are whole nanoseconds: rounded apart, the end of one event could lie behind the start of the next.
NANOSECONDS = 1e9


def chrome_trace(report: PlacementReport) -> str:
    """Return all passes and messages of an iteration as trace events, a thread for each position or device.

    Each has its microbatch, and its stage or the name of its operator; counters have the bytes that a device of a
    position holds. Raises InputError of `trace` for a report without a schedule, or without the plan that one from a
    document does not have.
    """
    iteration = find_iteration(report)
    if iteration is None:
        reason = "a plan with a schedule, or operators placed for latency"
        raise InputError("trace", f"expected {reason}, got a report without them")
    rows = report.stages[: len(report.stages) // report.virtual]
    names = [short_ranks(stage.devices) for stage in rows]
    operators = None if report.arrangement is None else report.arrangement.operators.names
    events = [*_name_threads(iteration, names), *_list_events(iteration.events, operators)]
    events += _count_bytes(iteration, names)
    return '{"displayTimeUnit":"ms","traceEvents":[\n' + ",\n".join(events) + "\n]}\n"


def _name_threads(iteration: Iteration, names: list[str]) -> Iterator[str]:
    """Yield the names of the process and of its threads, and their order."""
    yield _write("process_name", "M", {"args": {"name": f"TIGER: {iteration.schedule}"}})
    for row, name in enumerate(names):
        yield _write("thread_name", "M", {"tid": row + 1, "args": {"name": name}})
        yield _write("thread_sort_index", "M", {"tid": row + 1, "args": {"sort_index": row}})


def _list_events(events: Events, operators: tuple[str, ...] | None) -> Iterator[str]:
    """Yield the events, each row one after the other."""
    start, end = _separate(events)
    ends = zip(start.tolist(), end.tolist(), strict=True)
    marks = zip(
        events.row.tolist(), events.kind.tolist(), events.stage.tolist(), events.microbatch.tolist(), strict=True
    )
    for (begin, until), (row, kind, stage, microbatch) in zip(ends, marks, strict=True):
        args: dict[str, object] = {"stage": stage, "microbatch": microbatch}
        if operators is not None:
            args = {"operator": operators[stage], "microbatch": microbatch}
        times = {"tid": row + 1, "ts": begin / 1000, "dur": (until - begin) / 1000}
        yield _write(KINDS[kind], "X", {**times, **({"args": args} if stage >= 0 else {})})


def _separate(events: Events) -> tuple[IntArray, IntArray]:
    """Return starts and ends in whole nanoseconds, none before the end of the one before it on its row."""
    start, end = (np.rint(each * NANOSECONDS).astype(np.int64) for each in (events.start_s, events.end_s))
    for row in np.unique(events.row):
        mine = np.flatnonzero(events.row == row)
        over = np.maximum.accumulate(end[mine])
        start[mine[1:]] = np.maximum(start[mine[1:]], over[:-1])
        end[mine] = np.maximum(end[mine], start[mine])
    return start, end


def _count_bytes(iteration: Iteration, names: list[str]) -> Iterator[str]:
    """Yield what a device of each row holds whenever that changes."""
    if iteration.held is None:
        return
    for name, when, size in zip(names, iteration.held.when_s, iteration.held.held_bytes, strict=True):
        stamps = np.rint(when * NANOSECONDS).astype(np.int64)
        for stamp, held in zip(stamps.tolist(), size.tolist(), strict=True):
            yield _write(f"memory of {name}", "C", {"ts": stamp / 1000, "args": {"bytes": held}})


def _write(name: str, phase: str, rest: dict[str, object]) -> str:
    """Return one event as JSON."""
    return json.dumps({"name": name, "ph": phase, "pid": PROCESS, **rest}, allow_nan=False, separators=(",", ":"))
