"""Devices from specifications, files, pairs of qubits and documents, as Qiskit knows them."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from qiskit.transpiler import CouplingMap, Target

from tiger.circuits.entry.record import target_of
from tiger.circuits.entry.spec import is_spec
from tiger.errors import InputError
from tiger.formats import nodelink
from tiger.model.arrays import IntArray
from tiger.model.jsontext import read_json
from tiger.model.text import read_text
from tiger.model.values import check_whole
from tiger.model.wording import describe
from tiger.topologies.spec import build

FIELD = "topology"
# Qubits of a device at most: its table of distances takes 32 MB then.
LIMIT = 4096
Device: TypeAlias = Target | CouplingMap
Pair = tuple[int, int]
_LINE = re.compile(r"\s*(\d{1,9})\s*[\s,;-]\s*(\d{1,9})\s*(?:#.*)?")
_BLANK = re.compile(r"\s*(?:#.*)?")


def read_device(source: Device | Path | str | Iterable[Sequence[int]] | object, limit: int = LIMIT) -> Device:
    """Return the device that a source states: a Target where errors are known, else its coupling map.

    A string is a SPEC such as `heavy-hex:7` or a path; a file holds JSON or a line with two qubits for every edge.
    Other sources are a Target, a coupling map, a backend that has a `target`, and pairs of qubits. Raises InputError of
    `topology` or below for one that is malformed or has more qubits than the limit, and TypeError for another type.
    """
    if isinstance(source, str | Path):
        return _read_named(source, limit)
    target = source if isinstance(source, Target | CouplingMap) else getattr(source, "target", None)
    if isinstance(target, Target | CouplingMap):
        return _check_size(target, limit)
    if isinstance(source, Iterable):
        return _read_pairs(source, FIELD, None, limit)
    kinds = "a SPEC, a path, a Target, a coupling map, a backend or pairs of qubits"
    raise TypeError(f"expected the device as {kinds}, got {type(source).__name__}")


def device_of_spec(spec: str, limit: int = LIMIT) -> Device:
    """Return the coupling map that a SPEC such as `grid:5x5` describes; its qubits are numbered as its nodes are."""
    topology = build(spec)
    if topology.links is None or not topology.slots.all():
        raise InputError(FIELD, f"expected hardware whose nodes are linked directly, such as heavy-hex:7, got {spec!r}")
    return _coupling(np.stack([topology.links.u, topology.links.v], axis=1), topology.size, limit)


def device_of_document(data: object, limit: int = LIMIT) -> Device:
    """Return the device that parsed JSON states.

    It is a list of pairs [a, b]; {"coupling_map": pairs, "num_qubits": N}; a Target (`tiger.circuits.entry.record`);
    or a node-link graph, whose edges may have directions and whose qubits are numbered by their ids where these are the
    numbers from 0, else in their order.
    """
    if isinstance(data, list):
        return _read_pairs(data, FIELD, None, limit)
    if isinstance(data, dict) and "coupling_map" in data:
        return _read_document(data, limit)
    if isinstance(data, dict) and "gates" in data:
        return target_of(data, limit)
    if isinstance(data, dict) and "nodes" in data:
        return _read_node_link(data, limit)
    wanted = "pairs of qubits, a coupling_map, the gates of a Target or the nodes of a graph"
    raise InputError(FIELD, f"expected {wanted}, got {'an object without them' if data else describe(data)}")


def document_of_text(text: str) -> object:
    """Return the document that the text of a file states: JSON, or a pair of qubits for every line."""
    if text.lstrip()[:1] in ("[", "{"):
        return read_json(text, FIELD)
    return [_ends(number, line) for number, line in _lines(text)]


def _read_named(source: str | Path, limit: int) -> Device:
    """Return the device of a SPEC or a file."""
    if isinstance(source, str) and is_spec(source):
        return device_of_spec(source, limit)
    if not str(source).strip():
        raise InputError(FIELD, "expected a SPEC such as heavy-hex:7 or a file, got nothing")
    return device_of_document(document_of_text(read_text(Path(source), FIELD)), limit)


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the lines that hold more than a comment, with their numbers."""
    return [(k, line) for k, line in enumerate(text.splitlines(), 1) if not _BLANK.fullmatch(line)]


def _ends(number: int, line: str) -> Pair:
    """Return the two qubits of a line."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise InputError(FIELD, f"line {number}: expected two qubits such as '0 1', got {describe(line.strip())}")
    return int(match[1]), int(match[2])


def _read_document(data: dict[str, object], limit: int) -> Device:
    """Return the device of a document with a coupling map."""
    unknown = next((name for name in data if name not in ("coupling_map", "num_qubits")), None)
    if unknown is not None:
        raise InputError(f"{FIELD}/{unknown}", "expected a known field, got an unknown one")
    size = None if "num_qubits" not in data else check_whole(f"{FIELD}/num_qubits", data["num_qubits"])
    return _read_pairs(data["coupling_map"], f"{FIELD}/coupling_map", size, limit)


def _read_pairs(pairs: object, field: str, size: int | None, limit: int) -> Device:
    """Return the coupling map of pairs of qubits."""
    if not isinstance(pairs, Iterable) or isinstance(pairs, str | bytes | dict):
        raise InputError(field, f"expected a list of pairs of qubits, got {describe(pairs)}")
    ends = [_pair(f"{field}/{k}", pair, limit if size is None else size) for k, pair in enumerate(pairs)]
    if not ends and size is None:
        raise InputError(field, "expected at least one pair of qubits, got none")
    return _coupling(np.array(ends, np.int64).reshape(-1, 2), size, limit)


def _pair(field: str, pair: object, size: int) -> Pair:
    """Return two different qubits below a number."""
    if not isinstance(pair, Sequence | np.ndarray) or isinstance(pair, str | bytes) or len(pair) != 2:
        raise InputError(field, f"expected two qubits, got {describe(pair)}")
    a, b = (check_whole(f"{field}/{k}", end) for k, end in enumerate(pair))
    if max(a, b) >= size:
        raise InputError(field, f"expected qubits from 0 to {size - 1}, got {max(a, b)}")
    if a == b:
        raise InputError(field, f"expected two different qubits, got {a} twice")
    return a, b


def _read_node_link(data: dict[str, object], limit: int) -> Device:
    """Return the coupling map of a node-link graph."""
    graph = nodelink.read_graph(data, FIELD)
    numbers = {str(k): k for k in range(len(graph.names))}
    order = [numbers[name] for name in graph.names] if set(graph.names) == set(numbers) else range(len(graph.names))
    ends = np.array(graph.ends, np.int64).reshape(-1, 2)
    loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if loops.size:
        raise InputError(f"{graph.edges_at}/{loops[0]}", "expected two different qubits, got one twice")
    return _coupling(np.array(order, np.int64)[ends], len(graph.names), limit)


def _coupling(ends: IntArray, size: int | None, limit: int) -> CouplingMap:
    """Return a coupling map, of the qubits up to the largest one where no number is stated."""
    count = int(ends.max(initial=-1)) + 1 if size is None else size
    if not 0 < count <= limit:
        raise InputError(FIELD, f"expected 1 to {limit} qubits, got {count}")
    device = CouplingMap()
    for qubit in range(count):
        device.add_physical_qubit(qubit)
    for a, b in dict.fromkeys(map(tuple, ends.tolist())):
        device.add_edge(a, b)
    return device


def _check_size(device: Device, limit: int) -> Device:
    """Return a device whose number of qubits is known and within the limit."""
    count = device.size() if isinstance(device, CouplingMap) else device.num_qubits
    if count is None or not 0 < count <= limit:
        found = "no number of them" if count is None else count
        raise InputError(FIELD, f"expected a device of 1 to {limit} qubits, got {found}")
    return device
