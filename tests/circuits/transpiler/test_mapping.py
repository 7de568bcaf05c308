"""Tests of the mapping of Qiskit circuits."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.circuit import Parameter
from qiskit.circuit.classical import expr, types
from qiskit.circuit.library import CXGate
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.transpiler import CouplingMap, InstructionProperties, Target

from tests.circuits.equivalence import replay
from tests.circuits.strategies import devices, flow_circuits, quick_search
from tiger.circuits.incumbent import Mapped
from tiger.circuits.params import FusingParams, LayoutParams
from tiger.circuits.transpiler.flow import count_cx
from tiger.circuits.transpiler.mapping import find_mapping, find_path_mapping
from tiger.circuits.transpiler.sabre import run_sabre
from tiger.errors import InputError
from tiger.routing.route import Route

GATES = ["cx", "u", "swap"]


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    with quick_search():
        yield


def full(width: int) -> QuantumCircuit:
    """Return a circuit in which all qubits meet."""
    circuit = QuantumCircuit(width)
    for a in range(width):
        for b in range(width):
            if a != b:
                circuit.cx(a, b)
                circuit.h(b)
    return circuit


@pytest.mark.slow
@given(data=st.data(), level=st.sampled_from([0, 1, 2, 3]))
def test_mapped_circuits_are_the_original(data: st.DataObject, level: int) -> None:
    """With control flow, barriers, measurements and directed edges, at every level."""
    circuit = data.draw(flow_circuits())
    device = data.draw(devices(circuit.num_qubits))
    found = find_mapping(circuit_to_dag(circuit), device, LayoutParams(level=level, commute=level % 2 == 1)).emission
    count = circuit.num_qubits
    assert replay(circuit, dag_to_circuit(found.dag), found.start[:count], found.end[:count]) == ""


@pytest.mark.slow
@given(data=st.data(), level=st.sampled_from([2, 3]), seed=st.integers(0, 99))
def test_never_more_cx_than_qiskit(data: st.DataObject, level: int, seed: int) -> None:
    """SABRE with the same level and seed never wins, blocks of control flow included."""
    dag = circuit_to_dag(data.draw(flow_circuits(depth=1)))
    device = data.draw(devices(dag.num_qubits()))
    best = count_cx(run_sabre(dag, device, level, seed).dag)
    params = LayoutParams(level=level, seed=seed)
    assert count_cx(find_mapping(dag, device, params).emission.dag) <= best


def test_variables_and_parameters_survive() -> None:
    """Stores keep their order with the conditions that read them, and open parameters stay."""
    circuit = QuantumCircuit(
        QuantumRegister(4), ClassicalRegister(1), inputs=[flag := expr.Var.new("flag", types.Bool())]
    )
    number = circuit.add_var("number", expr.lift(7, types.Uint(8)))
    circuit.rx(Parameter("angle"), 0)
    circuit.measure(0, 0)
    with circuit.if_test(expr.logic_and(flag, circuit.clbits[0])):
        circuit.cx(0, 3)
        circuit.store(number, expr.lift(1, types.Uint(8)))
        with circuit.while_loop(expr.less(number, 9)):
            circuit.cx(1, 3)
    with circuit.switch(number) as case, case(1):
        circuit.cx(2, 3)
    found = find_mapping(circuit_to_dag(circuit), CouplingMap.from_line(5), LayoutParams(level=1)).emission
    routed = dag_to_circuit(found.dag)
    assert replay(circuit, routed, found.start[:4], found.end[:4]) == ""
    assert (routed.num_input_vars, routed.num_declared_vars, routed.num_parameters) == (1, 1, 1)


def test_a_layout_without_swaps_is_found() -> None:
    """A path fits a ring in any order of its qubits."""
    circuit = QuantumCircuit(4)
    circuit.cx(2, 0)
    circuit.cx(0, 3)
    circuit.cx(3, 1)
    for level in (1, 2, 3):
        found = find_mapping(circuit_to_dag(circuit), CouplingMap.from_ring(6), LayoutParams(level=level)).emission
        assert count_cx(found.dag) == 3


def test_faulty_edges_are_avoided() -> None:
    """Neither the search nor Qiskit's own answer uses an edge of error 1."""
    device = Target.from_configuration(GATES, coupling_map=CouplingMap.from_ring(5))
    for pair in ((0, 1), (1, 0)):
        if device.instruction_supported("cx", pair):
            device.update_instruction_properties("cx", pair, InstructionProperties(error=1.0))
            device.update_instruction_properties("swap", pair, InstructionProperties(error=1.0))
    for level in (1, 3):
        found = find_mapping(circuit_to_dag(full(4)), device, LayoutParams(level=level)).emission.dag
        used = {tuple(sorted(found.find_bit(q).index for q in gate.qargs)) for gate in found.two_qubit_ops()}
        assert used
        assert (0, 1) not in used


def test_sabre_answers_on_what_works() -> None:
    """With the last qubit cut off, SABRE still maps a circuit on the others."""
    errors = {(0, 1): 0.1, (1, 2): 0.1, (2, 3): 0.1, (3, 4): 1.0}
    device = Target(num_qubits=5)
    device.add_instruction(CXGate(), {pair: InstructionProperties(error=error) for pair, error in errors.items()})
    found = find_mapping(circuit_to_dag(full(4)), device, LayoutParams(level=2))
    assert found.sabre is not None
    assert found.sabre.dag.num_qubits() == 5
    assert 4 not in found.sabre.start[:4]


def test_qubits_without_a_pair_avoid_faulty_qubits() -> None:
    """A circuit qubit that meets no other is not left on a device qubit without edges."""
    circuit = QuantumCircuit(3)
    circuit.h([0, 1, 2])
    circuit.cx(1, 2)
    device = CouplingMap([[1, 2], [2, 3]])
    found = find_mapping(circuit_to_dag(circuit), device, LayoutParams(level=3)).emission
    assert 0 not in found.start[:3]


def test_a_single_qubit_stays() -> None:
    """A device of one qubit without edges carries a circuit of one."""
    circuit = QuantumCircuit(1)
    circuit.h(0)
    device = CouplingMap()
    device.add_physical_qubit(0)
    assert find_mapping(circuit_to_dag(circuit), device, LayoutParams()).emission.start == [0]


def test_too_wide_circuits_are_bad_input() -> None:
    """Five qubits do not fit on four."""
    with pytest.raises(InputError, match="at least 5 qubits for this circuit, found 4"):
        find_mapping(circuit_to_dag(full(5)), CouplingMap.from_line(4), LayoutParams())


def test_a_given_layout_over_parts_is_bad_input() -> None:
    """Qubits on parts that are not connected cannot meet."""
    circuit = QuantumCircuit(4)
    circuit.cx(0, 3)
    device = CouplingMap([[0, 1], [2, 3]])
    with pytest.raises(InputError, match="found 0 and 3"):
        find_mapping(circuit_to_dag(circuit), device, LayoutParams(), np.arange(4, dtype=np.int32))


def test_a_search_that_leaves_its_layout_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A route from elsewhere is never written out."""
    wrong = Mapped(route=Route(start=np.array([1, 0], np.int32), steps=np.empty((0, 2), np.int32)))
    monkeypatch.setattr("tiger.circuits.transpiler.mapping.map_circuit", lambda *_, **__: wrong)
    with pytest.raises(RuntimeError, match="left the layout"):
        find_mapping(
            circuit_to_dag(QuantumCircuit(2)), CouplingMap.from_line(2), LayoutParams(), np.arange(2, dtype=np.int32)
        )


def test_qiskits_circuit_is_taken_where_its_blocks_are_better() -> None:
    """Walking along shortest paths in a block and back loses to SABRE there."""
    circuit = QuantumCircuit(5)
    circuit.for_loop(range(2), None, full(5), range(5), [])
    found = find_mapping(circuit_to_dag(circuit), CouplingMap.from_line(5), LayoutParams(level=2))
    assert found.emission is found.sabre


def test_a_device_without_a_path_is_left_before_prices_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices of SWAPs take most of the time that reading a circuit does."""
    monkeypatch.setattr("tiger.circuits.transpiler.mapping.price_swaps", None)
    star, circuit = CouplingMap([[0, 1], [0, 2], [0, 3]]), QuantumCircuit(4)
    for a, b in ((0, 1), (1, 2), (2, 3)):
        circuit.cx(a, b)
    with pytest.raises(InputError, match="expected a path"):
        find_path_mapping(circuit_to_dag(circuit), star, FusingParams(level=2, basis=("cx",)))
