"""Draw the communication matrix, with tasks in the order of the hardware that they lie on."""

from typing import TYPE_CHECKING

import numpy as np

from tiger.mapping.drawing.hops import name_order
from tiger.mapping.drawing.view import MappingView
from tiger.run.drawing.panels import scale_amounts

if TYPE_CHECKING:
    from tiger.run.drawing.figure import Picture

# A panel, what the scale takes beside them, and titles above and below.
SIZE_IN, MARGIN_IN, TITLE_IN = 6.0, 1.2, 0.4


def draw_matrix(view: MappingView) -> "Picture":
    """Draw the communication matrix of every order: traffic near the diagonal stays near on the hardware."""
    from matplotlib.ticker import MaxNLocator

    from tiger.run.drawing.figure import new_figure

    size, share = view.matrix.size, view.matrix.tasks_per_cell
    figure = new_figure(SIZE_IN + TITLE_IN, len(view.orders) * SIZE_IN + MARGIN_IN)
    panels = figure.subplots(1, len(view.orders), squeeze=False)[0]
    values = [np.array(order.value, np.float64) for order in view.orders]
    norm = scale_amounts(np.concatenate(values))
    for axes, order, value in zip(panels, view.orders, values, strict=True):
        cells = np.full((size, size), np.nan)
        cells[np.array(order.row, int), np.array(order.column, int)] = np.where(value > 0, value, np.nan)
        shown = axes.imshow(cells, norm=norm, extent=(0, size * share, size * share, 0), interpolation="nearest")
        axes.set_title(f"{name_order(order)}: cost {order.cost:g}")
        axes.set_xlabel("receiving task, in the order of the nodes")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
    panels[0].set_ylabel("sending task, in the order of the nodes")
    figure.colorbar(shown, ax=list(panels), label="traffic", shrink=0.8)
    return figure
