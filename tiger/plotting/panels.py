"""Panels of bars in rows: their figure, rows, axes, titles and legends, and the file they are written to.

Needs the extra `tiger-mapper[plot]`.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tiger.errors import InputError
from tiger.formats import outfile
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.units import Unit, unit_of
from tiger.model.wording import describe

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style = Mapping[str, object]
ENDINGS = (".png", ".svg", ".pdf")
# A picture fills a laptop's screen.
DPI = 110
WIDTH_IN = 13.0
# Room for a title and a legend above a panel.
HEADROOM_IN, LEGEND_POINTS = 1.3, 18
# Characters of a row's name that fit beside a panel.
NAME_LENGTH = 24


def check(path: Path | str) -> None:
    """Raise InputError of `plot` for an ending that is not known, or where matplotlib is missing."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise InputError("plot", f"expected a file that ends in {', '.join(ENDINGS)}, got {describe(Path(path).name)}")
    if not find_spec("matplotlib"):
        raise InputError("plot", "expected matplotlib: pip install 'tiger-mapper[plot]'")


def panels_of(rows: int, count: int = 2) -> tuple["Figure", tuple["Axes", ...]]:
    """Return a figure with `count` panels of as many rows, one under the other."""
    from matplotlib.figure import Figure

    height = count * (rows * row_in(rows) + HEADROOM_IN)
    figure = Figure(figsize=(WIDTH_IN, height), dpi=DPI, layout="constrained")
    return figure, tuple(figure.subplots(count, 1, squeeze=False)[:, 0])


def row_in(rows: int) -> float:
    """Return the height of a row in inches, less where there are many."""
    return float(np.clip(14 / rows, 0.06, 0.42))


def write_figure(figure: "Figure", path: Path | str) -> None:
    """Write the figure by the ending of the path, the same bytes for the same picture."""
    from matplotlib import rc_context

    ending = Path(path).suffix.lower()[1:]
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[ending]
    drawn = BytesIO()
    # Without salt, names within an svg are random.
    with rc_context({"svg.hashsalt": "tiger"}):
        figure.savefig(drawn, format=ending, metadata=undated)
    outfile.write(str(path), "plot", drawn.getvalue())


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


def name_rows(axes: "Axes", names: Sequence[str]) -> None:
    """Label the rows from the top, as many as are readable, and take away what frames them."""
    step = _label_step(len(names))
    labels = [name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…" for name in names]
    axes.set_yticks(range(0, len(names), step), labels[::step], fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def note(axes: "Axes", row: int, rows: int, text: str) -> None:
    """Write a text to the right of a row, if that row is labelled."""
    if row % _label_step(rows) == 0:
        axes.annotate(text, (1.005, row), xycoords=("axes fraction", "data"), va="center", fontsize=8)


def _label_step(rows: int) -> int:
    """Return every how many rows there is room for a label."""
    return int(np.ceil(0.14 / row_in(rows)))


def label_axis(axes: "Axes", end: float, what: str, units: Sequence[Unit]) -> None:
    """Mark the horizontal axis in the unit that suits its end."""
    unit, factor = unit_of(end, units)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / factor:g}")
    axes.set_xlabel(f"{what} in {unit}", fontsize=9)
    axes.tick_params(axis="x", labelsize=8)


def add_title(axes: "Axes", text: str) -> None:
    """Write the words of a panel above its legend."""
    axes.set_title(text, fontsize=11, loc="left", pad=LEGEND_POINTS)


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
        ncols=5,
        frameon=False,
        fontsize=8,
        handlelength=1.4,
        columnspacing=1.2,
        borderpad=0.2,
        borderaxespad=0.2,
    )
