"""The pictures that a mapping has, by name."""

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from tiger.errors import InputError
from tiger.mapping.drawing.hops import draw_hops
from tiger.mapping.drawing.links import draw_links
from tiger.mapping.drawing.mapping import draw_mapping
from tiger.mapping.drawing.matrix import draw_matrix
from tiger.mapping.drawing.samples import draw_samples
from tiger.mapping.drawing.tuning import draw_tuning, find_rounds
from tiger.mapping.drawing.view import view_mapping
from tiger.run.drawing.artists import FIELD, Artists
from tiger.run.drawing.convergence import Course, costs_of, draw_convergence
from tiger.run.report import Report
from tiger.run.verdict import order_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def list_pictures(report: Report) -> Artists:
    """Return what draws each picture of a mapping."""
    if not report.feasible:
        return {}
    problem = report.problem
    if problem is None:
        raise InputError(FIELD, "expected a report with its problem at hand, got one of a service alone")
    view = cache(partial(view_mapping, problem, report.mapping, report.routing))
    artists: dict[str, Callable[[], Figure]] = {
        "mapping": lambda: draw_mapping(view(), problem, report.mapping),
        "matrix": lambda: draw_matrix(view()),
        "hops": lambda: draw_hops(view()),
    }
    if report.links:
        artists["links"] = lambda: draw_links(view(), report.links)
    artists["convergence"] = partial(draw_convergence, _course_of(report))
    rounds = find_rounds(report.stages)
    if rounds and report.cost is not None:
        artists["tuning"] = partial(draw_tuning, rounds, report.cost)
    if report.sampling is not None and report.sampling.compared_reads and report.cost is not None:
        artists["samples"] = partial(draw_samples, report.sampling, report.solver, report.cost)
    return artists


def _course_of(report: Report) -> Course:
    """Return what the stages of a mapping reached: the cost, or the objective that was minimized instead."""
    made = report.comparison
    before = ("", None) if made is None else (order_text(made.order).removeprefix("the "), made.baseline)
    if report.objective is None:
        return Course(
            "cost", report.stages, costs_of(report.stages), before=before, bound=("lower bound", report.lower_bound)
        )
    values = [value if isinstance(value := stage.detail.get("value"), int | float) else None for stage in report.stages]
    name, bound = report.objective.name, ("lower bound", report.objective.bound)
    return Course(name, report.stages, values, before=before, bound=bound)
