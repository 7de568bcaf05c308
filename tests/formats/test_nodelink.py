"""Node-link JSON."""

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats.nodelink import read_task_graph, read_topology

A, B = {"id": "a"}, {"id": "b"}


def graph(*edges, nodes=(A, B), **more):
    """Return a node-link object."""
    return {"nodes": list(nodes), "edges": list(edges), **more}


def edge(**more):
    """Return an edge from a to b."""
    return {"source": "a", "target": "b", **more}


def test_attributes_have_defaults():
    """Work 1, traffic 1, no memory, undirected."""
    tasks = read_task_graph(graph(edge()))
    assert (tasks.names, tasks.work.tolist(), tasks.memory, tasks.directed) == (("a", "b"), [1, 1], None, False)
    assert tasks.traffic.toarray().tolist() == [[0, 1], [0, 0]]


def test_attributes_are_read():
    """Work, memory and traffic; a task that states no memory needs none."""
    nodes = [{"id": "a", "work": 2.5, "memory": 10**9}, {"id": "b", "colour": "red"}]
    tasks = read_task_graph(graph(edge(weight=3, label="x"), nodes=nodes, directed=True, graph={}))
    assert (tasks.work.tolist(), tasks.memory.tolist(), tasks.directed) == ([2.5, 1], [10**9, 0], True)
    assert tasks.traffic[0, 1] == 3


def test_both_spellings_of_the_edge_list_are_read():
    """Older networkx has written `links` before `edges`."""
    data = {"nodes": [A, B], "links": [edge(weight=2)]}
    assert read_task_graph(data).traffic[0, 1] == 2


def test_parallel_edges_add_up_and_loops_stay():
    """An undirected edge is one entry whichever way it is written; a loop is on the diagonal."""
    back = {"source": "b", "target": "a", "weight": 4}
    loop = {"source": "b", "target": "b", "weight": 7}
    tasks = read_task_graph(graph(edge(weight=1), edge(weight=2), back, loop, multigraph=True))
    assert tasks.traffic.toarray().tolist() == [[0, 7], [0, 7]]


def test_directed_edges_keep_their_direction():
    """There and back are two entries."""
    back = {"source": "b", "target": "a", "weight": 4}
    tasks = read_task_graph(graph(edge(weight=1), back, directed=True, multigraph=False))
    assert tasks.traffic.toarray().tolist() == [[0, 1], [4, 0]]


def test_tuples_name_nodes_by_coordinates():
    """A tuple is written as a list."""
    nodes = [{"id": [0, 1]}, {"id": [0, 2]}]
    tasks = read_task_graph(graph({"source": [0, 1], "target": [0, 2]}, nodes=nodes))
    assert tasks.names == ("0,1", "0,2")


def test_ids_are_compared_by_name():
    """An edge may write 1 as "1"."""
    tasks = read_task_graph(graph({"source": "1", "target": 2}, nodes=[{"id": 1}, {"id": "2"}]))
    assert tasks.traffic[0, 1] == 1


def test_the_pointer_starts_with_the_given_field():
    """A graph inside a larger document is pointed to there."""
    with pytest.raises(InputError) as caught:
        read_task_graph(graph(edge(weight=-1)), field="jobs/3/tasks")
    assert caught.value.field == "jobs/3/tasks/edges/0/weight"


SHARED = [
    (None, ""),
    ([], ""),
    ("torus:4x4", ""),
    ({}, "/nodes"),
    ({"nodes": [A]}, "/edges"),
    ({"nodes": None, "edges": []}, "/nodes"),
    ({"nodes": {"a": {}}, "edges": []}, "/nodes"),
    ({"nodes": [A], "links": "none"}, "/links"),
    ({"nodes": [A], "edges": [], "links": []}, "/links"),
    (graph(directed="yes"), "/directed"),
    (graph(directed=1), "/directed"),
    (graph(multigraph=None), "/multigraph"),
    (graph(nodes=[]), "/nodes"),
    (graph(nodes=[A, "b"]), "/nodes/1"),
    (graph(nodes=[A, {}]), "/nodes/1/id"),
    (graph(nodes=[A, {"id": None}]), "/nodes/1/id"),
    (graph(nodes=[A, {"id": True}]), "/nodes/1/id"),
    (graph(nodes=[A, {"id": {}}]), "/nodes/1/id"),
    (graph(nodes=[A, B, A]), "/nodes/2/id"),
    (graph(nodes=[{"id": 1}, {"id": "1"}]), "/nodes/1/id"),
    (graph(nodes=[{"id": [1, 2]}, {"id": "1,2"}]), "/nodes/1/id"),
    (graph(["a", "b"]), "/edges/0"),
    (graph(edge(), {"target": "b"}), "/edges/1/source"),
    (graph(edge(), {"source": "b"}), "/edges/1/target"),
    (graph(edge(target="c")), "/edges/0/target"),
    (graph(edge(source=None)), "/edges/0/source"),
    (graph(edge(source=["a"] * 3)), "/edges/0/source"),
    (graph(edge(), edge(), multigraph=False), "/edges/1"),
    (graph(edge(), {"source": "b", "target": "a"}, multigraph=False), "/edges/1"),
    ({"nodes": [A, B], "links": [edge(weight="1")]}, "/links/0/weight"),
    *((graph(edge(), edge(weight=bad)), "/edges/1/weight") for bad in (None, True, "1", [1], -1, 1e999, float("nan"))),
]
TASKS = [
    *((graph(nodes=[A, {"id": "b", "work": bad}]), "/nodes/1/work") for bad in (None, False, "2", -1, 10**400)),
    *((graph(nodes=[A, {"id": "b", "memory": bad}]), "/nodes/1/memory") for bad in (None, 0.5, -1, 2**53, "1GB")),
    (graph(edge(weight=1e308), edge(weight=1e308)), "/traffic"),
]
HARDWARE = [
    (graph(directed=True), "/directed"),
    (graph(edge(), {"source": "b", "target": "b"}), "/edges/1"),
    *((graph(edge(weight=bad)), "/edges/0/weight") for bad in (0, -1, None)),
    *((graph(edge(bandwidth=bad)), "/edges/0/bandwidth") for bad in (0, -1, "fast", 1e999)),
    *((graph(nodes=[A, {"id": "b", "slots": bad}]), "/nodes/1/slots") for bad in (None, -1, 0.5, "2", 2**63)),
    *((graph(nodes=[A, {"id": "b", "cost": bad}]), "/nodes/1/cost") for bad in (None, -1, True)),
    (graph(nodes=[A, {"id": "b", "memory": 1}]), "/nodes/0/memory"),
    (graph(nodes=[{"id": "a", "memory": 1}, {"id": "b", "memory": 0.5}]), "/nodes/1/memory"),
]


@pytest.mark.parametrize(("data", "pointer"), SHARED + TASKS)
def test_malformed_tasks_are_pointed_at(data, pointer):
    """Every fault names its place in the document."""
    with pytest.raises(InputError) as caught:
        read_task_graph(data)
    assert caught.value.field == f"tasks{pointer}"


@pytest.mark.parametrize(("data", "pointer"), SHARED + HARDWARE)
def test_malformed_topologies_are_pointed_at(data, pointer):
    """Every fault names its place in the document."""
    with pytest.raises(InputError) as caught:
        read_topology(data)
    assert caught.value.field == f"topology{pointer}"


def test_a_topology_measures_shortest_paths():
    """Link weights are lengths; slots, cost, memory and bandwidth are read."""
    nodes = [{"id": "a", "slots": 0, "memory": 0}, {"id": "b", "cost": 2, "memory": 64}, {"id": "c", "memory": 1}]
    far = {"source": "b", "target": "c", "weight": 3, "bandwidth": 10}
    hardware = read_topology(graph(edge(weight=0.5), far, nodes=nodes))
    assert hardware.metric.between(np.array(0), np.arange(3)).tolist() == [0, 0.5, 3.5]
    assert (hardware.slots.tolist(), hardware.cost.tolist(), hardware.memory.tolist()) == (
        [0, 1, 1],
        [0, 2, 0],
        [0, 64, 1],
    )
    assert hardware.links.bandwidth.tolist() == [1, 10]


def test_a_topology_need_not_be_connected():
    """There is no way between the parts, which is no fault of the document."""
    hardware = read_topology(graph())
    assert hardware.metric.between(np.array(0), np.arange(2)).tolist() == [0, np.inf]
    assert read_topology(graph(nodes=[A])).size == 1


@st.composite
def weighted_graphs(draw):
    """Draw a networkx graph of any of the four kinds with whole weights."""
    kind = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))
    size = draw(st.integers(1, 6))
    found = kind()
    found.add_nodes_from((k, {"work": draw(st.integers(0, 9))}) for k in range(size))
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1), st.integers(0, 9))
    found.add_weighted_edges_from(draw(st.lists(ends, max_size=8)))
    return found


@given(drawn=weighted_graphs(), spelling=st.sampled_from(["edges", "links"]))
def test_networkx_graphs_round_trip(drawn, spelling):
    """What networkx writes is read back, either spelling: the same traffic, counted once."""
    tasks = read_task_graph(json.loads(json.dumps(nx.node_link_data(drawn, edges=spelling))))
    expected = np.zeros((len(drawn), len(drawn)))
    for u, v, weight in drawn.edges(data="weight"):
        expected[(u, v) if drawn.is_directed() else (min(u, v), max(u, v))] += weight
    assert tasks.traffic.toarray().tolist() == expected.tolist()
    assert (tasks.directed, tasks.size) == (drawn.is_directed(), len(drawn))
    assert tasks.work.tolist() == [work for _, work in drawn.nodes(data="work")]
