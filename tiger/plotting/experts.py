"""Draw which device tokens go to from which, with experts in the order of their numbers and as they are placed."""

from typing import TYPE_CHECKING

import numpy as np

from tiger.pipeline.experts.assignment import place_in_order
from tiger.pipeline.experts.costs import ExpertProblem, device_flow
from tiger.pipeline.experts.report import ExpertReport
from tiger.plotting.panels import scale_amounts

if TYPE_CHECKING:
    from tiger.plotting.figure import Picture

# A panel, what the scale takes beside them, and titles above and below.
SIZE_IN, MARGIN_IN, TITLE_IN = 6.0, 1.2, 0.4


def draw_transitions(report: ExpertReport, problem: ExpertProblem) -> "Picture":
    """Draw the transitions from device to device: those on the diagonal stay where they are."""
    from matplotlib.ticker import MaxNLocator

    from tiger.plotting.figure import new_figure

    orders = {"order of numbers": place_in_order(problem), "placed": np.array(report.place)}
    flows = [device_flow(problem, place) for place in orders.values()]
    crossing = report.contiguous.crossing, report.placed.crossing
    figure = new_figure(SIZE_IN + TITLE_IN, len(orders) * SIZE_IN + MARGIN_IN)
    panels = figure.subplots(1, len(orders), squeeze=False)[0]
    norm = scale_amounts(np.concatenate(flows).ravel())
    for axes, name, flow, share in zip(panels, orders, flows, crossing, strict=True):
        shown = axes.imshow(np.where(flow > 0, flow, np.nan), norm=norm, interpolation="nearest")
        axes.set_title(f"{name}: {share:.1%} change device")
        axes.set_xlabel("device of the next layer's expert")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
    panels[0].set_ylabel("device of a layer's expert")
    figure.colorbar(shown, ax=list(panels), label="transitions", shrink=0.8)
    return figure
