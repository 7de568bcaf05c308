"""Task graphs in the format of Scotch (`.grf`, `.src`)."""

from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.formats.adjacency import fold
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.tasks import TaskGraph
from tiger.model.text import read_amount_lines

# Version, vertices, arcs, base, and three digits that say what else the vertices state.
HEADER = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Hold all numbers of a file, and the line of each."""

    values: IntArray
    lines: IntArray

    def fault(self, place: int, reason: str) -> InputError:
        """Return the error of a number, or of the end of the file."""
        where = f"line {self.lines[place]}" if place < len(self.lines) else "end of file"
        return InputError("tasks", f"{where}: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScotchArcs:
    """Hold where every vertex begins among the numbers, and the source and the place of the target of each arc."""

    starts: IntArray
    source: IntArray
    places: IntArray


def read_task_graph(text: str) -> TaskGraph:
    """Return the undirected task graph of a Scotch file, tasks named by their labels, or counted from its base.

    A vertex load is the work, an edge load the traffic. Every edge stands at both of its ends and counts once. Numbers
    are whole, and lines mean nothing, as to Scotch. Raises InputError of `tasks` with the line at fault.

    Source: Pellegrini, Scotch and libScotch 7.0 User's Guide, section 5.1, https://gitlab.inria.fr/scotch/scotch.
    """
    numbers = _read_numbers(text)
    labelled, weighted, loaded = _read_flags(numbers)
    base = int(numbers.values[3])
    lead = labelled + loaded
    arcs = _list_arcs(numbers, lead, 1 + weighted)
    count = len(arcs.starts)
    ids = numbers.values[arcs.starts] if labelled else base + np.arange(count)
    target = _find_targets(numbers, arcs, ids)
    names = tuple(map(str, ids.tolist()))
    weights = numbers.values[arcs.places - 1].astype(np.float64) if weighted else np.ones(len(target))
    work: FloatArray = numbers.values[arcs.starts + labelled].astype(np.float64) if loaded else np.ones(count)
    degrees = np.bincount(arcs.source, minlength=count)
    return TaskGraph(names=names, traffic=fold(names, degrees, target, weights), work=work, directed=False)


def _read_numbers(text: str) -> Numbers:
    """Return all numbers, which must be whole."""
    rows = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    values = read_amount_lines("tasks", rows)
    lines = np.repeat([number for number, _ in rows], [len(line.split()) for _, line in rows]).astype(np.int64)
    bad = np.flatnonzero((values != np.floor(values)) | (values >= 2.0**53))
    if bad.size:
        at = int(bad[0])
        raise InputError("tasks", f"line {lines[at]}: expected whole numbers below 2**53, got {values[at]:g}")
    return Numbers(values=values.astype(np.int64), lines=lines)


def _read_flags(numbers: Numbers) -> tuple[int, int, int]:
    """Return whether vertices have labels, edges loads, and vertices loads, each 0 or 1, after the version."""
    if len(numbers.values) < HEADER:
        what = "version, vertices, arcs, base and three digits"
        raise numbers.fault(len(numbers.values), f"expected {what}, got {len(numbers.values)} numbers")
    version, vertices, _, _, flags = numbers.values[:HEADER].tolist()
    if version:
        raise numbers.fault(0, f"expected version 0 of the format, got {version}")
    if not vertices:
        raise numbers.fault(1, "expected at least one vertex, got none")
    digits = [flags // 100, flags // 10 % 10, flags % 10]
    if max(digits) > 1:
        raise numbers.fault(4, f"expected three digits 0 or 1, got {flags}")
    return digits[0], digits[1], digits[2]


def _list_arcs(numbers: Numbers, lead: int, step: int) -> ScotchArcs:
    """Return the vertices and arcs; before its degree a vertex states `lead` numbers, each arc takes `step`."""
    _, vertices, arcs, _, _ = numbers.values[:HEADER].tolist()
    values, at = numbers.values.tolist(), HEADER
    starts, degrees = list[int](), list[int]()
    while len(starts) < vertices:
        if at + lead >= len(values):
            raise numbers.fault(len(values), f"expected {vertices} vertices, got {len(starts)}")
        starts.append(at)
        degrees.append(values[at + lead])
        at += lead + 1 + step * degrees[-1]
        if at > len(values):
            raise numbers.fault(starts[-1], f"expected {degrees[-1]} neighbours, got the end of the file")
    if at < len(values):
        raise numbers.fault(at, f"expected {vertices} vertices, got more numbers")
    if len(values) - HEADER != vertices * (lead + 1) + arcs * step:
        raise numbers.fault(2, f"expected the sum of all degrees, {sum(degrees)}, got {arcs} arcs")
    begins, degree = np.array(starts), np.array(degrees)
    number = np.arange(arcs) - np.repeat(np.cumsum(degree) - degree, degree)
    places = np.repeat(begins + lead, degree) + step * (number + 1)
    return ScotchArcs(starts=begins, source=np.repeat(np.arange(vertices), degree), places=places)


def _find_targets(numbers: Numbers, arcs: ScotchArcs, ids: IntArray) -> IntArray:
    """Return the vertex at the end of every arc, by its label or number."""
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(np.diff(ids[order]) == 0)
    if twice.size:
        second = int(order[twice[0] + 1])
        raise numbers.fault(arcs.starts[second], f"expected different labels, got {ids[second]} again")
    named = numbers.values[arcs.places]
    target = order[np.minimum(np.searchsorted(ids, named, sorter=order), len(ids) - 1)]
    wrong = np.flatnonzero((ids[target] != named) | (target == arcs.source))
    if wrong.size:
        at = int(wrong[0])
        what = f"expected other vertices of the graph as neighbours of {ids[arcs.source[at]]}, got {named[at]}"
        raise numbers.fault(arcs.places[at], what)
    return target
