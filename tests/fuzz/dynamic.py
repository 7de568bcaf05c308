"""Random circuits with what acts on no qubit or decides what runs: phases, variables, control flow, exits of loops."""

import numpy as np
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.circuit import Barrier, Parameter
from qiskit.circuit.classical import expr, types
from qiskit.circuit.library import GlobalPhaseGate

BITS, DEEPEST = 2, 2
BYTE = types.Uint(3)
QUANTUM = ("cx", "cx", "cz", "cp", "swap", "u", "measure", "reset", "barrier")
CLASSICAL = ("phase", "nothing", "store", "store", "delay")
FLOW = ("if", "if", "else", "for", "while", "switch", "box")


class Program:
    """Write a circuit, statement by statement, on a few qubits, two bits, a flag, a number and an input.

    `exits` says whether loops may be left early. What is on no qubit never comes behind an exit in a loop, as Qiskit
    does not keep them in order.
    """

    def __init__(self, width: int, rng: np.random.Generator, *, exits: bool) -> None:
        self.rng, self.exits = rng, exits
        self.circuit = QuantumCircuit(QuantumRegister(width), ClassicalRegister(BITS), ClassicalRegister(width))
        self.register = self.circuit.cregs[0]
        self.number = self.circuit.add_var("number", expr.lift(int(rng.integers(8)), BYTE))
        self.flag = self.circuit.add_var("flag", expr.lift(False))
        self.given = self.circuit.add_input("given", types.Bool())
        self.stretch = self.circuit.add_stretch("gap")
        self._names = 0

    def write(self, count: int) -> QuantumCircuit:
        """Return the circuit, with a rotation of every qubit before and behind, and all of them read at the end."""
        width = self.circuit.num_qubits
        for qubit in range(width):
            self._turn(qubit)
        self._fill(count, DEEPEST, looping=False, alone=width < 3)
        for qubit in range(width):
            self._turn(qubit)
        self.circuit.measure(range(width), range(BITS, BITS + width))
        return self.circuit

    def _fill(self, count: int, deepest: int, *, looping: bool, alone: bool, still: bool = False) -> bool:
        """Append operations; return whether they may have left a loop around them.

        `alone` leaves out gates on two qubits, and `still` begins with an operation on a qubit.
        """
        left = False
        if still:
            self._turn(int(self.rng.integers(self.circuit.num_qubits)))
        for _ in range(count):
            if deepest and self.rng.random() < 0.4:
                left |= self._add_flow(deepest, looping=looping, alone=alone, still=left)
            elif not left and self.rng.random() < 0.4:
                self._add_classical(str(self.rng.choice(CLASSICAL)))
            else:
                self._add_quantum(str(self.rng.choice(QUANTUM[5:] if alone else QUANTUM)))
        return left

    def _turn(self, qubit: int) -> None:
        """Append a gate on one qubit that leaves no axis alone."""
        self.circuit.u(*self.rng.uniform(-3, 3, 3).tolist(), qubit)

    def _add_quantum(self, kind: str) -> None:
        """Append an operation on qubits."""
        circuit, rng = self.circuit, self.rng
        a, b = rng.choice(circuit.num_qubits, 2, replace=False).tolist()
        if kind in ("cx", "cz", "swap", "barrier"):
            getattr(circuit, kind)(a, b)
        elif kind == "cp":
            circuit.cp(float(rng.uniform(-3, 3)), a, b)
        elif kind == "u":
            self._turn(a)
        elif kind == "measure":
            circuit.measure(a, self.register[int(rng.integers(BITS))])
        else:
            circuit.reset(a)

    def _add_classical(self, kind: str) -> None:
        """Append an operation on no qubit, or a delay of open length."""
        circuit, rng = self.circuit, self.rng
        if kind == "phase":
            circuit.append(GlobalPhaseGate(float(rng.uniform(-3, 3))), [])
        elif kind == "nothing":
            circuit.append(Barrier(0), [])
        elif kind == "delay":
            circuit.delay(self.stretch, int(rng.integers(circuit.num_qubits)))
        elif rng.random() < 0.5:
            circuit.store(self.flag, self._draw_condition())
        else:
            more = expr.add(self.number, expr.lift(int(rng.integers(1, 8)), BYTE))
            circuit.store(self.number, more if rng.random() < 0.7 else expr.bit_xor(self.number, more))

    def _draw_condition(self) -> expr.Expr:
        """Draw what is true or false."""
        bits = [expr.lift(bit) for bit in self.register]
        small = expr.less(self.number, expr.lift(int(self.rng.integers(1, 8)), BYTE))
        one = (*bits, self.flag, self.given, small)[int(self.rng.integers(5))]
        other = (bits[0], self.flag, small)[int(self.rng.integers(3))]
        kinds = (one, expr.logic_not(one), expr.logic_and(one, other), expr.bit_xor(one, other))
        return kinds[int(self.rng.integers(4))]

    def _add_flow(self, deepest: int, *, looping: bool, alone: bool, still: bool) -> bool:
        """Append control flow; return whether it may leave a loop around it."""
        circuit, rng = self.circuit, self.rng
        kinds = (*FLOW, "for", "while") if self.exits and not looping else FLOW
        kind = str(rng.choice([kind for kind in kinds if not (still and kind == "while")]))
        if kind in ("for", "while"):
            self._add_loop(kind, deepest - 1, alone=alone or bool(rng.random() < 0.5), still=still)
            return False
        legacy = [(self.register, int(rng.integers(2**BITS))), (self.register[0], int(rng.integers(2)))]
        count, inside = int(rng.integers(1, 4)), {"looping": looping, "alone": alone, "still": still}
        if kind == "box":
            with circuit.box():
                return self._fill(count, deepest - 1, **inside)
        if kind == "switch":
            with circuit.switch((self.number, self.register)[int(rng.integers(2))]) as case:
                with case(0, 1):
                    left = self._fill(count, deepest - 1, **inside)
                with case(2):
                    left |= self._fill_and_leave(1, deepest - 1, **inside)
                with case(case.DEFAULT):
                    return self._fill(1, deepest - 1, **inside) or left
        with circuit.if_test((*legacy, self._draw_condition())[int(rng.integers(3))]) as other:
            left = self._fill_and_leave(count, deepest - 1, **inside)
        if kind == "else":
            with other:
                left |= self._fill(1, deepest - 1, **inside)
        return left

    def _fill_and_leave(self, count: int, deepest: int, *, looping: bool, alone: bool, still: bool) -> bool:
        """Append operations and perhaps an exit of the loop around them; return whether they may leave it."""
        left = self._fill(count, deepest, looping=looping, alone=alone, still=still)
        if looping and self.exits and self.rng.random() < 0.7:
            leave = (self.circuit.break_loop, self.circuit.continue_loop)[int(self.rng.integers(2))]
            leave()
            return True
        return left

    def _add_loop(self, kind: str, deepest: int, *, alone: bool, still: bool) -> None:
        """Append a loop of two turns at most."""
        circuit, rng, count = self.circuit, self.rng, int(self.rng.integers(1, 4))
        self._names += 1
        if kind == "for":
            with circuit.for_loop(range(2), Parameter(f"turn{self._names}")) as turn:
                if rng.random() < 0.5:
                    circuit.rx(turn, int(rng.integers(circuit.num_qubits)))
                self._fill(count, deepest, looping=True, alone=alone, still=still)
            return
        counter = circuit.add_var(f"turns{self._names}", expr.lift(0, BYTE))
        more = expr.less(counter, expr.lift(2, BYTE))
        with circuit.while_loop(more if rng.random() < 0.5 else expr.logic_and(more, self._draw_condition())):
            circuit.store(counter, expr.add(counter, expr.lift(1, BYTE)))
            self._fill(count, deepest, looping=True, alone=alone, still=still)
