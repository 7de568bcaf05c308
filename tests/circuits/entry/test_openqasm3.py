"""OpenQASM 3 means what the language says."""

import pytest
from qiskit.quantum_info import Operator

from tiger.circuits.entry.reading import read_circuit
from tiger.errors import InputError

HEAD = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'


def places(text: str) -> list[int]:
    """Return the first qubit of every operation."""
    circuit = read_circuit(HEAD + text)
    return [circuit.find_bit(each.qubits[0]).index for each in circuit.data]


@pytest.mark.slow
def test_bug_arguments_go_to_parameters_in_order() -> None:
    """Whatever their names, inside of other gates too."""
    gates = "gate g(b, a) q { rx(b) q; rz(a) q; } gate f(z, y, x) q { g(x, y) q; p(z) q; }"
    called = read_circuit(f"{HEAD}{gates} qubit q; f(1, 2, 3) q; g(4, 5) q;")
    direct = read_circuit(f"{HEAD}qubit q; rx(3) q; rz(2) q; p(1) q; rx(4) q; rz(5) q;")
    assert Operator(called) == Operator(direct)


def test_unused_parameters_are_counted() -> None:
    """An argument is not for the next one."""
    called = read_circuit(f"{HEAD}gate g(b, a) q {{ rz(a) q; }} qubit q; g(1, 2) q;")
    assert called.data[0].operation.definition.data[0].params == [2]


@pytest.mark.parametrize(
    ("index", "found"),
    [
        ("[0:2]", [0, 1, 2]),
        ("[3:-1:1]", [3, 2, 1]),
        ("[2:-1:0]", [2, 1, 0]),
        ("[-3:-1]", [1, 2, 3]),
        ("[0:2:3]", [0, 2]),
        ("[2:]", [2, 3]),
        ("[:1]", [0, 1]),
        ("[:]", [0, 1, 2, 3]),
        ("[-1]", [3]),
        ("[{3, 0}]", [3, 0]),
        ("[1:3][1]", [2]),
    ],
)
def test_ranges_hold_both_ends(index: str, found: list[int]) -> None:
    """Downwards, from behind, and where an end is left out."""
    assert places(f"qubit[4] q; x q{index};") == found


def test_ranges_of_aliases_and_bits_hold_both_ends() -> None:
    """Whose register is not known by name."""
    assert places("qubit[4] q; bit[4] c; let a = q[1:3]; x a[1:2]; c[0:1] = measure q[2:3];") == [2, 3, 2, 3]


@pytest.mark.parametrize("index", ["[4:6]", "[0:4]", "[-5:0]", "[2:1]", "[0:1000000000]", "[0:0:3]", "[0:1/1]"])
def test_bug_ranges_lose_no_gates(index: str) -> None:
    """Qubits that there are not are refused, as are ranges without any."""
    with pytest.raises(InputError, match=r"line 4: expected a range (of whole numbers|that holds bits .* 0 to 3), got"):
        read_circuit(f"{HEAD}qubit[4] q; x q;\nx q{index};")


@pytest.mark.parametrize("text", ["let a = q[1:2]; x a[0:2];", "let a = q[1:2]; x a[9:9];", "let a = q[1:2]; x a[0:];"])
def test_bug_ranges_of_aliases_lose_no_gates(text: str) -> None:
    """As far as the circuit has qubits, the importer looks."""
    with pytest.raises(InputError):
        read_circuit(f"{HEAD}qubit[4] q; {text}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "def f(qubit a) { x a; } f(q[0]);",
        "extern f(int) -> int; x q[0];",
        "pragma keep\nx q[0];",
        "@keep\nx q[0];",
        "defcal x $0 { }",
        "x q[0]; end; x q[0];",
        "measure q[0];",
        "x[20ns] q[0];",
        "switch (1) { case 1 { x q[0]; } }",
        "const int n = 1; x q[0];",
        "int n = 1; x q[0];",
        "ctrl @ ctrl @ x q[0], q[1];",
        "output bit c; x q[0];",
        "gate x a { h a; } x q[0];",
        "gate a b { x b; } gate a b { z b; } a q[0];",
        "x q[9];",
        "x[2] q[0];",
    ],
)
def test_what_the_importer_cannot_say_is_refused(text: str) -> None:
    """Rather than left out."""
    with pytest.raises(InputError) as caught:
        read_circuit(f"{HEAD}qubit[4] q; {text}")
    assert caught.value.field == "circuit"


def test_bug_many_controls_are_refused_before_they_are_built() -> None:
    """Sixty of them on two qubits took a parser minutes."""
    with pytest.raises(InputError, match="got a modified one on more: decompose it first"):
        read_circuit(f"{HEAD}qubit[2] q; {'ctrl @ ' * 60} x q[0], q[1];")
