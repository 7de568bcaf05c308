"""Draw what the reads of a sampler are worth on their way to a mapping, beside as many coin flips."""

from typing import TYPE_CHECKING

from tiger.run.drawing.style import BLUE, INK, LINE, ORANGE
from tiger.run.samples import BestReads, SamplingReport

if TYPE_CHECKING:
    from tiger.run.drawing.figure import Picture

# One panel.
HEIGHT_IN = 4.2
STEPS = ("as drawn", "repaired", "polished")
# Points between a mark and its figure.
BESIDE = 8


def draw_samples(drawn: SamplingReport, solver: str, cost: float) -> "Picture":
    """Draw the least costs of some reads as drawn, repaired and polished, those of coin flips, and the cost in the end.

    Where no read was feasible as drawn, the first step says so.
    """
    from tiger.run.drawing.figure import new_figure

    figure = new_figure(HEIGHT_IN)
    axes = figure.subplots()
    sides = ((drawn.cost_of_reads, solver, BLUE, "o-", 1), (drawn.cost_of_control, "coin flips", ORANGE, "s--", -1))
    for costs, name, colour, mark, side in sides:
        known = _costs(costs)
        axes.plot([k for k, _ in known], [value for _, value in known], mark, color=colour, label=name)
        for k, value in known:
            axes.annotate(
                f"{value:,.6g}",
                (k, value),
                (0, BESIDE * side),
                textcoords="offset points",
                ha="center",
                color=INK,
                va="bottom" if side > 0 else "top",
            )
    missing = [name for costs, name, *_ in sides if costs is None or costs.raw is None]
    if missing:
        axes.text(
            0,
            0.5,
            f"none feasible of\n{' and '.join(missing)}",
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="center",
            color=INK,
        )
    axes.axhline(cost, color=LINE, label="cost in the end")
    axes.set_xticks(range(len(STEPS)), STEPS)
    axes.margins(0.15, 0.2)
    axes.set_ylabel("cost")
    axes.set_title(f"The best of {drawn.compared_reads:,} reads of {solver} beside as many coin flips")
    axes.legend()
    return figure


def _costs(costs: BestReads | None) -> list[tuple[int, float]]:
    """Return the steps that have a cost, and the cost."""
    values = () if costs is None else (costs.raw, costs.repaired, costs.polished)
    return [(k, value) for k, value in enumerate(values) if value is not None]
