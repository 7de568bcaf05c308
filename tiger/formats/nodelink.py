"""Graphs as parsed JSON in the node-link form of networkx, checked value by value."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.formats.attributes import LINK, NODE, TASK, TRAFFIC, find_misspelt
from tiger.formats.hyperedges import list_misspelt, read_hyperedges
from tiger.model.arrays import IntArray
from tiger.model.hyperedges import Hyperedges
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.model.values import check_amount, check_flag, check_positive, check_records, check_whole, read_name
from tiger.model.wiring import Wiring
from tiger.model.wording import describe

Record = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLinkGraph:
    """Hold a node-link graph: names, attributes of nodes and edges, ends as node indices, and where each list stood."""

    nodes_at: str
    edges_at: str
    names: tuple[str, ...]
    nodes: list[Record]
    edges: list[Record]
    ends: list[tuple[int, int]]
    directed: bool


def read_task_graph(data: object, field: str = "tasks") -> TaskGraph:
    """Return the task graph that a node-link object states.

    Node attributes `work` (default 1) and `memory` (bytes; 0 where only other tasks have it); edge attribute `weight`
    (the traffic, default 1). Parallel edges add up and self-loops stay; an undirected edge is one entry, from the node
    listed first. `hyperedges`, as `hyperedges.read_hyperedges` has them, may stand beside edges or for them, which then
    are hyperedges of two tasks. Other attributes are ignored, with a remark on those that look misspelt. Raises
    InputError with a pointer below `field`.
    """
    given = isinstance(data, dict) and "hyperedges" in data
    sets = data["hyperedges"] if isinstance(data, dict) and given else None
    if isinstance(data, dict) and given and not ("edges" in data or "links" in data):
        data = {**data, "edges": []}
    graph = read_graph(data, field)
    places = [f"{graph.nodes_at}/{k}" for k in range(len(graph.nodes))]
    work = [check_amount(f"{at}/work", node.get("work", 1)) for at, node in zip(places, graph.nodes, strict=True)]
    memory = [check_whole(f"{at}/memory", node.get("memory", 0)) for at, node in zip(places, graph.nodes, strict=True)]
    volumes = [
        check_amount(f"{graph.edges_at}/{k}/weight", edge.get("weight", 1)) for k, edge in enumerate(graph.edges)
    ]
    ends = np.array(graph.ends, np.int64).reshape(-1, 2)
    if not graph.directed:
        ends.sort(axis=1)
    size = len(graph.names)
    room = np.array(memory) if any("memory" in node for node in graph.nodes) else None
    if given:
        if graph.directed:
            raise InputError(f"{field}/directed", "expected an undirected graph beside hyperedges, got a directed one")
        at = f"{field}/hyperedges"
        pairs = Hyperedges.of_pairs(ends[:, 0], ends[:, 1], np.array(volumes))
        hyperedges = read_hyperedges(sets, at, {name: k for k, name in enumerate(graph.names)}).join(pairs)
        remarks = _remarks(graph, TASK, TRAFFIC) + list_misspelt(sets, at)
        return TaskGraph.of_hyperedges(graph.names, hyperedges, np.array(work), room, remarks)
    return TaskGraph(
        names=graph.names,
        traffic=sp.csr_array((np.array(volumes, np.float64), (ends[:, 0], ends[:, 1])), shape=(size, size)),
        work=np.array(work),
        memory=room,
        directed=graph.directed,
        remarks=_remarks(graph, TASK, TRAFFIC),
    )


def read_topology(data: object, field: str = "topology") -> Topology:
    """Return the topology that an undirected node-link object states, as `read_wiring` does, at its distances."""
    return read_wiring(data, field).measure()


def read_wiring(data: object, field: str = "topology") -> Wiring:
    """Return nodes and links that an undirected node-link object states; distances are shortest paths over its links.

    Node attributes `slots` (default 1), `cost` (per unit of work, default 0) and `memory` (bytes; on every node or on
    none); edge attributes `weight` (length > 0, default 1) and `bandwidth` (> 0, default 1). Other attributes are
    ignored, with a remark on those that look misspelt. Raises InputError with a pointer below `field`.
    """
    graph = read_graph(data, field)
    if graph.directed:
        raise InputError(f"{field}/directed", "expected an undirected topology, got a directed one")
    for k, (u, v) in enumerate(graph.ends):
        if u == v:
            raise InputError(
                f"{graph.edges_at}/{k}", f"expected a link between two nodes, got a loop at {graph.names[u]!r}"
            )
    places = [f"{graph.nodes_at}/{k}" for k in range(len(graph.nodes))]
    slots = [check_whole(f"{at}/slots", node.get("slots", 1)) for at, node in zip(places, graph.nodes, strict=True)]
    cost = [check_amount(f"{at}/cost", node.get("cost", 0)) for at, node in zip(places, graph.nodes, strict=True)]
    return Wiring(
        names=graph.names,
        links=_links(graph),
        slots=np.array(slots),
        cost=np.array(cost),
        memory=_room(graph, places),
        slots_stated=any("slots" in node and count > 0 for node, count in zip(graph.nodes, slots, strict=True)),
        remarks=_remarks(graph, NODE, LINK),
    )


def read_graph(data: object, field: str) -> NodeLinkGraph:
    """Return the nodes and edges of a node-link object with its flags honoured; raise InputError where it is malformed.

    A missing `directed` is false. Parallel edges are refused only where `multigraph` says false.
    """
    if not isinstance(data, dict):
        raise InputError(field, f"expected a graph as an object with nodes and edges, got {describe(data)}")
    directed = check_flag(f"{field}/directed", data.get("directed", False))
    simple = not check_flag(f"{field}/multigraph", data.get("multigraph", True))
    nodes_at, edges_at = f"{field}/nodes", f"{field}/{_edges_key(data, field)}"
    nodes = check_records(nodes_at, data.get("nodes"))
    edges = check_records(edges_at, data.get(_edges_key(data, field)))
    index = _index(nodes_at, nodes)
    ends = [_ends(f"{edges_at}/{k}", edge, index) for k, edge in enumerate(edges)]
    if simple:
        _check_simple(edges_at, ends if directed else [(min(pair), max(pair)) for pair in ends])
    return NodeLinkGraph(
        nodes_at=nodes_at, edges_at=edges_at, names=tuple(index), nodes=nodes, edges=edges, ends=ends, directed=directed
    )


def _edges_key(data: Record, field: str) -> str:
    """Return the spelling of the edge list, one of the two that networkx has used."""
    if "edges" in data and "links" in data:
        raise InputError(f"{field}/links", "expected edges or links, got both")
    return "links" if "links" in data else "edges"


def _index(field: str, nodes: list[Record]) -> dict[str, int]:
    """Return the index of every node name, in order."""
    if not nodes:
        raise InputError(field, "expected at least one node, got none")
    index: dict[str, int] = {}
    for k, node in enumerate(nodes):
        if "id" not in node:
            raise InputError(f"{field}/{k}/id", "expected an id, got nothing")
        name = read_name(f"{field}/{k}/id", node["id"])
        if index.setdefault(name, k) != k:
            raise InputError(
                f"{field}/{k}/id", f"expected different names, got {describe(name)} at position {index[name]} too"
            )
    return index


def _ends(field: str, edge: Record, index: dict[str, int]) -> tuple[int, int]:
    """Return the indices of both ends of an edge."""
    return _end(f"{field}/source", edge, "source", index), _end(f"{field}/target", edge, "target", index)


def _end(field: str, edge: Record, key: str, index: dict[str, int]) -> int:
    """Return the index of one end of an edge."""
    if key not in edge:
        raise InputError(field, "expected the id of a node, got nothing")
    name = read_name(field, edge[key])
    if name not in index:
        raise InputError(field, f"expected the id of a node, got {describe(name)}")
    return index[name]


def _check_simple(field: str, pairs: list[tuple[int, int]]) -> None:
    """Raise InputError for a pair of nodes that comes twice."""
    seen: set[tuple[int, int]] = set()
    for k, pair in enumerate(pairs):
        if pair in seen:
            raise InputError(f"{field}/{k}", "expected one edge between two nodes as multigraph is false, got a second")
        seen.add(pair)


def _remarks(graph: NodeLinkGraph, node: tuple[str, ...], edge: tuple[str, ...]) -> tuple[str, ...]:
    """Return remarks on keys that look misspelt."""
    return find_misspelt(graph.nodes_at, graph.nodes, node) + find_misspelt(graph.edges_at, graph.edges, edge)


def _links(graph: NodeLinkGraph) -> Links:
    """Return the links with their lengths and bandwidths."""
    places = [f"{graph.edges_at}/{k}" for k in range(len(graph.edges))]
    weight = [
        check_positive(f"{at}/weight", edge.get("weight", 1)) for at, edge in zip(places, graph.edges, strict=True)
    ]
    bandwidth = [
        check_positive(f"{at}/bandwidth", edge.get("bandwidth", 1))
        for at, edge in zip(places, graph.edges, strict=True)
    ]
    ends = np.array(graph.ends, np.int64).reshape(-1, 2)
    return Links(
        u=ends[:, 0], v=ends[:, 1], weight=np.array(weight, np.float64), bandwidth=np.array(bandwidth, np.float64)
    )


def _room(graph: NodeLinkGraph, places: list[str]) -> IntArray | None:
    """Return the memory of every node, or None where no node states any."""
    if not any("memory" in node for node in graph.nodes):
        return None
    for at, name, node in zip(places, graph.names, graph.nodes, strict=True):
        if "memory" not in node:
            raise InputError(
                f"{at}/memory", f"expected bytes on {describe(name)} as other nodes state theirs, got nothing"
            )
    return np.array([check_whole(f"{at}/memory", node["memory"]) for at, node in zip(places, graph.nodes, strict=True)])
