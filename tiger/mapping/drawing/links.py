"""Draw what a mapping puts on the links of the hardware."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tiger.mapping.drawing.hops import name_order
from tiger.mapping.drawing.view import MappingView
from tiger.objectives.shortest_paths import LinkLoad
from tiger.run.drawing.panels import add_legend, add_title, name_rows, row_in
from tiger.run.drawing.style import AFTER, BEFORE, LINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tiger.run.drawing.figure import Picture

# Links of the panel of the busiest: those that a reader may want to look at one by one.
BUSIEST = 12
CURVE_IN = 3.4  # inches of the panel with the loads of all links
# Characters of the two ends of a link that fit beside its bars.
ENDS_LENGTH = 48
COLOURS = (BEFORE, AFTER)


def draw_links(view: MappingView, busiest: Sequence[LinkLoad]) -> "Picture":
    """Draw the loads of all links, largest first, in every order, and those of the busiest beside the block order."""
    from tiger.run.drawing.figure import new_figure

    rows = busiest[:BUSIEST]
    figure = new_figure(CURVE_IN + len(rows) * row_in(BUSIEST) + 1.2)
    above, below = figure.subplots(2, 1, height_ratios=[CURVE_IN, len(rows) * row_in(BUSIEST)])
    _draw_curve(above, view)
    _draw_busiest(below, rows)
    return figure


def _draw_curve(axes: "Axes", view: MappingView) -> None:
    """Draw the sorted loads of all links, or of what joins groups of nodes where the view has no single ones."""
    hardware, worst = view.topology, []
    grouped = hardware.total > len(hardware.names)
    for order, colour in zip(view.orders, COLOURS[-len(view.orders) :], strict=True):
        loads = np.sort(np.array(order.link_load or [], np.float64))[::-1]
        name = name_order(order)
        axes.step(np.arange(1, len(loads) + 1), loads, where="mid", color=colour, linewidth=1.6, label=name)
        worst.append(f"{name} {loads.max(initial=0.0):g}")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("load between two groups" if grouped else "load of a link")
    some = f"{len(hardware.a):,} of {hardware.total_edges:,} " if hardware.total_edges > len(hardware.a) else ""
    axes.set_xlabel("pairs of groups, the busiest first" if grouped else f"{some}links, the busiest first")
    axes.grid(axis="y", color=LINE, alpha=0.25)
    axes.set_title(f"Loads {'between groups of nodes' if grouped else 'of links'}: at most {', '.join(worst)}")
    axes.legend()


def _draw_busiest(axes: "Axes", links: Sequence[LinkLoad]) -> None:
    """Draw the loads of the busiest links, and what these carry in the block order."""
    rows = np.arange(len(links))
    axes.barh(rows - 0.2, [link.load for link in links], height=0.4, color=AFTER)
    known = {row + 0.2: link.before for row, link in enumerate(links) if link.before is not None}
    axes.barh(list(known), list(known.values()), height=0.4, color=BEFORE)
    name_rows(axes, [f"{link.a} - {link.b}" for link in links], ENDS_LENGTH)
    axes.set_xlabel("load")
    add_title(axes, "The busiest links")
    add_legend(axes, {"TIGER": {"facecolor": AFTER}, **({"block order": {"facecolor": BEFORE}} if known else {})})
