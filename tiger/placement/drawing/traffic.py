"""Draw what an iteration sends between devices."""

from typing import TYPE_CHECKING

import numpy as np

from tiger.model.units import SIZES, bytes_text, unit_of
from tiger.placement.entry.report import PlacementReport
from tiger.run.drawing.panels import scale_amounts

if TYPE_CHECKING:
    from tiger.run.drawing.figure import Picture

# Names of more devices run into each other; cells of more are smaller than a dot.
NAMED, DRAWN = 40, 512
SIZE_IN = 7.0  # for the names of 40 devices around a circle


def draw_traffic(report: PlacementReport) -> "Picture":
    """Draw the bytes that each pair of devices exchanges in an iteration, both directions together, as a matrix.

    Devices are in the order of the stages; above 512 of them, neighbours share a cell.
    """
    from tiger.run.drawing.figure import new_figure

    placed = [name for stage in report.stages for row in stage.devices for name in row]
    names = list(dict.fromkeys([*placed, *(end for link in report.links for end in (link.a, link.b))]))
    share = -(-len(names) // DRAWN)
    cell = {name: k // share for k, name in enumerate(names)}
    sent = np.zeros((max(cell.values()) + 1,) * 2)
    for link in report.links:
        a, b = cell[link.a], cell[link.b]
        sent[a, b] += link.sent_bytes
        sent[b, a] += link.sent_bytes if a != b else 0.0
    sent = np.where(np.isfinite(sent) & (sent > 0), sent, np.nan)
    unit, factor = unit_of(float(np.nanmax(sent, initial=0.0)), SIZES)
    figure = new_figure(SIZE_IN, SIZE_IN + 1.5)
    axes = figure.subplots()
    shown = axes.imshow(sent / factor, norm=scale_amounts(sent / factor))
    figure.colorbar(shown, label=f"bytes between two devices in an iteration, {unit}", shrink=0.8)
    if share == 1 and len(names) <= NAMED:
        axes.set_xticks(range(len(names)), names, rotation=90)
        axes.set_yticks(range(len(names)), names)
    total = sum(link.sent_bytes for link in report.links)
    axes.set_title(f"Traffic between devices: {bytes_text(total)} in an iteration")
    return figure
