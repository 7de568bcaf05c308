"""Tests of blocks written anew as networks of rotations about Paulis."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter
from qiskit.circuit.library import UnitaryGate
from qiskit.converters import circuit_to_dag
from qiskit.quantum_info import Operator

from tests.circuits.strategies import gate_circuits
from tiger.circuits.synthesis import rotations
from tiger.circuits.synthesis.blocks import count_entangling
from tiger.circuits.synthesis.rotations import Angle, are_same, finds_rotations, read_network, synthesize_rotations

TURNS = {"X": ("h", "h"), "Y": ("sx", "sxdg"), "Z": ("id", "id")}
DOUBLES = ("XXXY", "XXYX", "XYXX", "YXXX", "YYYX", "YYXY", "YXYY", "XYYY")


def rotate(circuit: QuantumCircuit, letters: str, angle: Angle) -> None:
    """Append a rotation about a Pauli as a ladder of CX gates."""
    qubits = [k for k, letter in enumerate(letters) if letter != "I"]
    for k in qubits:
        getattr(circuit, TURNS[letters[k]][0])(k)
    for a, b in pairwise(qubits):
        circuit.cx(a, b)
    circuit.rz(angle, qubits[-1])
    for a, b in reversed([*pairwise(qubits)]):
        circuit.cx(a, b)
    for k in qubits:
        getattr(circuit, TURNS[letters[k]][1])(k)


def ladders(*terms: tuple[str, Angle]) -> QuantumCircuit:
    """Return rotations about Paulis, one after another."""
    circuit = QuantumCircuit(len(terms[0][0]))
    for letters, angle in terms:
        rotate(circuit, letters, angle)
    return circuit


def test_an_excitation_of_four_qubits_takes_a_third_of_the_gates() -> None:
    """Its eight rotations commute; 48 CX gates as ladders."""
    block = ladders(*((letters, 0.1) for letters in DOUBLES))
    made = synthesize_rotations(block)
    assert made is not None
    assert Operator(made).equiv(Operator(block))
    assert count_entangling(made) <= 16


@given(
    st.lists(
        st.tuples(st.text("IXYZ", min_size=4, max_size=4), st.sampled_from((0.3, -1.1, np.pi / 4, 0.0))), max_size=5
    )
)
@settings(max_examples=10)
def test_the_unitary_stays(terms: list[tuple[str, float]]) -> None:
    """Whatever commutes, whatever turns two rotations come to."""
    block = ladders(("XYZX", 0.4), *(term for term in terms if set(term[0]) != {"I"}), ("ZZXX", 0.2))
    made = synthesize_rotations(block)
    assert made is None or Operator(made).equiv(Operator(block))


@given(gate_circuits(gates=12))
@settings(max_examples=15)
def test_a_circuit_reads_as_itself(circuit: QuantumCircuit) -> None:
    """A gate on one qubit more makes it another one."""
    plain = QuantumCircuit(circuit.num_qubits)
    for node in circuit_to_dag(circuit).topological_op_nodes():
        if finds_rotations(node):
            plain.append(node.op, [circuit.find_bit(bit).index for bit in node.qargs])
    network, other = read_network(plain), plain.copy()
    other.rx(0.123, 0)
    changed = read_network(other)
    assert network is not None
    assert changed is not None
    assert are_same(network, network)
    assert not are_same(network, changed)


def test_order_counts_where_rotations_do_not_commute() -> None:
    """XX and ZZ may change places, XX and ZI may not."""
    for second, same in (("ZZ", True), ("ZI", False)):
        networks = [read_network(ladders(*terms)) for terms in ((("XX", 0.3), (second, 0.7)),
                                                                ((second, 0.7), ("XX", 0.3)))]  # fmt: skip
        assert networks[0] is not None
        assert networks[1] is not None
        assert are_same(networks[0], networks[1]) == same


def test_rotations_about_one_pauli_become_one() -> None:
    """Over others that commute; a quarter turn is a Clifford gate then, and turns those behind."""
    block = ladders(("XXI", np.pi / 4), ("ZZI", 0.3), ("XXI", np.pi / 4), ("IZX", 0.5))
    network = read_network(block)
    assert network is not None
    assert sorted(letters for level in network.levels for letters, _, _ in level) in (["XYX", "ZZ"], ["XYX", "YY"])


def test_parameters_stay() -> None:
    """Angles with free ones are summed."""
    one, other = Parameter("a"), Parameter("b")
    block = ladders(*((letters, one) for letters in DOUBLES), *((letters, 2 * other) for letters in DOUBLES))
    made = synthesize_rotations(block)
    assert made is not None
    assert made.parameters == block.parameters
    values = {one: 0.2, other: 0.7}
    assert Operator(made.assign_parameters(values)).equiv(Operator(block.assign_parameters(values)))


def test_matrices_are_read() -> None:
    """Of Clifford gates, and of others on one and two qubits."""
    block = ladders(("XYX", 0.3), ("YXX", 0.4), ("XXY", 0.1), ("YYY", 0.1))
    single = QuantumCircuit(1)
    single.u(0.3, 0.4, 0.5, 0)
    block.append(UnitaryGate(Operator(single)), [0])
    for angle in (0.3, np.pi / 2):
        block.append(UnitaryGate(Operator(ladders(("ZX", angle), ("XX", angle), ("YI", angle)))), [2, 0])
    made = synthesize_rotations(block)
    assert made is not None
    assert Operator(made).equiv(Operator(block))


@pytest.mark.parametrize("off", [1e-7, 1e-6])
def test_what_is_close_to_a_clifford_gate_is_left_alone(off: float) -> None:
    """Qiskit takes it for one, and turns the rotations before it by as much."""
    assert read_network(ladders(("XX", np.pi / 2 + off), ("ZZ", 0.3), ("ZI", 0.3))) is None


def test_long_networks_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As short ones are, and blocks of Clifford gates alone."""
    for name, value in (("MOST_ROTATIONS", 7), ("MOST_LETTERS", 127), ("LEAST_GATES", 49)):
        with monkeypatch.context() as patch:
            patch.setattr(rotations, name, value)
            assert synthesize_rotations(ladders(*((letters, 0.1) for letters in DOUBLES))) is None
    assert synthesize_rotations(ladders(*[("XX", np.pi / 2)] * 5)) is None


def test_wide_networks_are_searched_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulation of the tree search takes longer for more letters, and for more qubits."""
    asked = list[int]()

    def note(width: int, *args: object, num_simulations: int, **options: object) -> QuantumCircuit:
        asked.append(num_simulations)
        return QuantumCircuit(width)

    monkeypatch.setattr(rotations, "synth_pauli_network_mcts", note)
    monkeypatch.setattr(rotations, "WORK", 1280)
    for wide in ("", "IIII", "I" * 40):
        synthesize_rotations(ladders(*((letters + wide, 0.1) for letters in DOUBLES)))
    assert asked == [10, 5, 1]


def test_circuits_that_are_not_the_network_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a synthesis returns another circuit than it was asked for."""
    for name in ("synth_pauli_network_mcts", "synth_pauli_network_rustiq"):
        monkeypatch.setattr(rotations, name, lambda width, *args, **options: QuantumCircuit(width))
    assert synthesize_rotations(ladders(*((letters, 0.1) for letters in DOUBLES))) is None
