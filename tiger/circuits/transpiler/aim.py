"""What a mapping is measured by: its extra CX gates, its depth, or how likely it runs without an error."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from qiskit.dagcircuit import DAGCircuit
from qiskit.transpiler import CouplingMap, Target

from tiger.circuits.params import CircuitObjective
from tiger.circuits.transpiler.flow import count_cx
from tiger.circuits.transpiler.model import CircuitModel
from tiger.circuits.transpiler.target import find_faulty_qubits, find_faulty_readouts, has_errors
from tiger.errors import InputError
from tiger.model.arrays import lock
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.error_rates import Errors, errors_of_target
from tiger.routing.noise.depth import count_depth, count_singles, operations_of_gates
from tiger.routing.noise.objectives import DepthObjective, RouteObjective, SuccessObjective
from tiger.routing.noise.success import compute_log_success


class RouteAim(NamedTuple):
    """Hold the `objective` of routes, None for extra CX gates alone, and what a finished circuit loses by it.

    Blocks of control flow count in CX gates, and as nothing otherwise.
    """

    objective: RouteObjective | None
    loss: Callable[[DAGCircuit], float]


def aim_of(
    objective: CircuitObjective,
    model: CircuitModel,
    coupling: Coupling,
    device: Target | CouplingMap,
) -> RouteAim:
    """Return the aim of an objective; InputError for success on a device that states no errors."""
    if objective == "cx":
        return RouteAim(None, count_cx)
    # What is on one qubit would count as a gate.
    names = ["barrier" if node.is_control_flow() else node.name for node in model.operations]
    singles = count_singles(model.dag.num_qubits(), model.steps, model.build, names)
    if objective == "depth":
        return RouteAim(DepthObjective(model.gate_dag, singles, coupling), lambda dag: count_depth(_operations(dag)))
    if isinstance(device, CouplingMap) or not has_errors(device):
        raise InputError("objective", "expected a Target with error rates for success, got a device without them")
    errors = list_errors(device)
    if not _works(coupling, errors, reads="measure" in names):
        errors = errors.without_certainty()
    return RouteAim(SuccessObjective(model.gate_dag, singles, coupling, errors), lambda dag: loss_of(dag, errors))


def list_errors(device: Target) -> Errors:
    """Return the errors of a device, 1 on a qubit without the gates or the measurement that others have."""
    errors = errors_of_target(device)
    single, readout = errors.single.copy(), errors.readout.copy()
    single[sorted(find_faulty_qubits(device))] = 1
    readout[sorted(find_faulty_readouts(device))] = 1
    return replace(errors, single=lock(single), readout=lock(readout))


def _works(coupling: Coupling, errors: Errors, *, reads: bool) -> bool:
    """Return whether no pair that a circuit may use has error 1, nor a qubit of one, nor its readout if it `reads`."""
    p, q = coupling.edges.T
    ends, pair = np.union1d(p, q), np.minimum(errors.pair[p, q], errors.pair[q, p])
    alone = np.maximum(errors.single[ends], errors.readout[ends] if reads else 0.0)
    return bool((pair < 1).all() and (alone < 1).all())


def loss_of(dag: DAGCircuit, errors: Errors) -> float:
    """Return the negative logarithm of the success probability."""
    return -compute_log_success(_operations(dag), errors)


def _operations(dag: DAGCircuit) -> IndexArray:
    """Return the operations of a finished circuit."""
    index = {qubit: k for k, qubit in enumerate(dag.qubits)}
    plain = (node for node in dag.topological_op_nodes() if not node.is_control_flow())
    return operations_of_gates((node.name, tuple([index[qubit] for qubit in node.qargs])) for node in plain)
