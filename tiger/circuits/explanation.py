"""Explain the layout of a circuit."""

import math
from collections.abc import Iterator

from tiger.circuits.entry.report import CircuitReport
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
)

HELP = {
    "qubits": "Take a device with more qubits, or a circuit with fewer.",
    "disconnected": "Take a device whose couplers join enough qubits, or a circuit in parts that its pieces can hold.",
    "undecided": SEARCH_LONGER,
}
# The highest level, which does all there is.
HIGHEST = 3


def explain_circuit(report: CircuitReport) -> Explanation:
    """Explain a layout from its figures, or what would make one possible."""
    if report.extra_cx is None:
        return explain_unmet(report.violations, "layout", HELP)
    return Explanation(
        found=tuple(_say_found(report)),
        quality=tuple(_say_quality(report)),
        limits=tuple(_say_limits(report)),
        advice=tuple(_advise(report)),
    )


def _say_found(report: CircuitReport) -> Iterator[str]:
    """Yield what routing added, and what the circuit comes to."""
    moved = f"{count(report.swaps or 0, 'SWAP')} and {count(report.bridges or 0, 'BRIDGE')}"
    yield (
        f"{count(len(report.initial_layout), 'qubit')} placed and routed with {moved}, which are "
        f"{report.extra_cx:,} extra CX; the depth is {number(report.depth)}."
    )
    if report.success_probability is not None:
        yield f"By the device's error rates the circuit succeeds with probability {report.success_probability:.3g}."
    yield from (f"Beware: {warning}." for warning in report.warnings)


def _say_quality(report: CircuitReport) -> Iterator[str]:
    """Yield how that compares with Qiskit, and what stages contributed."""
    yield from _compare("extra CX", report.extra_cx, report.baseline_extra_cx)
    yield from _compare("depth", report.depth, report.baseline_depth)
    yield from _compare("success", report.success_probability, report.baseline_success_probability)
    yield _say_bound(report)
    stages = [(stage.name, stage.cost) for stage in report.stages if math.isfinite(stage.cost)]
    contributed = describe_stages(stages)
    if contributed is not None:
        yield contributed


def _say_bound(report: CircuitReport) -> str:
    """Say how many extra CX any routing of the circuit has."""
    if report.extra_cx == 0:
        return "Every gate runs where its qubits start, so that nothing can be added less."
    if report.extra_cx == report.lower_bound:
        return "No routing adds fewer extra CX: their number is proved to be the least."
    if report.gap is None:
        return "No useful lower bound is known, so that the fewest extra CX may be any number."
    left = percent_at_most(report.gap)
    return f"No routing adds fewer than {report.lower_bound:,} extra CX, so that at most {left} can still be gained."


def _compare(name: str, value: float | None, own: float | None) -> Iterator[str]:
    """Yield how far a figure is from that of Qiskit's own layout and routing."""
    if value is None or own is None:
        return
    if value == own:
        yield f"The {name} is that of Qiskit's own layout and routing, at the same level and seed."
        return
    share = f"{percent(abs(value - own) / own)} " if own else ""
    side = "below" if value < own else "above"
    yield f"The {name} is {share}{side} the {number(own)} of Qiskit's own, at the same level and seed."


def _say_limits(report: CircuitReport) -> Iterator[str]:
    """Yield what the movement of data says of the circuit and its device."""
    moved = report.data_movement
    if moved is not None and moved.routed and report.extra_cx:
        yield (
            f"Qubits are {number(moved.routed)} steps away from where their gates run, and would be "
            f"{number(moved.trivial)} if they kept their numbers and places."
        )


def _advise(report: CircuitReport) -> Iterator[str]:
    """Yield what may improve the circuit."""
    if report.optimal:
        yield "Neither more effort nor a higher level can lower the extra CX."
    else:
        search = f"Search on with a larger --effort, and try other seeds than --seed {report.seed}."
        higher = f"The level was {report.level}: --level {HIGHEST} searches longest."
        yield advise_time(report.warnings, higher if report.level < HIGHEST else search)
    worse = report.depth is not None and report.baseline_depth is not None and report.depth > report.baseline_depth
    if report.objective == "cx" and worse:
        yield "The depth is above Qiskit's: where time matters most, minimize it with --objective depth."
    if report.success_probability is not None and report.objective != "success":
        yield "The device states error rates: --objective success minimizes the chance that the circuit fails."
