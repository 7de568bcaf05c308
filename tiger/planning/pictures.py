"""Draw where the time of plans goes, one bar a plan.

Needs the extra `tiger-mapper[plot]`.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tiger.model.units import TIMES, seconds_text
from tiger.placement.drawing.charts import CLOSING, PASSES
from tiger.placement.drawing.pictures import list_pictures as list_of_placement
from tiger.planning.choices import hold_text
from tiger.planning.report import GivenPlan, PlanReport, RankedPlan
from tiger.run.drawing.artists import Artists
from tiger.run.drawing.convergence import Course, costs_of, draw_convergence
from tiger.run.drawing.panels import add_title, explain, label_axis
from tiger.run.drawing.style import INK, LINE, PALE, SMALL_POINTS, VERMILION
from tiger.training.schedules.passes import BACKWARD, FORWARD

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tiger.run.drawing.figure import Picture

PARTS = (
    ("compute_s", "compute", PASSES[FORWARD][1]),
    ("tensor_s", "tensor-parallel all-reduces", PASSES[BACKWARD][1]),
    ("groups_s", "context and expert ranks, shared weights", VERMILION),
    ("messages_s", "messages between positions", LINE),
    ("gradients_s", "all-reduces of gradients", CLOSING),
    ("waiting_s", "waiting", PALE),
)
Bar = RankedPlan | GivenPlan
# Bars and their height and margins in inches; text beside the longest bar needs some room.
MOST_BARS, BAR_IN, MARGIN_IN, HEADROOM = 40, 0.32, 1.2, 1.16


def list_pictures(report: PlanReport) -> Artists:
    """Return what draws each picture of a plan: its own, and those of the best placement."""
    if report.placement is None:
        return {}
    plans = {"plans": partial(draw_plans, report), "convergence": partial(draw_convergence, _course_of(report))}
    return {**plans, **list_of_placement(report.placement), **plans}


def _course_of(report: PlanReport) -> Course:
    """Return what the steps of a plan reached."""
    usual = None if report.heuristic is None else report.heuristic.iteration_s
    bound = ("bound on all plans", report.lower_bound_s)
    return Course("iteration", report.progress, costs_of(report.progress), TIMES, ("usual plan", usual), bound)


def draw_plans(report: PlanReport) -> "Picture":
    """Draw the reported plans, the usual one and the one given: their iterations, by what positions do in the mean.

    A line marks the bound on all plans. At most 40 plans.
    """
    from tiger.run.drawing.figure import new_figure

    bars: list[tuple[str, Bar]] = [(_words(plan), plan) for plan in report.ranked[:MOST_BARS]]
    bars += [] if report.heuristic is None else [(f"usual: {_words(report.heuristic)}", report.heuristic)]
    bars += [] if report.given is None else [(f"yours: {_words(report.given)}", report.given)]
    figure = new_figure(len(bars) * BAR_IN + MARGIN_IN)
    _draw_bars(figure.subplots(), bars, report.lower_bound_s)
    return figure


def _draw_bars(axes: "Axes", bars: Sequence[tuple[str, Bar]], bound_s: float | None) -> None:
    """Draw the parts of every iteration side by side, and the bound."""
    begun = [0.0] * len(bars)
    for name, label, colour in PARTS:
        spent = [getattr(plan.breakdown, name, 0.0) for _, plan in bars]
        axes.barh(range(len(bars)), spent, left=begun, color=colour, edgecolor="white", linewidth=0.4, label=label)
        begun = [start + each for start, each in zip(begun, spent, strict=True)]
    for row, (_, plan) in enumerate(bars):
        time = "a link is missing" if plan.iteration_s is None else seconds_text(plan.iteration_s)
        text = f" {time}, {plan.memory_share:.0%} of memory"
        axes.text(begun[row], row, text, va="center", fontsize=SMALL_POINTS)
    if bound_s is not None:
        axes.axvline(bound_s, color=INK, linestyle="--", linewidth=0.8, label="bound on all plans")
    axes.set_yticks(range(len(bars)), [words for words, _ in bars], fontsize=SMALL_POINTS)
    axes.invert_yaxis()
    axes.set_xlim(0, max(begun) * HEADROOM)
    axes.spines[["top", "right"]].set_visible(False)
    label_axis(axes, max(begun), "time of an iteration", TIMES)
    add_title(
        axes, "Plans: degrees of pipeline, tensor and data parallelism, schedule, microbatches of so many samples"
    )
    explain(axes, axes.get_legend_handles_labels()[0])


def _words(plan: Bar) -> str:
    """Return the degrees of a plan in short."""
    each = plan.degrees
    stages = f" x {each.virtual}" if each.virtual > 1 else ""
    size = f" of {each.microbatch}" if each.microbatch is not None else ""
    held = hold_text(each.sharding, each.recompute, each.recompute_layers)
    degrees = f"PP {each.pipeline} TP {each.tensor} DP {each.data}"
    return f"{degrees}, {each.schedule}{stages}, {each.microbatches}{size}{held}"
