"""What a routed circuit amounts to, read off the circuit itself."""

import math
import re
from contextlib import suppress

from qiskit import qasm2, qasm3
from qiskit.circuit import CircuitInstruction, ControlFlowOp, QuantumCircuit

from tiger.circuits.doors.baseline import swaps
from tiger.circuits.doors.hardware import Device
from tiger.circuits.noise.depth import TIMELESS, operations_of_gates
from tiger.circuits.noise.noise import errors_of_target, log_success_of
from tiger.circuits.transpiler.target import has_errors

LAYERS = {"swap": 3, "measure": 0, **dict.fromkeys(TIMELESS, 0)}
_ADDRESSED = re.compile(r"^gate (\w+_\d{9,})\b", re.MULTILINE | re.ASCII)


def extra_cx(circuit: QuantumCircuit, plain: QuantumCircuit) -> int:
    """Return the CX gates that a circuit has above another, a SWAP being three, those in blocks counted once."""
    return _cx(circuit) + 3 * swaps(circuit) - _cx(plain) - 3 * swaps(plain)


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
    return math.exp(log_success_of(operations_of_gates(gates), errors_of_target(device)))


def qasm_of(circuit: QuantumCircuit) -> str | None:
    """Return a circuit as OpenQASM 2, as OpenQASM 3 where that cannot say it, None where neither can.

    The same circuit gives the same text.
    """
    text: str | None = None
    try:
        text = qasm2.dumps(_unscoped(circuit))
    except qasm2.QASM2ExportError:
        with suppress(qasm3.QASM3ExporterError):
            text = qasm3.dumps(circuit)
    return None if text is None else _numbered(text)


def _unscoped(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return a circuit whose blocks have its own bits, which the exporter of OpenQASM 2 takes for granted."""
    if not any(instruction.is_control_flow() for instruction in circuit.data):
        return circuit
    plain = circuit.copy_empty_like()
    for each in circuit.data:
        operation = each.operation
        if isinstance(operation, ControlFlowOp):
            blocks = [_inside(block, each) for block in operation.blocks]
            plain.append(operation.replace_blocks(blocks), each.qubits, each.clbits)
        else:
            plain.append(each)
    return plain


def _inside(block: QuantumCircuit, place: CircuitInstruction) -> QuantumCircuit:
    """Return a block on the bits that its operation stands on."""
    own = QuantumCircuit(list(place.qubits), list(place.clbits))
    bits = dict(zip((*block.qubits, *block.clbits), (*place.qubits, *place.clbits), strict=True))
    for part in block.data:
        own.append(part.operation, [bits[bit] for bit in part.qubits], [bits[bit] for bit in part.clbits])
    return own


def _numbered(text: str) -> str:
    """Return a text whose gates are told apart by numbers from 0, where Qiskit puts their addresses in memory."""
    names = dict.fromkeys(_ADDRESSED.findall(text))
    new = {name: f"{name.rpartition('_')[0]}_{k}" for k, name in enumerate(names)}
    if not new or any(re.search(rf"\b{name}\b", text) for name in new.values()):
        return text
    return re.sub(rf"\b(?:{'|'.join(new)})\b", lambda found: new[found[0]], text)
