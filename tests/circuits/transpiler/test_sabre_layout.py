"""Tests of layouts for SABRE's routing."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.transpiler import CouplingMap

from tests.circuits.equivalence import replay
from tests.circuits.strategies import devices, flow_circuits, quick_search
from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler.flow import count_cx
from tiger.circuits.transpiler.sabre import run_sabre
from tiger.circuits.transpiler.sabre_layout import find_mapping_for_sabre


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    with quick_search():
        yield


@pytest.mark.slow
@given(data=st.data(), level=st.sampled_from([0, 1, 2, 3]), seed=st.integers(0, 99))
def test_circuits_are_the_original_and_no_worse_than_qiskits(data: st.DataObject, level: int, seed: int) -> None:
    """Laid out and routed circuits do the same, from level 2 on with no more CX gates than SABRE's."""
    circuit = data.draw(flow_circuits(depth=1))
    dag, device = circuit_to_dag(circuit), data.draw(devices(circuit.num_qubits))
    found = find_mapping_for_sabre(dag, device, LayoutParams(level=level, seed=seed))
    count = circuit.num_qubits
    assert replay(circuit, dag_to_circuit(found.dag), found.start[:count], found.end[:count]) == ""
    assert level < 2 or count_cx(found.dag) <= count_cx(run_sabre(dag, device, level, seed).dag)


def test_a_layout_without_swaps_is_enough() -> None:
    """A path on a line is done at once."""
    circuit = QuantumCircuit(3)
    circuit.cx(0, 2)
    circuit.cx(2, 1)
    assert count_cx(find_mapping_for_sabre(circuit_to_dag(circuit), CouplingMap.from_line(5), LayoutParams()).dag) == 2


@pytest.mark.slow
def test_more_effort_is_never_worse() -> None:
    """A longer climb begins like a shorter one."""
    circuit = QuantumCircuit(6)
    for a in range(6):
        for b in range(a):
            circuit.cx(a, b)
            circuit.h(b)
    dag, device = circuit_to_dag(circuit), CouplingMap.from_line(8)
    costs = [count_cx(find_mapping_for_sabre(dag, device, LayoutParams(effort=effort)).dag) for effort in (1, 4, 8)]
    assert costs == sorted(costs, reverse=True)
