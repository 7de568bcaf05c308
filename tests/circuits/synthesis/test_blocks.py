"""Tests of blocks that are written anew."""

from qiskit import QuantumCircuit
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.quantum_info import Operator

from tiger.circuits.synthesis.blocks import count_entangling, find_gates, rewrite_blocks


def entangle() -> QuantumCircuit:
    """Return two blocks of CX gates, a rotation between them, and two gates on other qubits."""
    circuit = QuantumCircuit(5, global_phase=0.4)
    circuit.cx(0, 1)
    circuit.cx(1, 2)
    circuit.rz(0.3, 2)
    circuit.cx(1, 2)
    circuit.cx(0, 1)
    circuit.cx(3, 4)
    circuit.cx(3, 4)
    return circuit


def test_blocks_are_as_large_as_the_order_allows() -> None:
    """Those on other qubits are apart, and all that are not given back stay."""
    seen = list[list[tuple[int, int]]]()

    def note(block: QuantumCircuit) -> None:
        seen.append([tuple(block.find_bit(bit).index for bit in each.qubits) for each in block.data])

    assert rewrite_blocks(circuit_to_dag(entangle()), find_gates({"cx"}), note) is None
    assert sorted(seen) == [[(0, 1)] * 2, [(0, 1), (1, 2)], [(1, 2), (0, 1)]]


def test_what_a_synthesis_returns_is_put_in() -> None:
    """Here a block of no effect gets none, and the rest is what it was, phase included."""

    def drop(block: QuantumCircuit) -> QuantumCircuit | None:
        return QuantumCircuit(2) if block.num_qubits == 2 else None

    before = circuit_to_dag(entangle())
    made = rewrite_blocks(before, find_gates({"cx"}), drop)
    assert made is not None
    assert made.count_ops()["cx"] == 4
    assert before == circuit_to_dag(entangle())
    assert Operator(dag_to_circuit(made)) == Operator(entangle())


def test_other_gates_of_the_same_name_are_no_part_of_blocks() -> None:
    """A gate of one's own that is called like a CX is not taken for one."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    circuit.append(QuantumCircuit(2, name="cx").to_gate(), [0, 1])
    circuit.cx(0, 1)
    assert rewrite_blocks(circuit_to_dag(circuit), find_gates({"cx"}), lambda block: QuantumCircuit(2)) is None


def test_swaps_do_not_count() -> None:
    """Nor do gates on one qubit."""
    circuit = entangle()
    circuit.swap(0, 1)
    assert count_entangling(circuit) == 6
