"""Draw what a pipeline does in an iteration: when its passes run, and what its devices hold meanwhile.

Needs the extra `tiger-mapper[plot]`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tiger import outfile
from tiger.errors import InputError, shown
from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.doors.report import PlacementReport
from tiger.pipeline.schedules.memory import Footprint, footprint
from tiger.pipeline.schedules.orders import BACKWARD, FORWARD, WEIGHT
from tiger.pipeline.schedules.simulator import Timeline, iteration_s, simulate
from tiger.pipeline.stages import workloads

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")
DPI = 110
WIDTH_IN = 13.0
HEADROOM_IN = 1.1
TITLES = {"gpipe": "GPipe", "1f1b": "1F1B", "interleaved": "interleaved 1F1B", "zero-bubble": "zero-bubble"}
PASSES = {FORWARD: ("forward", "#3b78b5"), BACKWARD: ("backward", "#e08a3c"), WEIGHT: ("weight gradient", "#5aa469")}
MESSAGE, CLOSING = "#8a8a8a", "#b9a3d3"
STATE, HELD, OVER, CAPACITY = "#5b6770", "#9fb8c9", "#c8443c", "#333333"
DRAWN_PASSES, OUTLINED_PASSES, NUMBERED_PASSES, HATCHED_MESSAGES = 100_000, 2000, 1500, 2000
NUMBER_POINTS, NAME_LENGTH = 7, 24
SCALED_CAPACITY = 8.0
GOLDEN = 0.6180339887498949
TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
SIZES = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))


def draw_timeline(timeline: Timeline, names: Sequence[str], path: Path | str) -> None:
    """Write a picture of the passes and messages of an iteration, a row for each of p positions.

    The ending of `path` chooses svg, png or pdf. Raises InputError of `plot` for another, where the file cannot be
    written, and where matplotlib is missing.
    """
    figure, (axes,) = _panels(path, len(names), 1)
    _draw_passes(axes, timeline, names)
    _label_time(axes, timeline.iteration_s)
    _write(figure, path)


def draw_memory(held: Footprint, capacity_bytes: Sequence[float], names: Sequence[str], path: Path | str) -> None:
    """Write a picture of what each of p positions holds over time, under its capacity; errors as `draw_timeline`."""
    figure, (axes,) = _panels(path, len(names), 1)
    end = max(float(when[-1]) for when in held.when_s)
    _draw_held(axes, held, capacity_bytes, end)
    _name_rows(axes, names)
    _label_time(axes, end)
    _write(figure, path)


def draw_placement(report: PlacementReport, path: Path | str) -> None:
    """Write a picture of a placement: with a schedule, an iteration of the slowest replica and what it holds.

    Without one, the load and the memory of every device. Raises InputError of `plot` where there is no plan to draw,
    and as `draw_timeline`.
    """
    plan = report.deployment
    if plan is None:
        raise InputError("plot", "expected a plan that is possible, got a report without one")
    positions = plan.plan.positions
    names = [stage.device for stage in report.stages[:positions]]
    figure, axes = _panels(path, positions, 2)
    if report.schedule is None or report.microbatches is None:
        _draw_loads(axes[0], report, names)
        _draw_memory_bars(axes[1], report, names)
    else:
        schedule, microbatches = report.schedule, report.microbatches
        replicas = workloads(plan.layers, plan.cluster, plan.plan)
        workload = max(replicas, key=lambda load: iteration_s(load, schedule, microbatches))
        timeline = simulate(workload, schedule, microbatches)
        capacity = [float(plan.cluster.memory_bytes[ranks].min()) for ranks in plan.plan.grid]
        _draw_passes(axes[0], timeline, names)
        _draw_held(axes[1], footprint(timeline, workload), capacity, timeline.iteration_s)
        _name_rows(axes[1], names)
        for panel in axes:
            _label_time(panel, timeline.iteration_s)
    _write(figure, path)


def _panels(path: Path | str, rows: int, count: int) -> tuple["Figure", list["Axes"]]:
    """Return a figure with `count` panels of as many rows, one under the other."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise InputError("plot", f"expected a file that ends in {', '.join(ENDINGS)}, got {shown(Path(path).name)}")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plot", "expected matplotlib: pip install 'tiger-mapper[plot]'") from None
    height = count * (rows * _row_in(rows) + HEADROOM_IN)
    figure = Figure(figsize=(WIDTH_IN, height), dpi=DPI, layout="constrained")
    axes = figure.subplots(count, 1, squeeze=False)
    return figure, [panel for (panel,) in axes]


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


def _draw_passes(axes: "Axes", timeline: Timeline, names: Sequence[str]) -> None:
    """Draw every pass, message and all-reduce, with a legend and a title."""
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
    stages = f", {virtual} stages each, later ones lighter" if virtual > 1 else ""
    head = f"{TITLES[timeline.schedule]}: {microbatches} microbatches on {len(names)} devices{stages}"
    axes.set_title(f"{head}: {_seconds(timeline.iteration_s)}, bubble {timeline.bubble:.1%}", fontsize=11, loc="left")
    _explain(axes, axes.get_legend_handles_labels()[0])


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
        style = {"facecolor": "#ececec", "edgecolor": MESSAGE, "linewidth": 0.3, "hatch": hatch, "label": "message"}
        _add(axes, spans, style)
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


def _add(axes: "Axes", spans: FloatArray, style: Mapping[str, object]) -> None:
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
    axes.set_title(_memory_title(peaks, top), fontsize=11, loc="left")
    entries = [("parameters and state", STATE), ("held for microbatches", HELD), ("beyond capacity (dashed)", OVER)]
    _add_legend(axes, entries if (peaks > capacity).any() else entries[:2])


def _scale(peaks: FloatArray, capacity: FloatArray) -> float:
    """Return the bytes that fill a row: the largest capacity, unless that would leave all rows almost empty."""
    peak = float(peaks.max()) or 1.0
    largest = float(capacity[np.isfinite(capacity)].max(initial=0.0))
    return max(peak, largest) if largest <= SCALED_CAPACITY * peak else peak


def _memory_title(peaks: FloatArray, top: float) -> str:
    """Return the words above a panel of memory."""
    peak = float(peaks.max())
    return f"Memory: at most {_bytes(peak)}{', which fills a row' if top <= peak else ''}"


def _draw_loads(axes: "Axes", report: PlacementReport, names: Sequence[str]) -> None:
    """Draw what every position takes for one microbatch, passes and messages, up to the bottleneck and its bound."""
    positions = len(names)
    stages = [(stage.compute_s, stage.communication_s) for stage in report.stages]
    compute, message = np.array(stages).reshape(-1, positions, 2).sum(axis=0).T
    rows = np.arange(positions)
    axes.barh(rows, compute, height=0.8, color=PASSES[FORWARD][1])
    axes.barh(rows, message, left=compute, height=0.5, color="#ececec", edgecolor=MESSAGE, hatch="/////", lw=0.3)
    _name_rows(axes, names)
    bound = "" if report.lower_bound_s is None else f", no split of these layers below {_seconds(report.lower_bound_s)}"
    top = float((compute + message).max())
    axes.set_title(f"One microbatch: bottleneck {_seconds(top)}{bound}", fontsize=11, loc="left")
    _add_legend(axes, [("passes", PASSES[FORWARD][1]), ("messages", "#d5d5d5")])
    axes.set_xlim(0, 1.02 * top or 1.0)
    _label_time(axes, top)


def _draw_memory_bars(axes: "Axes", report: PlacementReport, names: Sequence[str]) -> None:
    """Draw what a device of every position holds, and its capacity as a line."""
    stages = report.stages[: len(names)]
    peaks = np.array([stage.memory_bytes for stage in stages])
    capacity = np.array([np.inf if stage.capacity_bytes is None else stage.capacity_bytes for stage in stages])
    top = _scale(peaks, capacity)
    axes.barh(np.arange(len(names)), peaks / top, height=0.8, color=np.where(peaks > capacity, OVER, STATE).tolist())
    for row in range(len(names)):
        if capacity[row] <= top:
            axes.vlines(capacity[row] / top, row - 0.45, row + 0.45, color=CAPACITY, lw=1.2, ls="--")
        _note(axes, row, len(names), _sizes(peaks[row], capacity[row]))
    _name_rows(axes, names)
    axes.set_xlim(0, 1.02)
    axes.set_xticks([])
    axes.set_title(_memory_title(peaks, top), fontsize=11, loc="left")


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


def _label_time(axes: "Axes", end: float) -> None:
    """Mark the horizontal axis in the unit that suits its end."""
    unit, factor = _unit(end, TIMES)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / factor:g}")
    axes.set_xlabel(f"time in {unit}", fontsize=9)
    axes.tick_params(axis="x", labelsize=8)


def _add_legend(axes: "Axes", entries: Sequence[tuple[str, str]]) -> None:
    """Explain colours by their labels."""
    from matplotlib.patches import Patch

    _explain(axes, [Patch(facecolor=colour, label=label) for label, colour in entries])


def _explain(axes: "Axes", handles: Sequence["Artist"]) -> None:
    """Put the legend above the panel, on the right."""
    axes.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1, 1),
        ncols=5,
        frameon=False,
        fontsize=8,
        handlelength=1.4,
        columnspacing=1.2,
    )


def _lighter(colour: str, share: float) -> tuple[float, ...]:
    """Return a colour with a share of white."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return tuple(channel + share * (1 - channel) for channel in channels)


def _sizes(peak: float, capacity: float) -> str:
    """Return a peak, beside the capacity if that has an end."""
    return f"{_bytes(peak)} of {_bytes(capacity)}" if np.isfinite(capacity) else _bytes(peak)


def _bytes(size: float) -> str:
    """Return bytes with three digits, or more before the point, and a unit."""
    unit, factor = _unit(size, SIZES)
    return f"{size / factor:.3g} {unit}" if size < 1e3 * factor else f"{size / factor:,.0f} {unit}"


def _seconds(time: float) -> str:
    """Return seconds with four digits, or more before the point, and a unit."""
    unit, factor = _unit(time, TIMES)
    return f"{time / factor:.4g} {unit}" if time < 1e4 * factor else f"{time / factor:,.0f} {unit}"


def _unit(value: float, units: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """Return the largest unit that leaves at least 1 before the point, else the smallest."""
    return next(((unit, factor) for unit, factor in units if value >= factor), units[-1])
