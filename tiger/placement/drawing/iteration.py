"""What the devices of a placement do in an iteration, or for one microbatch: when it runs, and what they hold."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.emission.deployment import Deployment
from tiger.placement.entry.arrangement import Arrangement
from tiger.placement.entry.report import PlacementReport
from tiger.training.costs.stages import Workload, workloads
from tiger.training.schedules.memory import MemoryProfile, footprint
from tiger.training.schedules.pass_orders import Schedule, pipelines_of
from tiger.training.schedules.passes import BACKWARD, FORWARD, WHOLE
from tiger.training.schedules.simulator import Timeline, iteration_s, simulate

# The names of events by their numbers, of which the first three are those of passes.
KINDS = ("forward", "backward", "weight", "message", "all-reduce", "operator")
MESSAGE, ALL_REDUCE, OPERATOR = 3, 4, 5
# The golden ratio less 1: its multiples are spread evenly over [0, 1) and never repeat.
GOLDEN = 0.6180339887498949


class Events(NamedTuple):
    """Hold what runs on which row, a number of KINDS each, for a stage or operator and a microbatch, -1 for none."""

    row: IntArray
    kind: IntArray
    stage: IntArray
    microbatch: IntArray
    start_s: FloatArray
    end_s: FloatArray

    def take(self, rows: IntArray) -> "Events":
        """Return some of the events."""
        row, kind, stage, microbatch = (each[rows] for each in self[:4])
        return Events(row, kind, stage, microbatch, self.start_s[rows], self.end_s[rows])


class Iteration(NamedTuple):
    """Hold the events of an iteration in the order of time, and how long it takes; what rows hold if that is known."""

    schedule: str
    seconds: float
    bubble: float
    events: Events
    held: MemoryProfile | None
    state_bytes: FloatArray | None


def find_iteration(report: PlacementReport) -> Iteration | None:
    """Return the iteration of a report: by its schedule, or of one microbatch where operators are placed for latency.

    None without either, and for reports that come from documents, which do not have the plan.
    """
    if report.arrangement is not None:
        return None if report.latency_s is None else _run_operators(report, report.arrangement)
    if report.deployment is None or report.schedule is None or report.microbatches is None:
        return None
    timeline, workload = simulate_slowest(report.deployment, report.schedule, report.microbatches)
    return Iteration(
        schedule=timeline.schedule,
        seconds=timeline.iteration_s,
        bubble=timeline.bubble,
        events=_events_of(timeline),
        held=footprint(timeline, workload),
        state_bytes=workload.by_position(workload.state_bytes).sum(axis=0),
    )


def simulate_slowest(deployment: Deployment, schedule: Schedule, microbatches: int) -> tuple[Timeline, Workload]:
    """Return the timeline of the slowest replica and its costs."""
    replicas = workloads(deployment.layers, deployment.cluster, deployment.plan)
    workload = max(replicas, key=lambda load: iteration_s(load, schedule, microbatches))
    return simulate(workload, schedule, microbatches), workload


def thin(row: IntArray, start_s: FloatArray, dot_s: float) -> tuple[IntArray, IntArray]:
    """Return one event of all that begin within the same dot of a row, and how many those are."""
    dot = np.floor(start_s / dot_s)
    spot = row * (dot.max() + 1) + dot
    by_spot = np.argsort(spot, kind="stable")
    _, first, count = np.unique(spot[by_spot], return_index=True, return_counts=True)
    # Always the first would draw stripes that are not there; steps of the golden ratio take each kind as often.
    pick = np.floor(count * (np.arange(len(count)) * GOLDEN % 1)).astype(np.int64)
    return by_spot[first + pick], count


def messages_of(timeline: Timeline) -> Events:
    """Return what is received right before passes and sent right after them."""
    before, after = np.flatnonzero(timeline.received_s > 0), np.flatnonzero(timeline.sent_s > 0)
    passes = np.concatenate([before, after])
    return Events(
        row=timeline.position[passes],
        kind=np.full(len(passes), MESSAGE),
        stage=timeline.stage[passes],
        microbatch=timeline.microbatch[passes],
        start_s=np.concatenate([(timeline.start_s - timeline.received_s)[before], timeline.end_s[after]]),
        end_s=np.concatenate([timeline.start_s[before], (timeline.end_s + timeline.sent_s)[after]]),
    )


def _events_of(timeline: Timeline) -> Events:
    """Return the passes, messages and all-reduces of a timeline in the order of time."""
    closing = np.flatnonzero(timeline.closing_s > 0)
    none = np.full(len(closing), -1)
    free = timeline.free_s[closing]
    kind = np.where(timeline.kind == WHOLE, BACKWARD, timeline.kind)
    if pipelines_of(timeline.schedule) > 1:
        # Stages of the pipeline in the other direction are the same ones.
        timeline = replace(timeline, stage=timeline.stage % timeline.positions)
    parts = (
        Events(timeline.position, kind, timeline.stage, timeline.microbatch, timeline.start_s, timeline.end_s),
        messages_of(timeline),
        Events(closing, np.full(len(closing), ALL_REDUCE), none, none, free, free + timeline.closing_s[closing]),
    )
    return _in_time([np.concatenate(columns) for columns in zip(*parts, strict=True)])


def _run_operators(report: PlacementReport, arrangement: Arrangement) -> Iteration:
    """Return one microbatch under list scheduling, operators as forward and backward if the model has both."""
    times, backward = arrangement.timetable(), arrangement.operators.backward
    rows = {arrangement.cluster.names.index(stage.device): row for row, stage in enumerate(report.stages)}
    row = np.array([rows.get(device, 0) for device in range(arrangement.cluster.size)])[times.device]
    count, end = len(row), float(times.end_s.max())
    kind = np.where(backward, BACKWARD, FORWARD) if backward.any() else np.full(count, OPERATOR)
    busy = float((times.end_s - times.begin_s).sum())
    return Iteration(
        schedule="list scheduling",
        seconds=end,
        bubble=1 - busy / (end * len(rows)) if end else 0.0,
        events=_in_time([row, kind, np.arange(count), np.zeros(count, np.int64), times.begin_s, times.end_s]),
        held=None,
        state_bytes=None,
    )


def _in_time(columns: list[FloatArray] | list[IntArray]) -> Events:
    """Return events by their start."""
    events = Events(*columns)
    return events.take(np.argsort(events.start_s, kind="stable"))
