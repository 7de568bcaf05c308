"""Tests of groups of vertices and of the edges between them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.formats.graphs import task_graph_of
from tiger.run.drawing.graph import GROUPS, group_vertices, merge_edges
from tiger.run.drawing.positions import coordinates_of
from tiger.run.drawing.tasks import view_tasks


def test_few_vertices_stay_as_they_are():
    """Tests names and numbers of a group each."""
    groups = group_vertices(["a", "b"], None)
    assert (groups.names, groups.group_of.tolist(), groups.counts.tolist()) == (("a", "b"), [0, 1], [1, 1])


def test_runs_are_named_by_their_ends():
    """Tests 2,001 vertices, of which the last is a kind of its own."""
    names = [f"v{k}" for k in range(2001)]
    groups = group_vertices(names, None, np.arange(2001) // 2000)
    assert groups.names[0] == "v0..v4"
    assert groups.names[-1] == "v2000"
    assert len(groups.names) <= GROUPS


def test_blocks_of_a_grid_are_a_grid():
    """Tests 60 x 60 vertices: blocks lie at coordinates, and are named by two corners."""
    names = [f"{row},{column}" for row in range(60) for column in range(60)]
    groups = group_vertices(names, coordinates_of(names))
    assert groups.coordinates is not None
    assert len(groups.names) == len(np.unique(groups.coordinates, axis=0)) <= GROUPS
    extent = groups.coordinates.max(axis=0) + 1
    assert abs(int(extent[0]) - int(extent[1])) <= 10
    assert groups.names[0] == "0,0..2,2"


@given(st.integers(1, 12), st.integers(0, 40), st.integers(0, 2**32 - 1), st.booleans())
def test_merged_edges_keep_all_that_is_between_groups(size, count, seed, directed):
    """Tests that each pair comes once, and that weights add up to those between groups."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(size, size=(2, count))
    group_of = np.unique(rng.integers(4, size=size), return_inverse=True)[1]
    weight = rng.random(count)
    merged = merge_edges(a, b, group_of, directed=directed)
    pairs = list(zip(merged.a.tolist(), merged.b.tolist(), strict=True))
    assert len(set(pairs if directed else map(frozenset, pairs))) == len(pairs)
    assert np.isclose(merged.sum(weight).sum(), weight[group_of[a] != group_of[b]].sum())
    kept = merged.keep(2, merged.sum(weight))
    assert np.isclose(kept.sum(weight).sum(), np.sort(merged.sum(weight))[-2:].sum())


@pytest.mark.slow
def test_a_large_stencil_is_shown_as_a_small_one():
    """Tests 50 x 60 tasks: blocks with edges to those beside them alone, and all edges counted."""
    view, groups = view_tasks(task_graph_of(nx.grid_2d_graph(50, 60)))
    assert groups.coordinates is not None
    steps = groups.coordinates[list(view.a)] - groups.coordinates[list(view.b)]
    assert (np.abs(steps).sum(axis=1) == 1).all()
    assert (view.total, view.total_edges) == (3000, 50 * 59 + 60 * 49)
    assert sum(view.counts) == 3000
