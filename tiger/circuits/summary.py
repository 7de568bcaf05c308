"""What the command line says of the layout of a circuit."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from tiger.circuits.optimization_levels import PARAMS_OF_LEVEL
from tiger.model.units import number_text as number
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

if TYPE_CHECKING:
    from tiger.circuits.entry.report import CircuitReport


def circuit_summary(report: "CircuitReport") -> str:
    """Return what routing added, what each way to place gates comes to, stages, warnings and at most 40 qubits."""
    if report.extra_cx is None or report.data_movement is None:
        return describe_unmet(report.violations, "layout") + warnings(report.warnings)
    parts = [f"{report.headline}\n\n", _circuit_facts(report), "\n", _placements(report)]
    parts.append(list_stages(report.stages, "best extra CX"))
    parts.append(warnings(report.warnings))
    places = [(str(q), str(p), str(report.final_layout[q])) for q, p in list(report.initial_layout.items())[:SHOWN]]
    rest = rest_text(len(report.initial_layout), "qubits")
    return "".join([*parts, "\n", table(("qubit", "starts on", "ends on"), places), rest])


def _placements(report: "CircuitReport") -> str:
    """Return what each way to place the gates comes to."""
    moved = {} if report.data_movement is None else asdict(report.data_movement)
    added = report.placement_extra_cx or {}
    rows = [(name.replace("_", " "), number(value), number(added.get(name))) for name, value in moved.items()]
    return table(("placement of the gates", "data movement", "extra CX"), rows)


def _synthesis_text(report: "CircuitReport") -> str:
    """Return the two-qubit gates of a circuit that was written anew, "-" of one that is mapped as it is."""
    detail = next((stage.detail for stage in report.stages if stage.name == "synthesis"), None)
    if detail is None:
        return "-"
    given, gates = detail["given_two_qubit_gates"], detail["two_qubit_gates"]
    return f"{gates} two-qubit gates at the end" + ("" if given is None else f", {given} as it was given")


def _circuit_facts(report: "CircuitReport") -> str:
    """Return the figures of a routed circuit, one a line."""
    facts = {
        "extra CX": number(report.extra_cx),
        "  SWAPs": number(report.swaps),
        "  BRIDGEs": number(report.bridges),
        "  Qiskit's extra CX": number(report.baseline_extra_cx),
        "  lower bound": number(report.lower_bound),
        "  gap": gap_text(report.gap, report.lower_bound),
        "  optimal": "-"
        if report.extra_cx is None or report.objective != "cx"
        else "yes"
        if report.optimal
        else "not proved",
        "written anew": _synthesis_text(report),
        "depth": number(report.depth),
        "  Qiskit's depth": number(report.baseline_depth),
        "success": number(report.success_probability),
        "  Qiskit's success": number(report.baseline_success_probability),
        "objective": report.objective,
        "level": str(report.level),
        "solver": origin_text(report.solver, report.seed, report.islands),
        "seconds": f"{report.seconds:.3f}",
        **list_samples(
            report.sampling,
            number,
            "no route was left to find" if PARAMS_OF_LEVEL[report.level].anchors else "level 2 samples",
        ),
    }
    return list_facts({name: fact for name, fact in facts.items() if fact != "-"})
