"""Panels of bars in rows: their figure, rows, axes, titles and legends.

Needs the extra `tiger-mapper[plot]`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.units import Unit, unit_of
from tiger.run.drawing.style import SMALL_POINTS, TEXT_POINTS, TITLE_POINTS, Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

    from tiger.run.drawing.figure import Picture

# Room for a title and a legend above a panel.
HEADROOM_IN, LEGEND_POINTS = 1.3, 18
# Entries of a legend on one line: those of the stages of a solve, a bound and a baseline.
LEGEND_COLUMNS = 9
# Characters of a row's name that fit beside a panel.
NAME_LENGTH = 24


def panels_of(rows: int, count: int = 2) -> tuple["Picture", tuple["Axes", ...]]:
    """Return a figure with `count` panels of as many rows, one under the other."""
    from tiger.run.drawing.figure import new_figure

    figure = new_figure(count * (rows * row_in(rows) + HEADROOM_IN))
    return figure, tuple(figure.subplots(count, 1, squeeze=False)[:, 0])


def row_in(rows: int) -> float:
    """Return the height of a row in inches, less where there are many."""
    return float(np.clip(14 / rows, 0.06, 0.42))


def corners(row: FloatArray | IntArray, start: FloatArray, end: FloatArray, height: float) -> FloatArray:
    """Return the corners [N, 4, 2] of bars in the middle of their rows."""
    low, high = row - height / 2, row + height / 2
    across = np.stack([start, end, end, start], axis=1)
    return np.stack([across, np.stack([low, low, high, high], axis=1)], axis=2)


def add_bars(axes: "Axes", spans: FloatArray, style: Style) -> None:
    """Add bars as one collection, with an entry in the legend if they have a label."""
    from matplotlib.collections import PolyCollection

    bars = PolyCollection(list(spans))
    bars.set(**style)
    axes.add_collection(bars, autolim=False)


def name_rows(axes: "Axes", names: Sequence[str], length: int = NAME_LENGTH) -> None:
    """Label the rows from the top, as many as are readable, and take away what frames them."""
    step = _label_step(len(names))
    labels = [name if len(name) <= length else f"{name[: length - 1]}…" for name in names]
    axes.set_yticks(range(0, len(names), step), labels[::step], fontsize=SMALL_POINTS)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def note(axes: "Axes", row: int, rows: int, text: str) -> None:
    """Write a text to the right of a row, if that row is labelled."""
    if row % _label_step(rows) == 0:
        axes.annotate(text, (1.005, row), xycoords=("axes fraction", "data"), va="center", fontsize=SMALL_POINTS)


def _label_step(rows: int) -> int:
    """Return every how many rows there is room for a label."""
    return int(np.ceil(0.14 / row_in(rows)))


def label_axis(axes: "Axes", end: float, what: str, units: Sequence[Unit]) -> None:
    """Mark the horizontal axis in the unit that suits its end."""
    unit, factor = unit_of(end, units)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / factor:g}")
    axes.set_xlabel(f"{what} in {unit}", fontsize=TEXT_POINTS)
    axes.tick_params(axis="x", labelsize=SMALL_POINTS)


def add_title(axes: "Axes", text: str) -> None:
    """Write the words of a panel above its legend."""
    axes.set_title(text, fontsize=TITLE_POINTS, loc="left", pad=LEGEND_POINTS)


def add_legend(axes: "Axes", entries: Mapping[str, Style]) -> None:
    """Explain by its label what is drawn in some style."""
    from matplotlib.patches import Patch

    handles = []
    for label, style in entries.items():
        handles.append(Patch(label=label))
        handles[-1].set(**style)
    explain(axes, handles)


def explain(axes: "Axes", handles: Sequence["Artist"]) -> None:
    """Put the legend above the panel, under its title."""
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=LEGEND_COLUMNS,
        frameon=False,
        fontsize=SMALL_POINTS,
        handlelength=1.4,
        columnspacing=1.2,
        borderpad=0.2,
        borderaxespad=0.2,
    )


def scale_amounts(values: FloatArray) -> "Normalize":
    """Return how positive amounts become colours: evenly, or by powers of ten where they span a hundredfold."""
    from matplotlib.colors import LogNorm, Normalize

    known = values[np.isfinite(values) & (values > 0)]
    low, high = float(known.min(initial=np.inf)), float(known.max(initial=0.0))
    return LogNorm(low, high) if 100 * low < high else Normalize(0, high or 1.0)
