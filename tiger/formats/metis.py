"""Task graphs in the format of METIS and its kin (`.graph`)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.formats.adjacency import fold
from tiger.formats.text import RawLine, read_amount_lines, read_wholes
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe

_FORMAT = re.compile(r"[01]{1,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Hold n, m, how many sizes and weights a vertex line starts with, and whether its edges have weights."""

    vertices: int
    edges: int
    sizes: int
    weights: int
    weighted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Hold the numbers of all vertex lines in one array, how many each line has, and where it stands in the file."""

    values: FloatArray
    lengths: IntArray
    lines: list[int]

    @property
    def starts(self) -> IntArray:
        """Return the position of the first number of every line."""
        return np.cumsum(self.lengths) - self.lengths

    def fault(self, vertex: int, reason: str) -> InputError:
        """Return the error of a vertex's line."""
        return InputError("tasks", f"line {self.lines[vertex]}: {reason}")


def read_task_graph(text: str) -> TaskGraph:
    """Return the undirected task graph of a METIS file, tasks named `1` to `n`.

    The first vertex weight is the work, an edge weight the traffic; vertex sizes and further weights are ignored. Every
    edge stands on the lines of both its ends and counts once. Weights may be any finite numbers >= 0. Raises InputError
    of `tasks` with the line at fault. Source: METIS 5.1.0 manual, section 4.1.1.
    """
    lines = [
        (k, line) for k, line in enumerate(text.removesuffix("\n").split("\n"), 1) if not line.lstrip().startswith("%")
    ]
    start = next((k for k, (_, line) in enumerate(lines) if line.strip()), len(lines))
    header = _read_header(lines[start : start + 1])
    rows = lines[start + 1 :]
    while len(rows) > header.vertices and not rows[-1][1].strip():
        rows.pop()
    if len(rows) != header.vertices:
        raise InputError("tasks", f"expected {header.vertices} vertex lines after the header, got {len(rows)}")
    body = _body(header, rows)
    names = tuple(str(k) for k in range(1, header.vertices + 1))
    return TaskGraph(
        names=names,
        traffic=_traffic(header, body, names),
        work=_work(header, body),
        directed=False,
    )


def _read_header(lines: list[RawLine]) -> Header:
    """Read the line `n m [fmt [ncon]]`."""
    if not lines:
        raise InputError("tasks", "expected a header line 'n m [fmt [ncon]]', got none")
    number, words = lines[0][0], lines[0][1].split()
    where = f"line {number}"
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
    return Header(vertices=vertices, edges=edges, sizes=int(size), weights=constraints, weighted=edge)


def _body(header: Header, rows: list[RawLine]) -> Body:
    """Return the numbers of all vertex lines, each with the numbers that its line must start with."""
    body = Body(
        values=read_amount_lines("tasks", rows),
        lengths=np.array([len(line.split()) for _, line in rows]),
        lines=[number for number, _ in rows],
    )
    lead = header.sizes + header.weights
    short = np.flatnonzero(body.lengths < lead)
    if short.size:
        raise body.fault(short[0], f"expected {lead} numbers before the neighbours, got {body.lengths[short[0]]}")
    odd = np.flatnonzero((body.lengths - lead) % (1 + header.weighted))
    if odd.size:
        raise body.fault(odd[0], f"expected pairs of neighbour and weight, got {body.lengths[odd[0]] - lead} numbers")
    return body


def _work(header: Header, body: Body) -> FloatArray:
    """Return the first weight of every vertex, 1 where the file has none."""
    return body.values[body.starts + header.sizes] if header.weights else np.ones(header.vertices)


def _traffic(header: Header, body: Body, names: Sequence[str]) -> sp.csr_array:
    """Return the upper triangle of the traffic after checking that both triangles agree."""
    place = np.arange(len(body.values)) - np.repeat(body.starts + header.sizes + header.weights, body.lengths)
    is_end = (place >= 0) & (place % (1 + header.weighted) == 0)
    is_weight = (place >= 0) & ~is_end
    source = np.repeat(np.arange(header.vertices), body.lengths)[is_end]
    target = body.values[is_end] - 1
    known = (target == np.floor(target)) & (target >= 0) & (target < header.vertices) & (target != source)
    if not known.all():
        at = int(np.flatnonzero(~known)[0])
        what = f"expected other vertices from 1 to {header.vertices} as neighbours of {source[at] + 1}"
        raise body.fault(source[at], f"{what}, got {target[at] + 1:g}")
    if len(target) != 2 * header.edges:
        raise InputError("tasks", f"expected {header.edges} edges, each on two lines, got {len(target)} neighbours")
    weights = body.values[is_weight] if header.weighted else np.ones(len(target))
    return fold(names, source, target.astype(np.int64), weights)
