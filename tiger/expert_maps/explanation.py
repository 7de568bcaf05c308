"""Explain a map of experts, and the verdict on the one in use."""

import math
from collections.abc import Iterator

from tiger.expert_maps.report import ExpertReport
from tiger.model.units import number_text, seconds_text
from tiger.run.explanation import (
    Explanation,
    advise_time,
    count,
    describe_stages,
    explain_unmet,
    percent,
    percent_at_most,
)

# A largest load above its bound by more than this part is worth a sentence, as is the part of links in a step.
NOTED = 0.05
MORE_MEMORY = "Take fewer --replicas, less --reserved-bytes, weights of fewer bits, or a cluster of more devices."


def explain_experts(report: ExpertReport) -> Explanation:
    """Explain a map of experts from its figures, or why none fits into memory."""
    if not report.feasible:
        return explain_unmet(report.violations, "map of experts", {"memory": MORE_MEMORY})
    return Explanation(
        found=tuple(_say_found(report)),
        quality=tuple(_say_quality(report)),
        limits=tuple(_say_limits(report)),
        advice=tuple(_advise(report)),
    )


def _say_found(report: ExpertReport) -> Iterator[str]:
    """Yield what has been placed, what a step costs, and the verdict."""
    replicas = f" and {count(report.replicas, 'replica')}" if report.replicas else ""
    yield (
        f"{count(report.experts, 'expert')}{replicas} in each of {count(report.layers, 'layer')}, on "
        f"{count(len(report.devices), 'device')}."
    )
    yield f"What is made small is {_amount(report, report.objective.after.total)}."
    verdict = report.verdict
    if verdict is not None:
        what = "Keep the map in use" if verdict.advice == "keep" else "Move to this map"
        yield f"{what}: {verdict.reason}."
    yield from (f"Beware: {warning}." for warning in report.warnings)


def _say_quality(report: ExpertReport) -> Iterator[str]:
    """Yield how the map compares with the one before and with the bound, and what steps contributed."""
    made = report.objective
    value, usual, bound = made.after.total, made.before.total, made.bound.total
    if value and math.isfinite(usual):
        times = f"{usual / value:.2f} times as much" if usual != value else "as much"
        yield f"The {report.usual} takes {_amount(report, usual)}: {times}."
    if report.shares is not None:
        drawn = report.shares.drawn
        solved, equal = (load / (drawn.mean or 1.0) for load in (drawn.solved, drawn.equal))
        yield (
            f"On batches drawn around those given, largest loads are {solved:.3f} times the mean with shares solved "
            f"for each, and {equal:.3f} with equal ones."
        )
    if report.placed is not None and report.contiguous is not None:
        yield (
            f"{percent(report.placed.crossing)} of transitions change device, "
            f"{percent(report.contiguous.crossing)} in the order of numbers."
        )
    if report.optimal:
        yield "No map under the same rule costs less: it is proved optimal."
    elif value:
        left = percent_at_most((value - bound) / value)
        yield f"No map is below {_amount(report, bound)}, so that at most {left} can still be gained."
    contributed = describe_stages([(step.name, step.cost) for step in report.progress if math.isfinite(step.cost)])
    if contributed is not None:
        yield contributed


def _say_limits(report: ExpertReport) -> Iterator[str]:
    """Yield where devices wait for the fullest one, and what links take of a step."""
    mean = report.loads.mean
    if mean > 0:
        what = "the mean" if report.loads.speed is None else "what a division by speed gives"
        yield f"The largest loads of layers are {report.loads.largest_after / mean:.3f} times {what}."
    after = report.objective.after
    if report.objective.unit == "s" and after.step > 0 and after.links / after.step >= NOTED:
        yield f"Links take {percent(after.links / after.step)} of a step."
    if report.verdict is not None and report.verdict.move_s:
        yield (
            f"The best change that was found moves {count(report.verdict.moves, 'expert')} in "
            f"{seconds_text(report.verdict.move_s)}."
        )


def _advise(report: ExpertReport) -> Iterator[str]:
    """Yield what may make a step cheaper, and what to do with the map."""
    if report.optimal:
        yield "More effort cannot help: what is left to change is the replicas, the groups, or the cluster."
    else:
        search = f"Search on with a larger --effort, and try other seeds than --seed {report.seed}."
        yield advise_time(report.warnings, search)
    bound = report.loads.bound
    short = bound is not None and sum(bound) > (1 + NOTED) * report.loads.mean
    if short and report.loads.speed is not None and report.slots_of_devices is None and report.verdict is None:
        yield "Slow devices have as many slots as fast ones: --slots-by speed gives them fewer, or --replicas share."
    elif short:
        yield "Single experts are too busy for one device: more --replicas share them."
    if report.objective.unit != "s":
        yield "State prices (--token-s, --token-bytes), so that loads and links are weighed by the seconds they take."
    if report.slots_of_devices is None:
        yield "Write the map for a system that serves with --emit vllm -o FILE."
    else:
        yield "Take the map from --json: no file of a system that serves states devices with unlike numbers of slots."


def _amount(report: ExpertReport, value: float) -> str:
    """Return an amount of what is made small."""
    match report.objective.unit:
        case "s":
            return f"{seconds_text(value)} a step"
        case "hops":
            return f"{number_text(float(f'{value:.4g}'))} hops a transition"
    return f"{number_text(float(f'{value:.6g}'))} tokens of largest loads"
