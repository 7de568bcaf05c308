"""Tests of circuits on some qubits of a device."""

import logging

import pytest
from qiskit import QuantumCircuit, transpile
from qiskit.circuit.library import QFTGate
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.transpiler import CouplingMap, Target, TranspilerError

from tests.circuits.equivalence import find_unitary_difference
from tests.circuits.strategies import quick_search

RING = CouplingMap.from_ring(8)
DEVICES = (
    GenericBackendV2(8, ["cx", "u"], coupling_map=RING, seed=1).target,
    Target.from_configuration(["cx", "u"], 8, RING),
)
NAMES = {"layout_method": "tiger", "routing_method": "tiger"}


def star(qubits: int = 4) -> QuantumCircuit:
    """Return gates of one qubit with all others, and one more qubit that meets none."""
    circuit = QuantumCircuit(qubits + 1)
    for k in range(1, qubits):
        circuit.rx(0.3 + k, k)
        circuit.cx(0, k)
    circuit.rx(0.2, qubits)
    return circuit


def list_used(circuit: QuantumCircuit) -> set[int]:
    """Return the qubits that have operations."""
    return {circuit.find_bit(qubit).index for each in circuit.data for qubit in each.qubits}


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("methods", [NAMES, {"layout_method": "tiger"}])
def test_a_circuit_keeps_to_the_qubits_that_it_may_use(
    monkeypatch: pytest.MonkeyPatch, level: int, methods: dict[str, str]
) -> None:
    """Also qubits that meet no other, with error rates and without."""
    monkeypatch.setenv("TIGER_LAYOUT_QUBITS", "1-4,6")
    with quick_search():
        for device in DEVICES:
            found = transpile(star(), target=device, optimization_level=level, seed_transpiler=2, **methods)
            assert list_used(found) <= {1, 2, 3, 4, 6}
            assert find_unitary_difference(star(), found) == ""


def test_what_does_not_fit_on_them_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """So are layouts elsewhere, and layouts of another method."""
    monkeypatch.setenv("TIGER_LAYOUT_QUBITS", "1-3")
    with pytest.raises(TranspilerError, match="connected parts"):
        transpile(star(), target=DEVICES[1], optimization_level=0, **NAMES)
    with pytest.raises(TranspilerError, match="TIGER_LAYOUT_QUBITS: expected a circuit that fits on these 3"):
        transpile(star(2), target=DEVICES[1], initial_layout=[1, 2, 6], optimization_level=1, **NAMES)
    with pytest.raises(TranspilerError, match="TIGER_LAYOUT_QUBITS: expected layout_method='tiger'"):
        transpile(star(2), target=DEVICES[1], optimization_level=1, routing_method="tiger")


def test_a_limit_ends_the_search_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without one it says nothing."""
    for limit, said in ((None, 0), ("0.05", 1)):
        caplog.clear()
        if limit is not None:
            monkeypatch.setenv("TIGER_LAYOUT_TIME_S", limit)
        with caplog.at_level(logging.WARNING, "tiger"):
            made = QFTGate(6).definition.copy()
            transpile(made, target=DEVICES[1], optimization_level=2, seed_transpiler=1, **NAMES)
        told = [record for record in caplog.records if "the circuit depends on time" in record.getMessage()]
        assert len(told) == said
