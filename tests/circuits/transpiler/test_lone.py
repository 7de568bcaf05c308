"""Places of qubits that meet no other."""

import numpy as np
import pytest
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Measure, Parameter
from qiskit.circuit.library import CXGate, UGate
from qiskit.converters import circuit_to_dag
from qiskit.transpiler import InstructionProperties, Target

import tiger
from tiger.circuits.transpiler.lone import choose_places, read_uses


def partly_rated() -> Target:
    """Return a line of eight with the error rates of a few gates."""
    target = Target(num_qubits=8)
    target.add_instruction(UGate(*map(Parameter, "abc")), {(k,): None for k in range(8)})
    target.add_instruction(Measure(), {(k,): None for k in range(8)})
    rates = {(4, 5): 0.01, (0, 7): 0.0096, (2, 1): 0.0036, (4, 3): 0.01, (6, 5): 0.0052, (7, 6): 0.01}
    pairs = [(k, (k + 1) % 8) for k in range(8)]
    ways = [*pairs, *(pair[::-1] for pair in pairs)]
    target.add_instruction(
        CXGate(), {way: InstructionProperties(error=rates[way]) if way in rates else None for way in ways}
    )
    return target


def rated(gates: list[float], readouts: dict[int, float]) -> Target:
    """Return qubits with the errors of their gates, and of the measurements of some."""
    target = Target(num_qubits=len(gates))
    rows = {(k,): InstructionProperties(error=rate) for k, rate in enumerate(gates)}
    target.add_instruction(UGate(*map(Parameter, "abc")), rows)
    target.add_instruction(Measure(), {(k,): InstructionProperties(error=rate) for k, rate in readouts.items()})
    return target


@pytest.mark.slow
def test_bug_lone_qubits_are_placed_alike_in_every_call() -> None:
    """Where rates are known in part, Qiskit's search takes another of the places that are alike from call to call."""
    circuit = QuantumCircuit(6)
    circuit.u(1, 2, 3, 1)
    circuit.cx(5, 3)
    found = set()
    for _ in range(6):
        routed = transpile(circuit, target=partly_rated(), optimization_level=1, seed_transpiler=3,
                           layout_method="tiger", routing_method="tiger")  # fmt: skip
        report = tiger.layout(circuit, partly_rated(), level=1, seed=3)
        found.add((*routed.layout.initial_index_layout(), *report.initial_layout.values()))
    assert len(found) == 1


def test_lone_qubits_go_where_they_fail_least() -> None:
    """The one that is read to the best readout, the first of equals to gates, and the idle one to what is left."""
    free, device = np.array([0, 1, 2]), rated([0.1, 0.1, 0.2, 0.0], {0: 0.1, 1: 0.0, 2: 0.2, 3: 0.0})
    assert choose_places(np.array([[0, 0], [1, 0], [0, 1]]), free, device).tolist() == [2, 0, 1]


def test_bug_what_is_read_keeps_off_qubits_that_cannot_be() -> None:
    """A qubit that lists no measurement where others do is not one that measures without errors."""
    free, device = np.array([0, 1, 2]), rated([0.1, 0.1, 0.1], {1: 0.3, 2: 0.2})
    assert choose_places(np.array([[0, 1], [1, 1]]), free, device).tolist() == [1, 2]


def test_uses_are_counted_by_qubit() -> None:
    """Gates, resets and measurements; those in blocks of control flow, in which qubits meet, too."""
    circuit = QuantumCircuit(5, 1)
    circuit.reset(4)
    circuit.h(0)
    circuit.barrier()
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], 1)):
        circuit.cx(1, 2)
        circuit.x(3)
        circuit.measure(3, 0)
    circuit.x(1)
    uses = read_uses(circuit_to_dag(circuit))
    assert uses.counts.tolist() == [[1, 1], [0, 0], [0, 0], [1, 1], [1, 0]]
    assert uses.meets.tolist() == [False, True, True, False, False]
