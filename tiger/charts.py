"""Draw what a pipeline does in an iteration: when its passes run, and what its devices hold meanwhile.

Needs the extra `tiger-mapper[plot]`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tiger import outfile
from tiger.errors import InputError, shown
from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.doors.ranks import short
from tiger.pipeline.doors.report import PlacementReport
from tiger.pipeline.emission.deployment import Deployment
from tiger.pipeline.params import Schedule
from tiger.pipeline.schedules.memory import Footprint, footprint
from tiger.pipeline.schedules.orders import BACKWARD, FORWARD, WEIGHT
from tiger.pipeline.schedules.simulator import Timeline, iteration_s, simulate
from tiger.pipeline.stages import workloads
from tiger.units import SIZES, TIMES, Unit, bytes_text, seconds_text, unit_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style = Mapping[str, object]
ENDINGS = (".png", ".svg", ".pdf")
DPI = 110
WIDTH_IN = 13.0
HEADROOM_IN, LEGEND_POINTS = 1.3, 18
TITLES = {"gpipe": "GPipe", "1f1b": "1F1B", "interleaved": "interleaved 1F1B", "zero-bubble": "zero-bubble"}
PASSES = {FORWARD: ("forward", "#3b78b5"), BACKWARD: ("backward", "#e08a3c"), WEIGHT: ("weight gradient", "#5aa469")}
CLOSING = "#b9a3d3"
MESSAGES: Style = {"facecolor": "#ececec", "edgecolor": "#8a8a8a", "linewidth": 0.3, "hatch": "/////"}
STATE, HELD, OVER, CAPACITY = "#5b6770", "#9fb8c9", "#c8443c", "#333333"
DRAWN_PASSES, OUTLINED_PASSES, NUMBERED_PASSES, HATCHED_MESSAGES = 100_000, 2000, 1500, 2000
NUMBER_POINTS, NAME_LENGTH = 7, 24
SCALED_CAPACITY = 8.0
GOLDEN = 0.6180339887498949


def draw_placement(report: PlacementReport, path: Path | str) -> None:
    """Write a picture of a placement: with a schedule, an iteration of the slowest replica and what it holds.

    Without one, the load and the memory of every device. The ending of `path` chooses svg, png or pdf. Raises
    InputError of `plot` where there is no plan to draw, where the file cannot be written, and as `check`.
    """
    check(path)
    plan = report.deployment
    if plan is None:
        raise InputError("plot", "expected a plan that is possible, got a report without one")
    figure, axes = _panels(plan.plan.positions)
    if report.schedule is None or report.microbatches is None:
        names = _names(report, plan.plan.positions)
        _draw_loads(axes[0], report, names)
        _draw_memory_bars(axes[1], report, names)
    else:
        _draw_iteration(axes, report, plan, (report.schedule, report.microbatches))
    _write(figure, path)


def check(path: Path | str) -> None:
    """Raise InputError of `plot` for an ending that is not known, or where matplotlib is missing."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise InputError("plot", f"expected a file that ends in {', '.join(ENDINGS)}, got {shown(Path(path).name)}")
    if not find_spec("matplotlib"):
        raise InputError("plot", "expected matplotlib: pip install 'tiger-mapper[plot]'")


def _names(report: PlacementReport, positions: int) -> list[str]:
    """Return the devices of every position in short."""
    return [short(stage.devices) for stage in report.stages[:positions]]


def _draw_iteration(
    axes: Sequence["Axes"], report: PlacementReport, made: Deployment, asked: tuple[Schedule, int]
) -> None:
    """Draw an iteration of the slowest replica, and under it what that holds."""
    replicas = workloads(made.layers, made.cluster, made.plan)
    workload = max(replicas, key=lambda load: iteration_s(load, *asked))
    timeline = simulate(workload, *asked)
    names = _names(report, made.plan.positions)
    capacity = [float(made.cluster.memory_bytes[ranks].min()) for ranks in made.plan.grid]
    _draw_passes(axes[0], timeline, names, made.plan.grid[0].size)
    _draw_held(axes[1], footprint(timeline, workload), capacity, timeline.iteration_s)
    _name_rows(axes[1], names)
    for panel in axes:
        _label_axis(panel, timeline.iteration_s, "time", TIMES)


def _panels(rows: int) -> tuple["Figure", tuple["Axes", "Axes"]]:
    """Return a figure with two panels of as many rows, one under the other."""
    from matplotlib.figure import Figure

    height = 2 * (rows * _row_in(rows) + HEADROOM_IN)
    figure = Figure(figsize=(WIDTH_IN, height), dpi=DPI, layout="constrained")
    upper, lower = figure.subplots(2, 1, squeeze=False)[:, 0]
    return figure, (upper, lower)


def _row_in(rows: int) -> float:
    """Return the height of a row in inches, less where there are many."""
    return float(np.clip(14 / rows, 0.06, 0.42))


def _write(figure: "Figure", path: Path | str) -> None:
    """Write the figure by the ending of the path, the same bytes for the same picture."""
    from matplotlib import rc_context

    ending = Path(path).suffix.lower()[1:]
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[ending]
    drawn = BytesIO()
    # Without salt, names within an svg are random.
    with rc_context({"svg.hashsalt": "tiger"}):
        figure.savefig(drawn, format=ending, metadata=undated)
    outfile.write(str(path), "plot", drawn.getvalue())


def _draw_passes(axes: "Axes", timeline: Timeline, names: Sequence[str], ranks: int) -> None:
    """Draw every pass, message and all-reduce, with a legend and a title; a position has so many ranks."""
    axes.set_xlim(0, timeline.iteration_s or 1.0)
    _name_rows(axes, names)
    microbatches = int(timeline.microbatch.max()) + 1
    timeline = _thinned(timeline)
    _draw_messages(axes, timeline)
    # One collection for each kind and shade: thousands of single bars would take minutes.
    chunk = timeline.stage // len(names)
    virtual = int(chunk.max()) + 1
    for kind, (label, colour) in PASSES.items():
        for part in range(virtual):
            rows = (timeline.kind == kind) & (chunk == part)
            _draw_kind(axes, timeline, rows, (label if part == 0 else "_", _lighter(colour, 0.5 * part / virtual)))
    _draw_numbers(axes, timeline)
    title = f"{TITLES[timeline.schedule]}: {microbatches} microbatches {_places(len(names), virtual, ranks)}"
    bubble = max(timeline.bubble, 0.0)
    _title(axes, f"{title}: {seconds_text(timeline.iteration_s)}, bubble {bubble:.1%}")
    _explain(axes, axes.get_legend_handles_labels()[0])


def _places(positions: int, virtual: int, ranks: int) -> str:
    """Return on what a pipeline runs."""
    if virtual > 1:
        where = f"on {positions} devices" if ranks == 1 else f"on {positions} groups of {ranks} devices"
        return f"{where}, {virtual} stages each, later ones lighter"
    return f"on {positions} devices" if ranks == 1 else f"in {positions} stages of {ranks} devices"


def _thinned(timeline: Timeline) -> Timeline:
    """Return a timeline that a picture can show: of all passes that begin within the same dot of a row, one.

    It fills the dot where there are more than one. Messages, which are shorter still, are left out.
    """
    if len(timeline.kind) <= DRAWN_PASSES:
        return timeline
    dot_s = timeline.iteration_s / (WIDTH_IN * DPI) or 1.0
    dot = np.floor(timeline.start_s / dot_s)
    spot = timeline.position * (dot.max() + 1) + dot
    by_spot = np.argsort(spot, kind="stable")
    _, first, count = np.unique(spot[by_spot], return_index=True, return_counts=True)
    # Always the first would draw stripes that are not there; steps of the golden ratio take each kind as often.
    pick = np.floor(count * (np.arange(len(count)) * GOLDEN % 1)).astype(np.int64)
    rows = by_spot[first + pick]
    crowded = count > 1
    shown_s = np.where(crowded, dot[rows] * dot_s, timeline.start_s[rows])
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
        spans = _spans(timeline.position[rows], timeline.start_s[rows], timeline.end_s[rows], 0.8)
        outline = 0.6 if len(timeline.kind) <= OUTLINED_PASSES else 0.0
        _add(axes, spans, {"facecolor": colour, "edgecolor": "white", "linewidth": outline, "label": label})


def _draw_messages(axes: "Axes", timeline: Timeline) -> None:
    """Draw what is received before and sent after passes as thin bars, and all-reduces behind the last of them."""
    before, after = timeline.received_s > 0, timeline.sent_s > 0
    # What is received is drawn before its pass, what is sent behind it: both ends are busy.
    position = np.concatenate([timeline.position[before], timeline.position[after]])
    start = np.concatenate([(timeline.start_s - timeline.received_s)[before], timeline.end_s[after]])
    end = np.concatenate([timeline.start_s[before], (timeline.end_s + timeline.sent_s)[after]])
    if len(position):
        hatch = "/////" if len(position) <= HATCHED_MESSAGES else ""
        spans = _spans(position, start, end, 0.36)
        _add(axes, spans, {**MESSAGES, "hatch": hatch, "label": "message"})
    closing = np.flatnonzero(timeline.closing_s > 0)
    if len(closing):
        free = timeline.free_s[closing]
        spans = _spans(closing, free, free + timeline.closing_s[closing], 0.8)
        _add(axes, spans, {"facecolor": CLOSING, "edgecolor": "white", "hatch": "..", "label": "all-reduce"})


def _spans(row: FloatArray | IntArray, start: FloatArray, end: FloatArray, height: float) -> FloatArray:
    """Return the corners [N, 4, 2] of bars in the middle of their rows."""
    low, high = row - height / 2, row + height / 2
    across = np.stack([start, end, end, start], axis=1)
    return np.stack([across, np.stack([low, low, high, high], axis=1)], axis=2)


def _add(axes: "Axes", spans: FloatArray, style: Style) -> None:
    """Add bars as one collection, with an entry in the legend if they have a label."""
    from matplotlib.collections import PolyCollection

    bars = PolyCollection(list(spans))
    bars.set(**style)
    axes.add_collection(bars, autolim=False)


def _draw_numbers(axes: "Axes", timeline: Timeline) -> None:
    """Write the microbatch, counted from 1, on every pass that is wide and high enough for it."""
    if _row_in(timeline.positions) * 72 < 1.6 * NUMBER_POINTS or not timeline.iteration_s:
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


def _draw_held(axes: "Axes", held: Footprint, capacity_bytes: Sequence[float], end: float) -> None:
    """Draw what every position holds over time as an area on its row, state darker, under a line at its capacity."""
    peaks, capacity = held.peak_bytes, np.asarray(capacity_bytes, np.float64)
    axes.set_xlim(0, end or 1.0)
    top = _scale(peaks, capacity)
    for row, (when, size) in enumerate(zip(held.when_s, held.held_bytes, strict=True)):
        # Layers of paint: all that is held, over it what fits, over that the state.
        moments, sizes = np.append(when, end), np.append(size, size[-1])
        for most, colour in ((sizes, OVER), (np.minimum(sizes, capacity[row]), HELD), (size[:1], STATE)):
            axes.fill_between(moments, row + 0.4, row + 0.4 - 0.8 * most / top, step="post", color=colour, lw=0)
        if capacity[row] <= top:
            axes.hlines(row + 0.4 - 0.8 * capacity[row] / top, 0, end, color=CAPACITY, lw=1, ls="--")
        _note(axes, row, len(peaks), _sizes(peaks[row], capacity[row]))
    _title(axes, _memory_title(peaks, capacity, top))
    entries: dict[str, Style] = {
        "parameters and state": {"facecolor": STATE},
        "held for microbatches": {"facecolor": HELD},
    }
    _add_legend(axes, entries | _limits(peaks, capacity, top))


def _scale(peaks: FloatArray, capacity: FloatArray) -> float:
    """Return the bytes that fill a row: the largest capacity, unless that would leave all rows almost empty."""
    peak = float(peaks.max()) or 1.0
    largest = float(capacity[np.isfinite(capacity)].max(initial=0.0))
    return max(peak, largest) if largest <= SCALED_CAPACITY * peak else peak


def _memory_title(peaks: FloatArray, capacity: FloatArray, top: float) -> str:
    """Return the words above a panel of memory."""
    hidden = (np.isfinite(capacity) & (capacity > top)).any()
    note = "; larger capacities are off the scale" if hidden else ""
    return f"Memory: at most {bytes_text(float(peaks.max()))}{note}"


def _limits(peaks: FloatArray, capacity: FloatArray, top: float) -> dict[str, Style]:
    """Return the styles of what is beyond capacity, and of capacities, where they are drawn."""
    beyond: dict[str, Style] = {"beyond capacity": {"facecolor": OVER}} if (peaks > capacity).any() else {}
    line = {"facecolor": "none", "edgecolor": CAPACITY, "linestyle": "--"}
    return beyond | ({"capacity": line} if (capacity <= top).any() else {})


def _draw_loads(axes: "Axes", report: PlacementReport, names: Sequence[str]) -> None:
    """Draw what every position takes for one microbatch, passes and messages, up to the bottleneck and its bound."""
    positions = len(names)
    stages = [(stage.compute_s, stage.communication_s) for stage in report.stages]
    compute, message = np.array(stages).reshape(-1, positions, 2).sum(axis=0).T
    rows = np.arange(positions)
    axes.barh(rows, compute, height=0.8, color=PASSES[FORWARD][1])
    for bar in axes.barh(rows, message, left=compute, height=0.5):
        bar.set(**MESSAGES)
    _name_rows(axes, names)
    bound = (
        "" if report.lower_bound_s is None else f", no split of these layers below {seconds_text(report.lower_bound_s)}"
    )
    top = float((compute + message).max())
    _title(axes, f"One microbatch: bottleneck {seconds_text(top)}{bound}")
    _add_legend(axes, {"passes": {"facecolor": PASSES[FORWARD][1]}, "messages": MESSAGES})
    axes.set_xlim(0, 1.02 * top or 1.0)
    _label_axis(axes, top, "time", TIMES)


def _draw_memory_bars(axes: "Axes", report: PlacementReport, names: Sequence[str]) -> None:
    """Draw what a device of every position holds, and its capacity as a line."""
    stages = report.stages[: len(names)]
    peaks = np.array([stage.memory_bytes for stage in stages])
    capacity = np.array([np.inf if stage.capacity_bytes is None else stage.capacity_bytes for stage in stages])
    top = _scale(peaks, capacity)
    axes.barh(np.arange(len(names)), peaks, height=0.8, color=np.where(peaks > capacity, OVER, STATE).tolist())
    for row in range(len(names)):
        if capacity[row] <= top:
            axes.vlines(capacity[row], row - 0.45, row + 0.45, color=CAPACITY, lw=1.2, ls="--")
        _note(axes, row, len(names), _sizes(peaks[row], capacity[row]))
    _name_rows(axes, names)
    axes.set_xlim(0, 1.02 * top)
    _label_axis(axes, top, "memory", SIZES)
    _title(axes, _memory_title(peaks, capacity, top))
    _add_legend(axes, {"parameters and state": {"facecolor": STATE}, **_limits(peaks, capacity, top)})


def _name_rows(axes: "Axes", names: Sequence[str]) -> None:
    """Label the rows from the top, as many as are readable, and take away what frames them."""
    step = _label_step(len(names))
    labels = [name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…" for name in names]
    axes.set_yticks(range(0, len(names), step), labels[::step], fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _label_step(rows: int) -> int:
    """Return every how many rows there is room for a label."""
    return int(np.ceil(0.14 / _row_in(rows)))


def _note(axes: "Axes", row: int, rows: int, text: str) -> None:
    """Write a text to the right of a row, if that row is labelled."""
    if row % _label_step(rows) == 0:
        axes.annotate(text, (1.005, row), xycoords=("axes fraction", "data"), va="center", fontsize=8)


def _label_axis(axes: "Axes", end: float, what: str, units: Sequence[Unit]) -> None:
    """Mark the horizontal axis in the unit that suits its end."""
    unit, factor = unit_of(end, units)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / factor:g}")
    axes.set_xlabel(f"{what} in {unit}", fontsize=9)
    axes.tick_params(axis="x", labelsize=8)


def _title(axes: "Axes", text: str) -> None:
    """Write the words of a panel above its legend."""
    axes.set_title(text, fontsize=11, loc="left", pad=LEGEND_POINTS)


def _add_legend(axes: "Axes", entries: Mapping[str, Style]) -> None:
    """Explain by its label what is drawn in some style."""
    from matplotlib.patches import Patch

    handles = []
    for label, style in entries.items():
        handles.append(Patch(label=label))
        handles[-1].set(**style)
    _explain(axes, handles)


def _explain(axes: "Axes", handles: Sequence["Artist"]) -> None:
    """Put the legend above the panel, under its title."""
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=5,
        frameon=False,
        fontsize=8,
        handlelength=1.4,
        columnspacing=1.2,
        borderpad=0.2,
        borderaxespad=0.2,
    )


def _lighter(colour: str, share: float) -> tuple[float, ...]:
    """Return a colour with a share of white."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return tuple(channel + share * (1 - channel) for channel in channels)


def _sizes(peak: float, capacity: float) -> str:
    """Return a peak, beside the capacity if that has an end."""
    return f"{bytes_text(peak)} of {bytes_text(capacity)}" if np.isfinite(capacity) else bytes_text(peak)
