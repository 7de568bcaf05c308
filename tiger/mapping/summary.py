"""What the command line says of a mapping."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tiger.model.rounding import compute_gap
from tiger.model.units import number_text as number
from tiger.run.stage import Stage
from tiger.run.summary import (
    SHOWN,
    describe_unmet,
    gap_text,
    list_facts,
    list_samples,
    list_stages,
    origin_text,
    rest_text,
    table,
    warnings,
)
from tiger.run.terminal import escape

if TYPE_CHECKING:
    from tiger.run.moves import MoveReason
    from tiger.run.report import Objective, Report
    from tiger.run.samples import SamplingReport

# Links of a table: the bottleneck and what is next to it.
LINKS = 5


def summary(report: "Report") -> str:
    """Return the outcome, what each stage contributed, warnings and the mapping, of which at most 40 tasks."""
    if report.sampling is not None and report.sampling.estimated:
        return f"{_estimate(report.sampling)}{warnings(report.warnings)}"
    start = f"{report.headline}\n\n" if report.feasible else describe_unmet(report.violations)
    multicast = report.objective is not None and report.objective.name == "multicast"
    stages = _list_by_multicast(report.stages) if multicast else list_stages(report.stages)
    parts = [start, _facts(report), _links(report), stages]
    parts.append(warnings(report.warnings))
    if report.feasible:
        shown = list(report.mapping.items())[:SHOWN]
        rows = [(escape(task), escape(node)) for task, node in shown]
        parts += ["\n", table(("task", "node"), rows), rest_text(len(report.mapping), "tasks")]
    return "".join(parts)


def describe_contiguity(report: "Report") -> str:
    """Return a line on what it costs that the ranks of every host are consecutive, nothing without that rule."""
    free, cost = report.free_cost, report.cost
    if free is None or cost is None:
        return ""
    if cost <= free:
        return "consecutive ranks on every host cost nothing here\n"
    share = f"{(cost - free) / free:.1%} more, " if free else ""
    return f"consecutive ranks on every host cost {share}{number(cost)} over {number(free)} without that rule\n"


def _facts(report: "Report") -> str:
    """Return the figures of the outcome, one a line."""
    facts = {
        "cost": number(report.cost),
        "  of compute": number(report.compute_cost),
        "  of communication": number(report.communication_cost),
        **({} if report.free_cost is None else {"  hosts not contiguous": number(report.free_cost)}),
        **_start(report, report.baselines.start),
        **({"tasks moved": describe_moves(report)} if report.moves else {}),
        "block order": number(report.baselines.block),
        "cyclic order": number(report.baselines.cyclic),
        "random order": number(report.baselines.random),
        "lower bound": number(report.lower_bound),
        "gap": gap_text(report.gap, report.lower_bound),
        "optimal": "yes" if report.optimal else "not proved",
        "verdict": report.verdict.advice if report.verdict else "-",
        "feasible": "yes" if report.feasible else "no",
        "rule": report.rule,
        "solver": origin_text(report.solver, report.seed, report.islands),
        "seconds": f"{report.seconds:.3f}",
        **{name.replace("_", " "): number(value) for name, value in sorted(report.metrics.items(), key=_is_link_load)},
    }
    if report.baseline_max_link_load is not None:
        facts["  in block order"] = number(report.baseline_max_link_load)
    facts |= _samples(report)
    if report.objective and report.objective.name == "multicast":
        return list_facts(_lead_with_multicasts(facts, report.objective))
    if report.objective:
        facts["objective"] = f"{report.objective.name} {number(report.objective.value)}"
        if report.objective.start is not None:
            facts["  mapping given"] = number(report.objective.start)
        facts["  block order"] = number(report.objective.baseline)
        facts["  cyclic order"] = number(report.objective.cyclic)
        facts["  lower bound"] = _bound(report.objective.bound, report.objective.value)
    return list_facts(facts)


def _start(report: "Report", value: float | None) -> dict[str, str]:
    """Return what the mapping given comes to, and how many tasks have moved from it; nothing without one."""
    if value is None:
        return {}
    most = "" if report.max_moves is None else f", at most {report.max_moves:,} may"
    return {"mapping given": number(value), "  moved from it": f"{report.moved:,} of {len(report.mapping):,}{most}"}


def describe_moves(report: "Report") -> str:
    """Return how many tasks have moved since a change, or are new, and why; nothing without a mapping before it."""
    counts = Counter(move.why for move in report.moves)
    words: dict[MoveReason, str] = {
        "lost": "whose node is gone",
        "forbidden": "that may not stay",
        "room": "for want of room",
        "gain": "as that lowers the cost",
        "new": "that are new",
    }
    return ", ".join(f"{counts[why]:,} {text}" for why, text in words.items() if counts[why])


def _samples(report: "Report") -> dict[str, str]:
    """Return what a sampler drew, and what that is worth beside coin flips; nothing of other solvers."""
    ended = any(warning.startswith("ended") for warning in report.warnings)
    why = "time was up before" if ended else "nothing was left to sample"
    why = "the mapping was proved optimal before" if report.optimal else why
    return list_samples(report.sampling, number, why)


def _estimate(drawn: "SamplingReport") -> str:
    """Return what a solve would ask of a machine."""
    access = (
        "unknown, as the machine publishes no times" if drawn.access_time_s is None else f"{drawn.access_time_s:.3g} s"
    )
    if not drawn.calls:
        access = "0 s: nothing was left to sample"
    facts = {"submissions": f"{drawn.calls:,}", "reads": f"{drawn.reads:,}", "QPU access time": access}
    return (
        "nothing was submitted: simulated annealing answered in the machine's place, and by its answers there are\n\n"
        f"{list_facts(facts)}"
    )


def _lead_with_multicasts(facts: dict[str, str], made: "Objective") -> dict[str, str]:
    """Return the figures with those of multicasts first, and of the graph that stands for them its cost alone."""
    pairs = ("cost", "  of compute", "  of communication", "random order", "lower bound", "gap")
    gap = compute_gap(made.value, made.bound)
    own = {
        "multicast": number(made.value),
        **({} if made.start is None else {"mapping given": number(made.start)}),
        "block order": number(made.baseline),
        "cyclic order": number(made.cyclic),
        "lower bound": _bound(made.bound, made.value),
        "gap": "no useful bound" if gap is None else f"{gap:.2%}",
    }
    others = {name: value for name, value in facts.items() if name not in own and name not in pairs}
    return own | others | {"cost of pairs": facts["cost"]}


def _links(report: "Report") -> str:
    """Return the loads of the busiest links, of which at most five, and those in the block order."""
    rows = [
        (f"{escape(link.a)} - {escape(link.b)}", number(link.load), f"{link.share:.0%}", number(link.before))
        for link in report.links[:LINKS]
    ]
    return "\n" + table(("busiest links", "load", "of largest", "in block order"), rows) if rows else ""


def _is_link_load(metric: tuple[str, float]) -> bool:
    """Return whether a metric is the largest load of a link, which comes last, beside that of the block order."""
    return metric[0] == "max_link_load"


def _bound(bound: float | None, value: float) -> str:
    """Return a lower bound on a value, and that it says nothing where that is so."""
    return f"{number(bound)}, no useful bound" if bound is not None and bound <= 0 < value else number(bound)


def _list_by_multicast(stages: Sequence[Stage]) -> str:
    """Return what each stage reached by the cost of multicasts, a dash where it looked at that of pairs alone."""
    told = []
    for stage in stages:
        detail = dict(stage.detail)
        value = detail.pop("value", None)
        told.append(replace(stage, cost=value if isinstance(value, float) else math.inf, detail=detail))
    return list_stages(told, "best multicast")
