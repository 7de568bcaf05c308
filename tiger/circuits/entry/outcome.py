"""What a routed circuit amounts to, read off the circuit itself."""

import math

from qiskit.circuit import QuantumCircuit

from tiger.circuits.entry.baseline import count_swaps
from tiger.circuits.entry.hardware import Device
from tiger.circuits.transpiler.target import has_errors
from tiger.routing.error_rates import errors_of_target
from tiger.routing.noise.depth import TIMELESS, operations_of_gates
from tiger.routing.noise.success import compute_log_success

LAYERS = {"swap": 3, "measure": 0, **dict.fromkeys(TIMELESS, 0)}


def count_extra_cx(circuit: QuantumCircuit, plain: QuantumCircuit) -> int:
    """Return the CX gates that a circuit has above another, a SWAP being three, those in blocks counted once."""
    return _cx(circuit) + 3 * count_swaps(circuit) - _cx(plain) - 3 * count_swaps(plain)


def _cx(circuit: QuantumCircuit) -> int:
    """Return the CX gates of a circuit, those in blocks of control flow included once."""
    inner = (block for each in circuit.data if each.is_control_flow() for block in each.operation.blocks)
    return int(circuit.count_ops().get("cx", 0)) + sum(map(_cx, inner))


def depth_of(circuit: QuantumCircuit) -> int:
    """Return the longest chain of gates, a SWAP being three, and a block its deepest branch.

    Barriers, delays and measurements keep the order and take no layer, as in the objective `depth`.
    """
    level: dict[object, int] = {}
    for instruction in circuit.data:
        wires = (*instruction.qubits, *instruction.clbits)
        if instruction.is_control_flow():
            layers = max(map(depth_of, instruction.operation.blocks), default=0)
        else:
            layers = LAYERS.get(instruction.name, 1)
        top = max((level.get(wire, 0) for wire in wires), default=0) + layers
        level.update(dict.fromkeys(wires, top))
    return max(level.values(), default=0)


def success_of(circuit: QuantumCircuit, device: Device) -> float | None:
    """Return the estimated probability that a circuit on device qubits runs without an error.

    None without error rates, and for circuits with control flow, of which it is not known what runs.
    """
    if not has_errors(device) or any(instruction.is_control_flow() for instruction in circuit.data):
        return None
    index = {qubit: k for k, qubit in enumerate(circuit.qubits)}
    gates = ((each.name, tuple([index[qubit] for qubit in each.qubits])) for each in circuit.data)
    return math.exp(compute_log_success(operations_of_gates(gates), errors_of_target(device)))
