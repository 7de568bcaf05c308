"""Stars of diagonal gates along a line, by ladders of CX gates on sums of neighbours instead of SWAPs.

Where each wire behind a centre holds the sum of its qubit and the one before, a CX from wire to wire turns these into
sums with the centre, one after another, and the same CX in reverse order turn them back: two CX a pair, as few as those
of Park and Ahn (2023, doi:10.1038/s41598-023-35625-3), n^2 + n - 4 for the Fourier transform of n qubits. Where the CX
of each wire is followed by its reverse, the centre moves to the end of the line instead, and the next star follows at
once, as information flows in Klaver et al. (2024, arXiv:2408.10907): few layers, for two CX a star more where it meets
all that are left.
"""

from math import pi
from typing import TypeAlias

from qiskit.circuit import CircuitInstruction, ParameterExpression, QuantumCircuit

from tiger.circuits.synthesis.epochs import Epochs
from tiger.circuits.synthesis.linear import list_transpositions
from tiger.circuits.synthesis.paths import are_equal, split_angle
from tiger.circuits.synthesis.stars import StarRun, find_run

Angle: TypeAlias = "float | ParameterExpression"
# Layers after which the next star follows one whose centre moves.
PERIOD = 5


def synthesize_stars(block: QuantumCircuit, moving: float = 0.0) -> QuantumCircuit | None:
    """Return a block of diagonal gates on two qubits and of gates on one with its runs of stars as ladders on a line.

    A share `moving` of the stars of each run sends its centre to the end of the line. None where there is no run.
    """
    writer = _StarWriter(block, moving)
    found = writer.write()
    return found if writer.runs and are_equal(block, found) else None


class _StarWriter:
    """Write the gates of a block, runs of stars as ladders; qubit k is on `wire[k]`."""

    def __init__(self, block: QuantumCircuit, moving: float) -> None:
        self._epochs, self._moving, self.runs = Epochs(block), moving, 0
        self._wire = list(range(block.num_qubits))
        self._made = QuantumCircuit(block.num_qubits, global_phase=block.global_phase)

    def write(self) -> QuantumCircuit:
        """Return the whole block."""
        epochs, begun = self._epochs, True
        for qubit in range(len(self._wire)):
            self._append(epochs.current(qubit).entry)
        while True:
            for qubit in range(len(self._wire)):
                while (epoch := epochs.advance(qubit)) is not None:
                    self._append(epoch.entry)
                    begun = True
            # What can come next has changed where an epoch began.
            run = find_run(epochs) if begun else None
            if run is not None:
                self._write_run(run)
                continue
            begun = False
            pair = next(epochs.list_ready(), None)
            if pair is None:
                break
            self._append(epochs.take(*pair))
        for a, b in list_transpositions(self._wire):
            self._made.swap(a, b)
        return self._made

    def _append(self, gates: list[CircuitInstruction]) -> None:
        """Write gates where their qubits are."""
        for gate in gates:
            self._made.append(gate.operation, [self._wire[k] for k in self._epochs.places(gate)])

    def _write_run(self, run: StarRun) -> None:
        """Write the stars of a run."""
        self.runs += 1
        reaches = [run.reach(star) - star for star in range(len(run.leaves))]
        moving = _choose_moving(reaches, len(run.line), round(self._moving * len(reaches)))
        furthest = max(star + reach for star, reach in enumerate(reaches))
        line = run.line if moving else run.line[: furthest + 1]
        ladder = _Ladder(self._made, [self._wire[qubit] for qubit in line])
        chain, kept, moved = list(line), list[int](), list[int]()
        owed = dict[int, Angle]()
        for star, leaves in enumerate(run.leaves):
            centre = chain[0]
            self._wire[centre] = ladder.head
            self._enter(centre, owed)
            phases = [self._take(centre, leaf, owed) if leaf in leaves else [] for leaf in chain[1:]]
            if star in moving:
                ladder.move(phases)
                moved.append(centre)
            else:
                ladder.meet(phases[: reaches[star]])
                kept.append(centre)
            chain.pop(0)
        ladder.decode()
        for qubit, wire in zip([*kept, *chain, *reversed(moved)], ladder.wires, strict=True):
            self._wire[qubit] = wire
        for qubit in list(owed):
            self._pay(qubit, owed)

    def _enter(self, centre: int, owed: dict[int, Angle]) -> None:
        """Go on to the epoch in which a qubit is a centre."""
        while (epoch := self._epochs.advance(centre)) is not None:
            self._pay(centre, owed)
            self._append(epoch.entry)

    def _take(self, centre: int, leaf: int, owed: dict[int, Angle]) -> list[tuple[str, Angle]]:
        """Return the phases of the sum of two qubits, and note those of each of them alone, which come later."""
        phases = list[tuple[str, Angle]]()
        for gate in self._epochs.take(centre, leaf):
            angle, (first, second, both, _) = pi if gate.name == "cz" else gate.params[0], split_angle(gate)
            for qubit, share in zip(self._epochs.places(gate), (first, second), strict=True):
                if share:
                    owed[qubit] = owed.get(qubit, 0.0) + share * angle
            phases.append(("rz" if gate.name == "rzz" else "p", both * angle))
        return phases

    def _pay(self, qubit: int, owed: dict[int, Angle]) -> None:
        """Write the phase of a qubit alone that is still to come; its wire holds nothing else."""
        angle = owed.pop(qubit, None)
        if angle is not None:
            self._made.p(angle, self._wire[qubit])


def _choose_moving(reaches: list[int], width: int, count: int) -> set[int]:
    """Return which stars move their centres: those that cost the fewest CX gates for each layer that this saves."""

    def price(star: int) -> float:
        """Return the CX gates for each layer: the way to the end of the line, and two more, for that there and back."""
        behind = width - 1 - star - reaches[star]
        return (2 * behind + 2) / max(2 * reaches[star] - PERIOD, 0.1)

    return set(sorted(range(len(reaches)), key=price)[:count])


class _Ladder:
    """Write the stars of a line of wires, each of which holds its qubit, the first of those left as the head.

    The wires behind the second hold the sum of their qubit and the one before.
    """

    def __init__(self, made: QuantumCircuit, wires: list[int]) -> None:
        self._made, self.wires = made, wires
        self._first, self._last = 0, len(wires) - 1
        for k in range(self._last, 1, -1):
            self._add(k - 1, k)

    @property
    def head(self) -> int:
        """Return the wire of the next centre."""
        return self.wires[self._first]

    def meet(self, phases: list[list[tuple[str, Angle]]]) -> None:
        """Write a star whose centre stays, with the phases of its sums by place; the next head is behind it."""
        for k, some in enumerate(phases, start=self._first + 1):
            self._add(k - 1, k)
            self._write(some, k)
        for k in range(self._first + len(phases), self._first, -1):
            self._add(k - 1, k)
        self._first += 1
        self._free_second()

    def move(self, phases: list[list[tuple[str, Angle]]]) -> None:
        """Write a star whose centre goes to the end of the line, where it is left in a sum with the last qubit."""
        for k, some in enumerate(phases, start=self._first + 1):
            self._add(k - 1, k)
            self._write(some, k)
            self._add(k, k - 1)
        self._last -= 1
        self._free_second()

    def decode(self) -> None:
        """Leave a qubit alone on each wire."""
        for k in range(self._first + 2, self._last + 1):
            self._add(k - 1, k)
        for k in range(len(self.wires) - 1, self._last + 1, -1):
            self._add(k - 1, k)
        for k in range(self._last + 1, len(self.wires)):
            self._add(k - 1, k)

    def _free_second(self) -> None:
        """Take the head out of the sum behind it."""
        if self._first < self._last:
            self._add(self._first, self._first + 1)

    def _add(self, source: int, target: int) -> None:
        """Add what is in one place to another."""
        self._made.cx(self.wires[source], self.wires[target])

    def _write(self, phases: list[tuple[str, Angle]], place: int) -> None:
        """Write phases of what is in a place."""
        for name, angle in phases:
            getattr(self._made, name)(angle, self.wires[place])
