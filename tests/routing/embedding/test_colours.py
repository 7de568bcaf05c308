"""Tests of what two colours show of graphs that embed nowhere."""

import networkx as nx
import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.embedding.colours import refuses_colours

STAR, GRID = nx.star_graph(4), nx.grid_2d_graph(3, 3)


def _refuses(circuit: nx.Graph, device: nx.Graph) -> bool:
    """Return whether a graph is refused on a device."""
    whole = nx.convert_node_labels_to_integers(device)
    pairs = np.array(nx.convert_node_labels_to_integers(circuit).edges, np.int32).reshape(-1, 2)
    return refuses_colours(pairs, Coupling.of(len(whole), list(whole.edges)))


def _join(*parts: nx.Graph) -> nx.Graph:
    """Return graphs side by side."""
    return nx.disjoint_union_all(parts)


@pytest.mark.parametrize(
    ("circuit", "device"),
    [
        (nx.cycle_graph(3), GRID),
        (nx.cycle_graph(5), _join(GRID, STAR)),
        (_join(nx.path_graph(2), nx.cycle_graph(3)), GRID),
        (nx.path_graph(4), STAR),
        (_join(nx.path_graph(2), nx.path_graph(2)), STAR),
        (nx.path_graph(10), GRID),
        (_join(STAR, STAR), nx.complete_bipartite_graph(4, 6)),
    ],
)
def test_graphs_that_fit_no_sides_are_refused(circuit: nx.Graph, device: nx.Graph) -> None:
    """Odd cycles, and more vertices than a side has, whichever way round parts are."""
    assert _refuses(circuit, device)


@pytest.mark.parametrize(
    ("circuit", "device"),
    [
        (nx.cycle_graph(3), nx.cycle_graph(3)),
        (nx.cycle_graph(3), _join(GRID, nx.cycle_graph(3))),
        (nx.path_graph(3), STAR),
        (STAR, STAR),
        (nx.path_graph(9), GRID),
        (_join(nx.path_graph(2), nx.path_graph(2)), _join(STAR, STAR)),
        (_join(nx.star_graph(2), nx.star_graph(2)), nx.complete_bipartite_graph(3, 3)),
        (nx.empty_graph(2), GRID),
    ],
)
def test_graphs_that_fit_are_not_refused(circuit: nx.Graph, device: nx.Graph) -> None:
    """Nor those of which two colours say nothing."""
    assert not _refuses(circuit, device)
