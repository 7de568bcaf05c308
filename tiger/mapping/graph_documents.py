"""Task graphs and topologies as the node-link documents that a service takes."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.hyperedges import Hyperedges
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology

# Rows of distances that are compared at a time: 16 MiB at the largest size with a dense table.
BLOCK = 256
Columns = dict[str, tuple[list[float], int | None]]


def task_document(tasks: TaskGraph) -> dict[str, object]:
    """Return a task graph as a node-link document, which reads back as the same graph."""
    columns: Columns = {"work": (tasks.work.tolist(), 1)}
    if tasks.memory is not None:
        columns["memory"] = (tasks.memory.tolist(), None)
    if tasks.hyperedges is not None:
        nodes = _nodes(tasks.names, columns)
        return {"directed": False, "multigraph": True, "nodes": nodes, "hyperedges": _sets(tasks, tasks.hyperedges)}
    entries = tasks.traffic.tocoo()
    edges = _edges(tasks.names, entries.row, entries.col, {"weight": (entries.data.tolist(), 1)})
    return {"directed": tasks.directed, "multigraph": True, "nodes": _nodes(tasks.names, columns), "edges": edges}


def _sets(tasks: TaskGraph, hyperedges: Hyperedges) -> list[dict[str, object]]:
    """Return hyperedges with their tasks and volumes."""
    pins, starts = hyperedges.pins.tolist(), hyperedges.starts.tolist()
    return [
        {"tasks": [tasks.names[task] for task in pins[begin:end]], "volume": volume}
        for (begin, end), volume in zip(pairwise(starts), hyperedges.volumes.tolist(), strict=True)
    ]


def topology_document(topology: Topology) -> dict[str, object]:
    """Return a topology as a node-link document, which reads back with the same distances and slots.

    Raises InputError of `topology` where distances are not the shortest paths over its links. O(m^2) and the paths.
    """
    links = topology.links
    if links is None or topology.switches:
        what = "expected a SPEC or hardware with links, as a service takes no table of distances"
        raise InputError("topology", f"{what}, got {'switches apart' if links else 'distances alone'}")
    _check_distances(topology, Topology.from_links(topology.names, links))
    columns: Columns = {
        "slots": (topology.slots.tolist(), None),
        "cost": (topology.cost.tolist(), 0),
    }
    if topology.memory is not None:
        columns["memory"] = (topology.memory.tolist(), None)
    sizes: Columns = {"weight": (links.weight.tolist(), 1), "bandwidth": (links.bandwidth.tolist(), 1)}
    edges = _edges(topology.names, links.u, links.v, sizes)
    return {"directed": False, "multigraph": True, "nodes": _nodes(topology.names, columns), "edges": edges}


def _nodes(names: Sequence[str], columns: Columns) -> list[dict[str, object]]:
    """Return nodes with their attributes, each a list of values and the default, which is left out."""
    return [{"id": name, **_row(columns, k)} for k, name in enumerate(names)]


def _edges(names: Sequence[str], u: IntArray, v: IntArray, columns: Columns) -> list[dict[str, object]]:
    """Return edges with their attributes, as `_nodes` does."""
    ends = enumerate(zip(u.tolist(), v.tolist(), strict=True))
    return [{"source": names[a], "target": names[b], **_row(columns, k)} for k, (a, b) in ends]


def _row(columns: Columns, k: int) -> dict[str, object]:
    """Return the attributes at a position."""
    return {name: values[k] for name, (values, default) in columns.items() if values[k] != default}


def _check_distances(topology: Topology, rebuilt: Topology) -> None:
    """Raise InputError unless both have the same distances, up to rounding."""
    nodes = np.arange(topology.size)
    for begin in range(0, topology.size, BLOCK):
        rows = nodes[begin : begin + BLOCK, None]
        stated, shortest = (each.metric.between(rows, nodes[None, :]) for each in (topology, rebuilt))
        if not np.allclose(stated, shortest, rtol=1e-9, atol=0.0):
            what = "expected distances that are shortest paths over the links, as a service takes no others"
            raise InputError("topology", f"{what}, got different ones")
