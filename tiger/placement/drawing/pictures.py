"""The pictures that a placement has, by name."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tiger.errors import InputError
from tiger.model.units import TIMES
from tiger.placement.drawing.charts import draw_panels, draw_placement, panels_of_placement
from tiger.placement.drawing.traffic import draw_traffic
from tiger.placement.entry.report import PlacementReport
from tiger.run.drawing.artists import FIELD, OVERVIEW, Artists
from tiger.run.drawing.convergence import Course, costs_of, draw_convergence

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def list_pictures(report: PlacementReport) -> Artists:
    """Return what draws each picture of a placement, all panels of an iteration in the first."""
    panels = panels_of_placement(report)
    if not panels:
        if report.feasible:
            raise InputError(FIELD, "expected a report with its model and cluster at hand, got one of a service alone")
        return {}
    artists: dict[str, Callable[[], Figure]] = {OVERVIEW: partial(draw_placement, report)}
    artists |= {name: partial(draw_panels, report, [name]) for name in panels}
    if report.links:
        artists["traffic"] = partial(draw_traffic, report)
    artists["convergence"] = partial(draw_convergence, _course_of(report))
    given = report.given_report
    if given is not None:
        # Of the plan of a layout the same panels, for a look at both.
        artists |= {f"given-{name}": partial(draw_panels, given, [name]) for name in panels_of_placement(given)}
    return artists


def _course_of(report: PlacementReport) -> Course:
    """Return what the steps of a placement reached: the iteration, the bottleneck, the latency, or the sum of two."""
    if report.objective == "both":
        # What comes before is in seconds, and only this step has the sum.
        sums = [stage.cost if stage.name == "latency" else None for stage in report.progress]
        return Course("latency and bottleneck over their bounds", report.progress, sums, bound=("both at bounds", 2.0))
    what, usual, bound = "bottleneck", report.uniform_bottleneck_s, report.lower_bound_s
    if report.objective == "latency":
        what, usual, bound = "latency", None, report.latency_bound_s
    elif report.schedule is not None:
        what, usual, bound = "iteration", report.uniform_iteration_s, report.iteration_bound_s
    beside = ("uniform split", usual), ("lower bound", bound)
    return Course(what, report.progress, costs_of(report.progress), TIMES, *beside)
