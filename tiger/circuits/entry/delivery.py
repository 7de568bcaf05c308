"""What a mapping ends as after Qiskit's later stages, where fewer SWAPs may mean more gates."""

import time
from dataclasses import replace

from qiskit.dagcircuit import DAGCircuit
from qiskit.exceptions import QiskitError
from qiskit.passmanager import PropertySet
from qiskit.transpiler import CouplingMap, Layout, StagedPassManager
from qiskit.transpiler.preset_passmanagers import generate_preset_pass_manager

from tiger.circuits.entry.baseline import GATES, target_of
from tiger.circuits.entry.request import LayoutRequest
from tiger.circuits.transpiler.delivery import NEVER, CircuitQuality, deliver, measure
from tiger.circuits.transpiler.flow import count_cx
from tiger.circuits.transpiler.mapping import Mapping
from tiger.circuits.transpiler.panic import catch_panics
from tiger.circuits.transpiler.source import Source
from tiger.circuits.transpiler.target import coupling_of
from tiger.routing.error_rates import Errors
from tiger.run.deadline import Deadline
from tiger.run.stage import Stage

# Level 3 takes up to 0.08 ms a gate, for two circuits here: on random ones of 150 to 34,000 gates on lines.
SECONDS_A_GATE = 5e-4


def choose_delivery(request: LayoutRequest, mapping: Mapping, deadline: Deadline) -> Mapping:
    """Return a mapping, or Qiskit's own circuit where that has fewer two-qubit gates after the preset's later stages.

    These fuse SWAPs with gates on the same pair. The circuits are compared where extra CX gates are the objective, in
    {u, cx} where the device lists no gates, and not where the time left is too short, nor where gates are to keep their
    places, which the later stages do not. That Qiskit's was taken is a stage of its own.
    """
    counted = request.params.objective == "cx" and request.params.commute
    if mapping.sabre is None or mapping.sabre is mapping.emission or not counted:
        return mapping
    ours, theirs, left_s = mapping.emission.dag, mapping.sabre.dag, deadline.left_s
    if left_s is not None and left_s < SECONDS_A_GATE * (ours.size(recurse=True) + theirs.size(recurse=True)):
        return mapping
    begun, preset = time.perf_counter(), build_preset(request)
    own, other = (measure_delivery(preset, dag).gates for dag in (ours, theirs))
    if own <= other:
        return mapping
    stage = Stage(
        name="optimization",
        cost=float(count_cx(theirs) - count_cx(ours)) + mapping.mapped.route.extra_cx,
        seconds=time.perf_counter() - begun,
        detail={"two_qubit_gates": own, "qiskit_two_qubit_gates": other},
    )
    mapped = replace(mapping.mapped, stages=(*mapping.mapped.stages, stage))
    return mapping._replace(emission=mapping.sabre, mapped=mapped)


def build_preset(request: LayoutRequest) -> StagedPassManager:
    """Return the stages of Qiskit's preset for a device."""
    device = request.device
    bare = isinstance(device, CouplingMap) or not device.operation_names
    target = target_of(coupling_of(device), GATES) if bare else device
    return generate_preset_pass_manager(
        optimization_level=request.params.level, target=target, seed_transpiler=request.params.seed % 2**32
    )


def measure_delivery(preset: StagedPassManager, dag: DAGCircuit, errors: Errors | None = None) -> CircuitQuality:
    """Return what a routed circuit amounts to after translation and optimization, infinitely much where these fail."""
    try:
        with catch_panics():
            return measure(deliver(preset, _place_trivially(dag)).dag, errors)
    except QiskitError:
        return NEVER


def _place_trivially(dag: DAGCircuit) -> Source:
    """Return a circuit on device qubits with the layout that it then has, which Qiskit's later stages may change."""
    index = {qubit: k for k, qubit in enumerate(dag.qubits)}
    known = {"layout": Layout(index), "original_qubit_indices": index, "num_input_qubits": len(index)}
    return Source(dag, PropertySet(known))
