"""Task graphs and topologies from networkx objects, by way of their node-link form."""

from typing import TYPE_CHECKING

from tiger.formats import nodelink
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.wiring import Wiring

if TYPE_CHECKING:
    import networkx as nx


def task_graph_of(graph: "nx.Graph") -> TaskGraph:
    """Return the task graph of a networkx graph of any kind; attributes and errors as in `nodelink.read_task_graph`."""
    return nodelink.read_task_graph(_node_link(graph))


def topology_of(graph: "nx.Graph") -> Topology:
    """Return the topology of an undirected networkx graph, as `wiring_of` does, at its distances."""
    return wiring_of(graph).measure()


def wiring_of(graph: "nx.Graph") -> Wiring:
    """Return nodes and links of an undirected networkx graph; attributes and errors as in `nodelink.read_wiring`."""
    return nodelink.read_wiring(_node_link(graph))


def _node_link(graph: "nx.Graph") -> dict[str, object]:
    """Return the node-link form, with nodes and edges in the order of the graph."""
    return {
        "directed": graph.is_directed(),
        "multigraph": graph.is_multigraph(),
        "nodes": [{**attributes, "id": node} for node, attributes in graph.nodes(data=True)],
        "edges": [{**attributes, "source": u, "target": v} for u, v, attributes in graph.edges(data=True)],
    }
