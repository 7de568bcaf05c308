"""Draw what a pipeline does in an iteration: when its passes run, and what its devices hold meanwhile.

Needs the extra `tiger-mapper[plot]`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tiger.model.arrays import BoolArray
from tiger.model.units import TIMES, seconds_text
from tiger.placement.drawing.bars import (
    CAPACITY,
    MESSAGES,
    OVER,
    STATE,
    WORK,
    draw_loads,
    draw_memory,
    limits,
    memory_title,
    scale,
    size_text,
)
from tiger.placement.drawing.gantt import panels_of_operators
from tiger.placement.drawing.iteration import messages_of, simulate_slowest, thin
from tiger.placement.entry.report import PlacementReport
from tiger.run.drawing.panels import (
    add_bars,
    add_legend,
    add_title,
    corners,
    explain,
    label_axis,
    name_rows,
    note,
    panels_of,
    row_in,
)
from tiger.run.drawing.style import DPI, GREEN, ORANGE, PURPLE, SKY, WIDTH_IN, Style
from tiger.training.hardware.rank_text import short_ranks
from tiger.training.schedules.memory import MemoryProfile, footprint
from tiger.training.schedules.passes import BACKWARD, FORWARD, WEIGHT, WHOLE
from tiger.training.schedules.simulator import Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tiger.run.drawing.figure import Picture

TITLES = {
    "gpipe": "GPipe",
    "1f1b": "1F1B",
    "interleaved": "interleaved 1F1B",
    "zero-bubble": "zero-bubble",
    "zb-v": "ZB-V",
    "dualpipe-v": "DualPipeV",
    "chimera": "Chimera",
}
PASSES = {FORWARD: ("forward", WORK), BACKWARD: ("backward", ORANGE), WEIGHT: ("weight gradient", GREEN)}
CLOSING = PURPLE
HELD = SKY
# Beyond so many, passes share the dots of a picture, and outlines, numbers and hatches run into each other.
DRAWN_PASSES, OUTLINED_PASSES, NUMBERED_PASSES, HATCHED_MESSAGES = 100_000, 2000, 1500, 2000
# The size of numbers on passes.
NUMBER_POINTS = 7


def draw_placement(report: PlacementReport) -> "Picture":
    """Draw a placement: with a schedule, an iteration of the slowest replica and what it holds meanwhile.

    Without one, the load and the memory of every device, and when each is busy where operators are placed for latency.
    """
    panels = panels_of_placement(report)
    return draw_panels(report, [name for name in panels if name != "loads" or report.schedule is None])


def draw_panels(report: PlacementReport, chosen: Sequence[str]) -> "Picture":
    """Draw some panels of a placement, one under the other."""
    panels = panels_of_placement(report)
    figure, axes = panels_of(_count_rows(report), len(chosen))
    for name, each in zip(chosen, axes, strict=True):
        panels[name](each)
    return figure


def panels_of_placement(report: PlacementReport) -> dict[str, Callable[["Axes"], None]]:
    """Return what draws each panel that a placement has, by name; none where it has no plan."""
    if report.arrangement is not None:
        return panels_of_operators(report, report.arrangement)
    plan = report.deployment
    if plan is None:
        return {}
    names = [short_ranks(stage.devices) for stage in report.stages[: plan.plan.positions]]
    loads = partial(draw_loads, report=report, names=names)
    if report.schedule is None or report.microbatches is None:
        return {"loads": loads, "memory": partial(draw_memory, report=report, names=names)}
    timeline, workload = simulate_slowest(plan, report.schedule, report.microbatches)
    capacity = [float(plan.cluster.memory_bytes[ranks].min()) for ranks in plan.plan.grid]
    held, end = footprint(timeline, workload), timeline.iteration_s
    return {
        "gantt": partial(_draw_passes, timeline=timeline, names=names, ranks=plan.plan.grid[0].size),
        "loads": loads,
        "memory": partial(_draw_memory, held=held, names=names, capacity_bytes=capacity, end=end),
    }


def _count_rows(report: PlacementReport) -> int:
    """Return how many rows a panel of a placement has."""
    return len(report.stages) if report.deployment is None else report.deployment.plan.positions


def _draw_passes(axes: "Axes", timeline: Timeline, names: Sequence[str], ranks: int) -> None:
    """Draw every pass, message and all-reduce, with a legend and a title; a position has so many ranks."""
    axes.set_xlim(0, timeline.iteration_s or 1.0)
    name_rows(axes, names)
    microbatches = int(timeline.microbatch.max()) + 1
    timeline = _thin(timeline)
    _draw_messages(axes, timeline)
    # One collection for each kind and shade: thousands of single bars would take minutes.
    chunk = timeline.stage // len(names)
    virtual = int(chunk.max()) + 1
    for kind, (label, colour) in PASSES.items():
        for part in range(virtual):
            # Whole backward passes look like the part that others wait for.
            kinds = (BACKWARD, WHOLE) if kind == BACKWARD else (kind,)
            rows = np.isin(timeline.kind, kinds) & (chunk == part)
            _draw_kind(axes, timeline, rows, (label if part == 0 else "_", _lighten(colour, 0.5 * part / virtual)))
    _draw_numbers(axes, timeline)
    title = f"{TITLES[timeline.schedule]}: {microbatches} microbatches {_places(len(names), virtual, ranks)}"
    bubble = max(timeline.bubble, 0.0)
    add_title(axes, f"{title}: {seconds_text(timeline.iteration_s)}, bubble {bubble:.1%}")
    explain(axes, axes.get_legend_handles_labels()[0])
    label_axis(axes, timeline.iteration_s, "time", TIMES)


def _places(positions: int, virtual: int, ranks: int) -> str:
    """Return on what a pipeline runs."""
    if virtual > 1:
        where = f"on {positions} devices" if ranks == 1 else f"on {positions} groups of {ranks} devices"
        return f"{where}, {virtual} stages each, later ones lighter"
    return f"on {positions} devices" if ranks == 1 else f"in {positions} stages of {ranks} devices"


def _thin(timeline: Timeline) -> Timeline:
    """Return a timeline that a picture can show: of all passes that begin within the same dot of a row, one.

    It fills the dot where there are more than one. Messages, which are shorter still, are left out.
    """
    if len(timeline.kind) <= DRAWN_PASSES:
        return timeline
    dot_s = timeline.iteration_s / (WIDTH_IN * DPI) or 1.0
    rows, count = thin(timeline.position, timeline.start_s, dot_s)
    crowded = count > 1
    start = timeline.start_s[rows]
    shown_s = np.where(crowded, np.floor(start / dot_s) * dot_s, start)
    still = np.zeros(len(rows))
    return replace(
        timeline,
        position=timeline.position[rows],
        kind=timeline.kind[rows],
        stage=timeline.stage[rows],
        microbatch=timeline.microbatch[rows],
        start_s=shown_s,
        end_s=np.where(crowded, shown_s + dot_s, timeline.end_s[rows]),
        received_s=still,
        sent_s=still,
    )


def _draw_kind(axes: "Axes", timeline: Timeline, rows: BoolArray, style: tuple[str, tuple[float, ...]]) -> None:
    """Draw the passes of one kind and one virtual stage as one collection."""
    label, colour = style
    if rows.any():
        spans = corners(timeline.position[rows], timeline.start_s[rows], timeline.end_s[rows], 0.8)
        outline = 0.6 if len(timeline.kind) <= OUTLINED_PASSES else 0.0
        add_bars(axes, spans, {"facecolor": colour, "edgecolor": "white", "linewidth": outline, "label": label})


def _draw_messages(axes: "Axes", timeline: Timeline) -> None:
    """Draw what is received before and sent after passes as thin bars, and all-reduces behind the last of them."""
    # What is received is drawn before its pass, what is sent behind it: both ends are busy.
    messages = messages_of(timeline)
    if len(messages.row):
        hatch = "/////" if len(messages.row) <= HATCHED_MESSAGES else ""
        spans = corners(messages.row, messages.start_s, messages.end_s, 0.36)
        add_bars(axes, spans, {**MESSAGES, "hatch": hatch, "label": "message"})
    closing = np.flatnonzero(timeline.closing_s > 0)
    if len(closing):
        free = timeline.free_s[closing]
        spans = corners(closing, free, free + timeline.closing_s[closing], 0.8)
        add_bars(axes, spans, {"facecolor": CLOSING, "edgecolor": "white", "hatch": "..", "label": "all-reduce"})


def _draw_numbers(axes: "Axes", timeline: Timeline) -> None:
    """Write the microbatch, counted from 1, on every pass that is wide and high enough for it."""
    if row_in(timeline.positions) * 72 < 1.6 * NUMBER_POINTS or not timeline.iteration_s:
        return
    # Labels and margins take about a tenth of the width.
    points_a_second = 0.9 * WIDTH_IN * 72 / timeline.iteration_s
    room = (timeline.end_s - timeline.start_s) * points_a_second
    digits = np.floor(np.log10(timeline.microbatch + 1)) + 1
    middle = (timeline.start_s + timeline.end_s) / 2
    rows = np.flatnonzero(room >= (digits + 0.6) * 0.62 * NUMBER_POINTS)
    for row in rows.tolist() if len(rows) <= NUMBERED_PASSES else []:
        spot = (float(middle[row]), float(timeline.position[row]) + 0.03)
        number = str(int(timeline.microbatch[row]) + 1)
        axes.annotate(number, spot, ha="center", va="center", fontsize=NUMBER_POINTS, color="white")


def _draw_memory(
    axes: "Axes", held: MemoryProfile, names: Sequence[str], capacity_bytes: Sequence[float], end: float
) -> None:
    """Draw what every position holds over time as an area on its row, state darker, under a line at its capacity."""
    peaks, capacity = held.peak_bytes, np.asarray(capacity_bytes, np.float64)
    axes.set_xlim(0, end or 1.0)
    top = scale(peaks, capacity)
    for row, (when, size) in enumerate(zip(held.when_s, held.held_bytes, strict=True)):
        # Layers of paint: all that is held, over it what fits, over that the state.
        moments, sizes = np.append(when, end), np.append(size, size[-1])
        for most, colour in ((sizes, OVER), (np.minimum(sizes, capacity[row]), HELD), (size[:1], STATE)):
            axes.fill_between(moments, row + 0.4, row + 0.4 - 0.8 * most / top, step="post", color=colour, lw=0)
        if capacity[row] <= top:
            axes.hlines(row + 0.4 - 0.8 * capacity[row] / top, 0, end, color=CAPACITY, lw=1, ls="--")
        note(axes, row, len(peaks), size_text(peaks[row], capacity[row]))
    add_title(axes, memory_title(peaks, capacity, top))
    entries: dict[str, Style] = {
        "parameters and state": {"facecolor": STATE},
        "held for microbatches": {"facecolor": HELD},
    }
    add_legend(axes, entries | limits(peaks, capacity, top))
    name_rows(axes, names)
    label_axis(axes, end, "time", TIMES)


def _lighten(colour: str, share: float) -> tuple[float, ...]:
    """Return a colour with a share of white."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return tuple(channel + share * (1 - channel) for channel in channels)
