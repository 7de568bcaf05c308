"""What a job needs of nodes and links."""

from itertools import combinations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links
from tiger.model.wiring import Wiring, cut_links
from tiger.objectives.shortest_paths import link_loads


def draw(seed, extra):
    """Return a tree of 30 nodes with some links more, of lengths no two sums of which are equal, and four nodes."""
    rng = np.random.default_rng(seed)
    pairs = [(int(rng.integers(k)), k) for k in range(1, 30)] + rng.integers(0, 30, (extra, 2)).tolist()
    ends = np.array([pair for pair in pairs if pair[0] != pair[1]])
    links = Links(u=ends[:, 0], v=ends[:, 1], weight=1 + rng.random(len(ends)), bandwidth=1 + rng.random(len(ends)))
    wiring = Wiring(names=tuple(f"p{k}" for k in rng.permutation(30)), links=links, slots=rng.integers(1, 4, 30))
    return wiring, [wiring.names[k] for k in rng.choice(30, 4, replace=False)]


def measure_job(topology, chosen, seed):
    """Return the distances between some nodes and the loads of links, by the names of their ends, of some traffic."""
    part = topology.allocated(chosen)
    places = np.array([part.names.index(name) for name in chosen])
    traffic = np.random.default_rng(seed).random((4, 4))
    tasks = TaskGraph(names=tuple("abcd"), traffic=traffic)
    loads = link_loads(Problem(tasks=tasks, topology=part, rule="capacity"), places)
    busy = {frozenset((load.a, load.b)): load.load for load in loads.list_busiest(part.link_ends, 99)}
    return part.metric.between(places[:, None], places[None, :]), busy


@cases(quick=60, long=2_000)
@given(seed=st.integers(0, 10**9), extra=st.integers(0, 20))
def test_distances_and_loads_are_those_of_the_whole(seed, extra):
    """Of trees and of graphs with several ways between two nodes."""
    wiring, needed = draw(seed, extra)
    whole, part = (measure_job(each.measure(), needed, seed) for each in (wiring, wiring.cut(needed)))
    np.testing.assert_allclose(part[0], whole[0], rtol=1e-12)
    assert part[1].keys() == whole[1].keys()
    np.testing.assert_allclose([part[1][ends] for ends in whole[1]], [*whole[1].values()], rtol=1e-12)


@cases(quick=60, long=2_000)
@given(seed=st.integers(0, 10**9), extra=st.integers(0, 20))
def test_all_nodes_on_any_way_stay(seed, extra):
    """In a tree no other does; in a graph with more links all of every simple path do."""
    wiring, needed = draw(seed, extra)
    graph = nx.Graph(zip(wiring.links.u.tolist(), wiring.links.v.tolist(), strict=True))
    at = [wiring.names.index(name) for name in needed]
    between = {node for pair in combinations(at, 2) for node in nx.shortest_path(graph, *pair)}
    kept = {wiring.names.index(name) for name in wiring.cut(needed).names}
    assert between <= kept
    assert extra or between == kept
    assert all(graph.subgraph(kept).degree(node) > 1 for node in kept - set(at))


def test_nodes_keep_what_is_said_of_them():
    """Names, slots, costs, memory and links in their order; remarks and whether slots are stated."""
    links = Links(u=[0, 1, 1, 3], v=[1, 2, 3, 4], weight=[1.0, 2.0, 3.0, 4.0], bandwidth=[5.0, 6.0, 7.0, 8.0])
    wiring = Wiring(
        names=tuple("abcde"),
        links=links,
        slots=np.array([1, 2, 3, 4, 5]),
        cost=np.arange(5.0),
        memory=np.arange(5),
        slots_stated=True,
        remarks=("odd",),
    )
    part = wiring.cut({"a", "d"}).measure()
    assert (part.names, part.slots.tolist(), part.cost.tolist(), part.memory.tolist()) == (
        ("a", "b", "d"), [1, 2, 4], [0, 1, 3], [0, 1, 3]
    )  # fmt: skip
    assert (part.links.u.tolist(), part.links.v.tolist()) == ([0, 1], [1, 2])
    assert (part.links.weight.tolist(), part.links.bandwidth.tolist()) == ([1, 3], [5, 7])
    assert (part.slots_stated, part.remarks) == (True, ("odd",))


def test_parallel_links_are_one():
    """They make no way between two others; a part without anything that is needed goes whole."""
    links = Links.unit([(0, 1), (0, 1), (1, 0), (2, 3), (0, 4)])
    kept, left = cut_links(links, np.array([True, False, False, False, True]))
    assert (kept.tolist(), left.u.tolist(), left.v.tolist()) == ([True, False, False, False, True], [0], [1])
