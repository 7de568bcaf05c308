"""Files of the original tool of 2019: task graphs (`.ram`) and meshes (`.arc`).

Source: Butko et al., CF 2019, doi:10.1145/3310273.3321556.
"""

import re

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.metrics import GridMetric
from tiger.model.tasks import TaskGraph
from tiger.model.text import Line, read_amounts, read_wholes
from tiger.model.topology import Topology
from tiger.model.wording import describe
from tiger.topologies.coordinates import check_extents, coordinate_names
from tiger.topologies.grids import grid_links

MESH_KEYS = ("TotalProcNum", "RowNum", "ColumnNum", "ProcCost", "CommCost")
UNUSED_KEYS = ("ArcName", "Topology", "LayerNum", "FlitSize")


def read_task_graph(text: str) -> TaskGraph:
    """Return the directed task graph of a `.ram` file.

    After an opening comment: `AppName NAME`, `TASKS EDGES`, two numbers, a line `id x x work x` per task, a line `id
    source target traffic` per edge. The stated number of edges is not relied upon, since files disagree with theirs.
    Tasks carry their ids as names. Raises InputError of `tasks` with the line at fault.
    """
    lines = _lines("tasks", text)
    if len(lines) < 4 or lines[0][1][0] != "AppName":
        raise InputError("tasks", "expected 'AppName NAME', the counts and two numbers after the comment, got others")
    for line in lines[2:4]:
        _fields("tasks", line, 1, "one number")
    count = _task_count(lines[1], len(lines) - 4)
    index, work = _tasks(lines[4 : 4 + count])
    traffic = _edges(lines[4 + count :], index)
    return TaskGraph(names=tuple(index), traffic=traffic, work=np.array(work))


def read_mesh(text: str) -> Topology:
    """Return the mesh of an `.arc` file: RowNum x ColumnNum nodes named `row,column`, CommCost long per hop.

    Lines are `KEY VALUE`, for ProcCost and CommCost `KEY LABEL VALUE`; the ProcCost values, one per node in reading
    order, are the nodes' costs. Labels, layers, names and flit sizes play no part. Raises InputError of `topology`.
    """
    entries = _entries(_lines("topology", text))
    rows, columns, total = (_count(entries, key) for key in ("RowNum", "ColumnNum", "TotalProcNum"))
    number, words = _read_labelled(entries, "ProcCost")
    cost = read_amounts("topology", f"line {number}", [word for word in re.split(r"[,\s]+", " ".join(words)) if word])
    if not rows * columns == total == len(cost):
        found = f"{rows} x {columns}, TotalProcNum {total} and {len(cost)} costs"
        raise InputError(
            "topology", f"expected RowNum x ColumnNum = TotalProcNum = number of ProcCost values, got {found}"
        )
    number, words = _read_labelled(entries, "CommCost")
    hop = float(_fields("topology", (number, words), 1, "one number after the label of CommCost")[0])
    dims, wrap = (rows, columns), (False, False)
    check_extents(dims)
    links = grid_links(dims, wrap, hop) if hop else None
    return Topology(names=coordinate_names(dims), metric=GridMetric(dims, wrap, hop), links=links, cost=cost)


def _lines(field: str, text: str) -> list[Line]:
    """Return number and words of every line that is not blank, after the opening comment."""
    body, skipped = text, 0
    if text.lstrip().startswith("/*"):
        end = text.find("*/", text.index("/*") + 2)
        if end < 0:
            raise InputError(field, "expected the opening comment to end in */, got none")
        body, skipped = text[end + 2 :], text.count("\n", 0, end)
    lines = [(k, line.split()) for k, line in enumerate(body.split("\n"), skipped + 1)]
    return [(k, words) for k, words in lines if words]


def _task_count(line: Line, most: int) -> int:
    """Return the first of the two counts, which the lines that follow must leave room for."""
    number, words = line
    _fields("tasks", line, 2, "counts of tasks and edges")
    count = int(read_wholes("tasks", f"line {number}", words)[0])
    if not 1 <= count <= most:
        raise InputError("tasks", f"line {number}: expected 1 to {most} tasks, got {count}")
    return count


def _fields(field: str, line: Line, size: int, what: str) -> list[float]:
    """Return the numbers of a line, which must have `size` of them."""
    number, words = line
    if len(words) != size:
        raise InputError(field, f"line {number}: expected {what}, got {len(words)} words")
    values: list[float] = read_amounts(field, f"line {number}", words).tolist()
    return values


def _tasks(lines: list[Line]) -> tuple[dict[str, int], list[float]]:
    """Return the index of every task id and the work of every task."""
    index: dict[str, int] = {}
    work = []
    for line in lines:
        work.append(_fields("tasks", line, 5, "a task as 'id x x work x'")[3])
        if index.setdefault(_id(line), len(index)) != len(work) - 1:
            raise InputError("tasks", f"line {line[0]}: expected different task ids, got {describe(line[1][0])} again")
    return index, work


def _edges(lines: list[Line], index: dict[str, int]) -> sp.csr_array:
    """Return the traffic of the edge lines."""
    seen: set[str] = set()
    ends, volumes = [], []
    for line in lines:
        volumes.append(_fields("tasks", line, 4, "an edge as 'id source target traffic'")[3])
        number, words = line
        for task in words[1:3]:
            if task not in index:
                raise InputError("tasks", f"line {number}: expected the id of a task, got {describe(task)}")
        if _id(line) in seen:
            raise InputError("tasks", f"line {number}: expected different edge ids, got {describe(words[0])} again")
        seen.add(_id(line))
        ends.append((index[words[1]], index[words[2]]))
    pairs = np.array(ends, np.int64).reshape(-1, 2)
    return sp.csr_array((np.array(volumes), (pairs[:, 0], pairs[:, 1])), shape=(len(index), len(index)))


def _id(line: Line) -> str:
    """Return the id that a line starts with, a whole number."""
    number, words = line
    return str(read_wholes("tasks", f"line {number}", words[:1])[0])


def _entries(lines: list[Line]) -> dict[str, Line]:
    """Return line number and values of every key."""
    entries: dict[str, Line] = {}
    for number, (key, *words) in lines:
        if key not in MESH_KEYS + UNUSED_KEYS:
            raise InputError(
                "topology", f"line {number}: expected a key out of {', '.join(MESH_KEYS)}, got {describe(key)}"
            )
        if key in entries:
            raise InputError("topology", f"line {number}: expected {key} once, got it again")
        entries[key] = number, words
    for key in MESH_KEYS:
        if key not in entries:
            raise InputError("topology", f"expected a line {key}, got none")
    return entries


def _count(entries: dict[str, Line], key: str) -> int:
    """Return the whole number of a key."""
    number, words = entries[key]
    if len(words) != 1:
        raise InputError("topology", f"line {number}: expected {key} and one number, got {len(words)} values")
    return int(read_wholes("topology", f"line {number}", words)[0])


def _read_labelled(entries: dict[str, Line], key: str) -> Line:
    """Return line number and values of a key whose first word is a label."""
    number, words = entries[key]
    if len(words) < 2:
        raise InputError("topology", f"line {number}: expected {key}, a label and values, got {len(words)} values")
    return number, words[1:]
