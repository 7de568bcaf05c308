"""Link loads, against routes walked one hop at a time."""

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.objectives.shortest_paths import Transfers, link_loads, routes_of
from tiger.topologies.spec import build

SEEDS = st.integers(0, 2**32 - 1)
RULES = st.sampled_from(["one-to-one", "levels", "capacity"])


def pose(topology, entries):
    """Return a problem with task k meant for node k, and (u, v, volume) as traffic."""
    row, col, volume = zip(*entries, strict=True)
    traffic = sp.csr_array((np.array(volume, float), (row, col)), shape=(topology.size, topology.size))
    tasks = TaskGraph(names=tuple(f"t{k}" for k in range(topology.size)), traffic=traffic)
    return Problem(tasks=tasks, topology=topology, rule="capacity")


def find_load(topology, entries):
    """Return the largest link load with task k on node k."""
    return link_loads(pose(topology, entries), np.arange(topology.size)).worst


def grid(dims, wrap, links=None):
    """Return a grid."""
    metric = GridMetric(dims, wrap)
    return Topology(names=tuple(map(str, range(metric.size))), metric=metric, links=links)


def link(size, *links):
    """Return hardware with (u, v, length, bandwidth) as links."""
    u, v, weight, bandwidth = np.array(links, float).reshape(-1, 4).T
    return Topology.from_links(tuple(map(str, range(size))), Links(u=u, v=v, weight=weight, bandwidth=bandwidth))


def walk(metric, a, b):
    """Return the nodes of the dimension-ordered route from a to b, both included."""
    here, there = ([int(x) for x in np.unravel_index(k, metric.dims)] for k in (a, b))
    route = [a]
    for axis in reversed(range(len(metric.dims))):
        extent = metric.dims[axis]
        ahead = (there[axis] - here[axis]) % extent
        forward = 2 * ahead <= extent if metric.wrap[axis] else there[axis] >= here[axis]
        while here[axis] != there[axis]:
            here[axis] = (here[axis] + (1 if forward else -1)) % extent
            route.append(int(np.ravel_multi_index(here, metric.dims)))
    return route


@given(seed=SEEDS, rule=RULES, kind=st.sampled_from(["grid", "torus"]))
def test_grids_route_one_axis_after_the_other(random_problem, random_feasible, seed, rule, kind):
    """The load is that of routes walked hop by hop, and each is a shortest path."""
    problem = random_problem(rule, seed, hardware=kind, nodes=[6, 8, 9, 10, 16][seed % 5])
    places, metric, load = random_feasible(problem, np.random.default_rng(seed)), problem.topology.metric, Counter()
    for u, v in zip(*problem.tasks.traffic.nonzero(), strict=True):
        route = walk(metric, int(places[u]), int(places[v]))
        assert metric.hop * (len(route) - 1) == pytest.approx(float(metric.between(places[u], places[v])))
        for hop in pairwise(route):
            load[frozenset(hop)] += problem.tasks.traffic[u, v]
    assert link_loads(problem, places).worst == pytest.approx(max(load.values(), default=0.0))


def test_the_last_axis_comes_first():
    """On a 2 x 2 grid, 0 -> 3 and 0 -> 1 share the link 0 - 1; 0 -> 3 and 2 -> 3 share none."""
    assert find_load(grid((2, 2), (False, False)), [(0, 3, 5), (0, 1, 2)]) == 7.0
    assert find_load(grid((2, 2), (False, False)), [(0, 3, 5), (2, 3, 2)]) == 5.0


def test_half_way_round_goes_up():
    """On a ring of four, 0 -> 2 goes by 1 and 2 -> 0 goes by 3."""
    ring = grid((4,), (True,))
    assert find_load(ring, [(0, 2, 5), (0, 1, 1)]) == 6.0
    assert find_load(ring, [(2, 0, 5), (0, 1, 1)]) == 5.0
    assert find_load(ring, [(2, 0, 5), (3, 0, 1)]) == 6.0


def test_the_shorter_way_round_crosses_the_seam():
    """On a ring of five, 4 -> 1 and 1 -> 4 both go by 0, and load their links together."""
    ring = grid((5,), (True,))
    assert find_load(ring, [(4, 1, 5), (1, 4, 2)]) == 7.0
    assert find_load(ring, [(4, 1, 5), (2, 3, 2)]) == 5.0


def test_a_ring_of_two_has_one_link():
    """Both ways share it."""
    assert find_load(grid((2,), (True,)), [(0, 1, 3), (1, 0, 4)]) == 7.0


def test_grid_links_have_the_bandwidths_given():
    """Also that of the link across the seam; the widest of parallel links counts, and 1 where none is listed."""
    links = Links(u=[0, 3, 0, 2], v=[1, 0, 1, 1], weight=np.ones(4), bandwidth=[2.0, 5.0, 4.0, 0.5])
    ring = grid((4,), (True,), links)
    assert find_load(ring, [(0, 1, 8)]) == 2.0
    assert find_load(ring, [(0, 3, 8)]) == 1.6
    assert find_load(ring, [(1, 2, 8)]) == 16.0
    assert find_load(ring, [(3, 2, 8)]) == 8.0


def test_grid_bandwidths_go_to_the_right_axis():
    """On a 2 x 3 grid, node 2 and node 3 are no neighbours though their numbers are."""
    links = Links(u=[2, 1, 4], v=[3, 4, 5], weight=np.ones(3), bandwidth=[100.0, 2.0, 4.0])
    flat = grid((2, 3), (False, False), links)
    assert find_load(flat, [(1, 4, 8)]) == 4.0
    assert find_load(flat, [(5, 4, 8)]) == 2.0
    assert find_load(flat, [(1, 2, 8)]) == 8.0


@given(seed=SEEDS, rule=RULES)
def test_trees_load_the_edge_above_each_subtree(random_problem, random_feasible, seed, rule):
    """Traffic between two leaves loads the edges above all subtrees that hold just one of them."""
    problem = random_problem(rule, seed, hardware="tree")
    places, metric, load = random_feasible(problem, np.random.default_rng(seed)), problem.topology.metric, Counter()
    for u, v in zip(*problem.tasks.traffic.nonzero(), strict=True):
        for level, leaves in enumerate(metric.leaves.tolist()):
            ends = {(level, int(places[t]) // leaves) for t in (u, v)}
            for edge in ends if len(ends) == 2 else ():
                load[edge] += problem.tasks.traffic[u, v]
    assert link_loads(problem, places).worst == pytest.approx(max(load.values(), default=0.0))


def test_tree_literals():
    """Two boxes of two: 1 -> 2 loads box edges, 2 -> 3 stays inside, and both enter or leave leaf 2."""
    metric = TreeMetric((2, 2), (1.0, 5.0))
    boxes = Topology(names=("a", "b", "c", "d"), metric=metric)
    assert find_load(boxes, [(1, 2, 3), (2, 3, 4)]) == 7.0
    assert find_load(boxes, [(1, 2, 3), (0, 3, 4)]) == 7.0
    assert find_load(boxes, [(1, 2, 3), (3, 3, 9)]) == 3.0


@pytest.mark.slow
@given(seed=SEEDS, kind=st.sampled_from(["links", "split"]))
def test_links_without_choice_are_loaded_along_the_only_way(random_problem, random_feasible, seed, kind):
    """Where every shortest path is unique, the load is that of networkx's paths."""
    problem = random_problem("capacity", seed, hardware=kind)
    places, links, load = random_feasible(problem, np.random.default_rng(seed)), problem.topology.links, Counter()
    graph = nx.Graph()
    for k in np.lexsort((links.bandwidth, -links.weight)):
        graph.add_edge(links.u[k], links.v[k], weight=links.weight[k], width=links.bandwidth[k])
    for u, v in zip(*problem.tasks.traffic.nonzero(), strict=True):
        if places[u] != places[v]:
            route, *others = nx.all_shortest_paths(graph, places[u], places[v], "weight")
            assume(not others)
            for a, b in pairwise(route):
                load[frozenset((a, b))] += problem.tasks.traffic[u, v] / graph[a][b]["width"]
    assert link_loads(problem, places).worst == pytest.approx(max(load.values(), default=0.0))


def test_links_load_over_bandwidth():
    """A wide link carries more: 6 over 3 is less than 4 over 1."""
    chain = link(3, (0, 1, 1, 3), (1, 2, 1, 1))
    assert find_load(chain, [(0, 1, 6)]) == 2.0
    assert find_load(chain, [(0, 1, 2), (0, 2, 4)]) == 4.0
    assert find_load(chain, [(0, 2, 4), (2, 0, 1)]) == 5.0


def test_long_detours_are_taken_where_they_are_shorter():
    """The direct link of length 9 carries nothing."""
    triangle = link(3, (0, 2, 9, 1), (0, 1, 1, 2), (1, 2, 1, 4))
    assert find_load(triangle, [(0, 2, 8)]) == 4.0


def test_of_parallel_links_one_carries():
    """The shortest, and of equally short ones the widest."""
    double = link(2, (0, 1, 1, 1), (1, 0, 2, 100), (1, 0, 1, 5), (0, 0, 1, 1))
    assert find_load(double, [(0, 1, 10)]) == 2.0


def test_equal_lengths_take_a_shortest_path():
    """On a ring of six with equal links, transfers of two hops load two links each; the answer does not change."""
    ring = link(6, *((k, (k + 1) % 6, 1, 1) for k in range(6)))
    assert find_load(ring, [(0, 2, 3), (1, 2, 4)]) == 7.0
    assert find_load(ring, [(0, 3, 3)]) == find_load(ring, [(0, 3, 3)]) == 3.0


def test_transfers_between_parts_load_nothing():
    """There is no way for them."""
    assert find_load(link(3, (0, 1, 1, 1)), [(0, 2, 9), (0, 1, 2)]) == 2.0
    assert find_load(link(3, (0, 1, 1, 1), (0, 1, 2, 1)), [(0, 2, 9), (1, 0, 2)]) == 2.0
    assert find_load(link(2), [(0, 1, 9)]) == 0.0


@pytest.mark.long
def test_many_sources_are_walked_in_portions():
    """All neighbours on a ring of 2,500 talk, and one pair talks across the border of a portion."""
    size = 2_500
    ring = link(size, *((k, (k + 1) % size, 1, 1) for k in range(size)))
    pairs = [(k, (k + 1) % size, 1.0) for k in range(size)]
    assert find_load(ring, [*pairs, (1022, 1026, 4.0)]) == 5.0


def test_plain_matrices_have_no_links():
    """There is nothing to load."""
    pair = Topology(names=("x", "y"), metric=DenseMetric(np.ones((2, 2))))
    assert link_loads(pose(pair, [(0, 1, 1)]), np.arange(2)) is None


@given(seed=SEEDS, kind=st.sampled_from(["grid", "torus", "tree", "links", "split"]))
def test_lengths_and_loads_agree(random_topology, seed, kind):
    """Transfers cost the same by the prices of the links they load as by the lengths of their routes."""
    rng = np.random.default_rng(seed)
    topology = random_topology(kind, seed, nodes=[6, 8, 9, 12][seed % 4])
    routes, (source, target) = routes_of(topology), rng.integers(0, topology.size, (2, 20))
    prices, lengths = rng.random(len(routes.width)), routes.lengths(rng.random(len(routes.width)) * 0)
    joined = (source != target) & np.isfinite(lengths[source, target])
    transfers = Transfers(source[joined], target[joined], rng.random(joined.sum()))
    way = routes.lengths(prices)[transfers.source, transfers.target]
    assert prices @ routes.loads(transfers) == pytest.approx(transfers.volume @ way)


@given(seed=SEEDS, kind=st.sampled_from(["grid", "torus", "tree", "links", "split"]))
def test_lengths_are_infinite_where_distances_are(random_topology, seed, kind):
    """There are routes between connected parts alone, and none is needed to stay."""
    topology = random_topology(kind, seed, nodes=9)
    routes, nodes = routes_of(topology), np.arange(9)
    lengths = routes.lengths(np.ones(len(routes.width)))
    assert (np.isfinite(lengths) == np.isfinite(topology.metric.between(nodes[:, None], nodes[None, :]))).all()
    assert (lengths.diagonal() == 0).all()


def test_bandwidth_around_nodes():
    """Corners of a grid have fewer links, a ring of two has one, a leaf has the one above it."""
    links = Links(u=[0, 2], v=[1, 5], weight=np.ones(2), bandwidth=[5.0, 0.5])
    assert routes_of(grid((2, 3), (False, False))).around.tolist() == [2, 3, 2, 2, 3, 2]
    assert routes_of(grid((2, 3), (False, False), links)).around.tolist() == [6, 7, 1.5, 2, 3, 1.5]
    assert routes_of(grid((3, 2), (True, True))).around.tolist() == [3] * 6
    assert routes_of(Topology(names=tuple("abcd"), metric=TreeMetric((2, 2), (1.0, 5.0)))).around.tolist() == [1] * 4
    assert routes_of(link(3, (0, 1, 1, 3), (1, 2, 9, 4), (2, 1, 8, 2))).around.tolist() == [3, 5, 2]


def test_a_grid_without_neighbours_has_no_links():
    """One node alone, and two without a link, have nothing to load."""
    assert routes_of(grid((1,), (True,))).around.tolist() == [0.0]
    assert not np.isfinite(routes_of(grid((1, 1), (True, False))).width).any()
    assert routes_of(link(2)).lengths(np.zeros(0)).tolist() == [[0.0, np.inf], [np.inf, 0.0]]
    assert routes_of(link(2)).around.tolist() == [0.0, 0.0]


def test_grids_are_priced_in_portions():
    """A torus of more nodes than are looked at as sources at once."""
    size = 300
    routes = routes_of(grid((size,), (True,)))
    lengths = routes.lengths(np.ones(size))
    assert lengths[0].max() == lengths[270].max() == size / 2
    assert lengths[280, 10] == 30


def test_bug_a_narrow_link_bears_no_rounding_of_a_wide_one():
    """Tests a load of 1e-9 on a link of bandwidth 1e-9 after one of 1e12 on the same line has ended."""
    ends = np.arange(3)
    links = Links(u=ends, v=ends + 1, weight=np.ones(3), bandwidth=np.array([1e12, 1e12, 1e-9]))
    line = grid((4,), (False,), links)
    assert find_load(line, [(0, 1, 1e12), (1, 2, 1e3 / 3), (2, 3, 1e-9)]) == 1.0


def test_bug_cheap_links_keep_their_lengths_beside_dear_ones():
    """Tests prices of 1e9 and 1e-12 on one line, either way round a ring."""
    ends = np.arange(4)
    links = Links(u=ends, v=(ends + 1) % 4, weight=np.ones(4), bandwidth=np.array([1e-9, 1e12, 1e12, 1e12]))
    routes = routes_of(grid((4,), (True,), links))
    lengths = routes.lengths(1 / routes.width)
    assert (lengths[1, 2], lengths[3, 0], lengths[1, 3]) == (1e-12, 1e-12, 2e-12)


HALVES = Topology(names=("n0", "n1", "n2", "n3"), metric=TreeMetric((2, 2), (1.0, 2.0)))
LINE = Topology.from_links(("w", "x", "y", "z"), Links(u=[0, 1, 2], v=[1, 2, 3], weight=[1, 1, 1], bandwidth=[1, 2, 4]))


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        (grid((4,), (True,)), "3-0 6 1, 1-2 3 0.5"),
        (grid((2, 2), (False, False)), "0-1 9 1, 1-3 6 0.667, 0-2 3 0.333"),
        (HALVES, "n0..n1-n0..n3 9 1, n2..n3-n0..n3 9 1, n0-n0..n1 6 0.667, n3-n2..n3 6 0.667, n1-n0..n1 3 0.333"),
        (LINE, "w-x 6 1, x-y 9 0.75, y-z 6 0.25"),
    ],
)
def test_links_are_listed_by_load_over_bandwidth(topology, expected):
    """What each joins comes with it, links without load are left out, and no more than so many are listed."""
    loads = link_loads(pose(topology, [(0, 3, 6.0), (1, 2, 3.0)]), np.arange(4))
    found = [f"{link.a}-{link.b} {link.load:g} {link.share:.3g}" for link in loads.list_busiest(topology.link_ends, 5)]
    assert ", ".join(found) == expected
    assert loads.list_busiest(topology.link_ends, 1)[0].share == 1


@pytest.mark.slow
@given(seed=SEEDS)
def test_switches_forward_as_nodes_without_slots_do(random_topology, random_problem, seed):
    """Loads, lengths, bandwidths and the next links are those of the same hardware with all ends as nodes."""
    whole, size = random_topology("links", seed, nodes=8), 5
    metric = DenseMetric(whole.metric.table[:size, :size])
    apart = Topology(names=whole.names[:size], metric=metric, links=whole.links, switches=whole.names[size:])
    entries = [(a, b, 1.0 + a * b) for a in range(size) for b in range(size) if a != b]
    one, other = (link_loads(pose(each, entries), np.arange(each.size)) for each in (whole, apart))
    assert np.array_equal(one.load, other.load)
    assert one.list_busiest(whole.names, 9) == other.list_busiest(apart.link_ends, 9)
    prices = np.random.default_rng(seed).random(len(one.load))
    assert np.array_equal(one.routes.lengths(prices)[:size, :size], other.routes.lengths(prices))
    assert np.array_equal(one.routes.around[:size], other.routes.around)
    assert np.array_equal(one.routes.arrays().table[:size], other.routes.arrays().table)


def test_nodes_that_are_all_linked_load_the_link_between_two():
    """A complete graph is no star, although its distances are those of one."""
    assert find_load(build("complete:4"), [(0, 1, 2.0), (0, 2, 3.0), (3, 0, 4.0)]) == 4.0


def test_a_tree_with_links_of_its_own_routes_over_them():
    """Three nodes behind a switch with a link of bandwidth 4."""
    star = Links(u=[0, 1, 2], v=[3, 3, 3], weight=np.ones(3), bandwidth=[4.0, 1.0, 1.0])
    hardware = Topology(names=("a", "b", "c"), metric=TreeMetric((3,), (9.0,)), links=star, switches=("s",))
    assert find_load(hardware, [(0, 1, 2.0), (0, 2, 4.0)]) == 4.0
