"""Circuits of CX gates, phases and gates on one qubit as sums over paths, which says whether two of them are equal.

Every wire holds a sum of variables modulo 2, and each gate on one qubit that is not diagonal turns the variable of its
qubit into a new one (Dawson, Haselgrove, Hines, Mortimer, Nielsen, Osborne 2005, arXiv:quant-ph/0408129). Diagonal
gates add phases that depend on sums.
"""

from math import pi, tau
from typing import NamedTuple

import numpy as np
from qiskit.circuit import CircuitInstruction, QuantumCircuit

# Gates on one qubit that leave its value alone: phases of a one, None for that of a parameter.
PHASES = {
    **dict.fromkeys(("p", "u1", "rz"), None),
    "id": 0.0,
    "z": pi,
    "s": pi / 2,
    "sdg": -pi / 2,
    "t": pi / 4,
    "tdg": -pi / 4,
}
# Gates on two qubits that leave their values alone.
DIAGONAL = frozenset({"cp", "cu1", "cz", "rzz", "crz"})
SINGLE = frozenset({"h", "x", "y", "sx", "sxdg", "rx", "ry", "r", "u", "u2", "u3", *PHASES})
# Phases that differ by less are equal.
ROUNDING = 1e-9
# The variable of a qubit, by how many gates turned it, and sums of them.
Variable = tuple[int, int]
Sum = frozenset[Variable]
# What a diagonal gate does: the parts of its angle that its first qubit, its second and their sum get, and all states.
Shares = tuple[float, float, float, float]


class PathSum(NamedTuple):
    """Hold what a circuit of n qubits does: phases by sums, turning gates by qubit, and what each wire ends as."""

    phases: dict[Sum, float]
    turns: list[list[tuple[str, tuple[float, ...]]]]
    ends: list[Sum]


def split_angle(gate: CircuitInstruction) -> Shares:
    """Return how the angle of a diagonal gate on two qubits falls on the values of its qubits and their sum.

    The last is the phase of all states. A CZ has the angle pi.
    """
    if gate.name == "rzz":
        return 0.0, 0.0, 1.0, -0.5
    # diag(1, 1, e^(-ix/2), e^(ix/2)) with the control as the high bit
    return (0.0, 0.5, -0.5, 0.0) if gate.name == "crz" else (0.5, 0.5, -0.5, 0.0)


def are_equal(one: QuantumCircuit, other: QuantumCircuit) -> bool:
    """Return whether two circuits are the same, phase included, as far as their sums over paths tell: never wrongly so.

    Parameters get numbers at random, the same in both. O(gates x n).
    """
    names = sorted({*one.parameters, *other.parameters}, key=lambda each: each.name)
    values = dict(zip(names, np.random.default_rng(0).uniform(0, tau, len(names)).tolist(), strict=True))
    found = [_read(each.assign_parameters(values, strict=False)) for each in (one, other)]
    first, second = found
    if first is None or second is None or (first.turns, first.ends) != (second.turns, second.ends):
        return False
    sums = first.phases.keys() | second.phases.keys()
    return all(_is_none(first.phases.get(each, 0.0) - second.phases.get(each, 0.0)) for each in sums)


def _is_none(angle: float) -> bool:
    """Return whether an angle is a multiple of a whole turn."""
    return abs(angle - tau * round(angle / tau)) < ROUNDING


def _read(circuit: QuantumCircuit) -> PathSum | None:
    """Return the sum over paths of a circuit; None where a gate turns a qubit that is in a sum of several."""
    index = {bit: k for k, bit in enumerate(circuit.qubits)}
    wires: list[Sum] = [frozenset([(k, 0)]) for k in range(len(index))]
    made = PathSum({frozenset(): float(circuit.global_phase)}, [[] for _ in index], wires)
    for each in circuit.data:
        at = [index[bit] for bit in each.qubits]
        if each.name == "cx":
            wires[at[1]] = wires[at[1]] ^ wires[at[0]]
        elif each.name == "swap":
            wires[at[0]], wires[at[1]] = wires[at[1]], wires[at[0]]
        elif each.name in PHASES:
            angle = _angle_of(each)
            _add(made, wires[at[0]], angle)
            _add(made, frozenset(), -angle / 2 if each.name == "rz" else 0.0)
        elif each.name in DIAGONAL:
            angle, (first, second, both, all_states) = _angle_of(each), split_angle(each)
            a, b = (wires[k] for k in at)
            for where, share in ((a, first), (b, second), (a ^ b, both), (frozenset[Variable](), all_states)):
                _add(made, where, share * angle)
        elif not _turn(made, at[0], each):
            return None
    return made


def _angle_of(gate: CircuitInstruction) -> float:
    """Return the angle of a diagonal gate."""
    fixed = pi if gate.name == "cz" else PHASES.get(gate.name)
    return float(gate.params[0]) if fixed is None else fixed


def _add(made: PathSum, where: Sum, angle: float) -> None:
    """Add a phase of the states in which a sum is one."""
    made.phases[where] = made.phases.get(where, 0.0) + angle


def _turn(made: PathSum, wire: int, gate: CircuitInstruction) -> bool:
    """Turn the variable that a wire holds alone into a new one; return whether that is so, and no other wire has it."""
    own = made.ends[wire]
    if len(own) != 1 or any(own & other for k, other in enumerate(made.ends) if k != wire):
        return False
    ((qubit, count),) = own
    made.turns[qubit].append((gate.name, tuple([float(value) for value in gate.params])))
    made.ends[wire] = frozenset([(qubit, count + 1)])
    return True
