"""What a circuit does, operation by operation, by the numbers of its bits: a way to compare circuits by value."""

from collections.abc import Mapping, Sequence

import numpy as np
from qiskit.circuit import Bit, Clbit, ControlFlowOp, Delay, ForLoopOp, Gate, Operation, QuantumCircuit
from qiskit.exceptions import QiskitError
from qiskit.quantum_info import Operator

DIGITS = 9
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}


def outline(circuit: QuantumCircuit, places: Mapping[Bit, int] | None = None) -> list[object]:
    """Return the operations with the numbers of their bits, conditions and blocks.

    A gate is its unitary up to a global phase where it has one, else its name; a delay its duration.
    """
    if places is None:
        places = {bit: k for bits in (circuit.qubits, circuit.clbits) for k, bit in enumerate(bits)}
    return [_entry(each.operation, (*each.qubits, *each.clbits), places) for each in circuit.data]


def _entry(operation: Operation, bits: Sequence[Bit], places: Mapping[Bit, int]) -> object:
    """Return what one operation does."""
    if not isinstance(operation, ControlFlowOp):
        return _kind(operation), tuple([places[bit] for bit in bits])
    blocks = [
        outline(block, {own: places[bit] for own, bit in zip((*block.qubits, *block.clbits), bits, strict=True)})
        for block in operation.blocks
    ]
    if operation.name == "if_else" and not blocks[-1]:
        # An `else` in which nothing happens is none.
        blocks = blocks[:1]
    condition = getattr(operation, "condition", None)
    if condition is not None:
        target, value = condition
        condition = (
            (places[target],) if isinstance(target, Clbit) else tuple([places[bit] for bit in target]),
            int(value),
        )
    turns = list(operation.params[0]) if isinstance(operation, ForLoopOp) else None
    return operation.name, condition, turns, blocks


def _kind(operation: Operation) -> object:
    """Return what an operation does to its bits."""
    if isinstance(operation, Delay):
        scale = SECONDS.get(operation.unit)
        return "delay", "dt" if scale is None else "s", f"{operation.duration * (scale or 1):.{DIGITS}g}"
    if not isinstance(operation, Gate):
        return operation.name
    try:
        matrix = Operator(operation).data
    except (QiskitError, TypeError):
        return operation.name, len(operation.params)
    lead = matrix.ravel()[np.flatnonzero(np.abs(matrix.ravel()) > 1e-6)[0]]
    return tuple([complex(value) for value in np.round(matrix.ravel() * abs(lead) / lead, 6) + 0.0])
