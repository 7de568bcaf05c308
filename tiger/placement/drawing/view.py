"""A placement as pictures show it: what each row of devices runs, when it does, what it holds and what it sends."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.model.document import KEY, Document
from tiger.placement.drawing.iteration import KINDS, MESSAGE, Events, Iteration, find_iteration, thin
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.stage import PlacedStage
from tiger.run.drawing.graph import EDGES, SCHEMA
from tiger.training.costs.stage_positions import stages_by_position
from tiger.training.hardware.rank_text import short_ranks
from tiger.training.schedules.pass_orders import style_of

# Bars, and steps of memory, that a browser draws without a pause.
PASSES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Document):
    """Show a position of a pipeline, or a device of the mode dag: how many layers or operators it runs, from which on.

    `name` is short, `devices` are all of them: tensor-parallel ranks next to each other, then replicas.
    """

    name: str
    devices: tuple[str, ...]
    operators: int
    first: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineView(Document):
    """Show when rows are busy in an iteration of the slowest replica, or for one microbatch of operators.

    `stage` is the stage of a pass or the number of an operator, it and `microbatch` are counted from 0 and -1 where
    there is none. Of a `total` beyond 20,000 those are shown that fill the dots of a picture, without messages.
    """

    schedule: str
    iteration_s: float
    bubble: float
    row: tuple[int, ...]
    kind: tuple[str, ...]
    stage: tuple[int, ...]
    microbatch: tuple[int, ...]
    start_s: tuple[float, ...]
    end_s: tuple[float, ...]
    thinned: bool
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView(Document):
    """Show what a device of each row holds: `held_bytes[row][k]` from `when_s[row][k]` on, empty without a schedule.

    None stands for no limit, and for what is not known. Many steps are joined, with the most of each as theirs.
    """

    limit_bytes: tuple[float | None, ...]
    peak_bytes: tuple[float | None, ...]
    state_bytes: tuple[float | None, ...]
    when_s: tuple[tuple[float, ...], ...] = ()
    held_bytes: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficView(Document):
    """Show the bytes that an iteration sends between devices, both directions together, the 8,000 largest at most."""

    names: tuple[str, ...]
    a: tuple[int, ...]
    b: tuple[int, ...]
    sent_bytes: tuple[float | None, ...] = field(metadata={KEY: "bytes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementView(Document):
    """Show a placement: rows of devices, and what each takes for one microbatch."""

    schema: Literal["tiger.view/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Literal["placement"] = field(default="placement", init=False, repr=False)
    rows: tuple[Row, ...]
    compute_s: tuple[float | None, ...]
    communication_s: tuple[float | None, ...]
    timeline: TimelineView | None
    memory: MemoryView
    traffic: TrafficView


def view_placement(report: PlacementReport) -> PlacementView:
    """Return the view of a report; raise InputError of `report` for one without a plan."""
    if not report.stages:
        raise InputError("report", "expected a plan that is possible, got a report without one")
    positions = len(report.stages) // report.virtual
    by_position = stages_by_position(style_of(report.schedule), positions, len(report.stages))
    rows = [tuple(report.stages[stage] for stage in stages) for stages in by_position.T.tolist()]
    iteration = find_iteration(report)
    return PlacementView(
        rows=tuple(_row(stages) for stages in rows),
        compute_s=tuple(_finite(sum(stage.compute_s for stage in stages)) for stages in rows),
        communication_s=tuple(_finite(sum(stage.communication_s for stage in stages)) for stages in rows),
        timeline=None if iteration is None else _view_timeline(iteration, positions),
        memory=_view_memory(report, report.stages[:positions], iteration),
        traffic=_view_traffic(report),
    )


def _row(stages: tuple[PlacedStage, ...]) -> Row:
    """Return the row of a position with its stages."""
    layers = [name for stage in stages for name in stage.ops]
    return Row(
        name=short_ranks(stages[0].devices),
        devices=tuple(name for replica in stages[0].devices for name in replica),
        operators=len(layers),
        first=layers[0],
        last=layers[-1],
    )


def _view_timeline(iteration: Iteration, rows: int) -> TimelineView:
    """Return the view of an iteration, of as many events as can be drawn."""
    total = len(iteration.events.row)
    events = iteration.events if total <= PASSES else _thin_events(iteration, rows)
    return TimelineView(
        schedule=iteration.schedule,
        iteration_s=iteration.seconds,
        bubble=iteration.bubble,
        row=tuple(events.row.tolist()),
        kind=tuple([KINDS[kind] for kind in events.kind.tolist()]),
        stage=tuple(events.stage.tolist()),
        microbatch=tuple(events.microbatch.tolist()),
        start_s=tuple(events.start_s.tolist()),
        end_s=tuple(events.end_s.tolist()),
        thinned=total > PASSES,
        total=total,
    )


def _thin_events(iteration: Iteration, rows: int) -> Events:
    """Return events without messages, and of those that begin within the same dot of a row one, as wide as it."""
    events = iteration.events.take(np.flatnonzero(iteration.events.kind != MESSAGE))
    if len(events.row) <= PASSES:
        return events
    # The start of the last event may be the end of the iteration, and so begin a dot of its own.
    dot_s = iteration.seconds / max(PASSES // rows - 1, 1) or 1.0
    chosen, count = thin(events.row, events.start_s, dot_s)
    shown = events.take(chosen)
    start = np.where(count > 1, np.floor(shown.start_s / dot_s) * dot_s, shown.start_s)
    end = np.where(count > 1, np.minimum(start + dot_s, iteration.seconds), shown.end_s)
    return shown._replace(start_s=start, end_s=end)


def _view_memory(report: PlacementReport, stages: tuple[PlacedStage, ...], iteration: Iteration | None) -> MemoryView:
    """Return what rows hold; without a schedule that is their state alone."""
    limit = tuple(stage.capacity_bytes for stage in stages)
    if iteration is None or iteration.held is None or iteration.state_bytes is None:
        held = tuple(_finite(stage.memory_bytes) for stage in stages)
        return MemoryView(
            limit_bytes=limit, peak_bytes=held, state_bytes=held if report.schedule is None else (None,) * len(held)
        )
    most = max(PASSES // len(stages), 2)
    steps = [
        _join_steps(when, size, most)
        for when, size in zip(iteration.held.when_s, iteration.held.held_bytes, strict=True)
    ]
    return MemoryView(
        limit_bytes=limit,
        peak_bytes=tuple(iteration.held.peak_bytes.tolist()),
        state_bytes=tuple(iteration.state_bytes.tolist()),
        when_s=tuple(tuple(when.tolist()) for when, _ in steps),
        held_bytes=tuple(tuple(size.tolist()) for _, size in steps),
    )


def _join_steps(when: FloatArray, size: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return so many steps at most, runs of them as one that holds the most of any."""
    if len(when) <= most:
        return when, size
    begins = np.linspace(0, len(when), most, endpoint=False).astype(np.int64)
    return when[begins], np.maximum.reduceat(size, begins)


def _view_traffic(report: PlacementReport) -> TrafficView:
    """Return the links of a report, the largest if there are too many, in their order."""
    largest = sorted(range(len(report.links)), key=lambda link: -report.links[link].sent_bytes)[:EDGES]
    links = [report.links[link] for link in sorted(largest)]
    names = tuple(dict.fromkeys(name for link in links for name in (link.a, link.b)))
    index = {name: number for number, name in enumerate(names)}
    return TrafficView(
        names=names,
        a=tuple(index[link.a] for link in links),
        b=tuple(index[link.b] for link in links),
        sent_bytes=tuple(_finite(link.sent_bytes) for link in links),
    )


def _finite(value: float) -> float | None:
    """Return a figure, None for one that is infinite."""
    return value if np.isfinite(value) else None
