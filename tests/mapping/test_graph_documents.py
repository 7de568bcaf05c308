"""Tests of graphs as documents: they read back as what they were."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats import nodelink
from tiger.mapping.graph_documents import task_document, topology_document
from tiger.model.hyperedges import Hyperedges
from tiger.model.metrics import DenseMetric
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.topologies.spec import build

TRAFFIC = sp.csr_array(np.array([[0.0, 2.5, 0.0], [0.0, 1.0, 3.0], [0.1, 0.0, 0.0]]))


@pytest.mark.parametrize("memory", [None, np.array([1, 0, 2**52])])
def test_tasks_read_back_as_they_were(memory: np.ndarray | None) -> None:
    """Names, work, memory, directions and volumes, loops among them."""
    tasks = TaskGraph(names=("a", "b c", "0,1"), traffic=TRAFFIC, work=np.array([1.0, 0.3, 0.0]), memory=memory)
    again = nodelink.read_task_graph(json.loads(json.dumps(task_document(tasks))))
    assert (again.names, again.directed, again.remarks) == (tasks.names, True, ())
    assert (again.traffic != tasks.traffic).nnz == 0
    assert (again.work.tolist(), np.array_equal(again.memory, memory)) == (tasks.work.tolist(), True)


def test_hyperedges_read_back_as_they_were() -> None:
    """With volumes, and edges as sets of two."""
    sets = Hyperedges(starts=np.array([0, 3, 5]), pins=np.array([2, 0, 1, 1, 2]), volumes=np.array([0.1, 7.0]))
    tasks = TaskGraph.of_hyperedges(("a", "b c", "0,1"), sets, np.array([1.0, 0.3, 0.0]))
    again = nodelink.read_task_graph(json.loads(json.dumps(task_document(tasks))))
    assert again.hyperedges is not None
    assert again.hyperedges.starts.tolist() == [0, 3, 5]
    assert (again.hyperedges.pins.tolist(), again.hyperedges.volumes.tolist()) == ([2, 0, 1, 1, 2], [0.1, 7.0])
    assert (again.traffic != tasks.traffic).nnz == 0
    assert again.work.tolist() == tasks.work.tolist()


@pytest.mark.parametrize(
    "spec", ["grid:3x2", "torus:3x4", "fat-tree:4", "dragonfly:2,1,2", "heavy-hex:3", "hypercube:3"]
)
def test_hardware_reads_back_as_it_was(spec: str) -> None:
    """Names, slots and every distance."""
    topology = build(spec)
    again = nodelink.read_topology(json.loads(json.dumps(topology_document(topology))))
    nodes = np.arange(topology.size)
    apart = (each.metric.between(nodes[:, None], nodes[None, :]) for each in (topology, again))
    assert (again.names, again.slots.tolist(), again.remarks) == (topology.names, topology.slots.tolist(), ())
    assert np.array_equal(*apart)


def test_nodes_keep_what_they_can_hold_and_cost() -> None:
    """Slots of 1 are then meant as such."""
    links = Links(u=np.array([0]), v=np.array([1]), weight=np.array([0.1]), bandwidth=np.array([7.0]))
    plain = Topology.from_links(("x", "y"), links, np.array([1, 1]))
    again = nodelink.read_topology(
        topology_document(replace(plain, cost=np.array([2.5, 0.0]), memory=np.array([4, 5])))
    )
    assert (again.cost.tolist(), again.slots_stated) == ([2.5, 0.0], True)
    assert again.memory is not None
    assert again.memory.tolist() == [4, 5]
    assert again.links is not None
    assert again.links.bandwidth.tolist() == [7.0]


def test_distances_alone_are_refused() -> None:
    """A tree has no links to send."""
    with pytest.raises(InputError, match=r"^topology: .* distances alone"):
        topology_document(build("tree:2x2@1,10"))


def test_distances_that_are_no_paths_are_refused() -> None:
    """They would come out as others."""
    odd = DenseMetric(np.array([[0.0, 5.0], [5.0, 0.0]]))
    with pytest.raises(InputError, match=r"^topology: expected distances that are shortest paths"):
        topology_document(Topology(names=("x", "y"), metric=odd, links=Links.unit([[0, 1]])))


@given(
    size=st.integers(1, 6),
    directed=st.booleans(),
    edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0, 1e12)), max_size=12),
)
def test_any_task_graph_reads_back_as_it_was(*, size: int, directed: bool, edges: list[tuple[int, int, float]]) -> None:
    """Whatever its edges; an undirected one goes from the task that is listed first."""
    kept = [(min(u, v), max(u, v), w) if not directed else (u, v, w) for u, v, w in edges if max(u, v) < size]
    ends = np.array([edge[:2] for edge in kept], np.int64).reshape(-1, 2)
    traffic = sp.csr_array((np.array([w for *_, w in kept]), (ends[:, 0], ends[:, 1])), shape=(size, size))
    tasks = TaskGraph(names=tuple(f"t{k}" for k in range(size)), traffic=traffic, directed=directed)
    again = nodelink.read_task_graph(json.loads(json.dumps(task_document(tasks))))
    assert (again.names, again.directed) == (tasks.names, directed)
    assert (again.traffic != tasks.traffic).nnz == 0
