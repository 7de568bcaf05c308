"""What a routed circuit ends as after the later stages of Qiskit's preset, and which of several is the best."""

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from qiskit.circuit import Qubit
from qiskit.converters import circuit_to_dag
from qiskit.dagcircuit import DAGCircuit
from qiskit.passmanager.compilation_status import PassManagerState, WorkflowStatus
from qiskit.transpiler import PassManager, StagedPassManager

from tiger.circuits.transpiler.exits import EXITS
from tiger.circuits.transpiler.source import Source

if TYPE_CHECKING:
    from tiger.routing.error_rates import Errors

DeliveryObjective = Literal["auto", "depth", "success"]
OBJECTIVES: tuple[DeliveryObjective, ...] = get_args(DeliveryObjective)
# Two-qubit gates of a SWAP.
SWAP = 3
# Losses are sums, whose last digits depend on the order of the gates.
DIGITS = 9


class CircuitQuality(NamedTuple):
    """Hold the two-qubit gates of a circuit, their depth, and -log of its estimated success, 0 without error rates."""

    gates: float
    depth: float
    loss: float = 0.0


NEVER = CircuitQuality(np.inf, np.inf, np.inf)


def rank(delivery: CircuitQuality, objective: DeliveryObjective) -> tuple[float, ...]:
    """Return what deliveries are compared by: what the objective names first, then the others in their order."""
    gates, depth, loss = delivery
    loss = round(loss, DIGITS)
    return {"auto": (gates, depth, loss), "depth": (depth, gates, loss), "success": (loss, gates, depth)}[objective]


def weigh_depth(delivery: CircuitQuality, other: CircuitQuality) -> float:
    """Return the two-qubit gates of a circuit, as many times over as it is deeper than another."""
    return delivery.gates * max(1.0, delivery.depth / max(other.depth, 1.0))


def deliver(preset: StagedPassManager, routed: Source) -> Source:
    """Return a routed circuit after the translation and optimization stages of a preset."""
    return run_stage(preset.optimization, run_stage(preset.translation, routed.copy()))


def measure(final: DAGCircuit, errors: "Errors | None" = None) -> CircuitQuality:
    """Return what a finished circuit amounts to."""
    return CircuitQuality(*count_two_qubit_gates(final), 0.0 if errors is None else _estimate_loss(final, errors))


def count_two_qubit_gates(dag: DAGCircuit) -> tuple[int, int]:
    """Return the two-qubit gates of a circuit and their depth, with three for a SWAP.

    Blocks of control flow count once, and in depth as their deepest.
    """
    count, level = 0, dict[Qubit, int]()
    for node in dag.topological_op_nodes():
        wires, layers = (*node.qargs, *node.cargs), 0
        if node.is_control_flow():
            inner = [count_two_qubit_gates(circuit_to_dag(block)) for block in node.op.blocks]
            count += sum(gates for gates, _ in inner)
            layers = max((depth for _, depth in inner), default=0)
        elif len(node.qargs) == 2 and (node.is_standard_gate() or not (node.is_directive() or node.name in EXITS)):
            layers = SWAP if node.name == "swap" else 1
            count += layers
        top = max((level.get(wire, 0) for wire in wires), default=0) + layers
        level.update(dict.fromkeys(wires, top))
    return count, max(level.values(), default=0)


def run_stage(stage: PassManager | None, source: Source) -> Source:
    """Return a circuit after a stage, which may change the one that it gets."""
    if stage is None:
        return source
    state = PassManagerState(WorkflowStatus(), source.properties)
    dag, state = stage.to_flow_controller().execute(source.dag, state)
    return Source(dag, state.property_set)


def _estimate_loss(dag: DAGCircuit, errors: "Errors") -> float:
    """Return the negative logarithm of the estimated success of a finished circuit."""
    # Kernels are loaded where they are needed, and not with the plugin.
    from tiger.circuits.transpiler.aim import loss_of

    return loss_of(dag, errors)
