"""The matrix that `nvidia-smi topo -m` prints: how each two GPUs of a machine are connected.

Rows of GPUs with one entry per GPU (and per NIC, which is passed over): X for itself, NV# for # bonded NVLinks, else
the farthest thing on the way: PIX one PCIe switch, PXB several, PHB the host bridge, NODE bridges of one NUMA node, SYS
the link between NUMA nodes; SOC and PSB are older names of SYS and PIX.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import lock
from tiger.model.wording import describe
from tiger.pipeline.hardware.cluster import DEVICE_LIMIT, NO_LINK, Cluster, check_device_count
from tiger.pipeline.hardware.connection import CONNECTION_FIELDS, Affine, Catalogue, Connection, connection
from tiger.pipeline.hardware.device import DEVICE_FIELDS, device_type
from tiger.pipeline.hardware.record import check_record, check_text

TOPO = "nvidia_smi_topo"
CLASSES = "classes"
LANES = "NV#"
# Bandwidth in bytes per second and direction, latency in seconds. NVLink 2 to 4 carry 25 GB/s a lane (NVIDIA's
# whitepapers of V100, A100 and H100; NVLink 1: 20, NVLink 5: 50). The rest are the figures of NCCL (src/graph/topo.h
# and tuning.cc): 12 GB/s over PCIe 3.0 x16, a fifth more traffic through host bridges, 10 GB/s between sockets, and
# 3.4 or 5.7 us a step.
RATES: Mapping[str, Affine] = {
    LANES: Affine(25e9, 3.4e-6),
    "PIX": Affine(12e9, 5.7e-6),
    "PXB": Affine(12e9, 5.7e-6),
    "PHB": Affine(10e9, 5.7e-6),
    "NODE": Affine(10e9, 5.7e-6),
    "SYS": Affine(10e9, 5.7e-6),
}
_OLDER = {"SOC": "SYS", "PSB": "PIX"}
_FIELDS = (TOPO, *DEVICE_FIELDS, CLASSES)
# Logs tend to lose the escape character and to keep the rest of the code.
_ANSI = re.compile(r"\x1b?\[[0-9;]*m")
_GPU = re.compile(r"GPU[0-9]+")
_BONDED = re.compile(r"NV([1-9][0-9]{0,3})")
_TITLES = re.compile(r"CPU|NUMA")


@dataclass(frozen=True, slots=True)
class TopoMatrix:
    """Hold the names of the GPUs of a machine and the connection of each two, numbered from 0, the lower first."""

    names: tuple[str, ...]
    links: Mapping[tuple[int, int], Connection]


def cluster_of_topo(document: Mapping[str, object], max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the one machine of `{"nvidia_smi_topo": TEXT}`.

    `kind`, `memory_bytes` and `speed` beside it hold for all GPUs, and `classes` may state other connections:
    `{"SYS": {"bandwidth": 16e9, "latency": 6e-6}, "NV#": ..}`, those of NV# for one lane.
    """
    fields = check_record("cluster", document, _FIELDS)
    device = device_type("cluster", fields)
    matrix = topo_matrix("cluster", fields, max_devices)
    size, catalogue = len(matrix.names), Catalogue()
    link = np.full((size, size), NO_LINK, np.int64)
    for (a, b), joined in matrix.links.items():
        link[a, b] = link[b, a] = catalogue.number(joined)
    return Cluster(
        names=matrix.names,
        kinds=(device.kind,) * size,
        speed=np.full(size, device.speed),
        memory_bytes=np.full(size, device.memory_bytes),
        curves=tuple(catalogue.curves),
        link=lock(link),
    )


def topo_matrix(field: str, fields: Mapping[str, object], max_devices: int = DEVICE_LIMIT) -> TopoMatrix:
    """Return the matrix in the fields `nvidia_smi_topo` and `classes`; O(n^2).

    Raises InputError that names row and column for ragged rows, unknown entries and entries that contradict each other.
    """
    rates = _rates(f"{field}/{CLASSES}", fields.get(CLASSES, {}))
    field = f"{field}/{TOPO}"
    lines = _ANSI.sub("", check_text(field, fields.get(TOPO))).splitlines()
    header = _header(field, lines)
    gpus = [name for name in header.columns if _GPU.fullmatch(name)]
    check_device_count(len(gpus), max_devices, field)
    rows = _rows(field, lines[header.line :], header)
    missing = next((name for name in gpus if name not in rows), None)
    if missing is not None:
        raise InputError(field, f"row {missing}: expected a row for every GPU, got none")
    links = {
        (a, b): _entry_connection(rates, _common_entry(field, rows, gpus[a], gpus[b]))
        for a in range(len(gpus))
        for b in range(a + 1, len(gpus))
    }
    return TopoMatrix(tuple(gpus), links)


def _rates(field: str, value: object) -> dict[str, Connection]:
    """Return the connection of every class: those stated, and the default of the others."""
    rates: dict[str, Connection] = dict(RATES)
    for name, entry in check_record(field, value, tuple(RATES)).items():
        stated = connection(f"{field}/{name}", check_record(f"{field}/{name}", entry, CONNECTION_FIELDS))
        if stated is None or (name == LANES and not isinstance(stated, Affine)):
            raise InputError(f"{field}/{name}", "expected a bandwidth (or, but for NV#, a table), got none")
        rates[name] = stated
    return rates


@dataclass(frozen=True, slots=True)
class _Header:
    """Hold the columns of the matrix, the most words that a row may have, and the number of the line from 1."""

    columns: tuple[str, ...]
    most: float
    line: int


def _header(field: str, lines: Sequence[str]) -> _Header:
    """Return the header of the matrix: the first line that begins with a GPU."""
    for number, line in enumerate(lines, 1):
        if _GPU.match(line.strip()):
            matrix, *titles = _TITLES.split(line, maxsplit=1)
            columns = tuple(matrix.split())
            if len(set(columns)) < len(columns) or any(word == "X" or _is_known(word) for word in columns):
                raise InputError(field, f"line {number}: expected different names of columns, above the entries")
            # Columns of affinities hold any number of words.
            return _Header(columns, math.inf if titles else len(columns), number)
    raise InputError(field, "expected what `nvidia-smi topo -m` prints, got no line that begins with a GPU")


def _rows(field: str, lines: Sequence[str], header: _Header) -> dict[str, dict[str, str]]:
    """Return the entries of every GPU by column, checked one by one; lines behind the matrix are skipped."""
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        name, *words = line.split() or [""]
        if name == "Legend:":
            break
        if not _GPU.fullmatch(name):
            continue
        if name in rows or name not in header.columns:
            raise InputError(field, f"row {name}: expected one row for every GPU of the first line, got another")
        if not len(header.columns) <= len(words) <= header.most:
            raise InputError(field, f"row {name}: expected {len(header.columns)} entries, got {len(words)}")
        cells = zip(header.columns, words, strict=False)
        rows[name] = {column: _entry(field, name, column, word) for column, word in cells}
    return rows


def _entry(field: str, row: str, column: str, word: str) -> str:
    """Return an entry, older names replaced, or raise InputError."""
    if (word != "X" and not _is_known(word)) or (word == "X") != (row == column):
        expected = "X" if row == column else f"one of NV1 and up, {', '.join([*RATES][1:])}"
        raise InputError(field, f"row {row}, column {column}: expected {expected}, got {describe(word)}")
    return _OLDER.get(word, word)


def _is_known(word: str) -> bool:
    """Return whether a word is a class of connections, or a number of lanes."""
    return word in _OLDER or (word in RATES and word != LANES) or _BONDED.fullmatch(word) is not None


def _common_entry(field: str, rows: Mapping[str, Mapping[str, str]], a: str, b: str) -> str:
    """Return the entry of two GPUs, the same from both sides."""
    there, back = rows[a][b], rows[b][a]
    if there != back:
        raise InputError(field, f"row {b}, column {a}: expected {there} as in row {a}, column {b}, got {back}")
    return there


def _entry_connection(rates: Mapping[str, Connection], entry: str) -> Connection:
    """Return the connection of an entry: as many times the bandwidth of one lane as there are."""
    bonded, lane = _BONDED.fullmatch(entry), rates[LANES]
    if bonded is None or not isinstance(lane, Affine):
        return rates[entry]
    return Affine(lane.bandwidth * int(bonded[1]), lane.latency_s)
