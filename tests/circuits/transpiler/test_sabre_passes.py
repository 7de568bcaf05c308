"""Tests of SABRE's routing there and back."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.dagcircuit import DAGCircuit
from qiskit.transpiler import CouplingMap, Target

from tests.circuits.equivalence import replay
from tests.circuits.strategies import devices, flow_circuits
from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler.emission import Emission
from tiger.circuits.transpiler.mapping import find_mapping
from tiger.circuits.transpiler.model import model_of
from tiger.circuits.transpiler.sabre import route_of, run_sabre_routing
from tiger.circuits.transpiler.sabre_passes import estimate_layout_s, run_sabre_passes
from tiger.circuits.transpiler.target import coupling_of, working_device
from tiger.errors import InputError

TWO_LINES = CouplingMap([[0, 1], [1, 2], [3, 4], [4, 5]])


def star(size: int) -> QuantumCircuit:
    """Return a circuit in which one qubit meets all others."""
    circuit = QuantumCircuit(size)
    for k in range(1, size):
        circuit.cx(0, k)
    return circuit


@pytest.mark.slow
@given(data=st.data(), seed=st.integers(0, 99))
def test_the_circuit_is_the_original(data: st.DataObject, seed: int) -> None:
    """With control flow, barriers, measurements and directed edges."""
    circuit = data.draw(flow_circuits())
    device = data.draw(devices(circuit.num_qubits))
    model, coupling = model_of(circuit_to_dag(circuit), commute=False), coupling_of(device)
    found = run_sabre_passes(model, coupling, working_device(device, coupling), LayoutParams(seed=seed))
    count = circuit.num_qubits
    assert replay(circuit, dag_to_circuit(found.dag), found.start[:count], found.end[:count]) == ""
    assert sorted(found.start) == list(range(coupling.size))


def test_parts_of_a_device_hold_what_meets() -> None:
    """Two components go to two lines, as a route that the search can start from."""
    circuit = QuantumCircuit(6)
    for a, b in ((0, 2), (2, 4), (0, 4), (1, 3), (3, 5), (1, 5)):
        circuit.cx(a, b)
    model, coupling = model_of(circuit_to_dag(circuit), commute=True), coupling_of(TWO_LINES)
    found = run_sabre_passes(model, coupling, TWO_LINES, LayoutParams())
    assert replay(circuit, dag_to_circuit(found.dag), found.start, found.end) == ""
    assert route_of(model, coupling, found) is not None
    with pytest.raises(InputError, match="circuit"):
        run_sabre_passes(model_of(circuit_to_dag(star(5)), commute=True), coupling, TWO_LINES, LayoutParams())


def test_bug_no_second_layout_is_tried_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six routings of 12,000 gates on 400 qubits took 2 s, whatever the limit."""
    routed: list[int] = []

    def note(dag: DAGCircuit, device: Target | CouplingMap, level: int, seed: int, limit_s: float) -> Emission:
        routed.append(seed)
        return run_sabre_routing(dag, device, level, seed, limit_s)

    monkeypatch.setattr("tiger.circuits.transpiler.sabre_passes.run_sabre_routing", note)
    device = CouplingMap.from_grid(3, 3)
    model, coupling = model_of(circuit_to_dag(star(9)), commute=True), coupling_of(device)
    found = run_sabre_passes(model, coupling, device, LayoutParams(time_limit_s=1e-6))
    assert len(routed) == 3
    assert route_of(model, coupling, found) is not None
    run_sabre_passes(model, coupling, device, LayoutParams())
    assert len(routed) == 3 + 6


def test_bug_a_short_limit_is_heard_on_a_large_device() -> None:
    """Qiskit's SabreLayout took 10 s to look for the densest part of 1,296 qubits, whatever the limit."""
    device, params = CouplingMap.from_grid(30, 30), LayoutParams(level=1, time_limit_s=0.2)
    find_mapping(circuit_to_dag(star(9)), CouplingMap.from_grid(3, 3), LayoutParams(level=1, time_limit_s=1.0))
    begun = time.process_time()
    found = find_mapping(circuit_to_dag(star(850)), device, params)
    assert time.process_time() - begun < estimate_layout_s(850, 900)
    assert found.sabre is not None
    assert found.mapped.route.extra_cx < 3 * 850 * 5
