"""Whether a circuit on device qubits is another one, by its unitary."""

from collections.abc import Sequence

import numpy as np
from qiskit import QuantumCircuit
from qiskit.quantum_info import Operator

TOLERANCE = 1e-9


def same(circuit: QuantumCircuit, routed: QuantumCircuit, start: Sequence[int], end: Sequence[int]) -> bool:
    """Return whether a routed circuit takes the qubits from `start` to `end` as the circuit does, the others at 0."""
    width, size = circuit.num_qubits, routed.num_qubits
    inner, whole = Operator(circuit).data, Operator(routed).data

    def spots(places: Sequence[int]) -> list[int]:
        return [sum((state >> k & 1) << place for k, place in enumerate(places)) for state in range(2**width)]

    wanted = np.zeros((2**size, 2**width), complex)
    wanted[spots(end)] = inner
    overlap = np.vdot(wanted, whole[:, spots(start)]) / 2**width
    return bool(abs(abs(overlap) - 1) < TOLERANCE)
