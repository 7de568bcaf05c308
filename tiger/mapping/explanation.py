"""Explain a mapping of tasks onto nodes."""

import math
from collections.abc import Iterator

from tiger.mapping.summary import describe_contiguity, describe_moves
from tiger.model.units import number_text as number
from tiger.run.explanation import (
    SEARCH_LONGER,
    Explanation,
    advise_time,
    count,
    describe_stages,
    explain_unmet,
    percent,
    percent_at_most,
    read_effort,
)
from tiger.run.report import LINKS, SAMPLES, Report
from tiger.run.verdict import START

HELP = {
    "slots": "Give the nodes more room (--slots, or --imbalance for slots that are many), or take more nodes.",
    "one-to-one": "Let tasks share nodes (--slots 2, which implies --rule capacity), or take more nodes.",
    "levels": "Choose a rule that lets tasks of a level share a node (--rule capacity), or take more nodes.",
    "memory": "Take nodes with more memory or more of them, or cut the tasks that need most.",
    "forbidden": "Lift some of the forbidden pairs (--forbid), or take more nodes.",
    "pinned": "Lift some of the pins (--pin): those named contradict each other or another limit.",
    "disconnected": "Join the parts of the hardware by links, or leave the traffic between them out.",
    "undecided": SEARCH_LONGER,
}
# Solvers that are there to be compared with.
BASELINES = ("greedy", "random", "identity")


def explain_mapping(report: Report) -> Explanation:
    """Explain a mapping from its figures, or what would make one possible."""
    if report.cost is None:
        slots = {"slots": HELP["one-to-one"]} if report.rule == "one-to-one" else {}
        return explain_unmet(report.violations, "mapping", HELP | slots)
    return Explanation(
        found=tuple(_say_found(report)),
        quality=tuple(_say_quality(report)),
        limits=tuple(_say_limits(report)),
        advice=tuple(_advise(report)),
    )


def _say_found(report: Report) -> Iterator[str]:
    """Yield what has been mapped, and the values of that."""
    used, costs = len(set(report.mapping.values())), ""
    if not _is_of_multicasts(report):
        costs = (
            f", at a cost of {number(report.cost)}: {number(report.communication_cost)} of communication, "
            f"{number(report.compute_cost)} of compute"
        )
    yield f"{count(len(report.mapping), 'task')} on {count(used, 'node')} by the rule {report.rule}{costs}."
    if report.objective is not None:
        yield f"What was minimized is {_metric(report)}, which is {number(report.objective.value)}."
    yield from (f"Beware: {warning}." for warning in report.warnings)


def _is_of_multicasts(report: Report) -> bool:
    """Return whether the cost is that of a graph of pairs, which stands for hyperedges and is not what anyone pays."""
    return report.objective is not None and report.objective.name == "multicast"


def _metric(report: Report) -> str:
    """Return what was minimized, in words."""
    names = {
        "max-link-load": f"the largest load of a link{_by_bandwidth(report)}",
        "ring": "the slowest hop of the ring",
        "multicast": "the cost of multicasts (paid once for all tasks of a node)",
    }
    return "the cost" if report.objective is None else names.get(report.objective.name, f"the {report.objective.name}")


def _by_bandwidth(report: Report) -> str:
    """Return what loads are measured by, where not all links are as wide as the unit of bandwidth."""
    wide = report.links and report.links[0].load != report.metrics.get("max_link_load", report.links[0].load)
    return " over its bandwidth" if wide or any(link.load > report.links[0].load for link in report.links) else ""


def _say_quality(report: Report) -> Iterator[str]:
    """Yield how the mapping compares with simple orders and with the bound, and what stages contributed."""
    made = report.comparison
    if made is not None and made.value != made.baseline:
        side = "less" if made.value < made.baseline else "more"
        share = f"{percent(abs(made.baseline - made.value) / made.baseline)} " if made.baseline else ""
        order = "the mapping given" if made.order == START else f"the best simple order, {made.order}"
        yield f"That is {share}{side} than the {number(made.baseline)} of {order}."
    elif made is not None and made.order == START:
        yield "The mapping given comes to the same: no better one was found."
    elif made is not None:
        yield f"The {made.order} order comes to the same, so this order is as good as a simple one here."
    if report.moves:
        placed = f"{len(report.moves):,} of {count(len(report.mapping), 'task')}"
        yield f"Since the change {placed} have another node: {describe_moves(report)}."
    elif report.moved is not None:
        limit = "" if report.max_moves is None else f"; at most {report.max_moves:,} may"
        yield f"Of {count(len(report.mapping), 'task')} {report.moved:,} moved from the mapping given{limit}."
    if report.free_cost is not None:
        yield describe_contiguity(report).strip().capitalize() + "."
    yield _say_bound(report)
    values = [] if report.objective is None else [("baseline", _value(report, report.objective.baseline, math.inf))]
    values += [(stage.name, _value(report, stage.detail.get("value"), stage.cost)) for stage in report.stages]
    contributed = describe_stages([(name, value) for name, value in values if math.isfinite(value)])
    if contributed is not None:
        yield contributed


def _value(report: Report, value: object, cost: float) -> float:
    """Return what a stage reached of what was minimized, infinite where it does not say."""
    if report.objective is None:
        return cost
    return float(value) if isinstance(value, int | float) else math.inf


def _say_bound(report: Report) -> str:
    """Say how much better any mapping can be."""
    value, bound = report.cost, report.lower_bound
    if report.objective is not None:
        value, bound = report.objective.value, report.objective.bound
    if report.optimal:
        return f"No mapping is better: {_metric(report)} is proved to be the least."
    if value is None or bound is None or bound <= 0:
        return "No useful lower bound is known, so that the best may be better by any amount."
    left = percent_at_most((value - bound) / value)
    return f"No mapping is below {number(bound)}, so that at most {left} can still be gained."


def _say_limits(report: Report) -> Iterator[str]:
    """Yield which link is busiest, how far traffic travels, and what compute has to do with the cost."""
    if report.links:
        worst = report.links[0]
        busy = sum(link.share >= worst.share for link in report.links)
        before = "" if worst.before is None else f"; in the block order it carries {number(worst.before)}"
        least = "at least " if busy == LINKS else ""
        others = f", as {least}{busy - 1} others do" if busy > 2 else ", as another does" if busy == 2 else ""
        link, most = f"The link from {worst.a} to {worst.b}", _by_bandwidth(report)
        carried = f"has the largest load{most}: it carries" if most else "carries the largest load,"
        yield f"{link} {carried} {number(worst.load)}{others}{before}."
    if _is_of_multicasts(report):
        return
    far, mean = report.metrics.get("dilation"), report.metrics.get("mean_dilation")
    if far is not None and mean is not None and report.communication_cost:
        some = "" if far == mean else f", some of it {number(far)}"
        yield f"Traffic travels a distance of {mean:.3g} in the mean{some}."
    if report.compute_cost and report.cost:
        part = percent(report.compute_cost / report.cost)
        yield f"{part} of the cost is compute, which depends on the nodes that do the work and not on where they are."


def _advise(report: Report) -> Iterator[str]:
    """Yield what may lower the cost, and what cannot."""
    if report.verdict is not None and report.verdict.keep:
        yield f"By the verdict, {report.verdict.advice}."
    if report.max_moves is not None and not report.optimal:
        yield f"Let more tasks move than {report.max_moves:,} (--max-moves)."
    if report.optimal:
        yield "Neither more effort nor another solver or seed can help: what is left to change is the problem."
    else:
        yield from _advise_search(report)
    load, before = report.metrics.get("max_link_load"), report.baseline_max_link_load
    free = report.objective is None and report.max_moves is None
    if free and load is not None and before is not None and load > before:
        yield (
            f"The largest load of a link{_by_bandwidth(report)} is {number(load)} and in the block order "
            f"{number(before)}: where links are what jobs wait for, minimize that with --objective max-link-load."
        )
    if report.rule == "one-to-one" and report.communication_cost:
        yield "Where nodes have room for several tasks, say so with --slots: tasks on one node need no link."
    elif report.rule == "capacity" and report.communication_cost:
        yield "Where nodes have more room, say so with --slots, or with --imbalance for a part more."


def _advise_search(report: Report) -> Iterator[str]:
    """Yield how the search could go on."""
    if report.solver == SAMPLES:
        yield "The mapping is made of samples: compare it with what `tiger assign` finds, or decode more reads."
        return
    if report.solver in BASELINES:
        yield f"The solver {report.solver} is there to be compared with: take --solver auto."
        return
    if report.solver != "auto":
        yield f"The solver was {report.solver}: --solver auto joins what suits the problem."
    effort = read_effort(report.stages)
    search = f"Search on with --effort {4 * effort}, and try other seeds than --seed {report.seed}."
    yield advise_time(report.warnings, search)
