"""Tests of the tiers of machines."""

import itertools

import networkx as nx
import numpy as np
import pytest

from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.solvers.annealing.tiers import tiers_of
from tiger.topologies.spec import build


def tiers(spec):
    """Return the tiers of a machine."""
    return tiers_of(Problem(tasks=task_graph_of(nx.path_graph(2)), topology=build(spec), rule="one-to-one"))


def test_a_tree_has_a_tier_for_every_level():
    """Tests 12 leaves in two times three pairs."""
    assert tiers("tree:2x3x2@1,5,20").tolist() == [
        list(range(12)),
        [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10],
        [0] * 6 + [6] * 6,
    ]


@pytest.mark.parametrize("spec", ["torus:4x4", "hypercube:3", "tree:8@1", "tree:2x4@3,4", "ring:2"])
def test_machines_of_one_scale_have_one_tier(spec):
    """Tests grids, flat trees and distances that hardly differ."""
    found = tiers(spec)
    assert found.tolist() == [list(range(found.shape[1]))]


def test_tiers_are_nested_and_leave_switches_alone():
    """Tests a fat tree, whose hosts form edge groups and then pods."""
    found = tiers("fat-tree:4")
    hosts = build("fat-tree:4").hosts
    assert len(found) == 2
    for fine, coarse in itertools.pairwise(found):
        assert all(len(set(coarse[fine == label].tolist())) == 1 for label in np.unique(fine))
    assert len(set(found[1][hosts].tolist())) == 8


SPECS = ["tree:4x2x3@1,10,100", "tree:4x2x3@1,1.5,10", "tree:6x1x4@2,3,5", "tree:3x2x2@1,1.4,2"]


@pytest.mark.parametrize("spec", SPECS)
def test_the_tiers_of_a_large_tree_are_its_subtrees(spec, monkeypatch):
    """Tests trees with too many leaves for all distances against clusters of these."""
    clustered = tiers(spec)
    monkeypatch.setattr("tiger.solvers.annealing.tiers.LIMIT", 2)
    assert (tiers(spec) == clustered).all()


@pytest.mark.parametrize("spec", ["tree:4x3@0,2", "tree:3x2x3@0,1,1.5", "tree:2x2x3@0,0,4"])
def test_bug_leaves_of_a_large_tree_without_distance_are_one_domain(spec, monkeypatch):
    """Tests levels of distance 0, which were passed over in trees with too many leaves for all distances."""
    clustered = tiers(spec)
    assert len(clustered) == 2
    monkeypatch.setattr("tiger.solvers.annealing.tiers.LIMIT", 2)
    assert (tiers(spec) == clustered).all()
