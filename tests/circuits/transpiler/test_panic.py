"""Devices on which Qiskit's compiled passes panic."""

import pytest
from qiskit import QuantumCircuit, transpile
from qiskit.converters import circuit_to_dag
from qiskit.transpiler import CouplingMap, TranspilerError

import tiger
from tiger.circuits.transpiler.panic import catch_panics, may_panic
from tiger.circuits.transpiler.target import coupling_of

APART = CouplingMap([[0, 2], [1, 3]])


@pytest.fixture
def lone() -> QuantumCircuit:
    """Return four qubits with a gate on one."""
    circuit = QuantumCircuit(4)
    circuit.h(0)
    return circuit


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_bug_a_device_in_parts_is_answered(lone: QuantumCircuit, level: int) -> None:
    """By the report, and by the plugin with either routing."""
    assert tiger.layout(lone, APART, level=level).feasible
    for routing in ("tiger", "sabre"):
        options = {"layout_method": "tiger", "routing_method": routing, "optimization_level": level}
        assert transpile(lone, coupling_map=APART, seed_transpiler=1, **options).count_ops() == {"h": 1}


def test_only_what_fits_no_part_may_panic(lone: QuantumCircuit) -> None:
    """And not gates alone that use all qubits."""
    assert may_panic(circuit_to_dag(lone), coupling_of(APART))
    assert not may_panic(circuit_to_dag(lone), coupling_of(CouplingMap.from_line(4)))
    lone.cx([1, 0], [3, 2])
    assert not may_panic(circuit_to_dag(lone), coupling_of(APART))


def test_a_panic_is_an_error() -> None:
    """Other errors that are no exceptions go on."""
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(TranspilerError, match="panicked: out of range"), catch_panics():
        raise panic("out of range")
    with pytest.raises(KeyboardInterrupt), catch_panics():
        raise KeyboardInterrupt


@pytest.mark.slow
def test_bug_exchanges_between_parts_of_a_device_ended_the_layout() -> None:
    """A layout that SABRE cannot route from is passed over."""
    circuit = QuantumCircuit(4)
    for pair in ((1, 2), (2, 3), (2, 1), (1, 2), (3, 1)):
        circuit.cx(*pair)
    device = CouplingMap([[2, 1], [1, 2], [4, 0], [0, 4], [0, 3], [3, 0]])
    made = transpile(circuit, coupling_map=device, optimization_level=2, seed_transpiler=1, layout_method="tiger")
    assert made.layout is not None
