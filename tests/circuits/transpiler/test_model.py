"""Tests of circuits as routing reads them."""

import numpy as np
import pytest
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.circuit import Gate, Parameter
from qiskit.circuit.classical import expr
from qiskit.circuit.library import CXGate, get_standard_gate_name_mapping

from tiger.circuits.transpiler.model import AXES, model_of
from tiger.errors import InputError

PAULIS = {"z": np.diag([1, -1]), "x": np.array([[0, 1], [1, 0]]), "y": np.array([[0, -1j], [1j, 0]])}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(AXES))
def test_axes_are_those_of_the_matrices(name: str) -> None:
    """A gate commutes with the Pauli matrix of its axis on each of its qubits."""
    gate = get_standard_gate_name_mapping()[name]
    matrix = gate.base_class(*[0.3 + k for k in range(len(gate.params))]).to_matrix()
    for k, axis in enumerate(AXES[name]):
        if axis is not None:
            pauli = np.kron(np.eye(2 ** (gate.num_qubits - 1 - k)), np.kron(PAULIS[axis], np.eye(2**k)))
            assert np.allclose(matrix @ pauli, pauli @ matrix)


def test_two_qubit_gates_are_pairs() -> None:
    """Pairs follow the circuit, a CX may be a BRIDGE, and operations on one qubit get no node."""
    circuit = QuantumCircuit(3)
    circuit.h(0)
    circuit.cx(2, 0)
    circuit.swap(0, 1)
    dag = model_of(circuit).gate_dag
    assert dag.pairs.tolist() == [[2, 0], [0, 1]]
    assert dag.bridge.tolist() == [True, False]


def test_a_rotation_without_polar_angle_is_diagonal() -> None:
    """u(0, a, b) does not part controls, u(0.1, a, b) does, and an open parameter might."""
    for theta, waits in ((0, 0), (0.1, 1), (Parameter("t"), 1)):
        circuit = QuantumCircuit(3)
        circuit.cx(0, 1)
        circuit.u(theta, 0.2, 0.3, 0)
        circuit.cx(0, 2)
        assert model_of(circuit).gate_dag.waits.tolist() == [0, waits]


def test_without_commuting_all_keep_their_order() -> None:
    """Strict order makes a CX wait for one with the same control."""
    circuit = QuantumCircuit(3)
    circuit.cx(0, 1)
    circuit.cx(0, 2)
    assert model_of(circuit, commute=False).gate_dag.waits.tolist() == [0, 1]


def test_a_gate_of_ones_own_commutes_with_nothing() -> None:
    """A gate that only bears the name of a known one is not taken for it."""
    circuit = QuantumCircuit(3)
    circuit.append(Gate("cx", 2, []), [0, 1])
    circuit.append(CXGate(ctrl_state=0), [0, 2])
    dag = model_of(circuit).gate_dag
    assert dag.waits.tolist() == [0, 1]
    assert not dag.bridge.any()


def test_barriers_keep_order_and_are_no_pairs() -> None:
    """A barrier on two qubits is a node between the gates on them."""
    circuit = QuantumCircuit(3)
    circuit.cx(0, 1)
    circuit.barrier(0, 2)
    circuit.cx(0, 2)
    dag = model_of(circuit).gate_dag
    assert dag.pairs.tolist() == [[0, 1], [-1, -1], [0, 2]]
    assert dag.waits.tolist() == [0, 1, 1]


def test_a_bit_orders_what_writes_and_reads_it() -> None:
    """Measurements into one bit keep their order; one into a bit of its own needs no node."""
    circuit = QuantumCircuit(3, 2)
    circuit.measure(0, 0)
    circuit.measure(1, 0)
    circuit.measure(2, 1)
    built = model_of(circuit).build
    assert built.node == [0, 1, -1]
    assert built.gate_dag.waits.tolist() == [0, 1]


def test_a_variable_orders_what_writes_and_reads_it() -> None:
    """A store waits for the measurement whose bit it reads."""
    circuit = QuantumCircuit(1, 1)
    flag = circuit.add_var("flag", expr.lift(False))
    circuit.measure(0, 0)
    circuit.store(flag, expr.lift(circuit.clbits[0]))
    dag = model_of(circuit).gate_dag
    assert dag.pairs.tolist() == [[-1, -1], [-1, -1]]
    assert dag.waits.tolist() == [0, 1]


def test_control_flow_lists_what_meets_inside() -> None:
    """Pairs in blocks within blocks are those of the circuit's qubits, by position."""
    circuit = QuantumCircuit(QuantumRegister(4), ClassicalRegister(1))
    with circuit.if_test((circuit.clbits[0], 1)):
        circuit.cx(3, 1)
        with circuit.for_loop(range(2)):
            circuit.cz(1, 2)
            circuit.barrier(1, 3)
    dag = model_of(circuit).gate_dag
    assert dag.pairs.tolist() == [[-1, -1]]
    assert sorted(dag.inner.tolist()) == [[0, 1, 2], [0, 3, 1]]


def test_three_qubits_are_bad_input() -> None:
    """A Toffoli gate is refused with advice, outside and inside control flow."""
    circuit = QuantumCircuit(3, 1)
    circuit.ccx(0, 1, 2)
    with pytest.raises(InputError, match="found ccx on 3: decompose it first"):
        model_of(circuit)
    outer = QuantumCircuit(3, 1)
    outer.for_loop(range(2), None, circuit, [0, 1, 2], [0])
    with pytest.raises(InputError, match="decompose it first"):
        model_of(outer)


def test_an_exit_of_a_loop_is_no_gate() -> None:
    """Its qubits need not meet."""
    circuit = QuantumCircuit(2, 1)
    with circuit.while_loop((circuit.clbits[0], 1)):
        circuit.x([0, 1])
        circuit.break_loop()
    assert not len(model_of(circuit).gate_dag.inner)


def test_the_empty_circuit_has_an_empty_gate_dag() -> None:
    """No qubits and no operations are fine."""
    assert len(model_of(QuantumCircuit()).gate_dag.pairs) == 0
