"""Tests of what a mapping is measured by."""

import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import IfElseOp, Parameter
from qiskit.circuit.library import UGate
from qiskit.converters import circuit_to_dag
from qiskit.transpiler import InstructionProperties, Target

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
