"""Draw how the stages of a solve lower what is minimized, beside the bound and the best simple order."""

from collections.abc import Sequence
from itertools import accumulate
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from tiger.model.units import TIMES, Unit, number_text, unit_of
from tiger.run.drawing.panels import explain, label_axis
from tiger.run.drawing.style import BEFORE, INK, LINE, SERIES
from tiger.run.stage import Stage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tiger.run.drawing.figure import Picture

# Kinds of stages that have a marker of their own; more are drawn as others.
NAMED = 7
MARKERS = "osD^vPX"
HEIGHT_IN = 4.2  # a third of the width, as bars and curves are read best
# What the axis of time is longer than the solve, so that its last mark is whole.
HEADROOM = 1.03


class Course(NamedTuple):
    """Hold what stages reached, `values` at their ends, `None` before anything was known.

    `units` are those of the value, `before` and `bound` what it is drawn beside, by the words of the legend.
    """

    what: str
    stages: Sequence[Stage]
    values: Sequence[float | None]
    units: Sequence[Unit] = (("", 1.0),)
    before: tuple[str, float | None] = ("", None)
    bound: tuple[str, float | None] = ("", None)


def costs_of(stages: Sequence[Stage]) -> list[float | None]:
    """Return the cost at the end of every stage, None before anything is known."""
    return [stage.cost if isfinite(stage.cost) else None for stage in stages]


def draw_convergence(course: Course) -> "Picture":
    """Draw the value at the end of every stage over the seconds of the solve."""
    from tiger.run.drawing.figure import new_figure

    figure = new_figure(HEIGHT_IN)
    axes = figure.subplots()
    ends = list(accumulate(stage.seconds for stage in course.stages))
    known = [(end, value) for end, value in zip(ends, course.values, strict=True) if value is not None]
    if known:
        axes.step(*zip(*known, strict=True), where="post", color=LINE, linewidth=1.2)
    _mark_stages(axes, course, ends)
    shown = [value for _, value in known]
    for (words, value), colour, dashes in ((course.before, BEFORE, "-."), (course.bound, INK, "--")):
        if value is not None and isfinite(value):
            axes.axhline(value, color=colour, linewidth=1.4, linestyle=dashes, label=words)
            shown.append(value)
    unit, factor = unit_of(max(shown, default=1.0), course.units)
    axes.yaxis.set_major_formatter(lambda value, _: number_text(round(value / factor, 9)))
    axes.set_ylabel(f"{course.what} in {unit}" if unit else course.what)
    axes.grid(axis="y", color=LINE, alpha=0.25)
    axes.set_title(f"{course.what[:1].upper()}{course.what[1:]} after each stage", pad=18)
    last = ends[-1] if ends else 0.0
    axes.set_xlim(0, HEADROOM * last or 1.0)
    label_axis(axes, last, "time", TIMES)
    explain(axes, axes.get_legend_handles_labels()[0])
    return figure


def _mark_stages(axes: "Axes", course: Course, ends: Sequence[float]) -> None:
    """Mark the end of every stage, by the name of the stage in the legend."""
    names = list(dict.fromkeys(stage.name for stage in course.stages))
    # Kinds beyond the markers share the last one.
    own = NAMED if len(names) <= NAMED else NAMED - 1
    kinds = [{name} for name in names[:own]] + [set(names[own:])]
    for kind, members in enumerate(kinds):
        points = [
            (end, value)
            for stage, end, value in zip(course.stages, ends, course.values, strict=True)
            if stage.name in members and value is not None
        ]
        if points:
            label = names[kind] if kind < own else "other stages"
            axes.plot(*zip(*points, strict=True), MARKERS[kind], color=SERIES[kind], markersize=6, label=label)
