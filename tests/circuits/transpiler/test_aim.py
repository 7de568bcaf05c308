"""Tests of what a mapping is measured by."""

import math

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import IfElseOp, Measure, Parameter
from qiskit.circuit.library import CXGate, UGate
from qiskit.converters import circuit_to_dag
from qiskit.transpiler import InstructionProperties, QubitProperties, Target

from tiger.circuits.params import CircuitObjective, LayoutParams
from tiger.circuits.transpiler.aim import aim_of
from tiger.circuits.transpiler.mapping import find_mapping
from tiger.circuits.transpiler.model import model_of


@pytest.mark.parametrize("objective", ["depth", "success"])
def test_bug_control_flow_on_one_qubit_counted_as_a_gate(objective: CircuitObjective) -> None:
    """In routes alone, of whose finished circuits it counts as nothing."""
    circuit = QuantumCircuit(1, 1)
    circuit.u(0.1, 0.2, 0.3, 0)
    circuit.if_else((circuit.clbits[0], 1), QuantumCircuit(1, 1), None, [0], [0])
    target, dag = Target(num_qubits=1), circuit_to_dag(circuit)
    target.add_instruction(UGate(*map(Parameter, "abc")), {(0,): InstructionProperties(error=0.1)})
    target.add_instruction(IfElseOp, name="if_else")
    found = find_mapping(dag, target, LayoutParams(level=0, objective=objective))
    aim = aim_of(objective, model_of(dag), found.coupling, target)
    assert aim.objective is not None
    assert aim.objective.loss(found.mapped.route) == pytest.approx(aim.loss(found.emission.dag))


def rated(gates: list[float], readouts: dict[int, float], *pairs: tuple[int, int]) -> Target:
    """Return a device with the errors of gates on every qubit and of the measurements of some, and pairs."""
    target = Target(num_qubits=len(gates))
    rows = {(k,): InstructionProperties(error=rate) for k, rate in enumerate(gates)}
    target.add_instruction(UGate(*map(Parameter, "abc")), rows)
    target.add_instruction(Measure(), {(k,): InstructionProperties(error=rate) for k, rate in readouts.items()})
    target.add_instruction(CXGate(), {pair: InstructionProperties(error=0.1) for pair in pairs})
    return target


def measured(qubits: int) -> QuantumCircuit:
    """Return qubits with a gate each, all read."""
    circuit = QuantumCircuit(qubits, qubits)
    circuit.h(range(qubits))
    circuit.measure(range(qubits), range(qubits))
    return circuit


@pytest.mark.parametrize("best", [0, 3])
def test_bug_a_likely_layout_was_left_for_qubits_with_pairs(best: int) -> None:
    """The one qubit of a circuit went from where it fails least to the first device qubit that has a pair."""
    errors = [0.1 if k == best else 0.2 for k in range(4)]
    target = rated(errors, dict.fromkeys(range(4), 0.0), (1, 2))
    found = find_mapping(circuit_to_dag(measured(1)), target, LayoutParams(level=0, objective="success"))
    assert found.emission.start[:1] == [best]


def test_bug_a_qubit_that_is_read_alone_was_moved_from_the_likeliest_readout() -> None:
    """Gates fail there, which it has none of; and it ended where nothing can be read."""
    target, circuit = rated([0.0, 0.0, 0.0, 1.0], {1: 0.1, 2: 0.1, 3: 0.1}, (1, 2)), QuantumCircuit(3)
    circuit.cx(1, 2)
    circuit.measure_all()
    found = find_mapping(circuit_to_dag(circuit), target, LayoutParams(level=0, objective="success"))
    assert found.emission.start[0] == 3


def test_bug_a_qubit_that_cannot_be_read_was_taken_to_read_without_errors() -> None:
    """It lists no measurement, where others do; the qubit ended on another that fails more than the best."""
    target = rated([0.0, 0.0, 0.0], {1: 0.2, 2: 0.1}, (1, 2))
    found = find_mapping(circuit_to_dag(measured(1)), target, LayoutParams(level=0, objective="success"))
    assert found.emission.start[:1] == [2]


def test_bug_nothing_was_likelier_where_a_qubit_has_to_be_read_that_cannot_be() -> None:
    """All qubits are read and meet others, so that every route lost infinitely, whatever else it lost."""
    target, circuit = rated([0.0, 0.0, 0.0], {0: 0.1, 1: 0.1, 2: 1.0}, (0, 1), (1, 2)), QuantumCircuit(3)
    circuit.cx([0, 1], [1, 2])
    circuit.measure_all()
    found = find_mapping(circuit_to_dag(circuit), target, LayoutParams(level=0, objective="success"))
    aim = aim_of("success", model_of(circuit_to_dag(circuit)), found.coupling, target)
    assert aim.objective is not None
    assert aim.objective.loss(found.mapped.route) < math.inf


def test_bug_qiskits_circuit_of_a_route_was_taken_where_ours_is_likelier() -> None:
    """Both have one SWAP; a gate that commutes with those beside it came later in Qiskit's, while others waited."""
    target = Target(num_qubits=3, qubit_properties=[QubitProperties(t1=1e-5, t2=1e-5)] * 3)
    alone = InstructionProperties(error=0.0, duration=1e-7)
    target.add_instruction(UGate(*map(Parameter, "abc")), {(k,): alone for k in range(3)})
    pair = InstructionProperties(error=0.01, duration=5e-7)
    target.add_instruction(CXGate(), {(k, k + 1): pair for k in range(2)})
    circuit = QuantumCircuit(3)
    circuit.cx([1, 0], [2, 1])
    circuit.sx(1)
    circuit.cx(0, 2)
    dag, params = circuit_to_dag(circuit), LayoutParams(level=1, objective="success")
    found = find_mapping(dag, target, params, np.arange(3, dtype=np.int32))
    aim = aim_of("success", model_of(dag), found.coupling, target)
    assert aim.objective is not None
    assert aim.loss(found.emission.dag) == pytest.approx(aim.objective.loss(found.mapped.route))
