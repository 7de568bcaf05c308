"""The story of a call: a circuit that is read, its mapping, and the report with Qiskit's own figures."""

import time
from dataclasses import replace

from qiskit.circuit import QuantumCircuit
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.passmanager import PropertySet
from qiskit.transpiler import TranspileLayout

from tiger.circuits.entry.arguments import Layout
from tiger.circuits.entry.baseline import count_swaps
from tiger.circuits.entry.comparison import measure_placements, measure_reference
from tiger.circuits.entry.optimization import map_as_given, map_best
from tiger.circuits.entry.outcome import count_extra_cx, depth_of, success_of
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.entry.request import LayoutRequest, read_layout
from tiger.circuits.entry.writing import qasm_of
from tiger.circuits.transpiler.emission import Emission
from tiger.circuits.transpiler.faults import describe_faults, list_faults
from tiger.circuits.transpiler.fitting import choose_coupling
from tiger.circuits.transpiler.model import model_of
from tiger.circuits.transpiler.passes import set_layout
from tiger.circuits.transpiler.quiet import quiet_qiskit
from tiger.circuits.transpiler.target import coupling_of, has_errors
from tiger.errors import InputError
from tiger.model.violation import Violation
from tiger.routing.coupling import IndexArray
from tiger.routing.embedding.parts import allot_parts
from tiger.run.deadline import Deadline
from tiger.run.progress import Progress

# What comes after the search, comparisons with Qiskit above all, may take this share of the time limit more.
SHARE = 0.1


@quiet_qiskit()
def report_mapping(request: LayoutRequest, initial_layout: Layout | None = None) -> CircuitReport:
    """Report the mapping of a parsed circuit; raise InputError as `tiger.layout` does, except for its arguments."""
    begun, params = time.perf_counter(), request.params
    request.watch(Progress("reading", None, None))
    fixed, obstacle = check_mapping(request, initial_layout)
    report = CircuitReport(
        feasible=False,
        solver=params.solver,
        level=params.level,
        objective=params.objective,
        seed=params.seed,
        islands=params.islands,
        seconds=0.0,
        device=request.device,
    )
    if obstacle is not None:
        return replace(report, violations=(obstacle,))
    request.watch(Progress("search", None, None))
    limit = params.time_limit_s
    deadline = Deadline(None if limit is None else time.monotonic() + (1 + SHARE) * limit)
    report = _map_and_report(report, request, fixed, deadline)
    seconds = time.perf_counter() - begun
    return replace(
        report, seconds=seconds, warnings=(*report.warnings, *_remarks(report, params.time_limit_s, seconds))
    )


@quiet_qiskit()
def check_mapping(request: LayoutRequest, initial_layout: Layout | None) -> tuple[IndexArray | None, Violation | None]:
    """Return the layout that is given, if any, and why the device cannot hold the circuit, None where it can.

    Raises InputError as `tiger.layout` does, except for its arguments.
    """
    params, size, width = request.params, coupling_of(request.device).size, request.circuit.num_qubits
    if params.objective == "success" and not has_errors(request.device):
        raise InputError("objective", "expected a Target with error rates for success, got a device without them")
    if width > size:
        return None, _too_wide(width, size)
    fixed = None if initial_layout is None else read_layout(initial_layout, width, size)
    model = model_of(request.circuit, commute=params.commute)
    try:
        allot_parts(model.gate_dag, choose_coupling(request.device, model, fixed), fixed)
    except InputError as error:
        return fixed, Violation(kind="disconnected", message=error.reason)
    return fixed, None


def _remarks(report: CircuitReport, limit: float | None, seconds: float) -> tuple[str, ...]:
    """Say so where the time limit may have ended the search, or a stage of it."""
    if limit is None or (seconds < limit and not any(stage.detail.get("shortened") for stage in report.stages)):
        return ()
    return (f"ended by the time limit of {limit:g} s: the same seed may end elsewhere",)


def _map_and_report(
    report: CircuitReport, request: LayoutRequest, fixed: IndexArray | None, deadline: Deadline
) -> CircuitReport:
    """Return the report with the routed circuit and its figures."""
    given = request.circuit
    find = map_best if request.params.optimize else map_as_given
    found = find(request, fixed, deadline)
    request, placed, mapping = replace(found.request, params=request.params), found.placed, found.mapping
    emission = found.emit(fixed)
    circuit, width = dag_to_circuit(emission.dag), request.circuit.num_qubits
    faults = list_faults(emission.dag, request.device)
    added, more = count_swaps(circuit) - count_swaps(request.circuit), count_extra_cx(circuit, request.circuit)
    report = replace(
        report,
        feasible=True,
        initial_layout=dict(enumerate(emission.start[:width])),
        final_layout=dict(enumerate(emission.end[:width])),
        circuit=circuit,
        qasm=qasm_of(circuit),
        optimized_qasm=None if found.optimized is None else qasm_of(found.optimized),
        swaps=added,
        bridges=more // 3 - added,
        extra_cx=more,
        lower_bound=mapping.mapped.lower_bound,
        depth=depth_of(circuit),
        success_probability=success_of(circuit, request.device),
        stages=mapping.mapped.stages,
        warnings=(describe_faults(faults),) if faults else (),
    )
    # The text is written before, as Qiskit writes no registers of a circuit that has a layout.
    circuit._layout = _layout_of(given, emission)
    request.watch(Progress("comparison", None, more))
    own = measure_reference(request, mapping, fixed, deadline)
    placements = measure_placements(request, placed, mapping, deadline)
    return replace(
        report,
        baseline_extra_cx=own.extra_cx,
        baseline_depth=own.depth,
        baseline_success_probability=own.success,
        data_movement=placements.moved,
        placement_extra_cx={**placements.extra_cx, "routed": more},
        warnings=(*mapping.mapped.answers.warnings, *report.warnings),
        sampling=mapping.mapped.answers.report(request.params.solver),
    )


def _layout_of(circuit: QuantumCircuit, emission: Emission) -> TranspileLayout:
    """Return where the qubits of a circuit start and end, as Qiskit says it of a circuit that it transpiled."""
    properties = PropertySet({"num_input_qubits": circuit.num_qubits})
    set_layout(properties, circuit_to_dag(circuit, copy_operations=False), emission)
    return TranspileLayout.from_property_set(emission.dag, properties)


def _too_wide(width: int, size: int) -> Violation:
    """Return what stands against a circuit with more qubits than the device."""
    return Violation(kind="qubits", message=f"the circuit has {width} qubits, the device {size}")
