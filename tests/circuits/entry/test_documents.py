"""Tests of circuits as text and of devices as documents."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from qiskit import QuantumCircuit, qpy
from qiskit.circuit.library import CXGate
from qiskit.transpiler import CouplingMap, Target

from tiger.circuits.entry.documents import circuit_text, device_document, layout_list
from tiger.circuits.entry.hardware import device_of_document, read_device
from tiger.circuits.entry.reading import read_circuit
from tiger.circuits.entry.scan import CircuitLimits
from tiger.errors import InputError
from tiger.routing.error_rates import errors_of_target

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/circuits"
TEXT = 'OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; cx q[0], q[1];'


@pytest.fixture(name="bell")
def _bell() -> QuantumCircuit:
    """Return a circuit of two gates."""
    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.cx(0, 1)
    return circuit


def test_text_stays_as_it_is() -> None:
    """What it says is for the service to judge."""
    assert circuit_text(TEXT) == circuit_text(TEXT.encode()) == TEXT
    assert circuit_text("no circuit;") == "no circuit;"


def test_files_are_read_here(tmp_path: Path) -> None:
    """With or without a mark of their byte order."""
    (tmp_path / "c.qasm").write_text(TEXT, encoding="utf-8-sig")
    assert circuit_text(tmp_path / "c.qasm") == circuit_text(str(tmp_path / "c.qasm")) == TEXT


def test_circuits_are_written_out(bell: QuantumCircuit) -> None:
    """A circuit and its QPY become the same text, which reads back as that circuit."""
    packed = io.BytesIO()
    qpy.dump(bell, packed)
    assert circuit_text(bell) == circuit_text(packed.getvalue())
    assert read_circuit(circuit_text(bell)) == bell


@pytest.mark.parametrize("source", ["nosuch.qasm", Path("nosuch.qasm"), b"\xff\xfe", b"QISKIT", QuantumCircuit(1)])
def test_circuits_that_cannot_be_read(source: Path | str | bytes | QuantumCircuit) -> None:
    """They are refused here, as by a local run."""
    with pytest.raises(InputError, match=r"^circuit: "):
        circuit_text(source)


def test_a_file_may_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not read to its end."""
    monkeypatch.setattr("tiger.circuits.entry.documents.CircuitLimits", lambda: CircuitLimits(max_bytes=10))
    (tmp_path / "c.qasm").write_text(TEXT)
    with pytest.raises(InputError, match=r"^circuit: expected at most 10 bytes"):
        circuit_text(tmp_path / "c.qasm")


def test_circuits_that_openqasm_cannot_say(bell: QuantumCircuit, monkeypatch: pytest.MonkeyPatch) -> None:
    """They cannot be sent."""
    monkeypatch.setattr("tiger.circuits.entry.writing.qasm_of", lambda circuit: None)
    with pytest.raises(InputError, match=r"^circuit: expected a circuit that OpenQASM can say"):
        circuit_text(bell)


def test_specifications_stay_as_they_are() -> None:
    """The service knows them."""
    assert device_document("heavy-hex:3") == "heavy-hex:3"


@pytest.mark.parametrize(
    "source", [EXAMPLES / "tee9.txt", [(0, 1), (1, 2)], CouplingMap([[1, 0], [1, 2]]), np.eye(2)[:0]]
)
def test_devices_read_back_as_they_were(source: object) -> None:
    """Pairs of qubits, with their directions; what is none is refused here."""
    if isinstance(source, np.ndarray):
        with pytest.raises(InputError, match=r"^topology: "):
            device_document(source)
        return
    device, again = read_device(source), device_of_document(json.loads(json.dumps(device_document(source))))
    assert isinstance(device, CouplingMap)
    assert (list(again.get_edges()), again.size()) == (list(device.get_edges()), device.size())


def test_targets_read_back_as_they_were() -> None:
    """Gates, readout and their errors, from the file and from the Target."""
    target = read_device(EXAMPLES / "noisy7.json")
    again = device_of_document(json.loads(json.dumps(device_document(target))))
    assert device_document(EXAMPLES / "noisy7.json") == json.loads((EXAMPLES / "noisy7.json").read_text())
    ours, theirs = errors_of_target(target), errors_of_target(again)
    assert np.array_equal(ours.pair, theirs.pair)
    assert np.array_equal(ours.readout, theirs.readout)
    assert np.array_equal(ours.single, theirs.single)


def test_gates_on_all_qubits_are_refused() -> None:
    """No document can state them."""
    target = Target(num_qubits=2)
    target.add_instruction(CXGate(), {(0, 1): None})
    assert device_document(target) == {"num_qubits": 2, "gates": [{"name": "cx", "qubits": [0, 1]}]}
    everywhere = Target(num_qubits=2)
    everywhere.add_instruction(CXGate())
    with pytest.raises(InputError, match=r"^topology: expected gates that say their qubits"):
        device_document(everywhere)


@pytest.mark.parametrize(
    ("given", "listed"),
    [(None, None), ([2, 0], [2, 0]), (np.array([1, 3]), [1, 3]), ({1: 5, 0: 4}, [4, 5]), ({"0": 1}, [1])],
)
def test_layouts_become_lists(given: object, listed: list[int] | None) -> None:
    """In the order of the circuit's qubits."""
    assert layout_list(given) == listed


@pytest.mark.parametrize(("given", "field"), [({1: 0}, "initial_layout/0"), ([0, -1], "initial_layout/1")])
def test_layouts_that_cannot_be_used(given: object, field: str) -> None:
    """The qubit is named."""
    with pytest.raises(InputError, match=f"^{field}: "):
        layout_list(given)


@pytest.mark.parametrize("given", ["01", 3])
def test_layouts_of_another_type(given: object) -> None:
    """Text is no list of qubits."""
    with pytest.raises(TypeError, match=r"^expected initial_layout"):
        layout_list(given)
