"""Draw a run of intervals: what an iteration takes by each plan, and which layers every device holds."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tiger.model.arrays import FloatArray
from tiger.model.units import TIMES, bytes_text, number_text, seconds_text, unit_of
from tiger.rebalancing.report import RebalanceReport
from tiger.run.drawing.artists import Artists
from tiger.run.drawing.panels import NAME_LENGTH, add_title, explain
from tiger.run.drawing.style import AFTER, BEFORE, GREEN, INK, LINE, SERIES, SMALL_POINTS, TEXT_POINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

    from tiger.run.drawing.figure import Picture

# Curves above, where single per cents are to be seen, and the layers of devices below.
HEIGHT_IN, SHARES = 7.4, (1.0, 1.1)
# Numbers beside marks are at least this share of the width apart, those between are left out.
APART = 0.018
# Up to so many marks are a point wide, more of them finer, so that curves are still seen.
MARKED, FINEST = 40, 0.15
# Room above the curves for these numbers, as a share of the highest.
ABOVE = 1.12
# Shares of the width that the name of a device takes, and of the height.
NAME_WIDTH, NAME_HEIGHT = 0.06, 0.04
# Bands are pale, so that names are read on them.
TINT = 0.35
# Lines differ in dashes, too; the later ones are seen on the first where they agree.
CURVES = (
    ("rebalanced", AFTER, "-", 2.4),
    ("uniform cuts", BEFORE, "-.", 1.5),
    ("best cuts that never move", GREEN, ":", 1.8),
    ("lower bound", INK, "--", 1.2),
)


def list_pictures(report: RebalanceReport) -> Artists:
    """Return what draws each picture of a run of intervals."""
    return {"loads": partial(draw_rebalancing, report)}


def draw_rebalancing(report: RebalanceReport) -> "Picture":
    """Draw the simulated iteration of every interval by each plan, and below it the layers of every device."""
    from matplotlib.ticker import MaxNLocator

    from tiger.run.drawing.figure import new_figure

    figure = new_figure(HEIGHT_IN)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=SHARES)
    _draw_iterations(upper, report)
    _draw_layers(lower, report)
    for axis in (lower.xaxis, lower.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    lower.set_xlim(0, len(report.intervals))
    lower.set_xlabel(f"interval of {report.iterations:,} iterations", fontsize=TEXT_POINTS)
    return figure


def _draw_iterations(axes: "Axes", report: RebalanceReport) -> None:
    """Draw the seconds of an iteration over the intervals, and where layers move."""
    intervals = report.intervals
    series = (
        [one.decision.iteration_s for one in intervals],
        [one.uniform_s for one in intervals],
        [one.static_s for one in intervals],
        [one.lower_bound_s for one in intervals],
    )
    values = np.array(series, np.float64)
    highest = float(np.nanmax(values))
    axes.set_ylim(0, highest * ABOVE or 1.0)
    marks = _mark_moves(axes, report)
    lines = [
        axes.stairs(row, color=colour, linestyle=dashes, linewidth=width, label=words, baseline=None)
        for row, (words, colour, dashes, width) in zip(values, CURVES, strict=True)
        if not np.isnan(row).all()
    ]
    unit, factor = unit_of(highest, TIMES)
    axes.yaxis.set_major_formatter(lambda value, _: number_text(round(value / factor, 9)))
    axes.set_ylabel(f"iteration in {unit}", fontsize=TEXT_POINTS)
    axes.grid(axis="y", color=LINE, alpha=0.25)
    gain = "" if report.gain is None else f", {report.gain:.2f} times as fast as uniform cuts"
    add_title(axes, f"Rebalanced: {seconds_text(report.rebalanced_s)} in all, moves included{gain}")
    explain(axes, [*lines, *marks])


def _mark_moves(axes: "Axes", report: RebalanceReport) -> list["LineCollection"]:
    """Mark where the plan changes, with how many layers move as far as there is room."""
    moves = {k: one.decision.moved_layers for k, one in enumerate(report.intervals) if one.decision.moved_layers}
    if not moves:
        return []
    last = -np.inf
    for place, layers in moves.items():
        if place - last >= APART * len(report.intervals):
            axes.annotate(
                f"{layers}",
                (place, 1),
                (2, -1),
                textcoords="offset points",
                va="top",
                xycoords=("data", "axes fraction"),
                fontsize=SMALL_POINTS,
                color=INK,
            )
            last = place
    top, width = axes.get_ylim()[1], max(FINEST, min(1.0, MARKED / len(moves)))
    return [axes.vlines(list(moves), 0, top, colors=LINE, linewidth=width, zorder=1, label="so many layers move")]


def _draw_layers(axes: "Axes", report: RebalanceReport) -> None:
    """Draw the layers of every device over the intervals, as bands that the cuts part."""
    edges = np.arange(len(report.intervals) + 1)
    for number, (device, first, end) in enumerate(_bands(report)):
        colour = SERIES[number % len(SERIES)]
        axes.stairs(end, edges, baseline=first, fill=True, facecolor=colour, alpha=TINT, linewidth=0)
        axes.stairs(first, edges, baseline=None, color=INK, linewidth=0.9)
        _name_band(axes, device, (first, end), report.layers)
    axes.set_ylim(report.layers, 0)
    axes.set_ylabel("layers, from the first on", fontsize=TEXT_POINTS)
    moved = (
        f"{report.moved_layers:,} moves of a layer, {bytes_text(report.moved_bytes)} in {seconds_text(report.moving_s)}"
    )
    axes.set_title(f"Layers of every device: {moved}")


def _bands(report: RebalanceReport) -> list[tuple[str, FloatArray, FloatArray]]:
    """Return the devices with the first layer that each holds, and the one behind its last, in every interval."""
    decisions = [one.decision for one in report.intervals]
    names = dict.fromkeys(name for decision in decisions for name in decision.devices)
    bands = {name: np.full((2, len(decisions)), np.nan) for name in names}
    for k, decision in enumerate(decisions):
        for name, first, end in zip(decision.devices, decision.cuts, decision.cuts[1:], strict=False):
            bands[name][:, k] = first, end
    return [(name, first, end) for name, (first, end) in bands.items()]


def _name_band(axes: "Axes", device: str, band: Sequence[FloatArray], layers: int) -> None:
    """Write the name of a device where its band has most room for it, if there is enough anywhere."""
    size = min(len(band[0]), max(1, round(NAME_WIDTH * len(band[0]))))
    low, high = sliding_window_view(np.nan_to_num(np.stack(band)), size, axis=1)
    top, bottom = low.max(axis=1), high.min(axis=1)
    at = int((bottom - top).argmax())
    if bottom[at] - top[at] >= NAME_HEIGHT * layers:
        name = device if len(device) <= NAME_LENGTH else f"{device[: NAME_LENGTH - 1]}…"
        place = (at + size / 2, (top[at] + bottom[at]) / 2)
        axes.annotate(name, place, ha="center", va="center", fontsize=SMALL_POINTS, color=INK)
