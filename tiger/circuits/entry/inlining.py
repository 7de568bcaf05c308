"""Composite operations of a circuit, replaced by what they are defined as."""

from collections.abc import Callable

from qiskit.circuit import CircuitInstruction, ControlFlowOp, Instruction, QuantumCircuit
from qiskit.circuit.library import GlobalPhaseGate, UnitaryGate
from qiskit.quantum_info import Operator

Keep = Callable[[CircuitInstruction], bool]


def inline(circuit: QuantumCircuit, keep: Keep) -> QuantumCircuit:
    """Return a circuit in which operations that are not kept are written out, in blocks of control flow as well.

    One without a definition stays if it is an Instruction, else it becomes its unitary, and a gate on no qubit becomes
    a global phase. `keep` is not asked for control flow.
    """
    plain = circuit.copy_empty_like()
    for instruction in circuit.data:
        _write(plain, instruction, keep)
    return plain


def _write(plain: QuantumCircuit, instruction: CircuitInstruction, keep: Keep) -> None:
    """Append an operation, or what it is defined as."""
    operation = instruction.operation
    if isinstance(operation, ControlFlowOp):
        blocks = [inline(block, keep) for block in operation.blocks]
        plain.append(operation.replace_blocks(blocks), instruction.qubits, instruction.clbits)
    elif keep(instruction):
        plain.append(instruction)
    elif isinstance(operation, GlobalPhaseGate):
        plain.global_phase += operation.params[0]
    elif not isinstance(operation, Instruction):
        plain.append(UnitaryGate(Operator(operation)), instruction.qubits)
    elif operation.definition is None:
        plain.append(instruction)
    elif instruction.clbits:
        plain.compose(inline(operation.definition, keep), instruction.qubits, instruction.clbits, inplace=True)
    else:
        inside = operation.definition
        plain.global_phase += inside.global_phase
        places = dict(zip(inside.qubits, instruction.qubits, strict=True))
        for part in inside.data:
            _write(plain, part.replace(qubits=[places[qubit] for qubit in part.qubits]), keep)
