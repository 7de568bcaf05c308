"""What a routed circuit ends as after the later stages of Qiskit's preset, and which of several is the best."""

from itertools import repeat
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from qiskit.circuit import Qubit
from qiskit.converters import circuit_to_dag
from qiskit.dagcircuit import DAGCircuit, DAGOpNode
from qiskit.passmanager.compilation_status import PassManagerState, WorkflowStatus
from qiskit.transpiler import PassManager

from tiger.circuits.transpiler.exits import EXITS
from tiger.circuits.transpiler.own_stages import Preset
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


def deliver(preset: Preset, routed: Source) -> Source:
    """Return a routed circuit after the translation and optimization stages of a preset."""
    return run_stage(preset.optimization, translate(preset, routed))


def translate(preset: Preset, routed: Source) -> Source:
    """Return a routed circuit after the translation stage of a preset."""
    return run_stage(preset.translation, routed.copy())


def measure(final: DAGCircuit, errors: "Errors | None" = None) -> CircuitQuality:
    """Return what a finished circuit amounts to."""
    return CircuitQuality(*count_two_qubit_gates(final), 0.0 if errors is None else _estimate_loss(final, errors))


def count_two_qubit_gates(dag: DAGCircuit) -> tuple[int, int]:
    """Return the two-qubit gates of a circuit and their depth, with three for a SWAP.

    Blocks of control flow count once, and in depth as their deepest.
    """
    count, level = 0, dict[Qubit, int]()
    for node in dag.topological_op_nodes():
        wires, layers = node.qargs, 0
        if node.is_standard_gate() and len(wires) < 3:
            if len(wires) == 2:
                a, b = wires
                layers = SWAP if node.name == "swap" else 1
                count += layers
                level[a] = level[b] = max(level.get(a, 0), level.get(b, 0)) + layers
            continue
        wires = (*wires, *node.cargs)
        if node.is_control_flow():
            inner = [count_two_qubit_gates(circuit_to_dag(block)) for block in node.op.blocks]
            count += sum(gates for gates, _ in inner)
            layers = max((depth for _, depth in inner), default=0)
        elif len(node.qargs) == 2 and not (node.is_directive() or node.name in EXITS):
            layers = SWAP if node.name == "swap" else 1
            count += layers
        top = max((level.get(wire, 0) for wire in wires), default=0) + layers
        level.update(dict.fromkeys(wires, top))
    return count, max(level.values(), default=0)


def count_gates(dag: DAGCircuit) -> int:
    """Return the two-qubit gates of a circuit as `count_two_qubit_gates` does, faster where no depth is asked for."""
    if dag.control_flow_op_nodes() or EXITS & dag.count_ops(recurse=False).keys():
        return count_two_qubit_gates(dag)[0]
    return len(dag.two_qubit_ops()) + (SWAP - 1) * int(dag.count_ops(recurse=False).get("swap", 0))


def are_equal(one: DAGCircuit, other: DAGCircuit) -> bool:
    """Return whether two circuits have the same operations in the same order on every wire. O(operations).

    Qiskit's `==` asks for an isomorphism of graphs, which takes a minute for 400,000 gates.
    """
    if one.structurally_equal(other):
        return True
    if one.wires != other.wires or one.global_phase != other.global_phase or one.count_ops() != other.count_ops():
        return False
    return all(map(_are_equal_on, repeat(one), repeat(other), one.wires))


def _are_equal_on(one: DAGCircuit, other: DAGCircuit, wire: object) -> bool:
    """Return whether two circuits have the same operations on a wire, of which each has as many."""
    first, second = (list(dag.nodes_on_wire(wire, only_ops=True)) for dag in (one, other))
    return len(first) == len(second) and all(map(_are_alike, first, second))


def _are_alike(one: DAGOpNode, other: DAGOpNode) -> bool:
    """Return whether two operations do the same on the same wires."""
    if one.name != other.name or one.qargs != other.qargs or one.cargs != other.cargs:
        return False
    if one.is_standard_gate() and other.is_standard_gate():
        return bool(one.params == other.params)
    return one.op is other.op or bool(one.op == other.op)


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
