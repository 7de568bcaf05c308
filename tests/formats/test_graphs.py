"""networkx graphs."""

import networkx as nx
import numpy as np
import pytest

from tiger.errors import InputError
from tiger.formats.graphs import task_graph_of, topology_of


def test_a_grid_graph_becomes_tasks():
    """Tuples become coordinates, edges traffic 1."""
    tasks = task_graph_of(nx.grid_2d_graph(2, 2))
    assert (tasks.names, tasks.directed) == (("0,0", "0,1", "1,0", "1,1"), False)
    assert (tasks.traffic.nnz, tasks.traffic.sum()) == (4, 4)


def test_attributes_of_a_directed_graph_are_read():
    """Numbers may come from numpy; foreign attributes may be anything."""
    graph = nx.DiGraph()
    graph.add_node("a", work=np.float32(2), memory=np.int64(5), shape=object())
    graph.add_edge("b", "a", weight=np.int32(3), id="x", source=1)
    tasks = task_graph_of(graph)
    assert (tasks.work.tolist(), tasks.memory.tolist(), tasks.directed) == ([2, 1], [5, 0], True)
    assert tasks.traffic.toarray().tolist() == [[0, 0], [3, 0]]


@pytest.mark.parametrize(("kind", "expected"), [(nx.MultiGraph, [[0, 6], [0, 0]]), (nx.MultiDiGraph, [[0, 3], [3, 0]])])
def test_parallel_edges_add_up(kind, expected):
    """Undirected both ways, directed each way."""
    graph = kind()
    graph.add_weighted_edges_from([("a", "b", 1), ("a", "b", 2), ("b", "a", 3)])
    assert task_graph_of(graph).traffic.toarray().tolist() == expected


def test_a_weighted_graph_becomes_a_topology():
    """Weights are lengths."""
    graph = nx.path_graph(3)
    graph.edges[1, 2]["weight"] = 4
    graph.nodes[0]["slots"] = 2
    hardware = topology_of(graph)
    assert hardware.metric.between(np.array(0), np.arange(3)).tolist() == [0, 1, 5]
    assert hardware.slots.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("graph", "field"),
    [
        (nx.Graph(), "tasks/nodes"),
        (nx.Graph([(True, 2)]), "tasks/nodes/0/id"),
        (nx.Graph([(1, "1")]), "tasks/nodes/1/id"),
        (nx.Graph([(frozenset({1}), 2)]), "tasks/nodes/0/id"),
        (nx.Graph([(1, 2, {"weight": None})]), "tasks/edges/0/weight"),
        (nx.Graph([(1, 2), (2, 3, {"weight": -1})]), "tasks/edges/1/weight"),
        (nx.Graph([(1, 2, {"weight": 10**5000})]), "tasks/edges/0/weight"),
    ],
)
def test_malformed_graphs_are_pointed_at(graph, field):
    """The same checks as for JSON, by the order of nodes and edges."""
    with pytest.raises(InputError) as caught:
        task_graph_of(graph)
    assert caught.value.field == field


@pytest.mark.parametrize("graph", [nx.DiGraph([(1, 2)]), nx.Graph([(1, 1)]), nx.Graph([(1, 2, {"weight": 0})])])
def test_malformed_topologies_are_refused(graph):
    """Directed links, loops and links without length are bad input."""
    with pytest.raises(InputError, match=r"^topology/"):
        topology_of(graph)
