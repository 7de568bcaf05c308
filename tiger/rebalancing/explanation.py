"""Explain a run of intervals in which a pipeline is rebalanced."""

from collections.abc import Iterator
from itertools import pairwise

from tiger.model.units import bytes_text, seconds_text
from tiger.rebalancing.report import IntervalReport, RebalanceReport
from tiger.run.explanation import Explanation, count, percent, percent_at_most

# Parts of all the time from which a gain or moves, and from which waiting, are worth a sentence.
NOTED, WAITING = 0.01, 0.05


def explain_rebalancing(report: RebalanceReport) -> Explanation:
    """Explain a run of intervals from its figures."""
    return Explanation(
        found=tuple(_say_found(report)),
        quality=tuple(_say_quality(report)),
        limits=tuple(_say_limits(report)),
        advice=tuple(_advise(report)),
    )


def _say_found(report: RebalanceReport) -> Iterator[str]:
    """Yield how often layers move, and what the whole run takes."""
    run = f"{count(len(report.intervals), 'interval')} of {count(report.iterations, 'iteration')}"
    yield f"{count(report.layers, 'layer')} in {count(report.stages, 'stage')} over {run} by {report.schedule}."
    if report.rebalances:
        moved = f"{count(report.moved_layers, 'layer')} ({bytes_text(report.moved_bytes)})"
        yield f"The plan changes in {count(report.rebalances, 'interval')}: moves of {moved} in all."
    else:
        yield "The plan never changes, as no other pays for the moves to it."
    yield f"All intervals take {seconds_text(report.rebalanced_s)}, {seconds_text(report.moving_s)} of it moves."
    yield from (f"Beware: {warning}." for warning in report.warnings)


def _say_quality(report: RebalanceReport) -> Iterator[str]:
    """Yield how the run compares with uniform cuts, with the best that never move, and with the bound."""
    if report.uniform_s is not None and report.gain is not None:
        yield f"With uniform cuts they take {seconds_text(report.uniform_s)}: {_times(report.gain)}."
    if report.static_s is not None and report.static_gain is not None:
        static = f"they take {seconds_text(report.static_s)}: {_times(report.static_gain)}"
        yield f"With the best cuts found that never move, chosen with all times known, {static}."
    if report.rebalanced_s:
        left = percent_at_most(1 - report.lower_bound_s / report.rebalanced_s)
        yield (
            f"Never below {seconds_text(report.lower_bound_s)}, so that at most {left} can still be gained; the bound "
            "counts neither messages nor the time in which devices wait."
        )


def _times(gain: float) -> str:
    """Return how many times as long something takes."""
    words = f"{gain:.2f}"
    return "as long" if words == "1.00" else f"{words} times as long"


def _say_limits(report: RebalanceReport) -> Iterator[str]:
    """Yield what whole layers allow, what moves take, and which plans were left."""
    most = "" if report.largest_gain is None else f", and the most that an interval gains is {report.largest_gain:.2f}"
    yield f"Whole layers gain at most {report.cap} times over uniform cuts, embedding and head aside{most}."
    if report.moving_s > NOTED * report.rebalanced_s:
        yield f"Moves take {percent(report.moving_s / report.rebalanced_s)} of the time."
    left = sum(map(_is_better_left, report.intervals))
    if left:
        yield f"In {count(left, 'interval')} a better plan was left, whose gain is no more than the threshold."
    if _waiting(report) >= WAITING:
        yield f"With equal stages devices would still wait for {percent(_waiting(report))} of an iteration."


def _is_better_left(one: IntervalReport) -> bool:
    """Return whether the plan stayed though a better one was known."""
    decision = one.decision
    known = decision.action == "keep" and decision.kept_s is not None and decision.best_s is not None
    return known and (decision.kept_s or 0.0) > (decision.best_s or 0.0)


def _waiting(report: RebalanceReport) -> float:
    """Return the share of an iteration in which devices wait where all stages are equal: the bubble."""
    return (report.stages - 1) / (report.microbatches + report.stages - 1)


def _advise(report: RebalanceReport) -> Iterator[str]:
    """Yield whether to rebalance at all, and what may gain more."""
    if report.static_gain is not None and report.static_gain < 1 + NOTED:
        held = " ".join(str(end - start) for start, end in pairwise(report.static_cuts))
        yield f"Moving gains next to nothing over the best cuts that never move: use those, with {held} layers a stage."
    else:
        yield "Have `tiger.Rebalancer.step` decide in training, by the times that each interval takes there."
    if report.balancer == "diffusion":
        yield "See with --balancer exact what neighbours alone miss."
    if report.moving_s > NOTED * report.rebalanced_s:
        yield "Measure less often, so that an interval has more iterations to pay for its moves (--iterations)."
    if any(map(_is_better_left, report.intervals)) and report.threshold > 0:
        yield f"A --threshold below {report.threshold:g} moves layers for less."
    if _waiting(report) >= WAITING:
        yield f"More microbatches (--microbatches {2 * report.microbatches}) leave less of an iteration to waiting."
    workers = report.intervals[-1].workers if report.intervals else None
    if workers is not None and workers < report.stages:
        as_quick = f"{count(workers, 'device')} of {report.stages} would be as quick as uniform cuts on all"
        yield f"In the last interval {as_quick}: `tiger.Rebalancer.pack` frees the others."
