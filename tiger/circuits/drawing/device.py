"""Draw where a circuit lies on a device: its qubits, the couplings that its gates use, and how well these work."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.run.drawing.style import AMOUNTS, INK, LINE, PALE, SKY, SMALL_POINTS, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tiger.circuits.drawing.routed import CircuitView
    from tiger.run.drawing.figure import Picture

SIZE_IN = 6.5  # for the names of the qubits of usual devices
# Gates of a SWAP on the same coupling.
SWAP_GATES = 3
# Points of the widest coupling, square points that all qubits share, and how many of them have room for a number.
WIDEST, QUBITS, LABELLED = 9.0, 30_000.0, 200
# Square points of a qubit in the legend.
KEY = 60.0
# Points of a line in the legend that stands for a busy coupling.
WIDE_KEY = 4.0


def draw_layout(view: "CircuitView") -> "Picture":
    """Draw a device with the qubits that a circuit starts on, wide couplings where many gates are, and error rates."""
    from tiger.run.drawing.figure import new_figure

    figure = new_figure(SIZE_IN, SIZE_IN + 1.5)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.invert_yaxis()
    uses = count_uses(view)
    _draw_couplings(axes, view, uses)
    _draw_qubits(axes, view, uses)
    gates, couplings = int(uses.sum()), int((uses > 0).sum())
    axes.set_title(
        f"{len(view.initial)} qubits on {view.device.total}: {gates:,} two-qubit gates on {couplings} couplings"
        f"{_say_left_out(view)}"
    )
    return figure


def _say_left_out(view: "CircuitView") -> str:
    """Return which of the gates a picture has, where the view has not all of them or not between single qubits."""
    if view.total_gates > len(view.name):
        return f",\nof the first {len(view.name):,} of {view.total_gates:,} gates"
    return ",\nbetween groups of qubits" if view.device.total > len(view.device.names) else ""


def count_uses(view: "CircuitView") -> FloatArray:
    """Return how many two-qubit gates are on each coupling, a SWAP being three."""
    index = {pair: k for k, pair in enumerate(zip(view.device.a, view.device.b, strict=True))}
    uses = np.zeros(len(index))
    for name, first, second in zip(view.name, view.first, view.second, strict=True):
        at = index.get((first, second), index.get((second, first)))
        if at is not None:
            uses[at] += SWAP_GATES if name == "swap" else 1
    return uses


def _draw_couplings(axes: "Axes", view: "CircuitView", uses: FloatArray) -> None:
    """Draw couplings as lines, by their uses and their error where that is known."""
    from matplotlib.collections import LineCollection

    spots = np.stack([view.device.x, view.device.y], axis=1)
    ends = spots[np.stack([view.device.a, view.device.b], axis=1).astype(int).reshape(-1, 2)]
    width = 1 + (WIDEST - 1) * uses / (uses.max(initial=0.0) or 1.0)
    errors = _figures(view.edge_error)
    if np.isnan(errors).all():
        colours = np.where(uses > 0, SKY, LINE).tolist()
        axes.add_collection(LineCollection(list(ends), linewidths=width.tolist(), colors=colours))
        return
    lines = LineCollection(list(ends), linewidths=width.tolist(), cmap=AMOUNTS)
    lines.set_array(np.ma.masked_invalid(errors))
    lines.set_clim(0, float(np.nanmax(errors)) or 1.0)
    axes.add_collection(lines)
    axes.figure.colorbar(lines, ax=axes, label="error of a two-qubit gate", shrink=0.6)


def _draw_qubits(axes: "Axes", view: "CircuitView", uses: FloatArray) -> None:
    """Draw device qubits: those that hold one of the circuit with its number, those that it passes, and the others."""
    size = len(view.device.names)
    start = {place: qubit for qubit, place in enumerate(view.initial)}
    passed = {end for a, b, used in zip(view.device.a, view.device.b, uses, strict=True) if used for end in (a, b)}
    kinds = {
        "holds a qubit of the circuit at the start": (SKY, [k for k in range(size) if k in start]),
        "passed by routing": (PALE, [k for k in range(size) if k in passed and k not in start]),
        "not used": ("white", [k for k in range(size) if k not in passed and k not in start]),
    }
    x, y = np.array(view.device.x), np.array(view.device.y)
    area = float(np.clip(QUBITS / max(size, 1), 6, 420))
    for label, (colour, members) in kinds.items():
        if members:
            axes.scatter(
                x[members], y[members], area, color=colour, edgecolors=INK, linewidths=0.8, zorder=2, label=label
            )
    _ring_readout(axes, view, area)
    if size <= LABELLED:
        for place, qubit in start.items():
            axes.annotate(f"q{qubit}", (x[place], y[place]), ha="center", va="center", fontsize=SMALL_POINTS)
    axes.plot([], [], color=INK, linewidth=WIDE_KEY, label="wide: many two-qubit gates")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, markerscale=min(1.0, (KEY / area) ** 0.5))


def _ring_readout(axes: "Axes", view: "CircuitView", area: float) -> None:
    """Put a ring around qubits whose readout fails more often than that of three quarters of them."""
    errors = _figures(view.readout_error)
    known = errors[~np.isnan(errors)]
    if not known.size or known.min() == known.max():
        return
    bad = np.flatnonzero(errors > np.quantile(known, 0.75))
    label = f"readout error above {np.quantile(known, 0.75):.2g}"
    x, y = np.array(view.device.x), np.array(view.device.y)
    axes.scatter(x[bad], y[bad], 1.7 * area, facecolors="none", edgecolors=VERMILION, linewidths=1.6, label=label)


def _figures(values: Sequence[float | None]) -> FloatArray:
    """Return figures with nan for those that are not known."""
    return np.array([np.nan if value is None else value for value in values], np.float64)
