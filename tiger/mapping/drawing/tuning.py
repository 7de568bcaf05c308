"""Draw how the penalties of a QUBO are tuned: what each round samples with, and what comes of it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tiger.run.drawing.style import AFTER, BEFORE, BLUE, SLATE
from tiger.run.stage import Detail, Stage

if TYPE_CHECKING:
    from tiger.run.drawing.figure import Picture

Round = Mapping[str, Detail]
HEIGHT_IN = 6.4
# The part of reads that is to be feasible, in percent: `tiger.qubo.tune`.
AIM = (25, 75)


def find_rounds(stages: Sequence[Stage]) -> list[Round]:
    """Return the rounds of the first stage that samples the whole problem, none without such a stage."""
    for stage in stages:
        rounds = stage.detail.get("rounds")
        if stage.name == "qubo" and isinstance(rounds, tuple):
            return [each for each in rounds if isinstance(each, Mapping)]
    return []


def draw_tuning(rounds: Sequence[Round], cost: float) -> "Picture":
    """Draw the penalty, the part of feasible reads and the best read of every round, beside the cost in the end."""
    from tiger.run.drawing.figure import new_figure

    figure = new_figure(HEIGHT_IN)
    above, middle, below = figure.subplots(3, 1, sharex=True)
    above.bar(*_column(rounds, "penalty_scale"), color=SLATE)
    above.set_ylabel("penalty over\nsafe bound")
    numbers, shares = _column(rounds, "feasible_share")
    middle.bar(numbers, [100 * share for share in shares], color=BLUE)
    middle.axhspan(*AIM, color=BLUE, alpha=0.15, label="aim")
    middle.set_ylabel("feasible\nreads, %")
    middle.legend()
    below.plot(*_column(rounds, "best_raw"), "o-", color=BEFORE, label="best read as drawn")
    below.axhline(cost, color=AFTER, label="after repair and polish")
    below.set_ylabel("cost")
    below.set_xlabel("round of reads")
    below.legend()
    above.set_title("Penalties and what they do to the reads")
    return figure


def _column(rounds: Sequence[Round], name: str) -> tuple[list[int], list[float]]:
    """Return the rounds, counted from 1, that know a figure, and the figure."""
    known = [
        (number, value) for number, each in enumerate(rounds, 1) if isinstance(value := each.get(name), int | float)
    ]
    return [number for number, _ in known], [float(value) for _, value in known]
