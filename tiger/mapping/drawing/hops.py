"""Draw how far the traffic of a mapping travels."""

from typing import TYPE_CHECKING

import numpy as np

from tiger.mapping.drawing.view import MappingView, Order
from tiger.run.drawing.style import AFTER, BEFORE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tiger.run.drawing.figure import Picture

HEIGHT_IN = 4.2  # a third of the width, as bars and curves are read best


def draw_hops(view: MappingView) -> "Picture":
    """Draw the traffic at every distance in every order."""
    from tiger.run.drawing.figure import new_figure

    figure = new_figure(HEIGHT_IN)
    axes = figure.subplots()
    add_hops(axes, view)
    axes.set_title("How far traffic travels")
    return figure


def name_order(order: Order) -> str:
    """Return the name of an order in a picture."""
    return order.name if order.name == "TIGER" else f"{order.name} order"


def add_hops(axes: "Axes", view: MappingView) -> None:
    """Draw the traffic at every distance as bars, the orders side by side."""
    from matplotlib.ticker import MaxNLocator

    left, width = np.array(view.distances, np.float64), view.distance_width or 1.0
    share = 0.8 / len(view.orders)
    # A bin of whole hops stands on its number, one of a range in its middle, and single distances beside each other.
    whole = bool((left % 1 == 0).all()) and width == 1
    centre = left if whole else left + width / 2
    if not view.distance_width:
        centre = np.arange(len(left), dtype=np.float64)
    for number, (order, colour) in enumerate(zip(view.orders, (BEFORE, AFTER)[-len(view.orders) :], strict=True)):
        offset = (number - (len(view.orders) - 1) / 2) * share * width
        volume = np.array(order.volume, np.float64)
        label = f"{name_order(order)}: cost {order.cost:g}"
        axes.bar(centre + offset, volume, share * width, label=label, color=colour)
    if view.distance_width:
        axes.xaxis.set_major_locator(MaxNLocator(integer=whole))
    else:
        axes.set_xticks(centre, [f"{distance:g}" for distance in left])
    axes.set_xlabel("distance that traffic travels")
    axes.set_ylabel("traffic")
    axes.legend()
