"""Hypergraphs in the format of hMETIS, which KaHyPar and others read too: sets of tasks, line by line."""

from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.hyperedges import Hyperedges
from tiger.model.tasks import TaskGraph
from tiger.model.text import RawLine, read_amount_lines, read_wholes
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FORMATS = ("0", "1", "10", "11")


class HmetisHeader(NamedTuple):
    """Hold how many sets and tasks there are, and whether sets have volumes, and tasks weights."""

    sets: int
    tasks: int
    weighted: bool
    work: bool


def read_task_graph(text: str) -> TaskGraph:
    """Return the tasks of an hMETIS file with its hyperedges, tasks named `1` to `n`.

    The weight of a hyperedge, 1 without any, is its volume, that of a vertex its work. Weights may be any finite
    numbers >= 0. Raises InputError of `tasks` with the line at fault. Source: hMETIS 1.5.3 manual, section 4.1.
    """
    lines = [
        (number, line)
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.lstrip().startswith("%")
    ]
    header = _read_header(lines[:1])
    rows = header.sets + header.tasks * header.work
    if len(lines) - 1 != rows:
        what = f"{header.sets} of hyperedges" + (f" and {header.tasks} of vertex weights" if header.work else "")
        where = f"line {lines[0][0]}"
        raise InputError("tasks", f"{where}: expected {rows} lines after the header, {what}, got {len(lines) - 1}")
    names = tuple(map(str, range(1, header.tasks + 1)))
    hyperedges = _read_sets(header, lines[1 : header.sets + 1])
    return TaskGraph.of_hyperedges(names, hyperedges, _read_work(header, lines[header.sets + 1 :]))


def _read_header(lines: list[RawLine]) -> HmetisHeader:
    """Read the line `hyperedges vertices [fmt]`."""
    if not lines:
        raise InputError("tasks", "expected a header line 'hyperedges vertices [fmt]', got none")
    where, words = f"line {lines[0][0]}", lines[0][1].split()
    if not 2 <= len(words) <= 3:
        raise InputError("tasks", f"{where}: expected a header 'hyperedges vertices [fmt]', got {len(words)} words")
    sets, tasks = read_wholes("tasks", where, words[:2]).tolist()
    if not sets or not tasks:
        raise InputError("tasks", f"{where}: expected at least one hyperedge and one vertex, got {sets} and {tasks}")
    if tasks > NODE_LIMIT:
        raise InputError("tasks", f"{where}: expected at most {NODE_LIMIT:,} vertices, got {tasks}")
    form = words[2] if len(words) > 2 else "0"
    if form not in FORMATS:
        raise InputError("tasks", f"{where}: expected fmt as one of {', '.join(FORMATS)}, got {describe(form)}")
    return HmetisHeader(sets, tasks, weighted=form.endswith("1"), work=len(form) == 2)


def _read_sets(header: HmetisHeader, rows: list[RawLine]) -> Hyperedges:
    """Read the hyperedges, one a line, its weight first."""
    values = read_amount_lines("tasks", rows)
    lengths = np.array([len(line.split()) for _, line in rows], np.int64)
    short = np.flatnonzero(lengths <= header.weighted)
    if short.size:
        what = "a weight and at least one vertex" if header.weighted else "at least one vertex"
        raise InputError("tasks", f"line {rows[short[0]][0]}: expected {what}, got {lengths[short[0]]} numbers")
    starts = np.cumsum(lengths) - lengths
    leads = np.zeros(len(values), bool)
    if header.weighted:
        leads[starts] = True
    pins, owner = values[~leads], np.repeat(np.arange(header.sets), lengths)[~leads]
    bad = np.flatnonzero((pins != np.floor(pins)) | (pins < 1) | (pins > header.tasks))
    if bad.size:
        where = f"line {rows[owner[bad[0]]][0]}"
        raise InputError("tasks", f"{where}: expected vertices from 1 to {header.tasks}, got {pins[bad[0]]:g}")
    _check_different(owner, pins.astype(np.int64), rows)
    return Hyperedges(
        starts=np.concatenate([[0], np.cumsum(lengths - header.weighted)]),
        pins=pins.astype(np.int64) - 1,
        volumes=values[starts] if header.weighted else np.ones(header.sets),
    )


def _check_different(owner: IntArray, pins: IntArray, rows: list[RawLine]) -> None:
    """Raise InputError for a line that has a vertex twice."""
    order = np.lexsort((pins, owner))
    again = np.flatnonzero((np.diff(owner[order]) == 0) & (np.diff(pins[order]) == 0))
    if again.size:
        at = order[again[0]]
        raise InputError("tasks", f"line {rows[owner[at]][0]}: expected different vertices, got {pins[at]} twice")


def _read_work(header: HmetisHeader, rows: list[RawLine]) -> FloatArray | None:
    """Read the vertex weights, one a line."""
    if not header.work:
        return None
    for number, line in rows:
        if len(line.split()) != 1:
            raise InputError(
                "tasks", f"line {number}: expected one weight of a vertex, got {len(line.split())} numbers"
            )
    return read_amount_lines("tasks", rows)
