"""Gates on three and more qubits, written out on one and two as Qiskit's preset does before it lays a circuit out."""

from qiskit.circuit import CircuitInstruction, ControlFlowOp, QuantumCircuit
from qiskit.exceptions import QiskitError
from qiskit.transpiler.preset_passmanagers.common import generate_unroll_3q

from tiger.circuits.entry.scan import FIELD
from tiger.circuits.transpiler.exits import EXITS
from tiger.circuits.transpiler.panic import catch_panics
from tiger.errors import InputError
from tiger.model.wording import describe

# Qubits of a gate that routing cannot place: it brings two together.
WIDE = 3


def decompose(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return a circuit whose gates on three and more qubits are written out, in blocks of control flow as well.

    The unitary stays, without ancillas that would have to begin in zero; all other operations stay as they are, and a
    circuit without such gates is returned itself. Product formulas stand for evolutions. InputError of `circuit` that
    names a gate without a definition.
    """
    if not _has_wide(circuit):
        return circuit
    try:
        with catch_panics():
            return generate_unroll_3q(None, qubits_initially_zero=False).run(circuit)
    except QiskitError as error:
        name = _find_undefined(circuit, set())
        got = f"{describe(name)} without one" if name else str(error.message)[:200]
        raise InputError(
            FIELD, f"expected a definition on one and two qubits of every gate on three or more, got {got}"
        ) from None


def _has_wide(circuit: QuantumCircuit) -> bool:
    """Return whether a circuit has a gate on three or more qubits, which directives are not."""
    for instruction in circuit.data:
        operation = instruction.operation if instruction.is_control_flow() else None
        if isinstance(operation, ControlFlowOp):
            if any(map(_has_wide, operation.blocks)):
                return True
        elif _is_wide(instruction):
            return True
    return False


def _is_wide(instruction: CircuitInstruction) -> bool:
    """Return whether an operation is a gate on three or more qubits, which directives and exits of loops are not."""
    return len(instruction.qubits) >= WIDE and not instruction.is_directive() and instruction.name not in EXITS


def _find_undefined(circuit: QuantumCircuit, seen: set[int]) -> str | None:
    """Return the name of a gate on three or more qubits, or inside one, that says nothing of what it does."""
    for instruction in circuit.data:
        operation = instruction.operation
        if isinstance(operation, ControlFlowOp):
            parts = list(operation.blocks)
        elif not _is_wide(instruction) or not hasattr(operation, "definition"):
            continue
        elif operation.definition is None:
            return str(operation.name)
        else:
            parts = [operation.definition]
        for part in parts:
            if id(part) not in seen:
                seen.add(id(part))
                found = _find_undefined(part, seen)
                if found is not None:
                    return found
    return None
