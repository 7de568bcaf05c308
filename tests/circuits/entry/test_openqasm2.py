"""Gates of OpenQASM 2 are what a text says."""

import pytest
from qiskit import QuantumCircuit
from qiskit.circuit.library import CXGate, RZZGate, SwapGate, SXGate
from qiskit.quantum_info import Operator

from tiger.circuits.entry.openqasm2 import COMPARED, LIBRARY
from tiger.circuits.entry.reading import read_circuit
from tiger.errors import InputError

BARE, HEAD = "OPENQASM 2.0;\n", 'OPENQASM 2.0;\ninclude "qelib1.inc";\n'


@pytest.mark.parametrize("name", LIBRARY)
def test_bug_opaque_library_gates_lose_no_others(name: str) -> None:
    """Qiskit's parser would take `mine` for them."""
    angles = ",".join("abcd"[: LIBRARY[name].num_params])
    qubits = ",".join("vwxyz"[: LIBRARY[name].num_qubits])
    opaque = f"opaque {name}{f'({angles})' if angles else ''} {qubits};"
    text = f"{BARE}\n{opaque} gate mine c,t {{ CX t,c; }} qreg q[2]; mine q[0],q[1];"
    if name == "delay":
        assert read_circuit(text).count_ops() == {"mine": 1}
        return
    with pytest.raises(InputError, match=f"line 3: expected an opaque gate of another name than .* '{name}'"):
        read_circuit(text)


def test_an_opaque_delay_is_one() -> None:
    """As Qiskit writes it, in units of `dt`."""
    text = f"{HEAD}opaque delay(t) a; gate mine c,t {{ cx c,t; }} qreg q[2]; delay(30) q[1]; mine q[0],q[1];"
    circuit = read_circuit(text)
    assert [(each.name, len(each.qubits)) for each in circuit.data] == [("delay", 1), ("mine", 2)]
    assert (circuit.data[0].operation.duration, circuit.data[0].operation.unit) == (30, "dt")


@pytest.mark.parametrize("declared", ["opaque delay a;", "opaque delay(t) a,b;", "opaque delay(s,t) a;"])
def test_another_opaque_delay_is_refused(declared: str) -> None:
    """It would be some other gate."""
    with pytest.raises(InputError, match="than the library's 'delay'"):
        read_circuit(f"{HEAD}{declared} qreg q[2]; x q;")


def test_opaque_gates_of_other_names_stay() -> None:
    """With those that come after them."""
    circuit = read_circuit(
        f"{HEAD}opaque magic(t) a,b; gate mine a {{ x a; }} qreg q[2]; magic(1) q[0],q[1]; mine q[0];"
    )
    assert [(each.name, each.operation.definition is None) for each in circuit.data] == [
        ("magic", True),
        ("mine", False),
    ]


def test_definitions_like_the_librarys_are_the_librarys() -> None:
    """Up to a global phase."""
    turns = "gate sx a { sdg a; h a; sdg a; } gate rzz(t) a,b { cx a,b; u1(t) b; cx a,b; }"
    pairs = "gate swap a,b { cx a,b; cx b,a; cx a,b; }"
    circuit = read_circuit(f"{HEAD}{turns}{pairs} qreg q[2]; sx q[0]; rzz(0.3) q[0],q[1]; swap q[0],q[1];")
    assert [each.operation.base_class for each in circuit.data] == [SXGate, RZZGate, SwapGate]


def test_a_library_of_the_texts_own_is_the_librarys() -> None:
    """Where nothing is included."""
    circuit = read_circuit(f"{BARE}gate cx c,t {{ CX c,t; }} qreg q[2]; cx q[0],q[1];")
    assert circuit.data[0].operation.base_class is CXGate


@pytest.mark.parametrize(
    ("definition", "call"),
    [
        ("gate sx a { h a; }", "sx q[1];"),
        ("gate swap a,b { cx a,b; }", "swap q[0],q[1];"),
        ("gate rzz(t) a,b { cx a,b; rz(t*t) b; cx a,b; }", "rzz(0.3) q[0],q[1];"),
        ("gate cu(a,b) c,d { cz c,d; rx(a-b) c; }", "cu(0.3,0.1) q[1],q[0];"),
        ("gate csx a { y a; }", "csx q[0];"),
        ("gate delay(t) a { rx(t) a; }", "delay(3) q[0];"),
        ("gate u0(t) a { rz(t) a; }", "u0(3) q[0];"),
        (f"gate p(t) a {{ {'x a;' * (COMPARED + 1)} }}", "p(3) q[0];"),
    ],
)
def test_bug_definitions_unlike_the_librarys_are_the_texts(definition: str, call: str) -> None:
    """Under any other name they are the same."""
    name = call.split("(")[0].split()[0]
    one, other = (
        read_circuit(f"{HEAD}{text} qreg q[2]; h q; t q[0]; {text_call}")
        for text, text_call in (
            (definition, call),
            (definition.replace(f" {name}", " mine", 1), call.replace(name, "mine", 1)),
        )
    )
    assert Operator(one).equiv(Operator(other))
    assert one.data[-1].operation.definition is not None


def test_bug_a_reversed_cx_is_reversed() -> None:
    """A text without the library may call anything so."""
    circuit, turned = read_circuit(f"{BARE}gate cx c,t {{ CX t,c; }} qreg q[2]; cx q[0],q[1];"), QuantumCircuit(2)
    turned.cx(1, 0)
    assert Operator(circuit) == Operator(turned)


def test_a_faulty_text_is_told_by_the_parser() -> None:
    """Though its definitions cannot be compared."""
    with pytest.raises(InputError, match="line 4: expected OpenQASM 2, got a fault"):
        read_circuit(f"{HEAD}gate swap a,b {{ cx a,b; }}\ngate sx a {{ foo a; }} qreg q[2]; qreg probe[2]; x q;")
