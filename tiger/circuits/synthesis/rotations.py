"""Blocks of gates on one and two qubits as networks of rotations about Paulis, written anew with few CX gates.

Clifford gates go to the end of a block and turn the Paulis of the rotations before them (Litinski 2019,
arXiv:1808.02892), rotations about one Pauli that can meet become one, and what is left is written by the syntheses of
Pauli networks that Qiskit has: Trotter steps and excitations of chemistry share most of their CX gates there.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from math import pi, tau
from typing import NamedTuple, TypeAlias

import numpy as np
from qiskit.circuit import CircuitInstruction, ParameterExpression, QuantumCircuit
from qiskit.circuit.equivalence_library import SessionEquivalenceLibrary
from qiskit.circuit.library import PauliProductRotationGate
from qiskit.dagcircuit import DAGOpNode
from qiskit.quantum_info import Clifford, Pauli
from qiskit.synthesis import TwoQubitWeylDecomposition, synth_pauli_network_mcts, synth_pauli_network_rustiq
from qiskit.transpiler import PassManager, generate_preset_pass_manager
from qiskit.transpiler.passes import BasisTranslator, LitinskiTransformation

from tiger.circuits.synthesis.blocks import is_matrix
from tiger.circuits.synthesis.cliffords import NAMES, read_clifford, write_clifford

Angle: TypeAlias = "float | ParameterExpression"
# A rotation about a Pauli, by its letters in the order of its qubits, and its angle t: exp(-i t/2 P).
Rotation = tuple[str, tuple[int, ...], Angle]
# What gates are translated to, which Litinski's transformation takes.
PLAIN = [*sorted(NAMES), "rx", "ry", "rz"]
ROTATION = "pauli_product_rotation"
# Angles that differ by less are equal, and those that are off a Clifford gate by less may be read as one by Qiskit.
ROUNDING, CLOSE = 1e-9, 1e-5
# Fewest gates on two qubits of a block: of 103 of a multiplier of 13 qubits those with fewer gain none, and take 5 s.
LEAST_GATES = 8
# Most rotations of a network, and most letters of these times its qubits: a simulation of the tree search takes a
# second for half a million. 950 rotations about 70 letters on 100 qubits have five times as many: a minute for nothing.
MOST_ROTATIONS, MOST_LETTERS = 1000, 1_500_000
# Most simulations of the tree search, which take 10 % of the CX gates of a single one off excitations on 8 and 12
# qubits, and the letters times qubits that they may read in all: half a second.
SIMULATIONS, WORK = 20, 250_000
# The level of Qiskit's optimization after which CX gates are counted.
JUDGING_LEVEL = 2


class Network(NamedTuple):
    """Hold rotations by levels, a level of those that commute, and what Clifford operator comes behind them.

    Rotations about one Pauli are in different levels.
    """

    levels: list[list[Rotation]]
    clifford: Clifford


def finds_rotations(node: DAGOpNode) -> bool:
    """Return whether a gate is one on one or two qubits that can be read as rotations and Clifford gates."""
    return 0 < len(node.qargs) <= 2 and (bool(node.is_standard_gate()) or is_matrix(node))


def synthesize_rotations(block: QuantumCircuit) -> QuantumCircuit | None:
    """Return a circuit of fewer CX gates, SWAPs apart, for a block of gates on one and two qubits; None if none.

    The phase of all states may be another one. The fewest CX of a tree search (Machiya, Menickelly, Hovland, Liu 2026,
    arXiv:2604.19029) and of a greedy synthesis (de Brugiere, Martiel 2024, arXiv:2404.03280), both without the Clifford
    operator that they leave at the end.
    """
    if block.num_nonlocal_gates() < LEAST_GATES:
        return None
    network = read_network(block)
    if network is None or not network.levels or _count_letters(network) * block.num_qubits > MOST_LETTERS:
        return None
    best = min(_write_all(network, block.num_qubits), key=_count_cx, default=None)
    return best if best is not None and _count_cx(best) < _count_cx(block) else None


def read_network(circuit: QuantumCircuit) -> Network | None:
    """Return the network of a circuit; None for many rotations, and for gates that are close to a Clifford one.

    O(m^2 + g) for m rotations and g gates.
    """
    moved = _move_cliffords(PassManager(BasisTranslator(SessionEquivalenceLibrary, PLAIN)).run(_write_out(circuit)))
    while True:
        rotations, left = list[Rotation](), circuit.copy_empty_like()
        for each in moved.data:
            turns = max((_count_turns(angle) for angle in each.params), default=0.0)
            if turns < ROUNDING:
                left.append(each)
            elif turns < CLOSE or each.name != ROTATION or len(rotations) == MOST_ROTATIONS:
                return None
            else:
                rotations.append(_read_rotation(moved, each))
        levels = _merge(rotations)
        if sum(map(len, levels)) == len(rotations):
            return Network(levels, Clifford(left))
        # Rotations that have become one may be a Clifford gate.
        again = circuit.copy_empty_like()
        for letters, qubits, angle in chain.from_iterable(levels):
            again.append(PauliProductRotationGate(Pauli(letters[::-1]), angle), qubits)
        moved = _move_cliffords(again.compose(left))


def _count_letters(network: Network) -> int:
    """Return how many letters other than I the Paulis of a network have."""
    return sum(len(qubits) for _, qubits, _ in chain.from_iterable(network.levels))


def are_same(one: Network, other: Network | None) -> bool:
    """Return whether two networks are the same up to phase: never wrongly so.

    Parameters get numbers at random.
    """
    if other is None or one.clifford != other.clifford:
        return False
    first, second = ([{each[:2]: each[2] for each in level} for level in each.levels] for each in (one, other))
    if [level.keys() for level in first] != [level.keys() for level in second]:
        return False
    pairs = zip(first, second, strict=True)
    return all(_is_none(_draw(angle - there[key])) for here, there in pairs for key, angle in here.items())


def _draw(angle: Angle) -> float:
    """Return an angle with numbers at random for its parameters."""
    if not isinstance(angle, ParameterExpression):
        return angle
    rng = np.random.default_rng(0)
    return float(angle.bind({each: rng.uniform(0, tau) for each in sorted(angle.parameters, key=lambda p: p.name)}))


def _write_out(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return a circuit without matrices: those of Clifford gates as these, others by their rotations."""
    if "unitary" not in circuit.count_ops():
        return circuit
    made = circuit.copy_empty_like()
    for each in circuit.data:
        if each.name != "unitary":
            made.append(each)
            continue
        matrix = each.matrix
        known = read_clifford(matrix)
        if known is not None:
            own = known.to_circuit()
        else:
            own = TwoQubitWeylDecomposition(matrix).circuit() if len(matrix) > 2 else each.operation.definition
        made.compose(own, each.qubits, inplace=True)
    return made


def _move_cliffords(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return a circuit with its rotations about Paulis first, and its Clifford gates behind."""
    return LitinskiTransformation(use_ppr=True)(circuit)


def _count_turns(angle: Angle) -> float:
    """Return how many quarter turns an angle is off a Clifford gate; half a turn for a parameter."""
    if isinstance(angle, ParameterExpression):
        return 0.5
    turns = angle / (pi / 2)
    return float(abs(turns - round(turns)))


def _read_rotation(circuit: QuantumCircuit, gate: CircuitInstruction) -> Rotation:
    """Return a rotation about a Pauli."""
    letters = reversed(gate.operation.pauli().to_label())
    places = [circuit.find_bit(bit).index for bit in gate.qubits]
    pairs = sorted((place, letter) for place, letter in zip(places, letters, strict=True) if letter != "I")
    return "".join(letter for _, letter in pairs), tuple([place for place, _ in pairs]), gate.params[0]


def _merge(rotations: list[Rotation]) -> list[list[Rotation]]:
    """Return rotations by levels (Cartier, Foata 1969), those about one Pauli in a level as one, none without effect.

    The level of a rotation is above those of the ones before that do not commute with it.
    """
    width = 1 + max((qubit for _, qubits, _ in rotations for qubit in qubits), default=0)
    x, z = np.zeros((2, len(rotations), width), np.float32)
    for k, (letters, qubits, _) in enumerate(rotations):
        for letter, qubit in zip(letters, qubits, strict=True):
            x[k, qubit], z[k, qubit] = letter != "Z", letter != "X"
    crossings = (x @ z.T + z @ x.T) % 2 > 0
    number = np.zeros(len(rotations), np.int64)
    angles = dict[tuple[int, str, tuple[int, ...]], Angle]()
    for k, (letters, qubits, angle) in enumerate(rotations):
        number[k] = 1 + number[:k].max(initial=-1, where=crossings[k, :k])
        key = int(number[k]), letters, qubits
        angles[key] = angles.get(key, 0.0) + angle
    levels: list[list[Rotation]] = [[] for _ in range(1 + number.max(initial=-1))]
    for (level, letters, qubits), angle in angles.items():
        known = angle if isinstance(angle, ParameterExpression) and angle.parameters else float(angle)
        if isinstance(known, ParameterExpression) or not _is_none(known):
            levels[level].append((letters, qubits, known))
    return levels


def _is_none(angle: float) -> bool:
    """Return whether an angle is a multiple of a whole turn, which changes the phase of all states alone."""
    return abs(angle - tau * round(angle / tau)) < ROUNDING


def _write_all(network: Network, width: int) -> Iterator[QuantumCircuit]:
    """Yield circuits for a network on some qubits, each read as that network again."""
    rotations = list(chain.from_iterable(network.levels))
    simulations = max(1, min(SIMULATIONS, WORK // (_count_letters(network) * width)))
    search = partial(synth_pauli_network_mcts, num_simulations=simulations, max_parallel_simulations=1)
    for synthesis in (search, synth_pauli_network_rustiq):
        made = synthesis(width, rotations, upto_clifford=True)
        own = read_network(made)
        end = None if own is None else write_clifford(own.clifford.adjoint().compose(network.clifford))
        if own is not None and end is not None:
            whole = own._replace(clifford=own.clifford.compose(Clifford(end)))
            if are_same(network, whole):
                yield made.compose(end)


def _count_cx(circuit: QuantumCircuit) -> int:
    """Return the CX gates of a circuit on device qubits that are all coupled, SWAPs apart."""
    preset = generate_preset_pass_manager(JUDGING_LEVEL, basis_gates=["cx", "u"], seed_transpiler=0)
    return int(preset.run(circuit).num_nonlocal_gates())
