"""Blocks of consecutive ranks: where they are cut, and that they keep together."""

import networkx as nx
import numpy as np
import pytest

from tiger.mapping.blocks import place_blocks
from tiger.mapping.contiguous import is_contiguous
from tiger.mapping.entry import problem_of
from tiger.mapping.part_search import PartSearch
from tiger.mapping.request import Request
from tiger.model.violation import Violation
from tiger.objectives.cost import violations

SEARCH = PartSearch(Request(solver="greedy"))


@pytest.mark.parametrize(
    ("tasks", "hardware", "options"),
    [
        ("halo:5x5", "tree:3x3@1,10", {"slots": 3}),
        ("halo:4x4", "torus:4x4", {}),
        ("ring:11", "tree:2x2@1,10", {"node_topology": "tree:2x2@1,4"}),
    ],
)
def test_places_are_feasible_and_hosts_together(tasks, hardware, options) -> None:
    """For every way of cutting, on hosts that are nodes and that have units."""
    problem = problem_of(tasks, hardware, **options)
    tried = list(place_blocks(problem, SEARCH))
    assert len(tried) > 1
    for places in tried:
        assert not violations(problem, places)
        assert is_contiguous(problem, places)


def test_hosts_of_different_sizes_have_blocks_that_fit() -> None:
    """Five ranks on two, one and three slots."""
    hosts = nx.path_graph(3)
    nx.set_node_attributes(hosts, {0: 2, 1: 1, 2: 3}, "slots")
    problem = problem_of("ring:5", hosts, rule="capacity")
    for places in place_blocks(problem, SEARCH):
        assert (np.bincount(places, minlength=3) <= [2, 1, 3]).all()
        assert is_contiguous(problem, places)


def test_bug_a_host_may_have_many_more_slots_than_there_are_ranks() -> None:
    """Three ranks on two hosts of six slots."""
    problem = problem_of("ring:3", "tree:2@1", slots=6, pack=True)
    for places in place_blocks(problem, SEARCH):
        assert not violations(problem, places)
        assert is_contiguous(problem, places)


def test_cuts_are_where_the_least_traffic_crosses() -> None:
    """Two programs of three ranks each share no host of four slots."""
    problem = problem_of("ring:3++ring:3", "tree:2@1", slots=4, pack=True)
    first, best = list(place_blocks(problem, SEARCH))[:2]
    assert np.bincount(first).tolist() == [4, 2]
    assert np.bincount(best).tolist() == [3, 3]


def test_a_part_that_has_no_solution_is_passed_over() -> None:
    """The order of a launcher is there all the same, and ranks fill the units of a host."""
    unmet = (Violation(kind="undecided", message="none"),)
    problem = problem_of("ring:6", "tree:2@1", node_topology="tree:4@1", pack=True)
    (places,) = place_blocks(problem, lambda _: unmet)
    assert places.tolist() == [0, 1, 2, 3, 4, 5]
    inside = list(place_blocks(problem, lambda part: unmet if part.topology.size == 4 else np.array([4, 0])))
    assert inside[1].tolist() in ([4, 5, 6, 7, 0, 1], [4, 5, 6, 0, 1, 2])
