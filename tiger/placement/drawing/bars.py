"""Bars of what devices take for one microbatch, and of what they hold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.model.units import SIZES, TIMES, bytes_text, seconds_text
from tiger.placement.entry.report import PlacementReport
from tiger.run.drawing.panels import add_legend, add_title, label_axis, name_rows, note
from tiger.run.drawing.style import BLUE, INK, LINE, PALE, SLATE, VERMILION, Style
from tiger.training.costs.stage_positions import stages_by_position
from tiger.training.schedules.pass_orders import style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORK = BLUE
MESSAGES: Style = {"facecolor": PALE, "edgecolor": LINE, "linewidth": 0.3, "hatch": "/////"}
STATE, OVER, CAPACITY = SLATE, VERMILION, INK
# Capacities further beyond what is held are off the scale, as bars would be an eighth as long as they can be.
SCALED_CAPACITY = 8.0


def draw_loads(axes: "Axes", report: PlacementReport, names: Sequence[str]) -> None:
    """Draw what every position takes for one microbatch, passes and messages, up to the bottleneck and its bound."""
    stages = np.array([(stage.compute_s, stage.communication_s) for stage in report.stages])
    by_position = stages_by_position(style_of(report.schedule), len(names), len(stages))
    compute, message = stages[by_position].sum(axis=0).T
    rows = np.arange(len(names))
    axes.barh(rows, compute, height=0.8, color=WORK)
    for bar in axes.barh(rows, message, left=compute, height=0.5):
        bar.set(**MESSAGES)
    name_rows(axes, names)
    if report.lower_bound_s is not None:
        axes.axvline(report.lower_bound_s, color=CAPACITY, lw=1.2, ls="--")
    bound = ""
    if report.lower_bound_s is not None:
        what = "split of these layers" if report.mode == "chain" else "placement"
        bound = f", no {what} below {seconds_text(report.lower_bound_s)}"
    top = float((compute + message).max())
    add_title(axes, f"One microbatch: bottleneck {seconds_text(top)}{bound}")
    add_legend(axes, {"passes": {"facecolor": WORK}, "messages": MESSAGES})
    axes.set_xlim(0, 1.02 * top or 1.0)
    label_axis(axes, top, "time", TIMES)


def draw_memory(axes: "Axes", report: PlacementReport, names: Sequence[str]) -> None:
    """Draw what a device of every position holds, and its capacity as a line."""
    stages = report.stages[: len(names)]
    peaks = np.array([stage.memory_bytes for stage in stages])
    capacity = np.array([np.inf if stage.capacity_bytes is None else stage.capacity_bytes for stage in stages])
    top = scale(peaks, capacity)
    axes.barh(np.arange(len(names)), peaks, height=0.8, color=np.where(peaks > capacity, OVER, STATE).tolist())
    for row in range(len(names)):
        if capacity[row] <= top:
            axes.vlines(capacity[row], row - 0.45, row + 0.45, color=CAPACITY, lw=1.2, ls="--")
        note(axes, row, len(names), size_text(peaks[row], capacity[row]))
    name_rows(axes, names)
    axes.set_xlim(0, 1.02 * top)
    label_axis(axes, top, "memory", SIZES)
    add_title(axes, memory_title(peaks, capacity, top))
    add_legend(axes, {"parameters and state": {"facecolor": STATE}, **limits(peaks, capacity, top)})


def scale(peaks: FloatArray, capacity: FloatArray) -> float:
    """Return the bytes that fill a row: the largest capacity, unless that would leave all rows almost empty."""
    peak = float(peaks.max()) or 1.0
    largest = float(capacity[np.isfinite(capacity)].max(initial=0.0))
    return max(peak, largest) if largest <= SCALED_CAPACITY * peak else peak


def memory_title(peaks: FloatArray, capacity: FloatArray, top: float) -> str:
    """Return the words above a panel of memory."""
    hidden = (np.isfinite(capacity) & (capacity > top)).any()
    note = "; larger capacities are off the scale" if hidden else ""
    return f"Memory: at most {bytes_text(float(peaks.max()))}{note}"


def limits(peaks: FloatArray, capacity: FloatArray, top: float) -> dict[str, Style]:
    """Return the styles of what is beyond capacity, and of capacities, where they are drawn."""
    beyond: dict[str, Style] = {"beyond capacity": {"facecolor": OVER}} if (peaks > capacity).any() else {}
    line = {"facecolor": "none", "edgecolor": CAPACITY, "linestyle": "--"}
    return beyond | ({"capacity": line} if (capacity <= top).any() else {})


def size_text(peak: float, capacity: float) -> str:
    """Return a peak, beside the capacity if that has an end."""
    return f"{bytes_text(peak)} of {bytes_text(capacity)}" if np.isfinite(capacity) else bytes_text(peak)
