"""Explain a plan of how a network is trained."""

from collections.abc import Iterator

from tiger.model.units import seconds_text
from tiger.placement.emission.schedules import SYSTEM_SCHEDULES
from tiger.placement.entry.explanation import HELP, NOTED, add_remedies
from tiger.planning.choices import hold_text
from tiger.planning.report import Degrees, PlanReport
from tiger.run.explanation import Explanation, advise_time, explain_unmet, percent, percent_at_most

# Part of memory in use from which it is nearly full.
FULL = 0.9


def explain_plan(report: PlanReport) -> Explanation:
    """Explain a plan from its figures, or what would make one possible."""
    if report.best is None or report.degrees is None:
        return add_remedies(explain_unmet(report.violations, "plan", HELP), report.remedies)
    return Explanation(
        found=tuple(_say_plan(report, report.degrees)),
        quality=tuple(_compare_plans(report)),
        limits=tuple(_say_where_time_goes(report)),
        advice=tuple(_advise_plan(report, report.degrees)),
    )


def _say_plan(report: PlanReport, degrees: Degrees) -> Iterator[str]:
    """Yield the degrees of the best plan, and its speed."""
    held = hold_text(degrees.sharding, degrees.recompute, degrees.recompute_layers)
    yield (
        f"The best plan is pipeline {degrees.pipeline} x tensor {degrees.tensor} x {degrees.copies} by the schedule "
        f"{degrees.schedule}{held}, with {degrees.microbatches} microbatches for each replica."
    )
    if report.iteration_s is not None:
        speed = "" if report.tokens_per_s is None else f", {report.tokens_per_s:,.0f} tokens/s"
        yield f"An iteration takes {seconds_text(report.iteration_s)}{speed}."
    yield from (f"Beware: {warning}." for warning in report.warnings)


def _compare_plans(report: PlanReport) -> Iterator[str]:
    """Yield how the best plan compares with the usual one, with the next, and with the bound."""
    if report.given is not None:
        yield f"The plan given: {report.given.verdict}."
    if report.heuristic is not None and report.gain is not None:
        yield f"The plan that people write by hand takes {report.gain:.2f} times as long: it is {report.heuristic.why}."
    yield from (f"The second best plan is {plan.why}." for plan in report.ranked[1:2])
    left_out = sum(pruned.choices for pruned in report.pruned if pruned.reason == "budget")
    ruled = sum(pruned.choices for pruned in report.pruned) - left_out
    ended = f"{left_out:,} were left out as the search ended, " if left_out else ""
    yield f"Of {report.choices:,} choices bounds ruled out {ruled:,}, {ended}and the others were simulated."
    if report.optimal:
        yield "No plan by any choice is faster: it is proved optimal."
    elif report.lower_bound_s and report.iteration_s:
        left = percent_at_most((report.iteration_s - report.lower_bound_s) / report.iteration_s)
        yield f"None takes less than {seconds_text(report.lower_bound_s)}, so that at most {left} can still be gained."


def _say_where_time_goes(report: PlanReport) -> Iterator[str]:
    """Yield what takes the time of the best plan beside computing, and how full memory is."""
    if report.best is None:
        return
    parts = report.best.breakdown
    shares = {
        "all-reduces of tensor parallelism": parts.tensor_s,
        "messages of context and expert ranks, and of weights that are shared out": parts.groups_s,
        "messages between stages": parts.messages_s,
        "all-reduces of gradients": parts.gradients_s,
        "waiting": parts.waiting_s,
    }
    noted = {name: part for name, part in shares.items() if parts.total_s and part / parts.total_s >= NOTED}
    words = [f"{name} {percent(part / parts.total_s)}" for name, part in sorted(noted.items(), key=lambda p: -p[1])]
    if parts.total_s:
        rest = f"; beside it, {', '.join(words)}" if words else ", and nothing else for more than a twentieth"
        yield f"Devices compute for {percent(parts.compute_s / parts.total_s)} of an iteration{rest}."
    if report.best.memory_share:
        yield f"The fullest device has {percent(report.best.memory_share)} of its memory in use."


def _advise_plan(report: PlanReport, degrees: Degrees) -> Iterator[str]:
    """Yield what to do with the plan, and what may make it faster."""
    virtual = f" --virtual {degrees.virtual}" if degrees.virtual > 1 else ""
    sizes = {"context-parallel": degrees.context, "expert-parallel": degrees.expert}
    others = {"sharding": degrees.sharding, "recompute": degrees.recompute}
    stated = [(name, size) for name, size in (sizes | others).items() if size not in (1, "none")]
    stated += [] if degrees.recompute_layers is None else [("recompute-layers", degrees.recompute_layers)]
    held = "".join(f" --{name} {size}" for name, size in stated)
    system = next((each for each in SYSTEM_SCHEDULES if degrees.schedule in SYSTEM_SCHEDULES[each]), None)
    yield (
        f"{f'Print it for a framework with --emit {system}, or place' if system else 'Place'} it with `tiger place "
        f"--pipeline-parallel {degrees.pipeline} --tensor-parallel {degrees.tensor} --data-parallel {degrees.data} "
        f"--schedule {degrees.schedule}{virtual}{held} --microbatches {degrees.microbatches}`."
    )
    parts = report.best and report.best.breakdown
    if parts and parts.waiting_s + parts.gradients_s >= NOTED * parts.total_s:
        yield "A larger --batch leaves less of an iteration to waiting and gradients, where training allows for one."
    if report.best is not None and report.best.memory_share >= FULL:
        yield "Memory is nearly full: measure it before this plan is relied on."
    if not report.optimal:
        yield advise_time(report.warnings, "Search on with a larger --effort.")
