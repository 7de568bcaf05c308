"""The matrix that `nvidia-smi topo -m` prints: how each two GPUs of a machine are connected.

Rows of GPUs with one entry per GPU (and per NIC, which is counted alone): X for itself, NV# for # bonded NVLinks, else
the farthest thing on the way: PIX one PCIe switch, PXB several, PHB the host bridge, NODE bridges of one NUMA node, SYS
the link between NUMA nodes; SOC and PSB are older names of SYS and PIX.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.gpulinks import NVLINK, GpuFabric
from tiger.formats.hardware.pairs import PairHardware
from tiger.model.arrays import BoolArray, IntArray
from tiger.model.wording import describe

FIELD = "topology"
LANES = "NV#"
# Bytes per second and direction. NVLink 2 to 4 carry 25 GB/s a lane. The rest are the figures of NCCL
# (src/graph/topo.h): 12 GB/s over PCIe 3.0 x16, a fifth more traffic through host bridges, 10 GB/s between sockets.
BANDWIDTHS: Mapping[str, float] = {LANES: NVLINK, "PIX": 12e9, "PXB": 12e9, "PHB": 10e9, "NODE": 10e9, "SYS": 10e9}
# More than any machine has.
GPU_LIMIT = 1024
# The most NVLinks of a GPU up to now, H100 and B200: one with more in its row reaches others through switches.
LANE_LIMIT = 18
_OLDER = {"SOC": "SYS", "PSB": "PIX"}
# Logs tend to lose the escape character and to keep the rest of the code.
_ANSI = re.compile(r"\x1b?\[[0-9;]*m")
_GPU = re.compile(r"GPU[0-9]+")
_BONDED = re.compile(r"NV([1-9][0-9]{0,3})")
_TITLES = re.compile(r"CPU|NUMA")


@dataclass(frozen=True, slots=True)
class TopoMatrix:
    """Hold the names of the GPUs of a machine, the entry of each two from 0, lower first, and the number of NICs.

    `lane` is what one of the bonded links carries, in bytes per second and direction.
    """

    names: tuple[str, ...]
    entries: Mapping[tuple[int, int], str]
    nics: int = 0
    lane: float = NVLINK


@dataclass(frozen=True, slots=True)
class _Header:
    """Hold the columns of the matrix, the most words that a row may have, and the number of the line from 1."""

    columns: tuple[str, ...]
    most: float
    line: int


def read_machine(text: str) -> PairHardware:
    """Return the GPUs of a printed matrix as `gpu0`, `gpu1`, .., as far apart as a byte takes long between them.

    The nearest two are 1 apart. Raises InputError of `topology` as `read_matrix` does.
    """
    matrix = read_matrix(FIELD, text, GPU_LIMIT)
    size, kinds = len(matrix.names), list(BANDWIDTHS)
    kind, lanes = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
    for (a, b), entry in matrix.entries.items():
        lanes[a, b] = lanes[b, a] = count_lanes(entry)
        kind[a, b] = kind[b, a] = kinds.index(LANES if lanes[a, b] else entry)
    return time_pairs(tuple(name.lower() for name in matrix.names), kind, lanes, _find_fabric(kind, lanes))


def time_pairs(
    names: tuple[str, ...],
    kind: IntArray,
    lanes: IntArray,
    fabric: GpuFabric,
    bandwidths: Mapping[str, float] = BANDWIDTHS,
) -> PairHardware:
    """Return GPUs as far apart as a byte takes long between them, the nearest two 1.

    `kind` has the position of the connection of each two in `bandwidths`, that of a lane first; `lanes` are those that
    are bonded.
    """
    share = 1 / np.maximum(lanes, 1)
    widths = np.array(list(bandwidths.values()))[kind] / share
    apart = ~np.eye(len(names), dtype=bool)
    widest = float(widths[apart].max()) if len(names) > 1 else next(iter(bandwidths.values()))
    distances = {name.removesuffix("#"): widest / width for name, width in bandwidths.items()}
    return PairHardware(names=names, distances=distances, kind=kind, share=share, fabric=fabric)


def _find_fabric(kind: IntArray, lanes: IntArray) -> GpuFabric:
    """Return the connections of GPUs in a matrix: NVLinks, through switches where they are too many, and PCIe.

    Two GPUs are behind the same thing that is on the way between any two of a chain of GPUs from one to the other.
    """
    nvlinked = _group(lanes > 0)
    busy = np.isin(nvlinked, nvlinked[lanes.sum(axis=1) > LANE_LIMIT])
    joined, bridges = np.zeros(kind.shape, bool), dict[str, tuple[IntArray, float]]()
    for position, (name, width) in enumerate(BANDWIDTHS.items()):
        if name != LANES:
            joined |= kind == position
            bridges[name] = _group(joined), width
    switched = np.where(busy, lanes.max(axis=1), 0) * NVLINK
    return GpuFabric(np.where(busy, 0, lanes) * NVLINK, switched, nvlinked, bridges)


def _group(joined: BoolArray) -> IntArray:
    """Return the number of the connected group of every GPU, by which of them are joined."""
    from scipy.sparse.csgraph import connected_components  # clusters read the same matrices, and need none of it

    return np.asarray(connected_components(joined, directed=False)[1], np.int64)


def is_matrix(text: str) -> bool:
    """Return whether a line of a text begins as the matrix does."""
    return any(_GPU.match(line.strip()) for line in _ANSI.sub("", text).splitlines())


def count_lanes(entry: str) -> int:
    """Return the number of NVLinks of an entry, 0 for other connections."""
    bonded = _BONDED.fullmatch(entry)
    return int(bonded[1]) if bonded else 0


def read_matrix(field: str, text: str, most: int) -> TopoMatrix:
    """Return the matrix of a text, of a limited number of GPUs; O(n^2).

    Raises InputError that names row and column for ragged rows, unknown entries and entries that contradict each other.
    """
    lines = _ANSI.sub("", text).splitlines()
    header = _header(field, lines)
    gpus = [name for name in header.columns if _GPU.fullmatch(name)]
    if not 1 <= len(gpus) <= most:
        raise InputError(field, f"expected 1 to {most:,} devices, got {len(gpus)}")
    rows = _rows(field, lines[header.line :], header)
    missing = next((name for name in gpus if name not in rows), None)
    if missing is not None:
        raise InputError(field, f"row {missing}: expected a row for every GPU, got none")
    entries = {
        (a, b): _common_entry(field, rows, gpus[a], gpus[b]) for a in range(len(gpus)) for b in range(a + 1, len(gpus))
    }
    return TopoMatrix(tuple(gpus), entries, len(header.columns) - len(gpus))


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
        expected = "X" if row == column else f"one of NV1 and up, {', '.join([*BANDWIDTHS][1:])}"
        raise InputError(field, f"row {row}, column {column}: expected {expected}, got {describe(word)}")
    return _OLDER.get(word, word)


def _is_known(word: str) -> bool:
    """Return whether a word is a class of connections, or a number of lanes."""
    return word in _OLDER or (word in BANDWIDTHS and word != LANES) or count_lanes(word) > 0


def _common_entry(field: str, rows: Mapping[str, Mapping[str, str]], a: str, b: str) -> str:
    """Return the entry of two GPUs, the same from both sides."""
    there, back = rows[a][b], rows[b][a]
    if there != back:
        raise InputError(field, f"row {b}, column {a}: expected {there} as in row {a}, column {b}, got {back}")
    return there
