"""Draw when a routed circuit exchanges qubits."""

from typing import TYPE_CHECKING

import numpy as np

from tiger.run.drawing.panels import explain
from tiger.run.drawing.style import BLUE, ORANGE

if TYPE_CHECKING:
    from tiger.circuits.drawing.routed import CircuitView
    from tiger.run.drawing.figure import Picture

HEIGHT_IN = 4.2  # a third of the width, as bars and curves are read best
# What the axis of the sum is longer than the sum, so that its end is seen.
HEADROOM = 1.05


def draw_swaps(view: "CircuitView") -> "Picture":
    """Draw how many SWAPs the layers of a routed circuit have, and how many there are up to each."""
    from matplotlib.ticker import MaxNLocator

    from tiger.run.drawing.figure import new_figure

    figure = new_figure(HEIGHT_IN)
    axes = figure.subplots()
    swaps = np.array(view.swaps, np.float64)
    begin = np.arange(len(swaps)) * view.layers_per_bin
    each = "in each layer" if view.layers_per_bin <= 1 else f"in each {view.layers_per_bin:.3g} layers"
    axes.bar(begin, swaps, view.layers_per_bin, align="edge", color=BLUE, edgecolor="white", linewidth=0.3, label=each)
    axes.set_ylabel(f"SWAPs {each}")
    axes.set_xlabel("layer of the routed circuit")
    axes.set_xlim(0, max(view.layers, 1))
    summed = axes.twinx()
    ends = np.append(0.0, begin + view.layers_per_bin)
    (line,) = summed.plot(ends, np.append(0.0, np.cumsum(swaps)), color=ORANGE, linewidth=1.6, label="so far")
    summed.set_ylabel("SWAPs so far")
    summed.set_ylim(0, HEADROOM * float(swaps.sum()) or 1.0)
    for axis in (axes.xaxis, axes.yaxis, summed.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"{int(swaps.sum()):,} SWAPs in {view.layers:,} layers", pad=18)
    explain(axes, [*axes.get_legend_handles_labels()[0], line])
    return figure
