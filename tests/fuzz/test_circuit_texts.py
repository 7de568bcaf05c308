"""Circuits as texts: what a text says is read, what is read is written, and nothing crashes or is lost."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.circuit import Gate
from qiskit.quantum_info import Operator

from tests.circuits.outline import outline
from tests.circuits.strategies import flow_circuits
from tests.fuzz.profile import cases
from tests.fuzz.programs import Program, programs
from tiger.circuits.entry.reading import read_circuit
from tiger.circuits.entry.writing import qasm_of
from tiger.errors import InputError

pytestmark = pytest.mark.slow

NAMES = ["sx", "swap", "cx", "rzz", "h", "q", "pi", "mine", "Mine", "delay", "measure", "gate", "u", "x y"]
UNITS = ["dt", "s", "ms", "us", "ns", "ps"]


def same(circuit: QuantumCircuit, unitary: object) -> bool:
    """Return whether a circuit has a unitary, up to a global phase."""
    return bool(Operator(circuit).equiv(Operator(unitary)))


@cases(quick=10, long=2000)
@given(program=st.sampled_from([2, 3]).flatmap(programs))
def test_a_text_is_read_as_it_is_meant(program: Program) -> None:
    """Every gate is there with its own definition, arguments and qubits, and once more after it is written."""
    try:
        circuit = read_circuit(program.text)
    except InputError:
        if not program.refusable:
            raise
        return
    assert sum(circuit.count_ops().values()) == program.operations
    assert same(circuit, program.unitary)
    text = qasm_of(circuit)
    assert text is not None
    assert same(read_circuit(text), program.unitary)


@st.composite
def circuits(draw: st.DrawFn) -> QuantumCircuit:
    """Draw a circuit with control flow, delays and gates of its own under any names."""
    circuit = draw(flow_circuits(qubits=3, depth=2))
    for _ in range(draw(st.integers(0, 3))):
        name, count = draw(st.sampled_from(NAMES)), draw(st.integers(1, 2))
        gate = Gate(name, count, [0.5] * draw(st.integers(0, 1)))
        gate.definition = QuantumCircuit(count)
        gate.definition.rx(draw(st.sampled_from([0.1, 0.2])), 0)
        if count == 2:
            gate.definition.cx(1, 0)
        circuit.append(gate, draw(st.permutations(range(circuit.num_qubits)))[:count])
        unit = draw(st.sampled_from(UNITS))
        duration = draw(st.sampled_from([0, 1, 7, 1000] if unit == "dt" else [0.0, 0.5, 1e-6, 12345.678]))
        if draw(st.booleans()):
            circuit.delay(duration, draw(st.integers(0, circuit.num_qubits - 1)), unit)
    return circuit


@cases(quick=10, long=2000)
@given(circuit=circuits())
def test_what_is_written_is_read_back(circuit: QuantumCircuit) -> None:
    """Operation by operation; `switch` is written, but no parser here reads it."""
    text = qasm_of(circuit)
    assert text is not None
    try:
        back = read_circuit(text)
    except InputError:
        if "switch" not in text and circuit.data:
            raise
        return
    assert outline(back) == outline(circuit)


PIECES = st.sampled_from(
    [
        *(
            "OPENQASM 2.0;",
            "OPENQASM 3.0;",
            'include "qelib1.inc";',
            'include "stdgates.inc";',
            "qreg q[2];",
            "creg c[2];",
        ),
        *("qubit[2] q;", "bit[2] c;", "gate g(a) b {", "gate sx b {", "opaque sx b;", "opaque delay(a) b;", "}", "{"),
        *("x q;", "cx q[0],q[1];", "g(1) q[0];", "rz(1e400) q[0];", "if(c==1)", "measure q -> c;", "c = measure q;"),
        *(
            "ctrl @",
            "inv @",
            "pow(0.5) @",
            "negctrl(2) @",
            "sx b;",
            "for int i in [0:3]",
            "while (c[0])",
            "box",
            "else",
        ),
        *(
            "let r = q[0:1];",
            "def f(qubit a) {",
            "delay[3ns] q;",
            "barrier q;",
            "(",
            ")",
            "[",
            "-",
            "^",
            "pi",
            "1",
            ";",
        ),
        *(
            "@note",
            "pragma x",
            "extern f(int);",
            "input float a;",
            "rz(a) q[0];",
            "reset q;",
            "$3",
            "//",
            "/*",
            "*/",
            '"',
        ),
    ]
)


@cases(quick=15, long=4000)
@given(head=st.sampled_from(["OPENQASM 2.0; ", "OPENQASM 3.0; "]), pieces=st.lists(PIECES, max_size=14))
def test_any_text_is_read_or_refused(head: str, pieces: list[str]) -> None:
    """Nothing else is raised, and what is read can be written or not, without a crash."""
    with suppress(InputError):
        assert qasm_of(read_circuit(head + " ".join(pieces) + ";")) != ""
