"""A block of diagonal gates on two qubits and of gates on one, read as epochs of its qubits.

In an epoch a qubit keeps its value: it begins with gates on the qubit alone, and all diagonal gates in it may change
places.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from qiskit.circuit import CircuitInstruction, QuantumCircuit

from tiger.circuits.synthesis.paths import PHASES


@dataclass(slots=True)
class Epoch:
    """Hold the gates that an epoch of a qubit begins with, and its diagonal gates by the other qubit and its epoch."""

    entry: list[CircuitInstruction] = field(default_factory=list)
    meets: dict[tuple[int, int], list[CircuitInstruction]] = field(default_factory=dict)


class Epochs:
    """Follow n qubits through their epochs: which each of them is in, and which diagonal gates are left."""

    def __init__(self, block: QuantumCircuit) -> None:
        """Read a block of diagonal gates on two qubits, and of gates on one. O(gates)."""
        self._index = {bit: k for k, bit in enumerate(block.qubits)}
        self.of_qubit: list[list[Epoch]] = [[Epoch()] for _ in self._index]
        self.now = [0] * len(self._index)
        for gate in block.data:
            at = self.places(gate)
            if len(at) == 1:
                last = self.of_qubit[at[0]][-1]
                if gate.name not in PHASES and last.meets:
                    last = Epoch()
                    self.of_qubit[at[0]].append(last)
                last.entry.append(gate)
            else:
                (a, b), epochs = at, [len(self.of_qubit[k]) - 1 for k in at]
                self.of_qubit[a][-1].meets.setdefault((b, epochs[1]), []).append(gate)
                self.of_qubit[b][-1].meets.setdefault((a, epochs[0]), []).append(gate)

    def places(self, gate: CircuitInstruction) -> list[int]:
        """Return the qubits of a gate."""
        return [self._index[bit] for bit in gate.qubits]

    def current(self, qubit: int) -> Epoch:
        """Return the epoch that a qubit is in."""
        return self.of_qubit[qubit][self.now[qubit]]

    def advance(self, qubit: int) -> Epoch | None:
        """Go to the next epoch of a qubit; None if this one has diagonal gates left, or is the last."""
        if self.current(qubit).meets or self.now[qubit] + 1 == len(self.of_qubit[qubit]):
            return None
        self.now[qubit] += 1
        return self.current(qubit)

    def take(self, one: int, other: int) -> list[CircuitInstruction]:
        """Take the diagonal gates of two qubits out of their current epochs, and return them."""
        self.current(other).meets.pop((one, self.now[one]))
        return self.current(one).meets.pop((other, self.now[other]))

    def list_ready(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs whose current epochs have diagonal gates."""
        for a in range(len(self.now)):
            for b, epoch in self.current(a).meets:
                if a < b and epoch == self.now[b]:
                    yield a, b
