"""Hardware without names of levels."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.formats.hardware.plain import PlainHardware
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.topology import Links, Topology
from tiger.topologies.spec import build


@pytest.mark.parametrize(("spec", "nearest"), [("torus:3x3", 1), ("tree:4x1x2@0,3,5", 5), ("tree:2x2@3,7", 3)])
def test_the_nearest_two_name_a_distance(spec, nearest):
    """Levels that separate nothing, or by nothing, play no part."""
    assert PlainHardware(build(spec), "node").distances == {"node": nearest}


def test_one_node_has_no_distance():
    """There is nothing to state then."""
    hardware = PlainHardware(build("tree:1@1"), "node")
    assert (hardware.distances, hardware.topology({"node": 7.0})) == ({}, hardware.nodes)


def test_all_distances_keep_their_proportion():
    """Tests trees, grids, tables and the lengths of links."""
    stated = {"node": 20.0}
    assert PlainHardware(build("tree:2x2@2,6"), "node").topology(stated).metric == TreeMetric((2, 2), (20.0, 60.0))
    assert PlainHardware(build("torus:3x3"), "node").topology(stated).metric == GridMetric((3, 3), (True, True), 20.0)
    line = Topology.from_links(("a", "s", "b", "c"), Links.unit([(0, 1), (1, 2), (2, 3)]), [1, 0, 1, 0])
    longer = PlainHardware(line, "node").topology(stated)
    assert isinstance(longer.metric, DenseMetric)
    assert longer.metric.table[0].tolist() == [0, 10, 20, 30]
    assert longer.links is not None
    assert longer.links.weight.tolist() == [10, 10, 10]


def test_hosts_alone_tell_how_near_nodes_are():
    """Switches between them do not, nor do nodes at no distance or without a way."""
    table = np.full((4, 4), 5.0)
    table[0, 1] = table[1, 0] = 0.0
    table[2, :] = table[:, 2] = 1.0
    table[3, :] = table[:, 3] = np.inf
    np.fill_diagonal(table, 0.0)
    names = ("a", "b", "s", "c")
    nodes = Topology(names=names, metric=DenseMetric(table), slots=np.array([1, 1, 0, 1]))
    assert PlainHardware(nodes, "node").distances == {}
    table[0, 1] = table[1, 0] = 4.0
    assert PlainHardware(Topology(names=names, metric=DenseMetric(table)), "node").distances == {"node": 1}


def test_no_distance_is_refused():
    """Distances of 0 keep no proportion."""
    with pytest.raises(InputError, match="levels/node: expected more than 0, got 0"):
        PlainHardware(build("torus:3x3"), "node").topology({"node": 0.0})


@pytest.mark.parametrize("spec", ["torus:3x3", "tree:2x2@2,6", "dragonfly:4,2,2"])
def test_bug_a_distance_that_overflows_was_blamed_on_tasks(spec):
    """Tests grids, trees and tables, where the farthest two are farther apart than the nearest."""
    hardware = PlainHardware(build(spec), "node")
    assert hardware.nodes.metric.farthest > hardware.distances["node"]
    with pytest.raises(
        InputError, match=r"^levels/node: expected at most 1e\+300 for the farthest two, .* got 9e\+299"
    ):
        hardware.topology({"node": 9e299})
