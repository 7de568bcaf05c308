"""OpenQASM of a circuit, in the version that can say what it holds."""

import re
from collections.abc import Container, Iterator
from contextlib import suppress
from itertools import chain
from numbers import Real

from qiskit import qasm2, qasm3
from qiskit.circuit import (
    CircuitInstruction,
    ControlFlowOp,
    Delay,
    Gate,
    Measure,
    Operation,
    ParameterExpression,
    QuantumCircuit,
    Reset,
)
from qiskit.circuit.library import UnitaryGate

from tiger.circuits.entry.inlining import inline
from tiger.circuits.entry.openqasm2 import LIBRARY

# Names with a meaning in OpenQASM 2, or for Qiskit's exporter, besides those of the library's gates.
RESERVED = {
    *("barrier", "creg", "gate", "if", "include", "measure", "opaque", "qreg", "reset"),
    *("cos", "exp", "ln", "pi", "sin", "sqrt", "tan", "c3sx"),
}
_ADDRESSED = re.compile(r"^gate (\w+_\d{9,})\b", re.MULTILINE | re.ASCII)
_NAME = re.compile(r"[a-z]\w*", re.ASCII)


def qasm_of(circuit: QuantumCircuit) -> str | None:
    """Return a circuit as OpenQASM 2, as OpenQASM 3 where that cannot say it, None where neither can.

    OpenQASM 2 has no delays, no parameters, no control flow but `if` with one operation, and no gates or registers
    under names of its library; neither version has registers that share bits. The text is the circuit up to a global
    phase, with composite operations that are no gates written out; the same circuit gives the same text.
    """
    plain = circuit if all(map(_is_writable, circuit.data)) else inline(circuit, _is_writable)
    taken = {register.name for register in (*circuit.qregs, *circuit.cregs)}
    if any(_has_name(instruction, taken) for instruction in plain.data):
        # Registers and gates share their names in either version, and no exporter keeps them apart.
        plain = inline(plain, lambda instruction: not _has_name(instruction, taken))
    if _has_shared_bits(plain):
        return None
    text: str | None = None
    with suppress(qasm2.QASM2ExportError):
        text = qasm2.dumps(_unscope(plain)) if _is_openqasm2(plain) else None
    if text is None:
        with suppress(qasm3.QASM3ExporterError):
            text = qasm3.dumps(plain)
    return None if text is None else _number_gates(text)


def _is_writable(instruction: CircuitInstruction) -> bool:
    """Return whether the exporters know an operation, and all that is in it."""
    if instruction.is_standard_gate() or instruction.is_directive():
        return bool(instruction.qubits)
    operation = instruction.operation
    if isinstance(operation, ControlFlowOp):
        return all(_is_writable(part) for block in operation.blocks for part in block.data)
    known = isinstance(operation, Measure | Reset | Delay)
    return known or all(_has_angles(gate) for gate in _gates_within(operation, {}))


def _has_name(instruction: CircuitInstruction, names: Container[str]) -> bool:
    """Return whether one of these names is that of a gate that an operation needs a definition of."""
    return any(gate.name in names for gate in _named_gates(instruction))


def _gates_within(operation: Operation, seen: dict[int, object]) -> Iterator[Operation]:
    """Yield an operation that is no standard gate, and such in what it is defined as, every definition once."""
    yield operation
    inside = getattr(operation, "definition", None)
    if isinstance(inside, QuantumCircuit) and not isinstance(operation, UnitaryGate) and id(inside) not in seen:
        seen[id(inside)] = inside
        for part in inside.data:
            if not (part.is_standard_gate() or part.is_directive()):
                yield from _gates_within(part.operation, seen)


def _has_angles(operation: Operation) -> bool:
    """Return whether an operation is a gate with angles for parameters, or one given by its matrix."""
    angles = (Real, ParameterExpression)
    return isinstance(operation, UnitaryGate) or (
        isinstance(operation, Gate) and all(isinstance(value, angles) for value in operation.params)
    )


def _has_shared_bits(circuit: QuantumCircuit) -> bool:
    """Return whether a bit is in two registers."""
    bits = [bit for register in (*circuit.qregs, *circuit.cregs) for bit in register]
    return len(set(bits)) < len(bits)


def _is_openqasm2(circuit: QuantumCircuit) -> bool:
    """Return whether all operations of a circuit, and all names, are such as OpenQASM 2 has, which has no variables."""
    flows = (each.operation for each in circuit.data if each.is_control_flow())
    if any(scope.num_identifiers for scope in (circuit, *chain.from_iterable(flow.blocks for flow in flows))):
        return False
    gates = {gate.name for instruction in circuit.data for gate in _named_gates(instruction)}
    names = gates.union(register.name for register in (*circuit.qregs, *circuit.cregs))
    return all(map(_NAME.fullmatch, gates)) and not any(name in LIBRARY or name in RESERVED for name in names)


def _named_gates(instruction: CircuitInstruction) -> Iterator[Operation]:
    """Yield the gates that an operation needs a definition of; a delay as well, whose name is taken."""
    if instruction.is_standard_gate() or instruction.is_directive():
        return
    operation = instruction.operation
    if isinstance(operation, ControlFlowOp):
        yield from chain.from_iterable(_named_gates(part) for block in operation.blocks for part in block.data)
    elif not isinstance(operation, Measure | Reset):
        yield from _gates_within(operation, {})


def _unscope(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return a circuit whose blocks have its own bits, which the exporter of OpenQASM 2 takes for granted."""
    if not any(instruction.is_control_flow() for instruction in circuit.data):
        return circuit
    plain = circuit.copy_empty_like()
    for each in circuit.data:
        operation = each.operation
        if isinstance(operation, ControlFlowOp):
            blocks = [_place_block(block, each) for block in operation.blocks]
            plain.append(operation.replace_blocks(blocks), each.qubits, each.clbits)
        else:
            plain.append(each)
    return plain


def _place_block(block: QuantumCircuit, place: CircuitInstruction) -> QuantumCircuit:
    """Return a block on the bits that its operation stands on."""
    own = QuantumCircuit(list(place.qubits), list(place.clbits))
    bits = dict(zip((*block.qubits, *block.clbits), (*place.qubits, *place.clbits), strict=True))
    for part in block.data:
        own.append(part.operation, [bits[bit] for bit in part.qubits], [bits[bit] for bit in part.clbits])
    return own


def _number_gates(text: str) -> str:
    """Return a text whose gates are told apart by numbers from 0, where Qiskit puts their addresses in memory."""
    names = dict.fromkeys(_ADDRESSED.findall(text))
    new = {name: f"{name.rpartition('_')[0]}_{k}" for k, name in enumerate(names)}
    if not new or any(re.search(rf"\b{name}\b", text) for name in new.values()):
        return text
    return re.sub(rf"\b(?:{'|'.join(new)})\b", lambda found: new[found[0]], text)
