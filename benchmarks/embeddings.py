"""Graphs onto themselves, shuffled, and with some edges moved, beside VF2 and scipy's FAQ."""

import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np
import rustworkx as rx
import scipy.sparse as sp
from scipy.optimize import quadratic_assignment
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import Delaunay

from benchmarks.clocks import processor_clock
from tiger.mapping.mapper import solve
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.topologies.spec import build

# Draws on which nothing was tuned, of the largest size the first alone.
SIZES, MOVED, DRAWS, LARGEST = (100, 500, 2000), (0.0, 0.01, 0.05), range(300, 303), 2000
# Calls of VF2, some seconds, and vertices up to which FAQ runs, whose time grows with their cube.
CALLS, FAQ_UP_TO = 2_000_000, 500
# Code distances of heavy hexagons by size, groups of a dragonfly, and the heaviest and farthest of Drezner's family.
HEXAGONS, ROUTERS, MOST = {100: 7, 500: 13, 2000: 27}, {100: 4, 500: 6, 2000: 16}, 10
# A family with half as many light edges beside its own, and what its own ones weigh.
BESIDE, HEAVY = "torus beside light edges", 10.0
HEAD = (
    *("graph", "vertices", "onto itself: TIGER over the optimum", "VF2", "FAQ over the optimum"),
    *("1 % of the edges moved: TIGER over their places", "5 %", "dearest of all", "FAQ, 5 %"),
    *("TIGER's seconds of a processor: itself", "5 %"),
)


class Guest(NamedTuple):
    """Hold a problem, what it costs with every vertex at its place, and its edges and those of the hardware."""

    problem: Problem
    planted: float
    ends: IntArray
    links: IntArray


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield costs over those of the graph at its place, means of the draws, and the seconds of a processor."""
    yield HEAD
    for name in FAMILIES:
        for size in SIZES:
            say(f"{name}, {size}")
            yield measure(name, size)


def measure(name: str, size: int) -> tuple[str, ...]:
    """Return the row of a family and size."""
    ratios: dict[float, list[float]] = {share: [] for share in MOVED}
    seconds: dict[float, list[float]] = {share: [] for share in MOVED}
    draws = DRAWS[:1] if size == LARGEST else DRAWS
    guests = {share: [plant(name, size, share, draw) for draw in draws] for share in MOVED}
    for share, drawn in guests.items():
        for draw, guest in enumerate(drawn):
            with processor_clock():
                report = solve(guest.problem, seed=draw)
            ratios[share].append((report.cost or np.inf) / guest.planted)
            seconds[share].append(report.seconds)
    first = guests[0.0][0]
    return (
        *(name, f"{first.problem.tasks.size:,}", _ratio(ratios[0.0]), run_vf2(first), run_faq(guests[0.0])),
        *(_ratio(ratios[0.01]), _ratio(ratios[0.05]), f"{max(map(max, ratios.values())):.3f}"),
        *(run_faq(guests[0.05]), f"{np.mean(seconds[0.0]):.2f}", f"{np.mean(seconds[0.05]):.2f}"),
    )


def plant(name: str, size: int, share: float, draw: int) -> Guest:
    """Return a graph of a family with a share of its edges moved, numbered at random, on the graph as it was."""
    rng = np.random.default_rng(draw)
    graph = nx.convert_node_labels_to_integers(FAMILIES[name](size, draw), ordering="sorted")
    n, links = len(graph), np.array(graph.edges)
    kept = links[rng.permutation(len(links))[round(share * len(links)) :]]
    moved = nx.Graph(kept.tolist())
    _add_edges(moved, graph, len(links), rng)
    heavy = moved.copy()
    if name == BESIDE:
        _add_edges(moved, graph, len(links) + len(links) // 2, rng)
    ends, volume = np.array(moved.edges), np.ones(moved.number_of_edges())
    distance = _measure(graph)
    if name == BESIDE:
        volume = np.array([HEAVY if heavy.has_edge(a, b) else 1.0 for a, b in moved.edges])
    if name == "Drezner's":
        volume = rng.integers(1, MOST + 1, len(links)).astype(np.float64)
        distance = np.where(distance > 1, _draw_distances(rng, n), distance)
    row, col = rng.permutation(n)[ends].T
    names = tuple(map(str, range(n)))
    tasks = TaskGraph(names=names, traffic=sp.csr_array((volume, (row, col)), shape=(n, n)))
    problem = Problem(tasks=tasks, topology=Topology(names=names, metric=DenseMetric(distance)), rule="one-to-one")
    return Guest(problem, float(volume @ distance[ends[:, 0], ends[:, 1]]), np.stack([row, col], axis=1), links)


def run_vf2(guest: Guest) -> str:
    """Return the seconds that VF2 takes for a graph onto itself, or that it finds nothing within its calls."""
    n = guest.problem.tasks.size
    hardware, tasks = rx.PyGraph(), rx.PyGraph()
    for graph, edges in ((hardware, guest.links), (tasks, guest.ends)):
        graph.add_nodes_from(range(n))
        graph.add_edges_from_no_data([tuple(edge) for edge in edges.tolist()])
    begun = time.process_time()
    found = rx.vf2_mapping(hardware, tasks, subgraph=True, induced=False, call_limit=CALLS)
    some = next(iter(found), None)
    return f"{time.process_time() - begun:.2f} s" if some is not None else f"none, {time.process_time() - begun:.2f} s"


def run_faq(guests: list[Guest]) -> str:
    """Return what the fast approximate QAP of scipy ends at, over each vertex at its place, and its mean seconds."""
    if guests[0].problem.tasks.size > FAQ_UP_TO:
        return "-"
    ratios, begun = [], time.process_time()
    for guest in guests:
        nodes = np.arange(guest.problem.tasks.size)
        flow = guest.problem.tasks.traffic.toarray()
        distance = guest.problem.metric.between(nodes[:, None], nodes[None, :])
        found = quadratic_assignment(flow + flow.T, distance, method="faq", options={"rng": np.random.default_rng(0)})
        ratios.append(found.fun / 2 / guest.planted)
    return f"{_ratio(ratios)} ({(time.process_time() - begun) / len(guests):.2f} s)"


def _ratio(ratios: list[float]) -> str:
    """Return a mean."""
    return f"{np.mean(ratios):.3f}"


def _add_edges(graph: nx.Graph, other: nx.Graph, edges: int, rng: np.random.Generator) -> None:
    """Add edges at random to a graph, which another one does not have, until it has so many."""
    while graph.number_of_edges() < edges:
        a, b = rng.choice(len(other), 2, replace=False).tolist()
        if not other.has_edge(a, b):
            graph.add_edge(a, b)


def _measure(graph: nx.Graph) -> FloatArray:
    """Return the distances between all vertices, along edges of length 1 or of their weight."""
    lengths: FloatArray = shortest_path(nx.to_scipy_sparse_array(graph, range(len(graph)), dtype=float), directed=False)
    return lengths


def _draw_distances(rng: np.random.Generator, n: int) -> FloatArray:
    """Return symmetric distances from 2 on, as those of what is not adjacent in Drezner's QAPs."""
    above = np.triu(rng.integers(2, MOST + 1, (n, n)), 1)
    return (above + above.T).astype(np.float64)


def _build_grid(size: int, _draw: int) -> nx.Graph:
    """Return a grid that is nearly square."""
    rows = int(np.sqrt(size))
    return nx.grid_2d_graph(rows, size // rows)


def _build_torus(size: int, _draw: int) -> nx.Graph:
    """Return a torus of three axes, two of them equal."""
    side = round(size ** (1 / 3))
    return nx.grid_graph((side, side, size // side**2), periodic=True)


def _build_uneven_torus(size: int, draw: int) -> nx.Graph:
    """Return a torus with links along the last axis that are twice as long as others."""
    torus = _build_torus(size, draw)
    for a, b in torus.edges:
        torus.edges[a, b]["weight"] = 2.0 if a[-1] != b[-1] else 1.0
    return torus


def _build_hexagons(size: int, _draw: int) -> nx.Graph:
    """Return a heavy-hexagon lattice."""
    links = build(f"heavy-hex:{HEXAGONS[size]}").links
    assert links is not None
    return nx.Graph(np.stack([links.u, links.v], axis=1).tolist())


def _triangulate(size: int, draw: int) -> nx.Graph:
    """Return the Delaunay triangulation of random points."""
    corners = Delaunay(np.random.default_rng(draw).random((size, 2))).simplices.tolist()
    return nx.Graph([edge for triangle in corners for edge in combinations(triangle, 2)])


def _build_dragonfly(size: int, _draw: int) -> nx.Graph:
    """Return cliques of routers, half as many links of each to other groups, and as many groups as that joins once."""
    routers = ROUTERS[size]
    links = routers // 2
    groups = routers * links + 1
    graph = nx.Graph([((g, a), (g, b)) for g in range(groups) for a, b in combinations(range(routers), 2)])
    for g in range(groups):
        for k in range(groups - 1):
            graph.add_edge((g, k // links), ((g + k + 1) % groups, (groups - 2 - k) // links))
    return graph


FAMILIES: dict[str, Callable[[int, int], nx.Graph]] = {
    "grid": _build_grid,
    "torus": _build_torus,
    "heavy hexagons": _build_hexagons,
    "random, 3-regular": lambda size, draw: nx.random_regular_graph(3, size, seed=draw),
    "random, 4-regular": lambda size, draw: nx.random_regular_graph(4, size, seed=draw),
    "random tree": lambda size, draw: nx.random_labeled_tree(size, seed=draw),
    "hypercube": lambda size, _draw: nx.hypercube_graph(int(np.log2(size))),
    "dragonfly": _build_dragonfly,
    "triangulation": _triangulate,
    "Drezner's": _build_grid,
    BESIDE: _build_torus,
    "torus of two lengths": _build_uneven_torus,
}
