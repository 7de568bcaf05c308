"""The story of a call: a circuit that is read, its mapping, and the report with Qiskit's own figures."""

import time
from dataclasses import replace

import numpy as np
from qiskit.circuit import QuantumCircuit
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.transpiler import CouplingMap, PassManager
from qiskit.transpiler.passes import ApplyLayout, EnlargeWithAncilla, FullAncillaAllocation, SetLayout

from tiger.circuits.coupling import IndexArray
from tiger.circuits.embedding.parts import allot_parts
from tiger.circuits.entry.arguments import Layout
from tiger.circuits.entry.baseline import count_swaps
from tiger.circuits.entry.comparison import measure_placements, measure_reference
from tiger.circuits.entry.delivery import choose_delivery
from tiger.circuits.entry.outcome import count_extra_cx, depth_of, success_of
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.entry.request import LayoutRequest, read_layout
from tiger.circuits.entry.writing import qasm_of
from tiger.circuits.transpiler.mapping import find_mapping
from tiger.circuits.transpiler.model import model_of
from tiger.circuits.transpiler.quiet import quiet_qiskit
from tiger.circuits.transpiler.target import coupling_of, has_errors
from tiger.errors import InputError
from tiger.model.violation import Violation
from tiger.run.deadline import Deadline
from tiger.run.progress import Progress

# What comes after the search, comparisons with Qiskit above all, may take this share of the time limit more.
SHARE = 0.1


@quiet_qiskit()
def report_mapping(request: LayoutRequest, initial_layout: Layout | None = None) -> CircuitReport:
    """Report the mapping of a parsed circuit; raise InputError as `tiger.layout` does, except for its arguments."""
    begun = time.perf_counter()
    coupling, params = coupling_of(request.device), request.params
    if params.objective == "success" and not has_errors(request.device):
        raise InputError("objective", "expected a Target with error rates for success, got a device without them")
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
    width = request.circuit.num_qubits
    if width > coupling.size:
        return replace(report, violations=(_too_wide(width, coupling.size),))
    fixed = None if initial_layout is None else read_layout(initial_layout, width, coupling.size)
    request.watch(Progress("reading", None, None))
    gate_dag = model_of(request.circuit, commute=params.commute).gate_dag
    try:
        allot_parts(gate_dag, coupling, fixed)
    except InputError as error:
        return replace(report, violations=(Violation(kind="disconnected", message=error.reason),))
    request.watch(Progress("search", None, None))
    limit = params.time_limit_s
    deadline = Deadline(None if limit is None else time.monotonic() + (1 + SHARE) * limit)
    report = _map_and_report(report, request, fixed, deadline)
    seconds = time.perf_counter() - begun
    return replace(report, seconds=seconds, warnings=_remarks(report, params.time_limit_s, seconds))


def _remarks(report: CircuitReport, limit: float | None, seconds: float) -> tuple[str, ...]:
    """Say so where the time limit may have ended the search, or a stage of it."""
    if limit is None or (seconds < limit and not any(stage.detail.get("shortened") for stage in report.stages)):
        return ()
    return (f"ended by the time limit of {limit:g} s: the same seed may end elsewhere",)


def _map_and_report(
    report: CircuitReport, request: LayoutRequest, fixed: IndexArray | None, deadline: Deadline
) -> CircuitReport:
    """Return the report with the routed circuit and its figures."""
    placed = _place_qubits(request, fixed)
    here = None if fixed is None else np.arange(coupling_of(request.device).size, dtype=np.int32)
    mapping = choose_delivery(
        request, find_mapping(circuit_to_dag(placed), request.device, request.params, here), deadline
    )
    circuit = dag_to_circuit(mapping.emission.dag)
    spots = range(request.circuit.num_qubits) if fixed is None else fixed.tolist()
    added, more = count_swaps(circuit) - count_swaps(request.circuit), count_extra_cx(circuit, request.circuit)
    report = replace(
        report,
        feasible=True,
        initial_layout={virtual: mapping.emission.start[k] for virtual, k in enumerate(spots)},
        final_layout={virtual: mapping.emission.end[k] for virtual, k in enumerate(spots)},
        circuit=circuit,
        qasm=qasm_of(circuit),
        swaps=added,
        bridges=more // 3 - added,
        extra_cx=more,
        lower_bound=mapping.mapped.lower_bound,
        depth=depth_of(circuit),
        success_probability=success_of(circuit, request.device),
        stages=mapping.mapped.stages,
    )
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
    )


def _place_qubits(request: LayoutRequest, fixed: IndexArray | None) -> QuantumCircuit:
    """Return the circuit, on all device qubits where its layout is given."""
    if fixed is None:
        return request.circuit
    size = request.device.size() if isinstance(request.device, CouplingMap) else request.device.num_qubits
    spots = CouplingMap.from_full(size)
    embed = [SetLayout(fixed.tolist()), FullAncillaAllocation(spots), EnlargeWithAncilla(), ApplyLayout()]
    return PassManager(embed).run(request.circuit)


def _too_wide(width: int, size: int) -> Violation:
    """Return what stands against a circuit with more qubits than the device."""
    return Violation(kind="qubits", message=f"the circuit has {width} qubits, the device {size}")
