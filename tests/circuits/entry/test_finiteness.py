"""Angles are finite numbers."""

import math

import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import Gate, Parameter
from qiskit.circuit.library import RZGate

from tiger.circuits.entry.reading import read_circuit
from tiger.errors import InputError

TWO, THREE = 'OPENQASM 2.0; include "qelib1.inc"; ', 'OPENQASM 3.0; include "stdgates.inc"; '


def refusal(source: QuantumCircuit | str) -> str:
    """Return why a circuit is refused."""
    with pytest.raises(InputError) as caught:
        read_circuit(source)
    return f"{caught.value.field}: {caught.value.reason}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TWO + "qreg q[1]; rz(1e400) q[0];", "inf as parameter 1 of 'rz'"),
        (TWO + "qreg q[1]; u(0,-exp(1000),0) q[0];", "-inf as parameter 2 of 'u'"),
        (
            TWO + "gate g(t) a { rz(exp(t)) a; } qreg q[1]; g(1000) q[0];",
            "inf as parameter 1 of 'rz' in 'g'",
        ),
        (TWO + "qreg q[1]; creg c[1]; if(c==1) rx(1e400) q[0];", "inf as parameter 1 of 'rx'"),
        (THREE + "qubit q; rz(-1e400) q;", "-inf as parameter 1 of 'rz'"),
        (THREE + "qubit q; gphase(1e400); x q;", "the global phase nan"),
    ],
)
def test_bug_infinite_angles_of_a_text_are_named(text: str, reason: str) -> None:
    """Gate and parameter."""
    assert refusal(text) == f"circuit: expected finite angles, got {reason}"


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400], ids=["nan", "inf", "huge"])
def test_bug_infinite_angles_of_an_object_are_named(value: float) -> None:
    """Also those of a gate of its own."""
    circuit = QuantumCircuit(1)
    circuit.append(Gate("mine", 1, [0.5, value]), [0])
    assert "as parameter 2 of 'mine'" in refusal(circuit)


def test_a_definition_that_cannot_be_is_named() -> None:
    """Its expressions are only worked out where a gate is used."""
    assert refusal(TWO + "gate g(t) a { rz(ln(t)) a; } qreg q[1]; g(-1) q[0];").startswith(
        "circuit: expected gates that are defined, got 'g': 'ln' is undefined"
    )


def test_open_parameters_are_finite() -> None:
    """Their values come later."""
    circuit = QuantumCircuit(1)
    circuit.append(RZGate(2 * Parameter("t")), [0])
    assert read_circuit(circuit) is circuit
