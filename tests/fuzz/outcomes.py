"""What circuits with measurements, resets and control flow leave on classical bits and variables, branch by branch."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import CASE_DEFAULT, CircuitInstruction, Clbit, Parameter, Qubit
from qiskit.circuit.classical import expr

from tests.fuzz.expressions import assign, evaluate
from tiger.model.arrays import FloatArray

LEAST = 1e-12
STILL = ("barrier", "delay", "global_phase")
EXITS = {"break_loop": "break", "continue_loop": "continue"}
# Loops that take more turns count as endless.
TURNS = 20


class Branch(NamedTuple):
    """Hold what bits and variables read, and the state of the qubits, whose squared norm is the probability.

    `leaving` is the exit of a loop that the branch has taken, until that loop is reached.
    """

    values: Mapping[object, int]
    state: FloatArray
    leaving: str = ""


class Wires(NamedTuple):
    """Hold where the bits of a block are in the whole circuit."""

    qubits: Mapping[Qubit, int]
    bits: Mapping[Clbit, Clbit]

    def values(self, branch: Branch) -> dict[object, int]:
        """Return what a block reads: its bits, and all variables."""
        return {**branch.values, **{own: branch.values[bit] for own, bit in self.bits.items()}}

    def write(self, branch: Branch, values: Mapping[object, int]) -> Branch:
        """Return a branch with what a block wrote."""
        own = {self.bits.get(key, key) if isinstance(key, Clbit) else key: value for key, value in values.items()}
        return branch._replace(values={**branch.values, **own})


def outcomes(circuit: QuantumCircuit) -> dict[tuple[int, ...], float]:
    """Return the probability of all that bits and variables may read at the end, from qubits and inputs at 0.

    O(branches 2^n).
    """
    state = np.zeros((2,) * circuit.num_qubits, complex)
    state[(0,) * circuit.num_qubits] = 1
    wires = Wires({bit: k for k, bit in enumerate(circuit.qubits)}, {bit: bit for bit in circuit.clbits})
    names = sorted(circuit.iter_vars(), key=lambda variable: variable.name)
    begin = dict.fromkeys([*circuit.clbits, *names], 0)
    total = defaultdict[tuple[int, ...], float](float)
    for branch in _run(circuit, wires, [Branch(begin, state)]):
        total[tuple(branch.values[key] for key in begin)] += float(np.vdot(branch.state, branch.state).real)
    return dict(total)


def _run(circuit: QuantumCircuit, wires: Wires, branches: list[Branch]) -> list[Branch]:
    """Return the branches after a circuit or a block; one that leaves a loop does nothing more in it."""
    for each in circuit.data:
        branches = [after for one in branches for after in ([one] if one.leaving else _step(each, wires, one))]
    return branches


def _step(each: CircuitInstruction, wires: Wires, branch: Branch) -> list[Branch]:
    """Return the branches after an operation."""
    places = [wires.qubits[qubit] for qubit in each.qubits]
    if each.name in STILL:
        return [branch]
    if each.name in EXITS:
        return [branch._replace(leaving=EXITS[each.name])]
    if each.name == "store":
        values = wires.values(branch)
        return [wires.write(branch, assign(each.operation.lvalue, evaluate(each.operation.rvalue, values), values))]
    if each.is_control_flow():
        return _flow(each, wires, branch)
    if each.name == "measure":
        return [
            branch._replace(values={**branch.values, wires.bits[each.clbits[0]]: value}, state=state)
            for value, state in enumerate(_project(branch.state, places[0]))
            if np.vdot(state, state).real > LEAST
        ]
    if each.name == "reset":
        zero, one = _project(branch.state, places[0])
        parts = (zero, np.flip(one, places[0]))
        return [branch._replace(state=state) for state in parts if np.vdot(state, state).real > LEAST]
    return [branch._replace(state=_apply(branch.state, each.operation.to_matrix(), places))]


def _flow(each: CircuitInstruction, wires: Wires, branch: Branch) -> list[Branch]:
    """Return the branches after control flow."""
    if each.name not in ("for_loop", "while_loop"):
        return [after for block in _choose(each, wires, branch) for after in _enter(each, block, wires, branch)]
    turning, done = [branch], list[Branch]()
    for body in _turns(each):
        again = list[Branch]()
        for one in turning:
            goes_on = each.name == "for_loop" or _holds(each, wires.values(one))
            (again if goes_on else done).append(one)
        after = [new for one in again for new in _enter(each, body, wires, one)]
        done += [one._replace(leaving="") for one in after if one.leaving == "break"]
        turning = [one._replace(leaving="") for one in after if one.leaving != "break"]
    if each.name == "while_loop" and turning:
        raise ValueError("expected loops that end")
    return done + turning


def _turns(each: CircuitInstruction) -> Iterator[QuantumCircuit]:
    """Yield the body of a loop for each turn."""
    (body,) = each.operation.blocks
    if each.name == "while_loop":
        yield from [body] * TURNS
        return
    values, parameter, _ = each.operation.params
    for value in values:
        bound = isinstance(parameter, Parameter) and parameter in body.parameters
        yield body.assign_parameters({parameter: value}) if bound else body


def _holds(each: CircuitInstruction, values: Mapping[object, int]) -> bool:
    """Return whether the condition of control flow holds."""
    condition = each.operation.condition
    if isinstance(condition, expr.Expr):
        return bool(evaluate(condition, values))
    subject, value = condition
    return evaluate(subject, values) == value


def _enter(each: CircuitInstruction, block: QuantumCircuit, wires: Wires, branch: Branch) -> list[Branch]:
    """Return the branches after a block of control flow."""
    qubits = [wires.qubits[qubit] for qubit in each.qubits]
    bits = [wires.bits[bit] for bit in each.clbits]
    inner = Wires(dict(zip(block.qubits, qubits, strict=True)), dict(zip(block.clbits, bits, strict=True)))
    return _run(block, inner, [branch])


def _choose(each: CircuitInstruction, wires: Wires, branch: Branch) -> list[QuantumCircuit]:
    """Return the block of control flow that runs, an empty one where none does."""
    operation, blocks, values = each.operation, each.operation.blocks, wires.values(branch)
    empty = blocks[0].copy_empty_like()
    if each.name == "box":
        return [blocks[0]]
    if each.name == "if_else":
        return [(*blocks, empty)[0 if _holds(each, values) else 1]]
    if each.name == "switch_case":
        cases = operation.cases()
        return [cases.get(evaluate(operation.target, values), cases.get(CASE_DEFAULT, empty))]
    raise ValueError(f"expected control flow that is known, got {each.name}")


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
