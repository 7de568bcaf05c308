"""Task graphs as Matrix Market files (`.mtx`).

Read here rather than by scipy.io.mmread, which takes `0x10` for 0 and can be crashed by a damaged file (scipy 1.17).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiger.errors import InputError
from tiger.formats.numberlines import NumberLines, read_blocks
from tiger.model.arrays import FloatArray
from tiger.model.tasks import TaskGraph
from tiger.model.text import read_wholes
from tiger.model.wording import describe

# As many tasks as a topology has nodes at most.
ROW_LIMIT = 1_048_576
IndexArray = NDArray[np.int32]
LAYOUTS = ("coordinate", "array")
NUMBERS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric")
Triplets = tuple[FloatArray, IndexArray, IndexArray]


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
    begin = text.find("\n") + 1 or len(text)
    banner = _read_banner(text[:begin].removesuffix("\n"))
    size, entries, start, number = _find_size(banner, text, begin)
    read = _read_coordinates if banner.layout == "coordinate" else _read_array
    try:
        volumes, rows, columns = read(banner, size, entries, _read_lines(text, start, number))
    except InputError:
        # Where the size is wrong, so may be what is said of an entry: that is said first.
        _check_count(banner, entries, sum(_is_counted(line) for line in text[start:].split("\n")))
        raise
    undirected = banner.symmetry == "symmetric"
    if undirected:
        if (rows < columns).any() and (rows > columns).any():
            raise InputError("tasks", "expected symmetric entries on one side of the diagonal, got some on both")
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    return TaskGraph(
        names=tuple(map(str, range(1, size + 1))),
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


def _find_size(banner: Banner, text: str, start: int) -> tuple[int, int, int, int]:
    """Return rows and entries as the size line states them, and where the next line begins, and its number."""
    for number in range(2, text.count("\n") + 2):
        end = text.find("\n", start)
        line, start = text[start : end if end >= 0 else len(text)], end + 1 or len(text)
        if _is_counted(line):
            return *_read_size(banner, f"line {number}", line.split()), start, number + 1
    raise InputError("tasks", "expected a size line after the comments, got none")


def _is_comment(line: str) -> bool:
    """Return whether a line is a comment."""
    return line.startswith("%")


def _is_counted(line: str) -> bool:
    """Return whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not _is_comment(line)


def _read_size(banner: Banner, where: str, words: list[str]) -> tuple[int, int]:
    """Return rows and entries by the words of the size line."""
    width = 3 if banner.layout == "coordinate" else 2
    if len(words) != width:
        raise InputError("tasks", f"{where}: expected {width} numbers as the size, got {len(words)} words")
    rows, columns, *entries = read_wholes("tasks", where, words).tolist()
    if rows != columns or not 1 <= rows <= ROW_LIMIT:
        found = f"{rows} x {columns}"
        raise InputError("tasks", f"{where}: expected a square matrix of 1 to {ROW_LIMIT:,} rows, got {found}")
    if entries:
        return rows, entries[0]
    return rows, rows * rows if banner.symmetry == "general" else rows * (rows + 1) // 2


def _read_lines(text: str, start: int, number: int) -> Iterator[NumberLines]:
    """Yield the lines after the size that are not blank."""
    for lines in read_blocks(text, start, number, _is_comment):
        yield lines.keep(lines.lengths > 0)


def _read_coordinates(banner: Banner, size: int, entries: int, blocks: Iterator[NumberLines]) -> Triplets:
    """Return volumes, rows and columns of lines `row column [volume]`."""
    width = 2 if banner.numbers == "pattern" else 3
    parts = [(np.empty(0), *np.empty((2, 0), np.int32))]
    for lines in blocks:
        _check_widths(lines, width)
        values = lines.values.reshape(-1, width)
        ends = values[:, :2]
        bad = np.flatnonzero(((ends != np.floor(ends)) | (ends < 1) | (ends > size)).any(axis=1))
        if bad.size:
            raise lines.fault(bad[0], f"expected row and column from 1 to {size}, got others")
        rows, columns = ends.T.astype(np.int32) - 1
        parts.append((values[:, 2].copy() if width == 3 else np.ones(len(rows)), rows, columns))
    volumes, rows, columns = map(np.concatenate, zip(*parts, strict=True))
    _check_count(banner, entries, len(rows))
    return volumes, rows, columns


def _read_array(banner: Banner, size: int, entries: int, blocks: Iterator[NumberLines]) -> Triplets:
    """Return volumes, rows and columns of a dense matrix, column by column, of a symmetric one the lower triangle."""
    parts = [np.empty(0)]
    for lines in blocks:
        _check_widths(lines, 1)
        parts.append(lines.values)
    volumes = np.concatenate(parts)
    _check_count(banner, entries, len(volumes))
    symmetric = banner.symmetry == "symmetric"
    columns, rows = np.triu_indices(size) if symmetric else np.indices((size, size)).reshape(2, -1)
    return volumes, np.asarray(rows, np.int32), np.asarray(columns, np.int32)


def _check_widths(lines: NumberLines, width: int) -> None:
    """Raise InputError for the first line that has another count of numbers."""
    bad = np.flatnonzero(lines.lengths != width)
    if bad.size:
        raise lines.fault(bad[0], f"expected {width} numbers, got {lines.lengths[bad[0]]} words")


def _check_count(banner: Banner, entries: int, lines: int) -> None:
    """Raise InputError unless there are as many lines as entries."""
    if lines != entries and banner.layout == "coordinate":
        raise InputError("tasks", f"expected {entries} entries, got {lines} lines")
    if lines != entries:
        raise InputError("tasks", f"expected {entries} lines of one number, got {lines}")
