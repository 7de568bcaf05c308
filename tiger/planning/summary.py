"""What the command line says of a plan."""

from typing import TYPE_CHECKING

from tiger.model.units import milliseconds_text, seconds_text
from tiger.placement.entry.summary import list_remedies, placement_summary
from tiger.run.summary import describe_unmet, list_facts, list_samples, table, warnings

if TYPE_CHECKING:
    from tiger.planning.report import Degrees, GivenPlan, PlanReport, RankedPlan

HELD = ("sharding", "recompute")
HEAD = ("plan", "PP x TP x DP", "schedule", "microbatches", *HELD, "iteration", "bubble", "memory", "tokens/s")


def plan_summary(report: "PlanReport") -> str:
    """Return the best plan beside the usual one, the ranked ones, why the next lost, and what bounds ruled out."""
    if report.best is None or report.placement is None:
        unmet = describe_unmet(report.violations, "plan") + list_remedies(report.remedies)
        return (
            _tabulate_sweep(report)
            + unmet
            + _judge_given(report)
            + warnings(report.warnings)
            + _tabulate_pruned(report)
        )
    rows: list[tuple[str, RankedPlan | GivenPlan]] = [(str(rank), each) for rank, each in enumerate(report.ranked, 1)]
    rows += [] if report.heuristic is None else [("usual", report.heuristic)]
    rows += [] if report.given is None else [("yours", report.given)]
    parts = [
        _tabulate_sweep(report),
        _headline(report),
        _judge_given(report),
        warnings(report.warnings),
        table(HEAD, (_row(name, each) for name, each in rows)),
        *(f"\nplan 2 is {each.why}\n" for each in report.ranked[1:2]),
        *([] if report.heuristic is None else [f"\nthe usual plan is {report.heuristic.why}\n"]),
        _tabulate_pruned(report),
        _describe_samples(report),
        "\nplan 1\n",
        placement_summary(report.placement),
    ]
    return "".join(parts)


def _tabulate_sweep(report: "PlanReport") -> str:
    """Return the best plan of every batch, nothing without a sweep."""
    if not report.sweep:
        return ""
    head = ("batch", "PP x TP x DP", "schedule", "microbatches", *HELD, "iteration", "bubble", "memory", "a second")
    rows = [
        (
            str(each.batch),
            *(("-",) * 5 if each.degrees is None else _say_degrees(each.degrees)),
            "-" if each.iteration_s is None else seconds_text(each.iteration_s),
            "-" if each.bubble is None else f"{each.bubble:.1%}",
            "-" if each.memory_share is None else f"{each.memory_share:.0%}",
            "-" if each.batch_per_s is None else f"{each.batch_per_s:,.4g}",
            "-" if each.tokens_per_s is None else f"{each.tokens_per_s:,.0f}",
        )
        for each in report.sweep
    ]
    return f"{table((*head, 'tokens/s'), rows)}\nbatch {report.batch}\n"


def _describe_samples(report: "PlanReport") -> str:
    """Return what a sampler drew to order devices, nothing of other solvers."""
    facts = list_samples(report.sampling, milliseconds_text, "no order of devices was left to it")
    return f"\n{list_facts(facts)}" if facts else ""


def _headline(report: "PlanReport") -> str:
    """Return one sentence on the best plan, on the usual one, and on the bound."""
    looked = sum(pruned.choices for pruned in report.pruned)
    bound = "-" if report.lower_bound_s is None else seconds_text(report.lower_bound_s)
    return (
        f"{report.headline}\nof {report.choices:,} choices {report.choices - looked:,} were simulated, "
        f"in {report.seconds:.1f} s; none takes less than {bound}\n\n"
    )


def _schedule(degrees: "Degrees") -> str:
    """Return the schedule, with the number of stages of a position where that is not one."""
    return degrees.schedule + (f" x {degrees.virtual}" if degrees.virtual > 1 else "")


def _groups(degrees: "Degrees") -> str:
    """Return how many context and expert ranks there are, where there are any."""
    sizes = (("CP", degrees.context), ("EP", degrees.expert))
    return "".join(f", {name} {size}" for name, size in sizes if size > 1)


def _judge_given(report: "PlanReport") -> str:
    """Return whether to keep the plan that somebody has, and where it does not fit, why and what would help."""
    given = report.given
    if given is None:
        return ""
    faults = "".join(f"  {fault.kind}: it {fault.message}\n" for fault in given.violations)
    return f"{given.verdict}\n{faults}{list_remedies(given.remedies) or chr(10)}"


def _row(name: str, plan: "RankedPlan | GivenPlan") -> tuple[str, ...]:
    """Return a plan as a row."""
    return (
        name,
        *_say_degrees(plan.degrees),
        "-" if plan.iteration_s is None else seconds_text(plan.iteration_s),
        "-" if plan.bubble is None else f"{plan.bubble:.1%}",
        f"{plan.memory_share:.0%}",
        "-" if plan.tokens_per_s is None else f"{plan.tokens_per_s:,.0f}",
    )


def _say_degrees(degrees: "Degrees") -> tuple[str, ...]:
    """Return the cells of degrees: groups, schedule, microbatches, and what is held."""
    size = f" of {degrees.microbatch}" if degrees.microbatch is not None else ""
    return (
        f"{degrees.pipeline} x {degrees.tensor} x {degrees.data}" + _groups(degrees),
        _schedule(degrees),
        f"{degrees.microbatches}{size}",
        degrees.sharding,
        degrees.recompute + ("" if degrees.recompute_layers is None else f" {degrees.recompute_layers}"),
    )


def _tabulate_pruned(report: "PlanReport") -> str:
    """Return what bounds ruled out, a row each."""
    rows = [
        (pruned.reason, f"{pruned.choices:,}", "-" if pruned.closest is None else str(pruned.closest), pruned.why)
        for pruned in report.pruned
    ]
    return "\n" + table(("ruled out by", "choices", "the closest of them", "which"), rows) if rows else ""
