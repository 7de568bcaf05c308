"""Qiskit's log lines."""

import logging

import pytest
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Measure, Parameter
from qiskit.circuit.library import CCXGate, CXGate, UGate
from qiskit.transpiler import Target

from tiger.circuits.transpiler.quiet import quiet_qiskit


def test_bug_a_target_with_ccx_is_spoken_of_no_more_than_by_qiskit(caplog: pytest.LogCaptureFixture) -> None:
    """Alternatives repeat no warning."""
    target = Target(num_qubits=3)
    for gate in (UGate(*map(Parameter, "abc")), Measure()):
        target.add_instruction(gate, {(k,): None for k in range(3)})
    target.add_instruction(CXGate(), dict.fromkeys(((0, 1), (1, 0), (1, 2), (2, 1))))
    target.add_instruction(CCXGate(), {(0, 1, 2): None})
    circuit = QuantumCircuit(3)
    circuit.cx([0, 2], 1)
    lines = []
    for method in (None, "tiger"):
        caplog.clear()
        transpile(circuit, target=target, optimization_level=1, seed_transpiler=1, layout_method=method,
                  routing_method=method)  # fmt: skip
        lines.append(len(caplog.records))
    assert lines[1] <= lines[0]


def test_only_qiskit_is_quiet_and_only_inside(caplog: pytest.LogCaptureFixture) -> None:
    """Other loggers speak, and so does Qiskit's afterwards."""
    own, other = logging.getLogger("qiskit.made_up"), logging.getLogger("elsewhere")
    with quiet_qiskit():
        own.warning("left out")
        other.warning("kept")
    own.warning("kept, too")
    assert caplog.messages == ["kept", "kept, too"]
