"""Explain the placement of a network."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tiger.model.units import bytes_text, seconds_text
from tiger.placement.entry.remedies import Remedy
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.serving import ServingFigures
from tiger.placement.entry.stage import PlacedStage
from tiger.run.explanation import (
    SEARCH_LONGER,
    Explanation,
    advise_time,
    count,
    describe_stages,
    explain_unmet,
    percent,
    percent_at_most,
)

HELP = {
    "memory": "Take more or larger devices, cut layers (--tensor-parallel), or take smaller microbatches.",
    "stages": "Ask for fewer stages (--pipeline-parallel, --virtual), or take a network with more layers.",
    "unlinked": "State links between the devices, or a bandwidth for all (uniform_bandwidth).",
    "links": "State links between the devices, or a bandwidth for all (uniform_bandwidth).",
    "pinned": "Lift some of the pins (--pin): those named contradict each other or another limit.",
    "device": "Add a device that may run what is named, or lift its pins (--pin).",
    "choices": "Leave degrees open, or choose a batch that the degrees divide.",
    "undecided": SEARCH_LONGER,
}
# Part of an iteration in which devices wait, or do anything but compute, from which that is worth a sentence.
NOTED = 0.05


def explain_placement(report: PlacementReport) -> Explanation:
    """Explain a placement from its figures, or what would make one possible."""
    if not report.stages or not report.feasible:
        return add_remedies(explain_unmet(report.violations, "placement", HELP), report.remedies)
    return Explanation(
        found=tuple(_say_placed(report)),
        quality=tuple(_say_quality(report)),
        limits=tuple(_say_limits(report)),
        advice=tuple(_advise(report)),
    )


def add_remedies(explanation: Explanation, remedies: Sequence[Remedy]) -> Explanation:
    """Return an explanation with what would make a model fit as the first advice."""
    advice = tuple(f"{each}." for each in remedies)
    return replace(explanation, advice=(*advice, *explanation.advice))


def _say_placed(report: PlacementReport) -> Iterator[str]:
    """Yield what has been placed, and its seconds."""
    held = sum(len(stage.ops) for stage in report.stages)
    if report.mode == "dag":
        yield f"{count(held, 'operator')} on {count(len(report.stages), 'device')}."
    else:
        yield f"{count(held, 'layer')} in {count(len(report.stages), 'stage')}."
    if report.iteration_s is not None and report.schedule is not None:
        many = count(report.microbatches or 0, "microbatch").replace("microbatchs", "microbatches")
        yield f"An iteration of {many} by the schedule {report.schedule} takes {seconds_text(report.iteration_s)}."
    if report.bottleneck_s is not None:
        yield f"The slowest device takes {seconds_text(report.bottleneck_s)} for a microbatch."
    if report.latency_s is not None:
        yield f"One microbatch alone takes {seconds_text(report.latency_s)} from begin to end."
    if report.serving is not None:
        yield from _say_sequences(report.serving)
    yield from (f"Beware: {warning}." for warning in report.warnings)


def _say_sequences(figures: ServingFigures) -> Iterator[str]:
    """Yield how many sequences fit, and what is on a CPU."""
    if figures.sequences is not None:
        fit = "fits" if figures.sequences == 1 else "fit"
        yield f"{count(figures.sequences, 'sequence')} {fit} at once."
    apart = figures.experts_on_cpu
    if apart is not None and apart.layers:
        held = f"{bytes_text(apart.memory_bytes)}, {seconds_text(apart.seconds)} of a microbatch"
        yield f"Experts of {count(len(apart.layers), 'layer')} are on {apart.device}: {held}."


def _compare_split(report: PlacementReport, figures: ServingFigures) -> Iterator[str]:
    """Yield what layers in proportion to memory come to."""
    split = figures.split
    if report.objective == "cache":
        yield f"Layers in proportion to memory, as llama.cpp cuts them, have room for {split.sequences or 0:,}."
        if figures.most_sequences is not None and not report.optimal:
            yield f"No placement of this kind has room for more than {figures.most_sequences:,}."
    elif report.objective == "latency" and not split.feasible:
        yield "Layers in proportion to memory, as llama.cpp cuts them, do not fit."
    elif report.objective == "latency" and split.latency_s:
        times = f"{split.latency_s / figures.latency_s:.2f} times as long"
        yield f"In proportion to memory, as llama.cpp cuts layers, it takes {seconds_text(split.latency_s)}: {times}."


def _aim(report: PlacementReport) -> tuple[str, float | None, float | None, float | None]:
    """Return the name, value, uniform value and bound of what was minimized first."""
    if report.objective == "cache":
        return "cache", None, None, None
    if report.objective == "latency":
        return "latency", report.latency_s, None, report.latency_bound_s
    if report.schedule is not None:
        return "iteration", report.iteration_s, report.uniform_iteration_s, report.iteration_bound_s
    return "bottleneck", report.bottleneck_s, report.uniform_bottleneck_s, report.lower_bound_s


def _say_quality(report: PlacementReport) -> Iterator[str]:
    """Yield how a placement compares with the uniform split and with the bound, and what steps contributed."""
    name, value, uniform, bound = _aim(report)
    if report.serving is not None:
        yield from _compare_split(report, report.serving)
    if uniform is not None and value and math.isfinite(uniform):
        what = "as many layers in every stage" if report.mode == "chain" else "as many operators on every device"
        met = "" if report.uniform_feasible is not False else ", which does not meet what is asked"
        times = f"{uniform / value:.2f} times as long" if uniform != value else "as long"
        yield f"With {what} the {name} is {seconds_text(uniform)}{met}: {times}."
    given = {"latency": report.start_latency_s, "iteration": report.start_iteration_s}.get(
        name, report.start_bottleneck_s
    )
    if given is not None and value and report.moved is not None:
        times = f"{given / value:.2f} times as long" if given != value else "as long"
        yield f"With the plan given it is {seconds_text(given)}: {times}; {report.moved:,} have moved from there."
    if report.given is not None:
        yield f"The layout given: {report.given.verdict}."
    if report.optimal:
        better = "has room for more" if report.objective == "cache" else "is faster"
        yield f"No placement of this kind {better}: it is proved optimal."
    elif value and bound:
        left = percent_at_most((value - bound) / value)
        yield f"The {name} is never below {seconds_text(bound)}, so that at most {left} can still be gained."
    contributed = describe_stages([(step.name, step.cost) for step in report.progress if math.isfinite(step.cost)])
    if contributed is not None:
        yield contributed


def _load_s(stage: PlacedStage) -> float:
    """Return the seconds of a stage for one microbatch."""
    return stage.compute_s + stage.communication_s


def _say_limits(report: PlacementReport) -> Iterator[str]:
    """Yield which stage is slowest, how long devices wait, what is sent most, and where memory is short."""
    slowest = max(report.stages, key=_load_s)
    sent = slowest.communication_s / _load_s(slowest) if _load_s(slowest) else 0.0
    if math.isfinite(_load_s(slowest)):
        yield (
            f"The slowest stage is on {slowest.device}: {seconds_text(_load_s(slowest))}, {percent(sent)} of it "
            "communication."
        )
    if report.bubble is not None and report.bubble >= NOTED:
        yield f"Devices wait for {percent(report.bubble)} of an iteration, the bubble of the pipeline."
    if report.links:
        most = max(report.links, key=lambda link: link.sent_bytes)
        yield f"The most bytes go between {most.a} and {most.b}: {bytes_text(most.sent_bytes)} an iteration."
    limited = [stage for stage in report.stages if stage.capacity_bytes]
    if limited:
        fullest = max(limited, key=lambda stage: stage.memory_bytes / (stage.capacity_bytes or math.inf))
        share = fullest.memory_bytes / (fullest.capacity_bytes or math.inf)
        yield f"Memory is fullest on {fullest.device}: {percent(share)} of {bytes_text(fullest.capacity_bytes or 0.0)}."


def _advise(report: PlacementReport) -> Iterator[str]:
    """Yield what may make a placement faster."""
    if report.optimal:
        yield "More effort cannot help: what is left to change is the schedule, the degrees, or the cluster."
    else:
        search = f"Search on with a larger --effort, and try other seeds than --seed {report.seed}."
        yield advise_time(report.warnings, search)
    if report.mode == "dag":
        return
    if report.objective is not None:
        yield "Print it with --emit llama.cpp, vllm or sglang, as far as these run such a plan."
        return
    if report.schedule is None:
        yield "Name a schedule, such as --schedule 1f1b, for the time of an iteration and the memory of activations."
    yield from _advise_schedule(report)
    yield "See with `tiger plan` whether other degrees of parallelism train faster on this cluster."


def _advise_schedule(report: PlacementReport) -> Iterator[str]:
    """Yield what may shorten the time in which devices wait."""
    if report.bubble is None or report.bubble < NOTED or report.microbatches is None:
        return
    yield f"More microbatches (--microbatches {2 * report.microbatches}) leave less of an iteration to waiting."
    if report.schedule in ("gpipe", "1f1b") and len(report.stages) > 1:
        yield "The schedules zero-bubble, zb-v and interleaved can wait less than this one, where memory allows."
