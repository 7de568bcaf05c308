"""Tests of previews: what a request states, as documents."""

import json

import networkx as nx
import numpy as np
import pytest
from qiskit import QuantumCircuit

from tiger.api.previews import (
    preview_circuit,
    preview_cluster,
    preview_model,
    preview_tasks,
    preview_topology,
)
from tiger.formats.graphs import task_graph_of
from tiger.model.document import Document
from tiger.topologies.spec import build
from tiger.training.hardware.cluster import NO_LINK, Cluster, Curve
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.layers import Layers
from tiger.training.models.operators import Operators

LAYERS = Layers(
    names=("a", "b"),
    forward_s=np.ones(2),
    backward_s=np.full(2, 2.0),
    parameter_bytes=np.array([3.0, 4.0]),
    crossing_bytes=np.zeros(3),
)
OPERATORS = Operators(
    names=("a", "b", "c"),
    seconds=np.array([1.0, 2.0, 3.0]),
    source=np.array([0, 1]),
    target=np.array([1, 2]),
    memory_bytes=np.array([5.0, 6.0, 7.0]),
    sent_bytes=np.array([8.0, 9.0, 10.0]),
    backward=np.array([False, False, True]),
)


def bell() -> QuantumCircuit:
    """Return a circuit on three qubits, two of which meet twice."""
    circuit = QuantumCircuit(3, 1)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.barrier()
    circuit.cx(1, 0)
    circuit.cx(1, 2)
    circuit.measure(2, 0)
    return circuit


PREVIEWS = {
    "tasks": preview_tasks(task_graph_of(nx.cycle_graph(5))),
    "topology": preview_topology(build("fat-tree:4")),
    "circuit": preview_circuit(bell()),
    "layers": preview_model(LAYERS),
    "operators": preview_model(OPERATORS),
    "cluster": preview_cluster(read_cluster("dgx:2")),
}


@pytest.mark.parametrize("name", PREVIEWS)
def test_documents_come_back_from_strict_json(name):
    """Tests every kind, its schema and that numbers are finite."""
    view: Document = PREVIEWS[name]
    document = json.loads(json.dumps(view.to_dict(), allow_nan=False))
    assert document["schema"] == "tiger.view/1"
    assert document["kind"] == {"layers": "model", "operators": "model"}.get(name, name)
    assert type(view).from_dict(document) == view


def test_a_circuit_is_counted_as_qiskit_does():
    """Tests gates without barriers, depth, and how often qubits meet."""
    view = preview_circuit(bell())
    assert (view.qubits, view.gates, view.two_qubit_gates, view.depth) == (3, 5, 3, bell().depth())
    assert (view.interactions.a, view.interactions.b, view.interactions.weight) == ((0, 1), (1, 2), (2.0, 1.0))


def test_operators_have_a_graph_with_directions():
    """Tests the bytes of edges, and the pass of each operator."""
    view = preview_model(OPERATORS)
    assert view.graph is not None
    assert (view.graph.directed, view.graph.a, view.graph.b, view.graph.weight) == (True, (0, 1), (1, 2), (8.0, 9.0))
    assert (view.forward_s, view.backward_s) == ((1.0, 2.0, 0.0), (0.0, 0.0, 3.0))
    assert preview_model(LAYERS).graph is None


def test_tasks_with_an_order_have_directions():
    """Tests a graph without cycles, one with a cycle, and edges that go both ways."""
    for pairs, directed, edges in (
        ([(0, 1), (1, 2)], True, 2),
        ([(0, 1), (1, 2), (2, 0)], False, 3),
        ([(0, 1), (1, 0)], False, 1),
    ):
        graph = preview_tasks(task_graph_of(nx.DiGraph(pairs)))
        assert (graph.directed, len(graph.a), graph.total_edges) == (directed, edges, edges)


def test_machines_of_a_cluster_are_apart():
    """Tests that devices of one machine are nearer to each other than to those of another."""
    graph = PREVIEWS["cluster"]
    spots = np.stack([graph.x, graph.y], axis=1)
    centres = spots.reshape(2, 8, 2).mean(axis=1)
    inside = np.linalg.norm(spots.reshape(2, 8, 2) - centres[:, None], axis=2).max()
    assert np.linalg.norm(centres[0] - centres[1]) > 2 * inside


def test_links_of_a_cluster_have_a_length_and_a_bandwidth():
    """Tests a link of 2 GB/s with a latency, one without a bandwidth that is known, and devices without one."""
    link = np.full((3, 3), NO_LINK)
    link[0, 1] = link[1, 0] = 0
    link[1, 2] = link[2, 1] = 1
    flat = Curve(size_bytes=np.array([0.0, 1.0]), seconds=np.array([2.0, 2.0]))
    cluster = Cluster(
        names=("x", "y", "z"),
        speed=np.ones(3),
        memory_bytes=np.array([1e9, 2e9, np.inf]),
        curves=(Curve.affine(2e9, 0.25), flat),
        link=link,
    )
    view = preview_cluster(cluster)
    assert (view.a, view.b) == ((0, 1), (1, 2))
    assert view.weight == pytest.approx((0.75, 2.0))
    assert view.bandwidth == (pytest.approx(2e9), None)
    assert view.memory_bytes == (1e9, 2e9, None)
    assert (view.total, view.total_edges, view.slots) == (3, 2, (1, 1, 1))


def test_many_layers_are_added_up():
    """Tests 2,500 layers and as many operators in a row: groups of five."""
    names = tuple(f"l{k}" for k in range(2500))
    layers = Layers(
        names=names,
        forward_s=np.ones(2500),
        backward_s=np.ones(2500),
        parameter_bytes=np.ones(2500),
        crossing_bytes=np.zeros(2501),
    )
    operators = Operators(names=names, seconds=np.ones(2500), source=np.arange(2499), target=np.arange(1, 2500))
    for view in (preview_model(layers), preview_model(operators)):
        assert view.layers[:2] == ("l0..l4", "l5..l9")
        assert view.forward_s == (5.0,) * 500
    assert view.graph is not None
    assert view.graph.names == view.layers


def test_many_devices_are_grouped_by_machines():
    """Tests 2,400 GPUs in machines of eight, and links between these."""
    view = preview_cluster(read_cluster("dgx:300"))
    assert view.counts == (8,) * 300
    assert (view.total, view.total_edges, len(view.a)) == (2400, 2400 * 2399 // 2, 8000)
    assert view.memory_bytes[0] == pytest.approx(8 * 80e9, rel=0.1)
