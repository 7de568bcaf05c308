"""Draw predicted over measured seconds of the runs of a calibration.

Needs the extra `tiger-mapper[plot]`.
"""

from functools import partial
from typing import TYPE_CHECKING

from tiger.planning.calibration.report import CalibrationReport
from tiger.run.drawing.artists import Artists
from tiger.run.drawing.panels import add_title, explain, name_rows, panels_of
from tiger.run.drawing.style import AFTER, BEFORE, GREEN, INK, TEXT_POINTS

if TYPE_CHECKING:
    from tiger.run.drawing.figure import Picture

# Characters of a plan beside its row.
NAME_LENGTH = 44
MARKS = (("before_s", "before", BEFORE, "o"), ("left_out_s", "left out", GREEN, "D"), ("after_s", "after", AFTER, "s"))


def list_pictures(report: CalibrationReport) -> Artists:
    """Return what draws the picture of a calibration."""
    return {"runs": partial(draw_runs, report)}


def draw_runs(report: CalibrationReport) -> "Picture":
    """Draw predicted over measured seconds of every run, before, after, and by the other runs."""
    figure, (axes,) = panels_of(len(report.runs), 1)
    marks = []
    for name, label, colour, shape in MARKS:
        known = [(row, getattr(run, name), run.measured_s) for row, run in enumerate(report.runs)]
        ratios = [(seconds / measured, row) for row, seconds, measured in known if seconds is not None]
        if ratios:
            marks += axes.plot(*zip(*ratios, strict=True), shape, color=colour, label=label)
    name_rows(axes, [run.plan for run in report.runs], NAME_LENGTH)
    axes.axvline(1.0, color=INK, linestyle="--", linewidth=0.8)
    axes.set_xlabel("predicted over measured seconds of an iteration", fontsize=TEXT_POINTS)
    add_title(axes, report.headline)
    explain(axes, marks)
    return figure
