"""What the command line says of a placement."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from tiger.model.units import MILLISECOND, bytes_text, milliseconds_text
from tiger.run.summary import SHOWN, describe_unmet, list_facts, list_samples, list_stages, rest_text, table, warnings
from tiger.run.terminal import escape
from tiger.training.hardware.rank_text import short_ranks

if TYPE_CHECKING:
    from tiger.placement.entry.given import GivenLayout
    from tiger.placement.entry.remedies import Remedy
    from tiger.placement.entry.report import PlacementReport
    from tiger.placement.entry.serving import ExpertsOnCpu
    from tiger.placement.entry.stage import PlacedStage

# What is said of the plan of a layout and of the plan found, side by side.
_GIVEN = ("iteration", "bottleneck", "bubble", "fullest device", "sent an iteration", "layers of stages")


def placement_summary(report: "PlacementReport") -> str:
    """Return how fast a placement is beside the uniform split, its figures, warnings and at most 40 stages."""
    if not report.stages:
        unmet = describe_unmet(report.violations, "placement") + list_remedies(report.remedies)
        return unmet + _compare_given(report) + warnings(report.warnings)
    unmet = "" if report.feasible else describe_unmet(report.violations, "placement") + list_remedies(report.remedies)
    parts = [f"{unmet}{report.headline}\n\n", _compare_given(report), _placement_facts(report)]
    parts.append(warnings(report.warnings))
    placed = _tabulate_operators(report) if report.mode == "dag" else _tabulate_stages(report)
    parts += ["\n", placed, rest_text(len(report.stages), "stages")]
    return "".join([*parts, list_stages(report.progress, "best seconds")])


def list_remedies(remedies: "Sequence[Remedy]") -> str:
    """Return which options save memory and how much, one a line."""
    if not remedies:
        return ""
    return "".join(["each alone, with as many layers in every stage:\n", *(f"  {each}\n" for each in remedies), "\n"])


def _compare_given(report: "PlacementReport") -> str:
    """Return the verdict on the plan of a layout, and its figures beside those of the plan found."""
    given = report.given
    if given is None:
        return ""
    faults = "".join(f"  {fault.kind}: it {fault.message}\n" for fault in given.violations)
    advice = "" if given.keep or not report.stages else "--emit prints the new layout for a framework\n"
    rows = zip(_GIVEN, _list_figures(given), _list_figures(report), strict=True)
    known = [row for row in rows if row[1:] != ("-", "-")]
    return f"{given.verdict}\n{faults}{advice}\n{table(('', 'yours', 'TIGER'), known)}\n"


def _list_figures(plan: "PlacementReport | GivenLayout") -> tuple[str, ...]:
    """Return the figures of a plan that stand beside those of another."""
    if not plan.stages:
        return ("-",) * len(_GIVEN)
    fullest = max(plan.stages, key=lambda stage: stage.memory_bytes / (stage.capacity_bytes or math.inf))
    runs = [(size, len(list(same))) for size, same in groupby(len(stage.ops) for stage in plan.stages)]
    return (
        milliseconds_text(plan.iteration_s),
        milliseconds_text(plan.bottleneck_s),
        "-" if plan.bubble is None else f"{plan.bubble:.2%}",
        f"{_memory(fullest)}, {escape(fullest.device)}",
        bytes_text(sum(link.sent_bytes for link in plan.links)) if plan.links else "-",
        ", ".join(f"{size}" if count == 1 else f"{size} x {count}" for size, count in runs),
    )


def _placement_facts(report: "PlacementReport") -> str:
    """Return the figures of a placement, one a line."""
    facts = {
        "bottleneck": milliseconds_text(report.bottleneck_s),
        "  of uniform split": milliseconds_text(report.uniform_bottleneck_s),
        "  of the plan given": milliseconds_text(report.start_bottleneck_s),
        "  lower bound": milliseconds_text(report.lower_bound_s),
        "iteration": milliseconds_text(report.iteration_s),
        "  of uniform split ": milliseconds_text(report.uniform_iteration_s),
        "  of the plan given ": milliseconds_text(report.start_iteration_s),
        "  lower bound ": milliseconds_text(report.iteration_bound_s),
        "latency": milliseconds_text(report.latency_s),
        "  of the plan given  ": milliseconds_text(report.start_latency_s),
        "  lower bound  ": milliseconds_text(report.latency_bound_s),
        **_list_served(report),
        "moved from the plan given": _tell_moves(report),
        "bubble": "-" if report.bubble is None else f"{report.bubble:.2%}",
        "optimal": "yes" if report.optimal else "not proved",
        "objective": report.objective or "-",
        "operators": f"{_operators(report)} on {len(report.stages)} devices" if report.mode == "dag" else "-",
        "devices a stage": _ranks(report.stages[0]),
        "schedule": "-" if report.schedule is None else f"{report.schedule}, {report.microbatches} microbatches",
        "virtual stages": str(report.virtual) if report.virtual > 1 else "-",
        "times of layers": "-" if report.times is None else str(report.times),
        "solver": f"{report.solver}, seed {report.seed}",
        "seconds": f"{report.seconds:.3f}",
        **list_samples(report.sampling, milliseconds_text, "it was found without"),
    }
    return list_facts({name: fact for name, fact in facts.items() if fact != "-"})


def _list_served(report: "PlacementReport") -> dict[str, str]:
    """Return the figures of a model that serves, and of the split in proportion to memory."""
    figures = report.serving
    if figures is None:
        return {}
    split, experts = figures.split, figures.experts_on_cpu
    many = [
        (name, "-" if count is None else f"{count:,}")
        for name, count in (
            ("sequences at once", figures.sequences),
            ("  upper bound", figures.most_sequences),
            ("  of the split by memory", split.sequences),
        )
    ]
    latency, bottleneck = milliseconds_text(split.latency_s), milliseconds_text(split.bottleneck_s)
    fits = "" if split.feasible else ", which does not fit"
    return {
        "forward latency": milliseconds_text(figures.latency_s) if report.latency_s is None else "-",
        "split by memory": f"latency {latency}, bottleneck {bottleneck}{fits}",
        **dict(many),
        "experts on the cpu": "-" if experts is None else _tell_experts(experts),
    }


def _tell_experts(experts: "ExpertsOnCpu") -> str:
    """Return of how many layers experts are on a CPU, and what they take there."""
    taken = f"{bytes_text(experts.memory_bytes)}, {milliseconds_text(experts.seconds)}"
    return f"of {len(experts.layers)} layers on {escape(experts.device)}: {taken}"


def _tell_moves(report: "PlacementReport") -> str:
    """Return how many layers or operators have left the plan given, a dash without one."""
    return "-" if report.moved is None else f"{report.moved:,} of {_operators(report):,}"


def _tabulate_stages(report: "PlacementReport") -> str:
    """Return what every stage holds and takes, of which at most 40."""
    rows, begin = [], 0
    for k, stage in enumerate(report.stages):
        end = begin + len(stage.ops)
        if k < SHOWN:
            layers = f"{begin}..{end - 1} ({len(stage.ops)})" if len(stage.ops) > 1 else f"{begin} (1)"
            spent = (_figure(stage.compute_s), _figure(stage.communication_s))
            rows.append((str(k), escape(short_ranks(stage.devices)), layers, *spent, _memory(stage)))
        begin = end
    return table(("stage", "device", "layers", "compute ms", "communication ms", "memory"), rows)


def _operators(report: "PlacementReport") -> int:
    """Return how many operators have been placed."""
    return sum(len(stage.ops) for stage in report.stages)


def _tabulate_operators(report: "PlacementReport") -> str:
    """Return what every device holds and takes, of which at most 40."""
    rows = []
    for stage in report.stages[:SHOWN]:
        parts = stage.compute_s, stage.communication_s
        figures = map(_figure, (*parts, sum(parts)))
        rows.append((escape(stage.device), f"{len(stage.ops):,}", *figures, _memory(stage)))
    return table(("device", "operators", "compute ms", "communication ms", "load ms", "memory"), rows)


def _ranks(stage: "PlacedStage") -> str:
    """Return how many devices a stage has for what, a dash for a single one."""
    data, tensor = len(stage.devices), len(stage.devices[0])
    return f"{data * tensor}: tensor {tensor} x data {data}" if data * tensor > 1 else "-"


def _memory(stage: "PlacedStage") -> str:
    """Return what a device holds, of how much."""
    held = bytes_text(stage.memory_bytes)
    return held if stage.capacity_bytes is None else f"{held} of {bytes_text(stage.capacity_bytes)}"


def _figure(seconds: float) -> str:
    """Return milliseconds with up to six digits."""
    return f"{seconds / MILLISECOND:.6g}"
