"""Attributes whose names look like a slip of the pen."""

import networkx as nx
import pytest

from tiger.formats.attributes import find_misspelt
from tiger.formats.graphml import read_task_graph as read_graphml
from tiger.formats.graphs import task_graph_of, topology_of


@pytest.mark.parametrize(
    ("record", "count"),
    [
        ({"wieght": 3}, 1),
        ({"Weight": 3}, 1),
        ({"weights": 3}, 1),
        ({"weights": 3, "weight": 3}, 0),
        ({"colour": "red", "pos": (0, 1), "label": "a", 7: 7}, 0),
        ({}, 0),
    ],
)
def test_only_names_close_to_a_known_one_are_remarked_on(record, count):
    """A record that has the known one too may have whatever else."""
    assert len(find_misspelt("tasks/edges", [record], ("weight",))) == count


def test_a_remark_says_where_what_and_what_there_is():
    """It counts the records at fault."""
    records = [{"memroy": 1}, {"memroy": 2}, {"memory": 3}]
    said = "tasks/nodes: attribute 'memroy' on 2 of them plays no part, was 'memory' meant? Known are work, memory"
    assert find_misspelt("tasks/nodes", records, ("work", "memory")) == (said,)


def test_graphs_carry_the_remarks():
    """Tests tasks and hardware from networkx, nodes first."""
    graph = nx.Graph()
    graph.add_node(0, memroy=1, cots=2)
    graph.add_edge(0, 1, wieght=5, bandwith=3)
    assert [remark.split("'")[1] for remark in task_graph_of(graph).remarks] == ["memroy", "wieght"]
    assert [remark.split("'")[1] for remark in topology_of(graph).remarks] == ["memroy", "bandwith", "wieght"]


def test_declared_attributes_of_graphml_count():
    """Tests a key of edges and one of everything."""
    keys = '<key id="a" for="edge" attr.name="wieght"/><key id="b" attr.name="memry"/><key id="c" attr.name="pos"/>'
    text = f'<graphml>{keys}<graph edgedefault="directed"><node id="a"/></graph></graphml>'
    assert [remark.split("'")[1] for remark in read_graphml(text).remarks] == ["memry", "wieght"]
