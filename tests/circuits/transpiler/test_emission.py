"""Tests of routes written out as circuits."""

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import ControlFlowOp
from qiskit.converters import dag_to_circuit

from tiger.circuits.transpiler.emission import emit
from tiger.circuits.transpiler.model import model_of
from tiger.routing.route import Route


def write(circuit: QuantumCircuit, start: list[int], *steps: tuple[int, int]) -> list[tuple[str, list[int]]]:
    """Return the operations of a route written out, with the device qubits they are on."""
    route = Route(start=np.array(start, np.int32), steps=np.array(steps, np.int32).reshape(-1, 2))
    routed = dag_to_circuit(emit(model_of(circuit), route, as_it_is).dag)
    return [(g.name, [routed.find_bit(q).index for q in g.qubits]) for g in routed.data]


def as_it_is(flow: ControlFlowOp, places: list[int]) -> tuple[ControlFlowOp, list[int]]:
    """Leave control flow alone."""
    return flow, places


def test_gates_go_where_their_qubits_are() -> None:
    """Qubits start where the route says, and a SWAP moves them."""
    circuit = QuantumCircuit(3)
    circuit.cx(0, 1)
    circuit.cx(0, 2)
    assert write(circuit, [1, 0, 2], (0, -1), (-1, 1), (1, -1)) == [
        ("cx", [1, 0]),
        ("swap", [0, 1]),
        ("cx", [0, 2]),
    ]


def test_a_bridge_is_four_cx_in_a_row() -> None:
    """A BRIDGE from 0 to 2 goes over 1 twice and leaves all qubits where they are."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    pair = [("cx", [0, 1]), ("cx", [1, 2])]
    assert write(circuit, [0, 2, 1], (0, 1)) == [*pair, *pair]


def test_bug_a_bridge_that_begins_with_a_gate_that_is_due() -> None:
    """Its first CX is none that the circuit has next, whether or not operations may change places."""
    circuit = QuantumCircuit(3)
    circuit.cx(0, 2)
    circuit.cx(0, 1)
    for commute in (True, False):
        route = Route(start=np.arange(3, dtype=np.int32), steps=np.array([(0, 1), (1, -1)], np.int32))
        routed = dag_to_circuit(emit(model_of(circuit, commute=commute), route, as_it_is).dag)
        assert [tuple(routed.find_bit(q).index for q in g.qubits) for g in routed.data] == [
            *[(1, 2), (0, 1)] * 2,
            (0, 1),
        ]


def test_lone_operations_keep_their_side_of_a_gate() -> None:
    """What does not commute with a gate stays before or after it, and moves with its qubit."""
    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.h(0)
    assert write(circuit, [0, 1], (0, -1), (-1, 1)) == [
        ("h", [0]),
        ("cx", [0, 1]),
        ("h", [0]),
        ("swap", [0, 1]),
    ]


def test_a_lone_operation_waits_for_a_whole_run() -> None:
    """An operation after two gates that may change places comes after both, whichever is first."""
    circuit = QuantumCircuit(3)
    circuit.cx(0, 1)
    circuit.cx(0, 2)
    circuit.h(0)
    assert [name for name, _ in write(circuit, [1, 0, 2], (1, -1), (0, -1))] == ["cx", "cx", "h"]


def test_places_at_the_end_are_tracked() -> None:
    """The end tells all qubits, spare ones included."""
    circuit = QuantumCircuit(1)
    route = Route(start=np.array([1, 0, 2], np.int32), steps=np.array([[-2, 2]], np.int32))
    emission = emit(model_of(circuit), route, as_it_is)
    assert (emission.start, emission.end) == ([1, 0, 2], [2, 0, 1])


def test_what_is_no_gate_survives() -> None:
    """Name, global phase, classical registers and operations without qubits are those of the circuit."""
    circuit = QuantumCircuit(1, 2, name="kept", global_phase=0.5, metadata={"a": 1})
    circuit.measure(0, 1)
    route = Route(start=np.array([0], np.int32), steps=np.empty((0, 2), np.int32))
    routed = dag_to_circuit(emit(model_of(circuit), route, as_it_is).dag)
    assert (routed.name, routed.global_phase, routed.metadata) == ("kept", 0.5, {"a": 1})
    assert routed.cregs == circuit.cregs
    assert routed.data[0].clbits == (circuit.clbits[1],)


def test_what_is_on_no_qubit_or_on_many_is_written() -> None:
    """A barrier on three qubits goes where they are, one on two as well, and a measurement keeps its bit."""
    circuit = QuantumCircuit(3, 1)
    circuit.cx(0, 1)
    circuit.barrier(0, 1, 2)
    circuit.barrier(0, 2)
    circuit.measure(2, 0)
    assert write(circuit, [0, 1, 2], (0, -1), (-2, 2), (1, -1), (2, -1)) == [
        ("cx", [0, 1]),
        ("swap", [1, 2]),
        ("barrier", [0, 2, 1]),
        ("barrier", [0, 1]),
        ("measure", [1]),
    ]
