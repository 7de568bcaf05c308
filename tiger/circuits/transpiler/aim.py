"""What a mapping is measured by: its extra CX gates, its depth, or how likely it runs without an error."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from qiskit.dagcircuit import DAGCircuit
from qiskit.transpiler import CouplingMap, Target

from tiger.circuits.params import CircuitObjective
from tiger.circuits.transpiler.flow import count_cx
from tiger.circuits.transpiler.model import CircuitModel
from tiger.circuits.transpiler.target import has_errors
from tiger.errors import InputError
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
    errors = errors_of_target(device)
    if not _works(coupling, errors):
        errors = errors.without_certainty()
    return RouteAim(SuccessObjective(model.gate_dag, singles, coupling, errors), lambda dag: loss_of(dag, errors))


def _works(coupling: Coupling, errors: Errors) -> bool:
    """Return whether no pair that a circuit may use has error 1, nor a qubit of one."""
    p, q = coupling.edges.T
    return bool((np.minimum(errors.pair[p, q], errors.pair[q, p]) < 1).all() and (errors.single[[*p, *q]] < 1).all())


def loss_of(dag: DAGCircuit, errors: Errors) -> float:
    """Return the negative logarithm of the success probability."""
    return -compute_log_success(_operations(dag), errors)


def _operations(dag: DAGCircuit) -> IndexArray:
    """Return the operations of a finished circuit."""
    index = {qubit: k for k, qubit in enumerate(dag.qubits)}
    plain = (node for node in dag.topological_op_nodes() if not node.is_control_flow())
    return operations_of_gates((node.name, tuple([index[qubit] for qubit in node.qargs])) for node in plain)
