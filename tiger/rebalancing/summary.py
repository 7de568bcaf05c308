"""What the command line says of a run of intervals."""

from itertools import pairwise
from typing import TYPE_CHECKING

from tiger.model.units import bytes_text, seconds_text
from tiger.run.summary import table

if TYPE_CHECKING:
    from tiger.rebalancing.report import IntervalReport, RebalanceReport

HEAD = (
    "interval",
    "uniform",
    "best static",
    "plan",
    "bound",
    "kept would be",
    "layers moved",
    "bytes",
    "workers",
    "layers of stages",
)


def rebalance_summary(report: "RebalanceReport") -> str:
    """Return what rebalancing gains in all, each interval in which layers move, and the first and the last."""
    last = len(report.intervals) - 1
    shown = [
        (number, one)
        for number, one in enumerate(report.intervals)
        if number in (0, last) or one.decision.action == "move"
    ]
    return _headline(report) + table(HEAD, (_row(number, one) for number, one in shown))


def _headline(report: "RebalanceReport") -> str:
    """Return what all intervals take, and what moved."""
    rows = (
        ("uniform cuts", report.uniform_s, report.gain),
        ("best cuts that never move", report.static_s, report.static_gain),
        (f"rebalanced, {seconds_text(report.moving_s)} of moves included", report.rebalanced_s, None),
        ("lower bound", report.lower_bound_s, report.lower_bound_s / report.rebalanced_s),
    )
    largest = "-" if report.largest_gain is None else f"{report.largest_gain:.2f}"
    return (
        f"{report.layers} layers in {report.stages} stages, {report.schedule} of {report.microbatches} microbatches, "
        f"{len(report.intervals)} intervals of {report.iterations} iterations, simulated\n\n"
        + table(
            ("plan", "all intervals", "over rebalanced"),
            [
                (name, "-" if value is None else seconds_text(value), "" if share is None else f"{share:.2f}")
                for name, value, share in rows
            ],
        )
        + f"\n{report.rebalances} rebalances move {report.moved_layers} layers ({bytes_text(report.moved_bytes)}), "
        f"{report.moved_layers / report.layers:.2f} a layer; the largest gain over uniform cuts in an interval is "
        f"{largest}, whole layers can gain {report.cap} at most, embedding and head aside\n\n"
    )


def _row(number: int, one: "IntervalReport") -> tuple[str, ...]:
    """Return the cells of an interval."""
    decision = one.decision
    times = (one.uniform_s, one.static_s, decision.iteration_s, one.lower_bound_s, decision.kept_s)
    cuts = decision.cuts
    return (
        str(number),
        *("-" if value is None else seconds_text(value) for value in times),
        str(decision.moved_layers),
        bytes_text(decision.moved_bytes),
        "-" if one.workers is None else str(one.workers),
        " ".join(str(end - start) for start, end in pairwise(cuts)),
    )
