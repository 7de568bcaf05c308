"""Draw what experts do before and after: which device tokens go to from which, and how loads lie on devices."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tiger.expert_maps.report import ExpertReport
from tiger.model.arrays import FloatArray
from tiger.model.units import TIMES, number_text
from tiger.run.drawing.artists import Artists
from tiger.run.drawing.convergence import Course, costs_of, draw_convergence
from tiger.run.drawing.panels import scale_amounts
from tiger.run.drawing.style import AFTER, BEFORE, INK, LINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from tiger.run.drawing.figure import Picture

# A panel, what the scale takes beside them, and titles above and below.
SIZE_IN, MARGIN_IN, TITLE_IN = 6.0, 1.2, 0.4
# Panels of loads, one over the other: half as high as they are wide.
LOADS_IN, LARGEST_IN = 3.6, 3.0
# The width of both bars of a layer, out of 1.
BARS = 0.8


def list_pictures(report: ExpertReport) -> Artists:
    """Return what draws each picture of a placement of experts; one that has been read has no transitions."""
    artists: dict[str, Callable[[], Figure]] = {
        "loads": partial(draw_expert_loads, report),
        "convergence": partial(draw_convergence, _course_of(report)),
    }
    if report.flows is None:
        return artists
    return {"transitions": partial(draw_transitions, report, report.flows), **artists}


def _course_of(report: ExpertReport) -> Course:
    """Return what the steps of a placement of experts reached, in the unit of what is made small."""
    made = report.objective
    what = {"s": "step and moves", "hops": "hops of a transition", "tokens": "tokens of largest loads"}[made.unit]
    beside = (report.usual, made.before.total), ("lower bound", made.bound.total)
    return Course(
        what, report.progress, costs_of(report.progress), TIMES if made.unit == "s" else (("", 1.0),), *beside
    )


def draw_transitions(report: ExpertReport, flows: tuple[FloatArray, ...]) -> "Picture":
    """Draw the transitions from device to device before and after: those on the diagonal stay where they are."""
    from tiger.run.drawing.figure import new_figure

    figure = new_figure(SIZE_IN + TITLE_IN, len(flows) * SIZE_IN + MARGIN_IN)
    panels = figure.subplots(1, len(flows), squeeze=False)[0]
    norm = scale_amounts(np.concatenate(flows).ravel())
    for axes, name, flow in zip(panels, (report.usual, "placed"), flows, strict=True):
        shown = axes.imshow(np.where(flow > 0, flow, np.nan), norm=norm, interpolation="nearest")
        axes.set_title(f"{name}: {1 - np.trace(flow) / flow.sum():.1%} change device")
        axes.set_xlabel("device of the next layer's expert")
        _mark_numbers(axes.xaxis, axes.yaxis)
    panels[0].set_ylabel("device of a layer's expert")
    figure.colorbar(shown, ax=list(panels), label="transitions", shrink=0.8)
    return figure


def draw_expert_loads(report: ExpertReport) -> "Picture":
    """Draw the load of each device in each layer before and after, and below the largest ones, which all wait for.

    Loads are divided by the speeds of devices, where these are unlike.
    """
    from tiger.run.drawing.figure import new_figure

    figure = new_figure(LOADS_IN + LARGEST_IN + TITLE_IN)
    grid = figure.add_gridspec(2, 2, height_ratios=(LOADS_IN, LARGEST_IN))
    panels = [figure.add_subplot(grid[0, k]) for k in range(2)]
    speed = np.ones(len(report.devices)) if report.loads.speed is None else np.array(report.loads.speed)
    tables = [np.array(report.loads.before) / speed, np.array(report.loads.after) / speed]
    mean = np.average(tables[0], axis=1, weights=speed)[:, None]
    # Layers without tokens are even.
    parts = [np.divide(table, mean, out=np.ones_like(table), where=mean > 0) for table in tables]
    for axes, name, part, table in zip(panels, (report.usual, "placed"), parts, tables, strict=True):
        shown = axes.imshow(
            part.T, vmin=0, vmax=max(some.max() for some in parts), aspect="auto", interpolation="nearest"
        )
        times = table.max(axis=1).sum() / max(mean.sum(), np.finfo(float).tiny)
        axes.set_title(f"{name}: largest loads {times:.2f} times the mean")
        axes.set_xlabel("layer")
        _mark_numbers(axes.xaxis, axes.yaxis)
    panels[0].set_ylabel("device")
    figure.colorbar(shown, ax=panels, label="load over the layer's mean")
    _draw_largest(figure.add_subplot(grid[1, :]), report, tables, mean[:, 0])
    return figure


def _draw_largest(axes: "Axes", report: ExpertReport, tables: list[FloatArray], mean: FloatArray) -> None:
    """Draw the largest load of each layer before and after as bars, beside the mean and the bound."""
    layers = np.arange(report.layers)
    for side, (table, name, colour) in enumerate(zip(tables, (report.usual, "placed"), (BEFORE, AFTER), strict=True)):
        largest = table.max(axis=1)
        label = f"{name}: {number_text(round(float(largest.sum()), 1))} in all"
        axes.bar(layers + (side - 0.5) * BARS / 2, largest, width=BARS / 2, color=colour, label=label)
    lines = [(mean, "mean", LINE, "-")]
    if report.loads.bound is not None:
        lines.append((np.array(report.loads.bound), "lower bound", INK, "--"))
    for values, label, colour, dashes in lines:
        axes.hlines(values, layers - 0.5, layers + 0.5, color=colour, linestyle=dashes, linewidth=1.4, label=label)
    axes.set_title("Largest load of a device", pad=18)
    axes.set_ylabel("tokens of a step")
    axes.set_xlabel("layer")
    axes.set_xlim(-0.5, report.layers - 0.5)
    _mark_numbers(axes.xaxis)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.2)


def _mark_numbers(*axes: "Axis") -> None:
    """Mark axes of numbers of layers and devices by whole ones."""
    from matplotlib.ticker import MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator(integer=True))
