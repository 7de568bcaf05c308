"""Task graphs as Matrix Market files (`.mtx`).

Read here rather than by scipy.io.mmread, which takes `0x10` for 0 and can be crashed by a damaged file (scipy 1.17).
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.formats.text import RawLine, read_amount_lines, read_wholes
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe

# As many tasks as a topology has nodes at most.
ROW_LIMIT = 1_048_576
LAYOUTS = ("coordinate", "array")
NUMBERS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric")
Triplets = tuple[FloatArray, tuple[IntArray, IntArray]]


class Banner(NamedTuple):
    """Hold what the first line states."""

    layout: str
    numbers: str
    symmetry: str


def read_task_graph(text: str) -> TaskGraph:
    """Return the task graph of a square matrix of traffic, tasks named `1` to `n`.

    A general matrix is directed, its entries as given; a symmetric one is undirected, every pair once, the diagonal
    kept, entries on one side of it. Repeated entries add up, a pattern has traffic 1. Raises InputError of `tasks` with
    the line at fault. Source: Boisvert, Pozo, Remington, NISTIR 5935 (1996).
    """
    first, *rest = text.split("\n")
    banner = _read_banner(first)
    lines = [(k, line) for k, line in enumerate(rest, 2) if line.strip() and not line.startswith("%")]
    size, entries = _size(banner, lines)
    read = _coordinates if banner.layout == "coordinate" else _array
    volumes, (rows, columns) = read(banner, size, entries, lines[1:])
    undirected = banner.symmetry == "symmetric"
    if undirected:
        if (rows < columns).any() and (rows > columns).any():
            raise InputError("tasks", "expected symmetric entries on one side of the diagonal, got some on both")
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    return TaskGraph(
        names=tuple(str(k) for k in range(1, size + 1)),
        traffic=sp.csr_array((volumes, (rows, columns)), shape=(size, size)),
        directed=not undirected,
    )


def _read_banner(line: str) -> Banner:
    """Read the first line."""
    words = line.lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        raise InputError(
            "tasks", f"line 1: expected '%%MatrixMarket matrix LAYOUT NUMBERS SYMMETRY', got {describe(line)}"
        )
    banner = Banner(*words[2:])
    for word, known in zip(banner, (LAYOUTS, NUMBERS, SYMMETRIES), strict=True):
        if word not in known:
            raise InputError("tasks", f"line 1: expected one of {', '.join(known)}, got {describe(word)}")
    if banner.layout == "array" and banner.numbers == "pattern":
        raise InputError("tasks", "line 1: expected a pattern in coordinate layout, got an array")
    return banner


def _size(banner: Banner, lines: list[RawLine]) -> tuple[int, int]:
    """Return rows and entries as the size line states them."""
    if not lines:
        raise InputError("tasks", "expected a size line after the comments, got none")
    number, words = lines[0][0], lines[0][1].split()
    width = 3 if banner.layout == "coordinate" else 2
    if len(words) != width:
        raise InputError("tasks", f"line {number}: expected {width} numbers as the size, got {len(words)} words")
    rows, columns, *entries = read_wholes("tasks", f"line {number}", words).tolist()
    if rows != columns or not 1 <= rows <= ROW_LIMIT:
        found = f"{rows} x {columns}"
        raise InputError("tasks", f"line {number}: expected a square matrix of 1 to {ROW_LIMIT:,} rows, got {found}")
    if entries:
        return rows, entries[0]
    return rows, rows * rows if banner.symmetry == "general" else rows * (rows + 1) // 2


def _coordinates(banner: Banner, size: int, entries: int, lines: list[RawLine]) -> Triplets:
    """Return volumes, rows and columns of lines `row column [volume]`."""
    if len(lines) != entries:
        raise InputError("tasks", f"expected {entries} entries, got {len(lines)} lines")
    width = 2 if banner.numbers == "pattern" else 3
    values = _numbers(lines, width).reshape(-1, width)
    ends = values[:, :2]
    bad = np.flatnonzero(((ends != np.floor(ends)) | (ends < 1) | (ends > size)).any(axis=1))
    if bad.size:
        raise InputError("tasks", f"line {lines[bad[0]][0]}: expected row and column from 1 to {size}, got others")
    rows, columns = ends.T.astype(np.int64) - 1
    return values[:, 2] if width == 3 else np.ones(entries), (rows, columns)


def _array(banner: Banner, size: int, entries: int, lines: list[RawLine]) -> Triplets:
    """Return volumes, rows and columns of a dense matrix, column by column, of a symmetric one the lower triangle."""
    if len(lines) != entries:
        raise InputError("tasks", f"expected {entries} lines of one number, got {len(lines)}")
    symmetric = banner.symmetry == "symmetric"
    columns, rows = np.triu_indices(size) if symmetric else np.indices((size, size)).reshape(2, -1)
    return _numbers(lines, 1), (np.asarray(rows, np.int64), np.asarray(columns, np.int64))


def _numbers(lines: list[RawLine], width: int) -> FloatArray:
    """Return the numbers of lines that must have `width` each."""
    for number, line in lines:
        count = len(line.split())
        if count != width:
            raise InputError("tasks", f"line {number}: expected {width} numbers, got {count} words")
    return read_amount_lines("tasks", lines)
