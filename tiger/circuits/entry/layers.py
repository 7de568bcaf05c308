"""The gates of a circuit in layers: each as early as the qubits and bits that it needs are free."""

from typing import NamedTuple, TypeAlias

import numpy as np
from qiskit.circuit import QuantumCircuit

from tiger.model.arrays import IntArray

Circuit: TypeAlias = QuantumCircuit


class LayeredGates(NamedTuple):
    """Hold g gates by name and layer, layers rising, each on qubits `first[g]` and `second[g]`, -1 for none.

    One on more qubits, which is a block of control flow, is on the first two of them. Barriers are no gates.
    """

    name: tuple[str, ...]
    first: IntArray
    second: IntArray
    layer: IntArray

    @property
    def layers(self) -> int:
        """Return how many layers there are, which is the depth as Qiskit counts it."""
        return int(self.layer.max(initial=-1)) + 1


def list_gates(circuit: Circuit) -> LayeredGates:
    """Return the gates of a circuit, measurements, resets and delays included; a barrier holds up what follows it."""
    free: dict[object, int] = {}
    index = {qubit: number for number, qubit in enumerate(circuit.qubits)}
    rows = []
    for each in circuit.data:
        wires = (*each.qubits, *each.clbits)
        layer = max((free.get(wire, 0) for wire in wires), default=0)
        if not each.is_directive():
            ends = [index[qubit] for qubit in each.qubits[:2]]
            rows.append((layer, *ends, *[-1] * (2 - len(ends)), each.name))
        free.update(dict.fromkeys(wires, layer + (not each.is_directive())))
    rows.sort(key=lambda row: row[0])
    table = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3)
    return LayeredGates(tuple([row[3] for row in rows]), table[:, 1], table[:, 2], table[:, 0])
