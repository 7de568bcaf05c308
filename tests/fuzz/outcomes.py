"""What circuits with measurements, resets and control flow leave on their classical bits, by states of all branches."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import CircuitInstruction, ClassicalRegister, Clbit

from tiger.model.arrays import FloatArray

LEAST = 1e-12
STILL = ("barrier", "delay")


class Branch(NamedTuple):
    """Hold what the classical bits read and the state of the qubits, whose squared norm is the probability."""

    bits: tuple[bool, ...]
    state: FloatArray


class Wires(NamedTuple):
    """Hold where the bits of a block are in the whole circuit."""

    qubits: Mapping[object, int]
    bits: Mapping[object, int]


def outcomes(circuit: QuantumCircuit) -> dict[tuple[bool, ...], float]:
    """Return the probability of all that the classical bits may read at the end, from qubits at 0; O(branches 2^n)."""
    state = np.zeros((2,) * circuit.num_qubits, complex)
    state[(0,) * circuit.num_qubits] = 1
    wires = Wires({bit: k for k, bit in enumerate(circuit.qubits)}, {bit: k for k, bit in enumerate(circuit.clbits)})
    total = defaultdict[tuple[bool, ...], float](float)
    for branch in _run(circuit, wires, [Branch((False,) * circuit.num_clbits, state)]):
        total[branch.bits] += float(np.vdot(branch.state, branch.state).real)
    return dict(total)


def _run(circuit: QuantumCircuit, wires: Wires, branches: list[Branch]) -> list[Branch]:
    """Return the branches after a circuit or a block."""
    for each in circuit.data:
        branches = [after for branch in branches for after in _step(each, wires, branch)]
    return branches


def _step(each: CircuitInstruction, wires: Wires, branch: Branch) -> list[Branch]:
    """Return the branches after an operation."""
    places = [wires.qubits[qubit] for qubit in each.qubits]
    if each.name in STILL:
        return [branch]
    if each.is_control_flow():
        branches = [branch]
        for block in _choose_blocks(each, wires, branch):
            bits = [wires.bits[bit] for bit in each.clbits]
            inner = Wires(dict(zip(block.qubits, places, strict=True)), dict(zip(block.clbits, bits, strict=True)))
            branches = _run(block, inner, branches)
        return branches
    if each.name == "measure":
        (bit,) = (wires.bits[bit] for bit in each.clbits)
        return [
            Branch((*branch.bits[:bit], bool(value), *branch.bits[bit + 1 :]), state)
            for value, state in enumerate(_project(branch.state, places[0]))
            if np.vdot(state, state).real > LEAST
        ]
    if each.name == "reset":
        zero, one = _project(branch.state, places[0])
        parts = (zero, np.flip(one, places[0]))
        return [Branch(branch.bits, state) for state in parts if np.vdot(state, state).real > LEAST]
    return [Branch(branch.bits, _apply(branch.state, each.operation.to_matrix(), places))]


def _choose_blocks(each: CircuitInstruction, wires: Wires, branch: Branch) -> list[QuantumCircuit]:
    """Return the blocks of control flow that run, in order."""
    operation, blocks = each.operation, each.operation.blocks
    if each.name == "for_loop":
        return [blocks[0]] * len(operation.params[0])
    if each.name == "if_else":
        subject, value = operation.condition
        taken = 0 if _read(subject, wires, branch) == value else 1
        return list(blocks[taken : taken + 1])
    if each.name == "switch_case":
        cases = operation.cases()
        read = _read(operation.target, wires, branch)
        return [cases[read]] if read in cases else []
    raise ValueError(f"expected an operation that is known to end, got {each.name}")


def _read(subject: Clbit | ClassicalRegister, wires: Wires, branch: Branch) -> int:
    """Return the number that a classical bit or register holds."""
    bits: Sequence[Clbit] = [subject] if isinstance(subject, Clbit) else list(subject)
    return sum(branch.bits[wires.bits[bit]] << k for k, bit in enumerate(bits))


def _project(state: FloatArray, place: int) -> tuple[FloatArray, FloatArray]:
    """Return the parts of a state in which a qubit is 0 and 1."""
    parts = []
    for value in (0, 1):
        part, index = np.zeros_like(state), [slice(None)] * state.ndim
        index[place] = slice(value, value + 1)
        part[tuple(index)] = state[tuple(index)]
        parts.append(part)
    return parts[0], parts[1]


def _apply(state: FloatArray, matrix: FloatArray, places: list[int]) -> FloatArray:
    """Return a state after a gate, whose first qubit is the fastest index of its matrix."""
    axes, count = places[::-1], len(places)
    gate = np.asarray(matrix).reshape((2,) * (2 * count))
    after: FloatArray = np.moveaxis(np.tensordot(gate, state, (range(count, 2 * count), axes)), range(count), axes)
    return after
