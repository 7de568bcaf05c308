"""Devices from specifications, files, pairs and documents."""

import json
from pathlib import Path

import pytest
from qiskit.circuit.library import CXGate
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.transpiler import CouplingMap, Target

from tiger.circuits.entry.hardware import device_of_document, device_of_spec, read_device
from tiger.circuits.transpiler.target import coupling_of
from tiger.errors import InputError
from tiger.routing.coupling import Coupling

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "circuits"
LINE = [[0, 1], [1, 2]]


def edges(device: Target | CouplingMap) -> tuple[int, list[list[int]]]:
    """Return the number of qubits of a device, and its pairs."""
    coupling: Coupling = coupling_of(device)
    return coupling.size, coupling.edges.tolist()


@pytest.mark.parametrize(
    ("spec", "size", "pairs"),
    [("heavy-hex:7", 115, 132), ("grid:5x5", 25, 40), ("torus:3x4", 12, 24), ("ring:5", 5, 5)],
)
def test_a_specification_names_a_device(spec: str, size: int, pairs: int) -> None:
    """Its nodes are qubits, in their order."""
    count, found = edges(read_device(spec))
    assert (count, len(found)) == (size, pairs)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0 1\n1 2\n", (3, LINE)),
        ("# a device\n\n0,1  # first\n 2 - 1\n1;0", (3, LINE)),
        ("[[0, 1], [2, 1]]", (3, LINE)),
        ('{"coupling_map": [[0, 1], [1, 2]], "num_qubits": 4}', (4, LINE)),
        ('{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "b", "target": "a"}]}', (2, [[0, 1]])),
    ],
)
def test_a_file_is_told_by_its_content(tmp_path: Path, text: str, found: tuple[int, list[list[int]]]) -> None:
    """Lines of two qubits, or JSON."""
    (tmp_path / "device").write_text(text)
    assert edges(read_device(tmp_path / "device")) == edges(read_device(str(tmp_path / "device"))) == found


def test_the_examples_are_devices() -> None:
    """A row with a tail, and an H."""
    assert edges(read_device(EXAMPLES / "tee9.txt"))[1][-1] == [7, 8]
    assert edges(read_device(EXAMPLES / "noisy7.json"))[0] == 7


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (LINE, (3, LINE)),
        ({"coupling_map": []} | {"num_qubits": 2}, (2, [])),
        ({"nodes": [{"id": 2}, {"id": 0}, {"id": 1}], "edges": [{"source": 2, "target": 1}]}, (3, [[1, 2]])),
        ({"nodes": [{"id": 5}, {"id": 3}], "edges": [{"source": 3, "target": 5}], "directed": True}, (2, [[0, 1]])),
    ],
)
def test_a_document_is_a_device(data: object, found: tuple[int, list[list[int]]]) -> None:
    """Ids that are the numbers from 0 are the qubits' own."""
    assert edges(device_of_document(data)) == found


def test_objects_of_qiskit_are_devices() -> None:
    """A coupling map, a Target and a backend; pairs in any sequence."""
    line = CouplingMap.from_line(3)
    backend = GenericBackendV2(3, coupling_map=LINE, seed=1)
    for source in (line, backend, backend.target, LINE, ((0, 1), (1, 2)), iter(LINE)):
        assert edges(read_device(source)) == (3, LINE)
    assert read_device(line) is line


def test_directions_are_kept() -> None:
    """They are for later stages."""
    assert list(device_of_document([[1, 0]]).get_edges()) == [(1, 0)]


@pytest.mark.parametrize(
    ("source", "field", "reason"),
    [
        ("fat-tree:4", "topology", "expected hardware whose nodes are linked directly"),
        ("tree:2x2@1,2", "topology", "expected hardware whose nodes are linked directly"),
        ("moebius:3", "topology", "expected KIND:.."),
        ("ring", "topology", "expected a whole number"),
        ("grid:99999x99999", "topology", "expected"),
        ("no/such/file", "topology", "cannot read 'no/such/file'"),
        (Path("ring:5"), "topology", "cannot read 'ring:5'"),
        ([[0, 100_000_000]], "topology/0", "expected qubits from 0 to 4095, got 100000000"),
        ([], "topology", "expected at least one pair of qubits, got none"),
        ([[0, 1], [2, 2]], "topology/1", "expected two different qubits, got 2 twice"),
        ([[0, 1, 2]], "topology/0", "expected two qubits, got a list"),
        ([5], "topology/0", "expected two qubits, got 5"),
        (["01"], "topology/0", "expected two qubits, got '01'"),
        ([[0, -1]], "topology/0/1", "expected a whole number"),
        ([["a", 1]], "topology/0/0", "expected a whole number"),
        (Target(), "topology", "expected a device of 1 to 4096 qubits, got"),
        (CouplingMap(), "topology", "expected a device of 1 to 4096 qubits, got 0"),
        (CouplingMap.from_line(4097), "topology", "expected a device of 1 to 4096 qubits, got 4097"),
    ],
    ids=str,
)
def test_bad_devices_are_named(source: object, field: str, reason: str) -> None:
    """The pointer leads to the pair or the number at fault."""
    with pytest.raises(InputError) as caught:
        read_device(source)
    assert (caught.value.field, caught.value.reason[: len(reason)]) == (field, reason)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (None, "topology"),
        ({}, "topology"),
        ({"edges": []}, "topology"),
        ({"coupling_map": 5}, "topology/coupling_map"),
        ({"coupling_map": "0 1"}, "topology/coupling_map"),
        ({"coupling_map": {"0": 1}}, "topology/coupling_map"),
        ({"coupling_map": [[0, 7]], "num_qubits": 5}, "topology/coupling_map/0"),
        ({"coupling_map": [[0, 1]], "num_qubits": 0}, "topology/coupling_map/0"),
        ({"coupling_map": [], "num_qubits": 0}, "topology"),
        ({"coupling_map": [], "num_qubits": 10**9}, "topology"),
        ({"coupling_map": [], "num_qubits": "many"}, "topology/num_qubits"),
        ({"coupling_map": [], "qubits": 3}, "topology/qubits"),
        ({"nodes": [{"id": 0}], "edges": [{"source": 0, "target": 0}]}, "topology/edges/0"),
        ({"nodes": [{"id": 0}], "edges": [{"source": 0, "target": 1}]}, "topology/edges/0/target"),
        ({"nodes": [], "edges": []}, "topology/nodes"),
    ],
    ids=str,
)
def test_bad_documents_are_named(data: object, field: str) -> None:
    """Nothing is repaired in silence."""
    with pytest.raises(InputError) as caught:
        device_of_document(data)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("text", "reason"), [("0 1\n1 x\n", "line 2: expected two qubits"), ("", "cannot read"), ("0", "line 1")]
)
def test_bad_lines_are_numbered(tmp_path: Path, text: str, reason: str) -> None:
    """So that they are found."""
    (tmp_path / "d.txt").write_text(text)
    with pytest.raises(InputError, match=f"topology: {reason}"):
        read_device(tmp_path / "d.txt")


def test_bad_json_in_a_file_is_bad_input(tmp_path: Path) -> None:
    """Keys may not repeat."""
    for text in ("[", '{"nodes": [], "nodes": []}', json.dumps({"a": 1})):
        (tmp_path / "d.json").write_text(text)
        with pytest.raises(InputError, match="topology: expected"):
            read_device(tmp_path / "d.json")


def test_a_limit_on_qubits_holds_for_specifications() -> None:
    """Of a service, for example."""
    with pytest.raises(InputError, match="expected 1 to 8 qubits, got 9"):
        device_of_spec("grid:3x3", 8)


def test_other_types_are_refused() -> None:
    """A gate is no device."""
    for source in (5, None, CXGate()):
        with pytest.raises(TypeError, match="expected the device as a SPEC, a path"):
            read_device(source)
