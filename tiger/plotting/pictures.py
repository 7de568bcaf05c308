"""The pictures that a report has, by name.

Needs the extra `tiger-mapper[plot]`.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.util import find_spec
from math import isfinite
from typing import TYPE_CHECKING

from tiger.circuits.entry.report import CircuitReport
from tiger.errors import InputError
from tiger.expert_maps.report import ExpertReport
from tiger.model.answer import Answer
from tiger.model.units import TIMES
from tiger.placement.entry.report import PlacementReport
from tiger.planning.report import PlanReport
from tiger.plotting.charts import draw_panels, draw_placement, panels_of_placement
from tiger.plotting.convergence import Course, draw_convergence
from tiger.plotting.device import draw_layout
from tiger.plotting.experts import draw_expert_loads, draw_transitions
from tiger.plotting.hops import draw_hops
from tiger.plotting.links import draw_links
from tiger.plotting.mapping import draw_mapping
from tiger.plotting.matrix import draw_matrix
from tiger.plotting.plans import draw_plans
from tiger.plotting.rebalancing import draw_rebalancing
from tiger.plotting.swaps import draw_swaps
from tiger.plotting.traffic import draw_traffic
from tiger.plotting.tuning import draw_tuning, find_rounds
from tiger.plotting.views.mapping import view_mapping
from tiger.rebalancing.report import RebalanceReport
from tiger.run.report import Report
from tiger.run.stage import Stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIELD = "plot"
# The first picture of a placement, which has panels that are pictures of their own.
OVERVIEW = "overview"
Artists = Mapping[str, Callable[[], "Figure"]]


def draw(report: Answer, picture: str | None = None) -> "Figure":
    """Draw a picture of a report, by default its first, and return the figure of matplotlib.

    Mappings have `mapping`, `matrix`, `hops`, `links`, `convergence` and, of a QUBO, `tuning`; circuits `layout`,
    `swaps` and `convergence`; placements `overview`, whose parts are `gantt`, `loads` and `memory`, `traffic` and
    `convergence`; plans `plans`, and the pictures of the best placement; experts `transitions`, `loads` and
    `convergence`; rebalanced runs `loads`.
    Raises InputError of `plot` for a picture that the report does not have, for a report of nothing possible, for one
    that a service has sent without its problem at hand, and where matplotlib is missing.
    """
    artists = list_artists(report)
    if picture is not None and picture not in artists:
        raise InputError(FIELD, f"expected one of {', '.join(artists)}, got {picture!r}")
    return paint(artists[picture or next(iter(artists))])


def paint(artist: Callable[[], "Figure"]) -> "Figure":
    """Return the figure of an artist, in the style of all pictures."""
    from tiger.plotting.figure import in_style

    with in_style():
        return artist()


def list_artists(report: Answer) -> Artists:
    """Return what draws each picture of a report, by name.

    Raises InputError of `plot` where there are none.
    """
    require_matplotlib()
    artists: Artists = {}
    if isinstance(report, Report):
        artists = _list_of_mapping(report)
    elif isinstance(report, CircuitReport):
        artists = _list_of_circuit(report)
    elif isinstance(report, PlacementReport):
        artists = _list_of_placement(report)
    elif isinstance(report, PlanReport) and report.placement is not None:
        plans = {
            "plans": partial(draw_plans, report),
            "convergence": partial(draw_convergence, _course_of_plan(report)),
        }
        artists = {**plans, **_list_of_placement(report.placement), **plans}
    elif isinstance(report, ExpertReport):
        artists = _list_of_experts(report)
    elif isinstance(report, RebalanceReport):
        artists = {"loads": partial(draw_rebalancing, report)}
    if not artists:
        raise InputError(FIELD, "expected a report of something that is possible, got one without it")
    return artists


def require_matplotlib() -> None:
    """Raise InputError of `plot` where matplotlib is missing."""
    if not find_spec("matplotlib"):
        raise InputError(FIELD, "expected matplotlib: pip install 'tiger-mapper[plot]'")


def _list_of_mapping(report: Report) -> Artists:
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
    artists["convergence"] = partial(draw_convergence, _course_of_mapping(report))
    rounds = find_rounds(report.stages)
    if rounds and report.cost is not None:
        artists["tuning"] = partial(draw_tuning, rounds, report.cost)
    return artists


def _list_of_circuit(report: CircuitReport) -> Artists:
    """Return what draws each picture of a circuit's mapping."""
    if not report.feasible:
        return {}
    if report.device is None or (report.circuit is None and report.qasm is None):
        raise InputError(FIELD, "expected a report with its circuit and device at hand, got one of a service alone")
    # Qiskit takes half a second to import, which other pictures do without.
    from tiger.circuits.entry.hardware import read_device
    from tiger.plotting.views.circuit import view_circuit

    view = cache(lambda: view_circuit(report, read_device(report.device)))
    course = Course(
        "extra CX",
        report.stages,
        _costs(report.stages),
        before=("Qiskit's own layout and routing", report.baseline_extra_cx),
        bound=("lower bound", report.lower_bound),
    )
    return {
        "layout": lambda: draw_layout(view()),
        "swaps": lambda: draw_swaps(view()),
        "convergence": partial(draw_convergence, course),
    }


def _list_of_placement(report: PlacementReport) -> Artists:
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
    return {**artists, "convergence": partial(draw_convergence, _course_of_placement(report))}


def _list_of_experts(report: ExpertReport) -> Artists:
    """Return what draws each picture of a placement of experts; one that has been read has no transitions."""
    artists: dict[str, Callable[[], Figure]] = {
        "loads": partial(draw_expert_loads, report),
        "convergence": partial(draw_convergence, _course_of_experts(report)),
    }
    if report.flows is None:
        return artists
    return {"transitions": partial(draw_transitions, report, report.flows), **artists}


def _course_of_mapping(report: Report) -> Course:
    """Return what the stages of a mapping reached: the cost, or the objective that was minimized instead."""
    made = report.comparison
    before = ("", None) if made is None else (f"{made.order} order", made.baseline)
    if report.objective is None:
        return Course(
            "cost", report.stages, _costs(report.stages), before=before, bound=("lower bound", report.lower_bound)
        )
    values = [value if isinstance(value := stage.detail.get("value"), int | float) else None for stage in report.stages]
    name, bound = report.objective.name, ("lower bound", report.objective.bound)
    return Course(name, report.stages, values, before=before, bound=bound)


def _course_of_placement(report: PlacementReport) -> Course:
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
    return Course(what, report.progress, _costs(report.progress), TIMES, *beside)


def _course_of_plan(report: PlanReport) -> Course:
    """Return what the steps of a plan reached."""
    usual = None if report.heuristic is None else report.heuristic.iteration_s
    bound = ("bound on all plans", report.lower_bound_s)
    return Course("iteration", report.progress, _costs(report.progress), TIMES, ("usual plan", usual), bound)


def _course_of_experts(report: ExpertReport) -> Course:
    """Return what the steps of a placement of experts reached, in the unit of what is made small."""
    made = report.objective
    what = {"s": "step and moves", "hops": "hops of a transition", "tokens": "tokens of largest loads"}[made.unit]
    beside = (report.usual, made.before.total), ("lower bound", made.bound.total)
    return Course(what, report.progress, _costs(report.progress), TIMES if made.unit == "s" else (("", 1.0),), *beside)


def _costs(stages: tuple[Stage, ...]) -> list[float | None]:
    """Return the cost at the end of every stage, None before anything is known."""
    return [stage.cost if isfinite(stage.cost) else None for stage in stages]
