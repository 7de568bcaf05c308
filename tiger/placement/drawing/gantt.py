"""Draw operators on devices: what each device takes and holds, and for latency when it is busy."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.units import TIMES, seconds_text
from tiger.placement.drawing.bars import WORK, draw_loads, draw_memory
from tiger.placement.entry.arrangement import Arrangement, Timetable
from tiger.placement.entry.report import PlacementReport
from tiger.run.drawing.panels import (
    add_bars,
    add_legend,
    add_title,
    corners,
    label_axis,
    name_rows,
)
from tiger.run.drawing.style import DPI, ORANGE, WIDTH_IN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Outlines of more bars run into each other.
OUTLINED = 2000


def panels_of_operators(report: PlacementReport, arrangement: Arrangement) -> dict[str, Callable[["Axes"], None]]:
    """Return what draws the load and the memory of every device that holds operators, and their times for latency.

    Those are the times of one microbatch under list scheduling.
    """
    names = [stage.device for stage in report.stages]
    times = {"gantt": partial(_draw_times, report=report, arrangement=arrangement)}
    return {
        **(times if report.latency_s is not None else {}),
        "loads": partial(draw_loads, report=report, names=names),
        "memory": partial(draw_memory, report=report, names=names),
    }


def _draw_times(axes: "Axes", report: PlacementReport, arrangement: Arrangement) -> None:
    """Draw when every device is busy, forward and backward pass in colours of their own."""
    names = [stage.device for stage in report.stages]
    times = arrangement.timetable()
    end = float(times.end_s.max()) or 1.0
    rows = {arrangement.cluster.names.index(name): row for row, name in enumerate(names)}
    row = np.array([rows.get(device, 0) for device in range(arrangement.cluster.size)])[times.device]
    backward = arrangement.operators.backward
    styles = (("forward", WORK, ~backward), ("backward", ORANGE, backward))
    for _, colour, mine in styles:
        busy = _merge(times, row, mine, end / (WIDTH_IN * DPI))
        outline = 0.5 if len(busy) <= OUTLINED else 0.0
        if len(busy):
            add_bars(axes, busy, {"facecolor": colour, "edgecolor": "white", "linewidth": outline})
    axes.set_xlim(0, end)
    name_rows(axes, names)
    label_axis(axes, end, "time", TIMES)
    share = float((times.end_s - times.begin_s).sum() / (end * len(names)))
    add_title(axes, f"One microbatch alone: {seconds_text(end)}, devices busy {share:.0%} of it")
    add_legend(axes, {label: {"facecolor": colour} for label, colour, mine in styles if mine.any()})


def _merge(times: Timetable, row: IntArray, mine: BoolArray, dot_s: float) -> FloatArray:
    """Return the corners [N, 4, 2] of bars, one for operators of a row less than a dot of the picture apart."""
    rows, begin, end = row[mine], times.begin_s[mine], times.end_s[mine]
    order = np.lexsort((begin, rows))
    rows, begin, end = rows[order], begin[order], end[order]
    short = (end - begin) < dot_s
    apart = np.ones(len(rows), np.bool_)
    # Operators wide enough to be seen keep a bar of their own.
    apart[1:] = (rows[1:] != rows[:-1]) | (begin[1:] - end[:-1] >= dot_s) | ~(short[1:] & short[:-1])
    first = np.flatnonzero(apart)
    last = np.append(first, len(rows))[1:] - 1
    return corners(rows[first], begin[first], end[last], 0.8)
