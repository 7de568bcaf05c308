"""Task graphs in the format of METIS and its kin (`.graph`)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiger.errors import InputError
from tiger.formats.adjacency import fold
from tiger.formats.numberlines import NumberLines, read_blocks
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.tasks import TaskGraph
from tiger.model.text import read_wholes
from tiger.model.wording import describe

_FORMAT = re.compile(r"[01]{1,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetisHeader:
    """Hold n, m, how many sizes and weights a vertex line starts with, and whether its edges have weights."""

    vertices: int
    edges: int
    sizes: int
    weights: int
    weighted: bool


class Vertices(NamedTuple):
    """Hold how many neighbours each vertex of a block has, the neighbours from 0 on, and both kinds of weights."""

    degrees: IntArray
    neighbours: NDArray[np.int32 | np.int64]
    traffic: FloatArray
    work: FloatArray


def read_task_graph(text: str) -> TaskGraph:
    """Return the undirected task graph of a METIS file, tasks named `1` to `n`.

    The first vertex weight is the work, an edge weight the traffic; vertex sizes play no part, nor do further weights,
    of which a remark says so. Every edge stands on the lines of both its ends and counts once. Weights may be any
    finite numbers >= 0. Raises InputError of `tasks` with the line at fault. Source: METIS 5.1.0 manual, section 4.1.1.
    """
    header, start, number = _find_header(text)
    try:
        degrees, neighbours, traffic, work = map(
            np.concatenate, zip(*_read_rows(header, text, start, number), strict=True)
        )
    except InputError:
        # A header at fault has every line misread: that it is counts first.
        _check_rows(header, _count_rows(header, text, start))
        raise
    _check_rows(header, len(degrees))
    if len(neighbours) != 2 * header.edges:
        found = f"{len(neighbours)} neighbours"
        raise InputError("tasks", f"expected {header.edges} edges, each on two lines, got {found}")
    names = tuple(map(str, range(1, header.vertices + 1)))
    several = f"vertices have {header.weights} weights each, of which the first counts, as work"
    return TaskGraph(
        names=names,
        traffic=fold(names, degrees, neighbours, traffic),
        work=work,
        directed=False,
        remarks=(several,) if header.weights > 1 else (),
    )


def _find_header(text: str) -> tuple[MetisHeader, int, int]:
    """Return the header, the character that the next line begins at, and its number."""
    start = 0
    for number in range(1, text.count("\n") + 2):
        end = text.find("\n", start)
        line, start = text[start : end if end >= 0 else len(text)], end + 1 or len(text)
        if line.strip() and not _is_comment(line):
            return _read_header(number, line), start, number + 1
    raise InputError("tasks", "expected a header line 'n m [fmt [ncon]]', got none")


def _is_comment(line: str) -> bool:
    """Return whether a line is a comment."""
    return line.lstrip().startswith("%")


def _read_header(number: int, line: str) -> MetisHeader:
    """Read the line `n m [fmt [ncon]]`."""
    words, where = line.split(), f"line {number}"
    if not 2 <= len(words) <= 4:
        raise InputError("tasks", f"{where}: expected a header 'n m [fmt [ncon]]', got {len(words)} words")
    vertices, edges = read_wholes("tasks", where, words[:2]).tolist()
    if not vertices:
        raise InputError("tasks", f"{where}: expected at least one vertex, got none")
    form = words[2] if len(words) > 2 else "0"
    if not _FORMAT.fullmatch(form):
        raise InputError("tasks", f"{where}: expected fmt as up to three digits 0 or 1, got {describe(form)}")
    size, weight, edge = (digit == "1" for digit in form.zfill(3))
    constraints = int(read_wholes("tasks", where, words[3:])[0]) if len(words) > 3 else int(weight)
    if (constraints > 0) != weight:
        raise InputError("tasks", f"{where}: expected ncon >= 1 just where fmt has vertex weights, got {constraints}")
    return MetisHeader(vertices=vertices, edges=edges, sizes=int(size), weights=constraints, weighted=edge)


def _read_rows(header: MetisHeader, text: str, start: int, number: int) -> Iterator[Vertices]:
    """Yield the vertices of all lines after the header; the lines after the last of them must be blank."""
    done = 0
    yield Vertices(np.empty(0, np.int64), np.empty(0, _index_type(header)), np.empty(0), np.empty(0))
    for lines in read_blocks(text, start, number, _is_comment):
        left = header.vertices - done
        if lines.lengths[left:].any():
            raise _make_row_error(header, _count_rows(header, text, start))
        yield _read_vertices(header, lines.keep(slice(left)), done)
        done += min(left, len(lines.lengths))


def _read_vertices(header: MetisHeader, lines: NumberLines, done: int) -> Vertices:
    """Return the vertices of some lines, those of which `done` vertices stand before."""
    lead, step = header.sizes + header.weights, 1 + header.weighted
    short = np.flatnonzero(lines.lengths < lead)
    if short.size:
        raise lines.fault(short[0], f"expected {lead} numbers before the neighbours, got {lines.lengths[short[0]]}")
    odd = np.flatnonzero((lines.lengths - lead) % step)
    if odd.size:
        raise lines.fault(odd[0], f"expected pairs of neighbour and weight, got {lines.lengths[odd[0]] - lead} numbers")
    begins = np.cumsum(lines.lengths) - lines.lengths
    degrees = (lines.lengths - lead) // step
    arcs = np.delete(lines.values, (begins[:, None] + np.arange(lead)).ravel()) if lead else lines.values
    target, source = arcs[::step] - 1, np.repeat(np.arange(len(degrees)), degrees)
    known = (target == np.floor(target)) & (target >= 0) & (target < header.vertices) & (target != source + done)
    if not known.all():
        at = int(np.flatnonzero(~known)[0])
        what = f"expected other vertices from 1 to {header.vertices} as neighbours of {source[at] + done + 1}"
        raise lines.fault(source[at], f"{what}, got {target[at] + 1:g}")
    return Vertices(
        degrees=degrees,
        neighbours=target.astype(_index_type(header)),
        traffic=arcs[1::2].copy() if header.weighted else np.ones(len(target)),
        work=lines.values[begins + header.sizes] if header.weights else np.ones(len(degrees)),
    )


def _index_type(header: MetisHeader) -> type[np.int32 | np.int64]:
    """Return the type of the neighbours, the wider for what a header may only claim."""
    return np.int32 if header.vertices < 1 << 31 else np.int64


def _count_rows(header: MetisHeader, text: str, start: int) -> int:
    """Return how many lines after the header are no comments, without blank ones at the end that no vertex needs."""
    body = text[start:].removesuffix("\n").split("\n") if start < len(text) else []
    rows = [line for line in body if not _is_comment(line)]
    while len(rows) > header.vertices and not rows[-1].strip():
        rows.pop()
    return len(rows)


def _check_rows(header: MetisHeader, rows: int) -> None:
    """Raise InputError unless every vertex has a line."""
    if rows != header.vertices:
        raise _make_row_error(header, rows)


def _make_row_error(header: MetisHeader, rows: int) -> InputError:
    """Return the error of a file with too few lines, or with too many."""
    return InputError("tasks", f"expected {header.vertices} vertex lines after the header, got {rows}")
