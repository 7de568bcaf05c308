"""Tests of routed circuits as documents: gates, layers and layouts agree with the circuit itself."""

import json
from dataclasses import replace

import pytest
from qiskit import QuantumCircuit

import tiger
from tiger.circuits.drawing import view as views
from tiger.circuits.drawing.routed import CircuitView
from tiger.circuits.drawing.view import view_circuit
from tiger.circuits.entry.hardware import Device, read_device
from tiger.circuits.entry.record import target_of
from tiger.circuits.entry.report import CircuitReport
from tiger.errors import InputError

NOISY = {
    "num_qubits": 3,
    "gates": [{"name": "cz", "qubits": [0, 1], "error": 0.1}, {"name": "cz", "qubits": [1, 2], "error": 0.2}],
    "measure": [{"qubit": 0, "error": 0.5}, {"qubit": 1, "error": 0.25}, {"qubit": 2, "error": 0.125}],
}


@pytest.fixture(scope="module", name="routed")
def _routed() -> tuple[CircuitReport, Device]:
    """Return a circuit in which all pairs of five qubits meet, on six in two rows."""
    circuit = QuantumCircuit(5, 1)
    for qubit in range(5):
        circuit.h(qubit)
        for other in range(qubit):
            circuit.cx(other, qubit)
    circuit.measure(4, 0)
    return tiger.layout(circuit, "grid:2x3", seed=1), read_device("grid:2x3")


@pytest.mark.slow
def test_gates_and_layers_are_those_of_the_text(routed):
    """Tests how many there are, and the depth of the routed circuit as Qiskit reads it."""
    report, device = routed
    view, circuit = view_circuit(report, device), QuantumCircuit.from_qasm_str(report.qasm)
    assert view.total_gates == len(view.name) == sum(circuit.count_ops().values())
    assert view.layers == max(view.layer) + 1 == circuit.depth()
    assert sum(view.swaps) == view.name.count("swap") == report.swaps > 0


def test_gates_of_two_qubits_are_on_edges_and_alone_in_their_layer(routed):
    """Tests that every pair is an edge of the device, and no qubit has two gates in a layer."""
    report, device = routed
    view = view_circuit(report, device)
    edges = set(zip(view.device.a, view.device.b, strict=True))
    busy = set()
    for first, second, layer in zip(view.first, view.second, view.layer, strict=True):
        assert second < 0 or tuple(sorted((first, second))) in edges
        for qubit in {first, second} - {-1}:
            assert (qubit, layer) not in busy
            busy.add((qubit, layer))


def test_layouts_are_those_of_the_report(routed):
    """Tests where qubits start and end."""
    report, device = routed
    view = view_circuit(report, device)
    assert dict(enumerate(view.initial)) == report.initial_layout
    assert dict(enumerate(view.final)) == report.final_layout


def test_a_report_from_a_document_has_its_circuit_as_text(routed):
    """Tests that the view is the same without the circuit itself."""
    report, device = routed
    assert view_circuit(CircuitReport.from_dict(report.to_dict()), device) == view_circuit(report, device)


@pytest.mark.slow
def test_errors_are_those_of_the_device():
    """Tests gates and readout of a Target, and a device without any."""
    circuit = QuantumCircuit(2)
    circuit.cz(0, 1)
    device = target_of(NOISY, 10)
    view = view_circuit(tiger.layout(circuit, device), device)
    assert (view.device.a, view.device.b) == ((0, 1), (1, 2))
    assert (view.edge_error, view.readout_error) == ((0.1, 0.2), (0.5, 0.25, 0.125))
    bare = view_circuit(tiger.layout(circuit, "grid:3"), read_device("grid:3"))
    assert (bare.edge_error, bare.readout_error) == ((None, None), (None, None, None))


def test_many_gates_are_cut_off(routed, monkeypatch):
    """Tests that the first layers stay, and all SWAPs are counted, several layers in one."""
    report, device = routed
    monkeypatch.setattr(views, "GATES", 4)
    monkeypatch.setattr(views, "BINS", 3)
    view = view_circuit(report, device)
    assert len(view.name) == len(view.layer) == 4
    assert max(view.layer) == 0
    assert (len(view.swaps), sum(view.swaps)) == (3, report.swaps)
    assert view.layers_per_bin == view.layers / 3


def test_documents_come_back_from_strict_json(routed):
    """Tests that every number is finite, and every member read as it was."""
    view = view_circuit(*routed)
    assert CircuitView.from_dict(json.loads(json.dumps(view.to_dict(), allow_nan=False))) == view


def test_no_circuit_is_no_view(routed):
    """Tests the report of a circuit that does not fit."""
    report, device = routed
    with pytest.raises(InputError, match="circuit: expected a routed circuit"):
        view_circuit(replace(report, circuit=None, qasm=None), device)


@pytest.mark.slow
def test_a_device_of_many_qubits_is_shown_in_groups(monkeypatch):
    """Tests a line of 100 qubits, five a vertex."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    device = read_device([(k, k + 1) for k in range(99)])
    report = replace(tiger.layout(circuit, "grid:2"), initial_layout={0: 9, 1: 10}, final_layout={0: 9, 1: 10})
    for name, most in (("graph.VERTICES", 50), ("graph.GROUPS", 20)):
        monkeypatch.setattr(f"tiger.run.drawing.{name}", most)
    view = view_circuit(report, device)
    assert (len(view.device.names), view.initial) == (20, (1, 2))
    assert view.device.counts == (5,) * 20
