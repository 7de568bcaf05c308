"""An independent check that a routed circuit does what the original does, up to where its qubits start and end."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import CircuitError, ControlFlowOp, Gate, Operation, ParameterExpression, Qubit
from qiskit.converters import circuit_to_dag
from qiskit.quantum_info import Operator

from tiger.model.arrays import FloatArray

# A unitary of 10 qubits takes 16 MB and some 10^9 operations, eight times as many for each qubit more.
UNITARY_QUBITS = 10
FREE = "free"
PAULIS = {"z": np.diag([1.0, -1.0]), "x": np.array([[0.0, 1.0], [1.0, 0.0]])}
# Commutators of matrices whose entries differ by less than this are rounding.
TOLERANCE = 1e-9


def find_difference(original: QuantumCircuit, routed: QuantumCircuit) -> str:
    """Return why a circuit that Qiskit laid out and routed is not the original, "" if it is; O(g + wires touched).

    Its operations are replayed against the original. They may change places where both leave the same axis of the qubit
    they share alone, by their matrices; swap gates that the original does not have move qubits; four CX over a qubit in
    the middle are one CX. Blocks of control flow have to end where they start. Routing alone is followed, no
    translation and no optimisation.
    """
    if routed.layout is None:
        return "the routed circuit has no layout"
    start = routed.layout.initial_index_layout(filter_ancillas=True)
    return replay(original, routed, start, routed.layout.final_index_layout(filter_ancillas=True))


def find_unitary_difference(original: QuantumCircuit, routed: QuantumCircuit) -> str:
    """Return why the unitary of a routed circuit is not that of the original, "" if it is; up to 10 device qubits.

    Gates only. O(8^N).
    """
    if routed.num_qubits > UNITARY_QUBITS:
        raise ValueError(f"expected at most {UNITARY_QUBITS} device qubits, found {routed.num_qubits}")
    wide = QuantumCircuit(routed.num_qubits).compose(original, range(original.num_qubits))
    return "" if Operator.from_circuit(routed).equiv(Operator(wide)) else "the unitaries differ"


def replay(original: QuantumCircuit, routed: QuantumCircuit, start: Sequence[int], end: Sequence[int]) -> str:
    """Return why a circuit on device qubits is not the original from `start[n]` to `end[n]`, "" if it is.

    A CX may be one of the original's or part of a BRIDGE: taken for the first at once, then only when nothing else is
    left. A circuit of very many BRIDGEs may still be refused though it is right; one that is wrong never passes.
    """
    reasons = [_Replay(original, routed, start, patient=first).reason(end) for first in (False, True)]
    return "" if "" in reasons else reasons[0]


class _Gate(NamedTuple):
    """Hold an operation, its qubits by number, its classical bits by number, and its other wires."""

    operation: Operation
    qubits: tuple[int, ...]
    bits: tuple[int, ...]
    others: tuple[object, ...]

    @property
    def wires(self) -> tuple[object, ...]:
        """Return all wires that it is on."""
        return (*self.qubits, *self.others)


def _gates(circuit: QuantumCircuit) -> Iterator[_Gate]:
    """Yield the operations of a circuit; classical wires are called the same on the device."""
    dag = circuit_to_dag(circuit, copy_operations=False)
    number = {bit: k for bits in (circuit.qubits, circuit.clbits) for k, bit in enumerate(bits)}
    for node in dag.topological_op_nodes():
        qubits, bits = (tuple([number[bit] for bit in bits]) for bits in (node.qargs, node.cargs))
        others = dict.fromkeys(wire for _, _, wire in dag.edges(node) if not isinstance(wire, Qubit))
        yield _Gate(node.op, qubits, bits, tuple(others))


class _Replay:
    """Take a routed circuit off from the front as long as the original has these operations next."""

    def __init__(
        self, original: QuantumCircuit, routed: QuantumCircuit, start: Sequence[int], *, patient: bool
    ) -> None:
        self._holds: dict[int, int | None] = dict(zip(start, range(len(start)), strict=True))
        self._gates = list(_gates(original))
        self._todo: dict[object, deque[tuple[str | None, list[int]]]] = {}
        self._free: dict[object, list[int]] = {}
        for i, gate in enumerate(self._gates):
            self._expect(i, gate)
        self._routed = list(_gates(routed))
        self._wires: dict[object, deque[int]] = {}
        for i, gate in enumerate(self._routed):
            for wire in gate.wires:
                self._wires.setdefault(wire, deque()).append(i)
        self._waiting = deque(self._wires)
        self._patient = patient

    def _expect(self, i: int, gate: _Gate) -> None:
        """Append an operation to the last run of each of its wires, or begin one; what leaves a wire alone is free."""
        for wire, axis in zip(gate.wires, _axes(gate), strict=True):
            if axis == FREE:
                self._free.setdefault(wire, []).append(i)
                continue
            runs = self._todo.setdefault(wire, deque())
            if not runs or axis is None or runs[-1][0] != axis:
                runs.append((axis, []))
            runs[-1][1].append(i)

    def reason(self, end: Sequence[int]) -> str:
        """Take off all that can be; say what is left, or which qubits are elsewhere."""
        while self._waiting or self._take_early():
            wire = self._waiting.popleft()
            while self._wires[wire] and self._step(self._wires[wire][0]):
                pass
        left = [wire[0] for wire in self._wires.values() if wire]
        if left:
            gate = self._routed[min(left)]
            return f"{gate.operation.name} on device qubits {gate.qubits} is not what the original does next"
        late = (i for runs in self._todo.values() for _, run in runs for i in run)
        if missing := [*late, *(i for run in self._free.values() for i in run)]:
            return f"{self._gates[missing[0]].operation.name} on qubits {self._gates[missing[0]].qubits} is missing"
        moved = [qubit for qubit, place in enumerate(end) if self._holds.get(place) != qubit]
        return f"qubits {moved} do not end where the layout says" if moved else ""

    def _step(self, i: int) -> bool:
        """Take off an operation, a SWAP, or a BRIDGE; with patience no CX that may turn out to be part of one."""
        hold = self._patient and any(self._is_blocked(self._pattern(middle)) for middle in self._routed[i].qubits)
        return self._take_bridge(i) or (not hold and self._take_single(i)) or self._take_swap(i)

    def _take_early(self) -> bool:
        """Take off a CX that could have been part of a BRIDGE, as nothing else is left."""
        fronts = dict.fromkeys(wire[0] for wire in self._wires.values() if wire)
        return self._patient and any(self._take_single(i) for i in sorted(fronts))

    def _is_blocked(self, ids: list[int]) -> bool:
        """Return whether the CX of a BRIDGE have to wait on the other wires."""
        if not ids:
            return False
        control, target = self._routed[ids[0]].qubits[0], self._routed[ids[1]].qubits[1]
        return not (self._are_next(ids[::2], (control,)) and self._are_next(ids[1::2], (target,)))

    def _take_single(self, i: int) -> bool:
        """Take off an operation that the original has next on all its wires."""
        gate = self._routed[i]
        return self._are_next([i], gate.wires) and self._match(gate) and self._pop([i])

    def _take_swap(self, i: int) -> bool:
        """Take off a swap gate that the original does not have."""
        gate = self._routed[i]
        if gate.operation.name != "swap" or not self._are_next([i], gate.wires):
            return False
        a, b = gate.qubits
        self._holds[a], self._holds[b] = self._holds.get(b), self._holds.get(a)
        return self._pop([i])

    def _take_bridge(self, i: int) -> bool:
        """Take off four CX, in two alternating pairs that share a qubit in the middle, as one CX."""
        return any(self._take_four(self._pattern(middle)) for middle in self._routed[i].qubits)

    def _pattern(self, wire: int) -> list[int]:
        """Return the next four operations of a qubit, a CX into it first, if they are a BRIDGE over it, else none."""
        ids = list(islice(self._wires[wire], 4))
        pairs = [self._routed[k].qubits for k in ids if self._routed[k].operation.name == "cx"]
        if len(pairs) < 4 or pairs[:2] != pairs[2:]:
            return []
        into, out = (0, 1) if pairs[0][1] == wire else (1, 0)
        joined = pairs[into][1] == wire == pairs[out][0] and pairs[into][0] != pairs[out][1]
        return [ids[into], ids[out], ids[into + 2], ids[out + 2]] if joined else []

    def _take_four(self, ids: list[int]) -> bool:
        """Take off the four CX of a BRIDGE if they are the next on the other wires as well."""
        if not ids or self._is_blocked(ids):
            return False
        control, target = self._routed[ids[0]].qubits[0], self._routed[ids[1]].qubits[1]
        return self._match(self._routed[ids[0]]._replace(qubits=(control, target))) and self._pop(ids)

    def _are_next(self, ids: list[int], wires: Sequence[object]) -> bool:
        """Return whether these operations are the next on each of some wires."""
        return all(list(islice(self._wires[wire], len(ids))) == ids for wire in wires)

    def _match(self, gate: _Gate) -> bool:
        """Find an operation of the original that is due and the same, and take it off there."""
        qubits = tuple([self._holds.get(place) for place in gate.qubits])
        wires = (*qubits, *gate.others)
        for i in dict.fromkeys(i for wire in wires for i in self._next_operations(wire)):
            own = self._gates[i]
            due = all(i in self._next_operations(wire) for wire in own.wires)
            if due and own.bits == gate.bits and self._is_same(own, gate, qubits):
                self._take_off(i)
                return True
        return False

    def _next_operations(self, wire: object) -> list[int]:
        """Return the operations of the original that may come next on a wire."""
        runs = self._todo.get(wire)
        return [*(runs[0][1] if runs else ()), *self._free.get(wire, ())]

    def _is_same(self, own: _Gate, gate: _Gate, qubits: tuple[int | None, ...]) -> bool:
        """Compare operations; control flow may be wider on the device, but has to bring all qubits back."""
        if not (isinstance(own.operation, ControlFlowOp) and isinstance(gate.operation, ControlFlowOp)):
            return own.qubits == qubits and bool(own.operation == gate.operation)
        if not set(own.qubits) <= set(qubits) or not _same_shell(own.operation, gate.operation):
            return False
        first = [qubits.index(qubit) for qubit in own.qubits]
        places = first + [k for k in range(len(qubits)) if k not in first]
        blocks = zip(own.operation.blocks, gate.operation.blocks, strict=True)
        return all(replay(block, wide, places, places) == "" for block, wide in blocks)

    def _take_off(self, i: int) -> None:
        """Take an operation off the original."""
        for wire in self._gates[i].wires:
            if i in self._free.get(wire, ()):
                self._free[wire].remove(i)
                continue
            self._todo[wire][0][1].remove(i)
            if not self._todo[wire][0][1]:
                self._todo[wire].popleft()

    def _pop(self, ids: list[int]) -> bool:
        """Take operations off the front of all their wires."""
        for i in ids:
            for wire in self._routed[i].wires:
                self._wires[wire].popleft()
                self._waiting.append(wire)
        return True


def _axes(gate: _Gate) -> list[str | None]:
    """Return for each wire the axis that a gate leaves alone, by its matrix; FREE where it does nothing, else None."""
    matrix = _matrix(gate.operation) if len(gate.qubits) <= 2 and not gate.others else None
    if matrix is None:
        return [None] * len(gate.wires)
    return [_axis(matrix, k, len(gate.qubits)) for k in range(len(gate.qubits))]


def _matrix(operation: Operation) -> FloatArray | None:
    """Return the unitary of a gate, at values of its open parameters like no others, None for what is no gate."""
    if not isinstance(operation, Gate):
        return None
    if any(isinstance(value, ParameterExpression) for value in operation.params):
        operation = operation.to_mutable()
        operation.params = [_bind(value) for value in operation.params]
    try:
        return np.asarray(operation.to_matrix())
    except (CircuitError, TypeError):
        return None


def _bind(value: object) -> object:
    """Return a parameter with numbers for what is open in it, which no whole multiples of each other and pi are."""
    if not isinstance(value, ParameterExpression):
        return value
    names = sorted(value.parameters, key=lambda parameter: (parameter.name, parameter.uuid))
    return float(value.bind({name: math.exp(-1 - k) for k, name in enumerate(names)}))


def _axis(matrix: FloatArray, k: int, width: int) -> str | None:
    """Return the axis that a matrix leaves alone on its qubit k, the first being the fastest index; FREE if all."""
    alone = []
    for axis, pauli in PAULIS.items():
        whole = np.kron(np.eye(2 ** (width - 1 - k)), np.kron(pauli, np.eye(2**k)))
        if np.allclose(matrix @ whole, whole @ matrix, atol=TOLERANCE):
            alone.append(axis)
    return None if not alone else alone[0] if len(alone) == 1 else FREE


def _same_shell(one: ControlFlowOp, other: ControlFlowOp) -> bool:
    """Compare control flow without its blocks; Qiskit's own comparison leaves conditions out."""
    bare = [op.replace_blocks([QuantumCircuit(0, len(b.clbits)) for b in op.blocks]) for op in (one, other)]
    conditions = [getattr(op, "condition", None) for op in (one, other)]
    return bool(bare[0] == bare[1]) and conditions[0] == conditions[1]
