"""The figures of a routed circuit."""

import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter

from tiger.circuits.doors.outcome import depth_of, extra_cx, qasm_of, success_of
from tiger.circuits.doors.reading import read_circuit
from tiger.circuits.doors.record import target_of

NOISY = {
    "num_qubits": 3,
    "gates": [{"name": "cx", "qubits": [0, 1], "error": 0.1}, {"name": "cx", "qubits": [1, 2], "error": 0.2}],
    "measure": [{"qubit": 0, "error": 0.5}],
}


@pytest.fixture
def plain() -> QuantumCircuit:
    """Return a circuit of depth 3 without SWAPs."""
    circuit = QuantumCircuit(3)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.barrier()
    circuit.cx(1, 2)
    return circuit


@pytest.fixture
def branched(plain: QuantumCircuit) -> QuantumCircuit:
    """Return the circuit with a measurement, and blocks of depth 4 and 1 that depend on it."""
    circuit = plain.copy()
    circuit.add_bits(QuantumCircuit(0, 1).clbits)
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], 1)) as other:
        circuit.swap(0, 1)
        circuit.cx(0, 1)
    with other:
        circuit.h(2)
    return circuit


def test_a_swap_is_three_cx(plain: QuantumCircuit, branched: QuantumCircuit) -> None:
    """In blocks as outside."""
    more = plain.copy()
    more.swap(0, 1)
    assert (extra_cx(plain, plain), extra_cx(more, plain), extra_cx(branched, plain)) == (0, 3, 4)


def test_the_depth_counts_a_swap_as_three(plain: QuantumCircuit, branched: QuantumCircuit) -> None:
    """Barriers and measurements take no layer, a block those of its deepest branch."""
    plain.swap(0, 1)
    assert (depth_of(plain), depth_of(branched), depth_of(QuantumCircuit(2))) == (6, 7, 0)


def test_the_success_is_a_product(plain: QuantumCircuit) -> None:
    """Of 1 - error over gates and readout."""
    plain.add_bits(QuantumCircuit(0, 1).clbits)
    plain.measure(0, 0)
    assert success_of(plain, target_of(NOISY, 9)) == pytest.approx(0.9 * 0.8 * 0.5)


def test_a_circuit_is_written_in_the_plainer_language(plain: QuantumCircuit, branched: QuantumCircuit) -> None:
    """OpenQASM 2 where it suffices, else 3."""
    assert (qasm_of(plain) or "").startswith("OPENQASM 2.0;")
    assert (qasm_of(branched) or "").startswith("OPENQASM 3.0;")
    plain.rz(Parameter("t"), 0)
    assert "input float[64] t" in (qasm_of(plain) or "")


def test_a_circuit_may_have_no_text() -> None:
    """Neither language knows such an operation."""
    circuit = QuantumCircuit(1)
    circuit.initialize([0, 1], 0)
    circuit.rz(Parameter("t"), 0)
    assert qasm_of(circuit) is None


def test_bug_texts_hold_no_addresses() -> None:
    """Gates of one name and two definitions are told apart by numbers, so that the same circuit is the same text."""
    head = 'OPENQASM 2.0; include "qelib1.inc"; gate turn(t) a,b { cx a,b; rz(t) b; } qreg q[2];'
    source = f"{head} turn(0.1) q[0],q[1]; turn(0.2) q[1],q[0]; turn(0.3) q[0],q[1];"
    first, second = (qasm_of(read_circuit(source)) for _ in range(2))
    assert first == second
    assert "turn_1" in (first or "")
    assert read_circuit(first or "").decompose().count_ops() == {"cx": 3, "rz": 3}


def test_bug_a_condition_is_written_in_openqasm_2() -> None:
    """Its gate is named by where the qubit is, which the exporter does not look up."""
    head = 'OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; creg c[2];'
    text = qasm_of(read_circuit(f"{head} if(c==1) cx q[1],q[0]; if(c==2) measure q[1] -> c[0];"))
    lines = (text or "").splitlines()
    assert lines[-2:] == ["if (c == 1) cx q[1],q[0];", "if (c == 2) measure q[1] -> c[0];"]
