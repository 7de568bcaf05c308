"""Gates on three and more qubits, written out."""

import pytest
from qiskit import QuantumCircuit, qasm2
from qiskit.circuit import Gate
from qiskit.circuit.library import C3SXGate, C4XGate, PermutationGate, RC3XGate, RCCXGate, UnitaryGate, XGate
from qiskit.quantum_info import Operator, random_clifford, random_unitary

from tiger.circuits.entry.decomposition import decompose
from tiger.circuits.entry.openqasm2 import LIBRARY
from tiger.circuits.entry.reading import read_circuit
from tiger.circuits.entry.scan import WIDE
from tiger.errors import InputError

TWO, THREE = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n', 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
WIDE_GATES = [
    *(RCCXGate(), RC3XGate(), C3SXGate(), C4XGate(), XGate().control(3, ctrl_state=2), PermutationGate([2, 0, 1, 3])),
    *(UnitaryGate(random_unitary(8, seed=1)), random_clifford(4, seed=1)),
]


def widest(circuit: QuantumCircuit) -> int:
    """Return the qubits of the widest gate."""
    return max(len(instruction.qubits) for instruction in circuit.data)


@pytest.mark.slow
@pytest.mark.parametrize("gate", WIDE_GATES, ids=lambda gate: type(gate).__name__)
def test_bug_wide_gates_of_the_library_were_refused(gate: Gate) -> None:
    """Each is the same unitary on one and two qubits, without a qubit that has to begin in zero."""
    circuit = QuantumCircuit(6)
    circuit.append(gate, range(gate.num_qubits))
    plain = decompose(circuit)
    assert (plain.num_qubits, widest(plain)) == (6, 2)
    assert Operator(plain).equiv(Operator(circuit))


@pytest.mark.parametrize("name", sorted(WIDE))
def test_bug_wide_gates_of_texts_were_refused(name: str) -> None:
    """Each is the library's, and no larger than its size in the scan."""
    count = LIBRARY[name].num_qubits
    call = f"qreg q[{count}]; {name} {','.join(f'q[{k}]' for k in range(count))};"
    plain = read_circuit(TWO + call)
    assert (widest(plain), plain.size()) == (2, WIDE[name])
    assert Operator(plain).equiv(Operator(qasm2.loads(TWO + call, custom_instructions=LIBRARY.values())))


@pytest.mark.parametrize("name", ["mcx", "rccx", "unitary", "qft", "clifford"])
def test_a_definition_counts_and_not_its_name(name: str) -> None:
    """A text may define gates under names that Qiskit writes out in ways of its own."""
    body = "{ h a; cx a,c; t c; cx b,c; }"
    found = read_circuit(f"{TWO}gate {name} a,b,c {body} qreg q[3]; {name} q[2],q[0],q[1];")
    plain = read_circuit(f"{TWO}qreg q[3]; h q[2]; cx q[2],q[1]; t q[1]; cx q[0],q[1];")
    assert Operator(found).equiv(Operator(plain))


def test_wide_gates_in_blocks_are_written_out() -> None:
    """Of control flow inside control flow, in OpenQASM 3 and in circuits."""
    pytest.importorskip("qiskit_qasm3_import")
    text = "qubit[3] q; bit c; c = measure q[0]; if (c) { for int i in [0:1] { ccx q[0], q[1], q[2]; } }"
    (block,) = read_circuit(THREE + text).data[-1].operation.blocks
    assert dict(block.data[0].operation.blocks[0].count_ops()) == {"cx": 6, "t": 4, "tdg": 3, "h": 2}


def test_other_gates_stay() -> None:
    """Gates on one and two qubits beside wide ones keep their names, opaque ones too."""
    circuit = QuantumCircuit(3)
    circuit.append(Gate("native", 2, []), (0, 1))
    circuit.cp(0.1, 0, 1)
    circuit.ccx(0, 1, 2)
    assert [instruction.name for instruction in decompose(circuit).data[:2]] == ["native", "cp"]


def test_a_gate_without_a_definition_is_named() -> None:
    """Inside another, in a block."""
    outer = QuantumCircuit(3, name="outer")
    outer.append(Gate("mystery", 3, []), range(3))
    circuit = QuantumCircuit(3, 1)
    with circuit.if_test((0, 1)):
        circuit.append(outer.to_gate(), range(3))
    with pytest.raises(InputError, match="of every gate on three or more, got 'mystery' without one"):
        decompose(circuit)
