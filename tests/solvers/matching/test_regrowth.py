"""Tests of repairing embeddings."""

import networkx as nx
import numpy as np
import pytest

from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.solvers.annealing import cost_changes
from tiger.solvers.instance import instance_of
from tiger.solvers.matching import regrowth
from tiger.solvers.matching.growth import Growth
from tiger.solvers.matching.neighbourhoods import Neighbourhoods
from tiger.solvers.matching.regrowth import RegrownRegion
from tiger.topologies.spec import build


def _repair(places: np.ndarray, work: int, pinned: dict[str, str] | None = None) -> tuple[Growth, float]:
    """Return a grid of 5 x 6 on itself after repair, and what it costs then."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6))
    problem = Problem(tasks=task_graph_of(grid), topology=build("grid:5x6"), rule="one-to-one", pinned=pinned or {})
    around, inst = Neighbourhoods.of(np.array(grid.edges), 30), instance_of(problem)
    growth = Growth.of(np.ones((30, 30), np.bool_), around)
    growth.place[:], growth.owner[places] = places, np.arange(30)
    regrowth.regrow(around, around, inst, growth, RegrownRegion.allocate(inst, 30, 3), work)
    assert growth.owner[growth.place].tolist() == list(range(30))
    return growth, cost_changes.total(inst, growth.place)


def test_blocks_that_changed_places_go_back() -> None:
    """Two corners of 2 x 2 vertices, which no swap of two vertices repairs."""
    places = np.arange(30)
    first, second = np.array([0, 1, 6, 7]), np.array([22, 23, 28, 29])
    places[first], places[second] = second, first
    assert _repair(places, 300_000)[1] == 49


@pytest.mark.usefixtures("uncompiled")
def test_pinned_vertices_stay() -> None:
    """A vertex that is pinned to the wrong corner; the cost never rises."""
    places = np.arange(30)
    places[[0, 29]] = 29, 0
    growth, cost = _repair(places, 20_000, {"0": "4,5"})
    assert growth.place[0] == 29
    assert cost <= _repair(places, 0, {"0": "4,5"})[1]


@pytest.mark.usefixtures("uncompiled")
def test_a_whole_embedding_is_left() -> None:
    """No edge is too long."""
    assert _repair(np.arange(30), 20_000)[0].place.tolist() == list(range(30))


def test_compiled_and_plain_agree(request: pytest.FixtureRequest) -> None:
    """The same places, with the same work."""
    places = np.random.default_rng(1).permutation(30)
    compiled = _repair(places, 20_000)[0]
    request.getfixturevalue("uncompiled")
    plain = _repair(places, 20_000)[0]
    assert compiled.place.tolist() == plain.place.tolist()
    assert compiled.counts.tolist() == plain.counts.tolist()
