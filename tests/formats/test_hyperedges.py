"""Tests of hyperedges in JSON."""

import pytest

from tiger.errors import InputError
from tiger.formats.nodelink import read_task_graph

NODES = [{"id": "a"}, {"id": [1, 2]}, {"id": 3}]


def test_edges_become_sets_of_two_after_the_others() -> None:
    """A loop is a set of one; `edges` may be missing."""
    edges = [{"source": 3, "target": "a", "weight": 2}, {"source": 3, "target": 3}]
    sets = [{"tasks": ["a", [1, 2], 3], "volume": 5}, {"tasks": [3]}]
    hyperedges = read_task_graph({"nodes": NODES, "edges": edges, "hyperedges": sets}).hyperedges
    assert hyperedges is not None
    assert hyperedges.starts.tolist() == [0, 3, 4, 6, 7]
    assert hyperedges.pins.tolist() == [0, 1, 2, 2, 0, 2, 2]
    assert hyperedges.volumes.tolist() == [5, 1, 2, 1]
    alone = read_task_graph({"nodes": NODES, "hyperedges": sets}).hyperedges
    assert alone is not None
    assert alone.volumes.tolist() == [5, 1]


def test_slips_are_remarked_on() -> None:
    """An attribute that is nearly known plays no part."""
    tasks = read_task_graph({"nodes": NODES, "hyperedges": [{"tasks": ["a", 3], "volum": 5}]})
    assert ["'volum'" in remark for remark in tasks.remarks] == [True]


@pytest.mark.parametrize(
    ("sets", "field", "reason"),
    [
        ({}, "", "expected a list, got an object"),
        ([], "", "expected at least one hyperedge, got none"),
        ([{}], "/0/tasks", "expected a list of at least one task, got null"),
        ([{"tasks": []}], "/0/tasks", "expected a list of at least one task, got an empty list"),
        ([{"tasks": ["a", "b"]}], "/0/tasks/1", "expected the id of a node, got 'b'"),
        ([{"tasks": ["a", "a"]}], "/0/tasks/1", "expected different tasks, got 'a' twice"),
        ([{"tasks": ["a"], "volume": -1}], "/0/volume", "expected a finite number >= 0, got -1"),
    ],
)
def test_faults_have_a_pointer(sets: list[object], field: str, reason: str) -> None:
    """It leads to the value at fault."""
    with pytest.raises(InputError) as caught:
        read_task_graph({"nodes": NODES, "hyperedges": sets})
    assert (caught.value.field, caught.value.reason) == (f"tasks/hyperedges{field}", reason)


def test_directed_graphs_are_refused() -> None:
    """A set has no direction."""
    with pytest.raises(InputError, match="undirected"):
        read_task_graph({"nodes": NODES, "directed": True, "hyperedges": [{"tasks": ["a"]}]})


def test_bug_hyperedges_of_null_are_refused() -> None:
    """They were left out where there were edges."""
    with pytest.raises(InputError, match="tasks/hyperedges"):
        read_task_graph({"nodes": NODES, "edges": [], "hyperedges": None})
