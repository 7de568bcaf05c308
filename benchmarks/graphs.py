"""Large sparse mapping problems: stencils, random geometric graphs, triangulations, roads and scale-free graphs."""

from collections.abc import Iterator
from math import ceil, pi, prod, sqrt
from typing import NamedTuple

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay, cKDTree

from tiger.formats.patterns.spec import build as build_pattern
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem, default_rule
from tiger.model.tasks import TaskGraph
from tiger.topologies.spec import build


class Case(NamedTuple):
    """Name a problem and, where one is known, the cost of a construction for it."""

    name: str
    problem: Problem
    known: int | None


def cases(seed: int) -> Iterator[Case]:
    """Yield nine problems of 512 to 65,536 tasks, numbered at random, that fill their nodes, one nearly."""
    for name, traffic, hardware, known in (
        ("8 x 8 x 8 stencil", stencil(seed, 8, 8, 8), "torus:8x8x8", 1344),
        ("16 x 16 x 16 stencil", stencil(seed, 16, 16, 16), "torus:8x8x8", 5376),
        ("12 x 20 x 30 stencil", stencil(seed, 12, 20, 30), "tree:8x6x5@1,10,100", None),
        ("1,024 ranks of a conjugate gradient", conjugate_gradient(seed, "cg:32x32"), "torus:16x8x8", None),
        ("4,096 points near each other", geometric(seed, 4096), "torus:16x16x16", None),
        ("4,096 points near each other", geometric(seed, 4096), "tree:8x8x4@1,10,100", None),
        ("32 x 32 x 32 stencil", stencil(seed, 32, 32, 32), "tree:8x8x4@1,10,100", 376832),
        ("65,536 points triangulated", triangulate(seed, 65536), "tree:8x8x4@1,10,100", None),
    ):
        yield Case(f"{name} on {hardware.partition('@')[0]}", build_full_problem(traffic, hardware), known)
    yield Case("16 x 16 x 16 halo on torus:16x16x18, 10 % away", build_allocation(seed), None)


def build_full_problem(traffic: sp.csr_array, hardware: str, slots: int | None = None) -> Problem:
    """Return the problem of placing tasks on hardware with so many slots a node, just those they need unless given."""
    size = traffic.shape[0]
    tasks = TaskGraph(names=tuple(map(str, range(size))), traffic=traffic, directed=False)
    topology = build(hardware)
    topology = topology.with_slots(np.full(topology.size, slots or ceil(size / topology.size)))
    return Problem(tasks=tasks, topology=topology, rule=default_rule(tasks, topology))


def build_allocation(seed: int) -> Problem:
    """Return 4,096 ranks that talk to the 26 around them, on a torus of which a tenth of the nodes is away."""
    tasks, topology = build_pattern("halo:16x16x16,faces=16,corners=1"), build("torus:16x16x18")
    slots = np.ones(topology.size, np.int64)
    slots[np.random.default_rng(seed).permutation(topology.size)[: topology.size // 10]] = 0
    return Problem(tasks=tasks, topology=topology.with_slots(slots), rule="one-to-one")


def stencil(seed: int, *shape: int) -> sp.csr_array:
    """Return the traffic of a box whose cells talk to their neighbours across the faces, numbered at random."""
    number = np.random.default_rng(seed).permutation(prod(shape)).reshape(shape)
    pairs = [
        np.stack([np.delete(number, -1, axis).ravel(), np.delete(number, 0, axis).ravel()])
        for axis in range(len(shape))
    ]
    ends = np.concatenate(pairs, axis=1)
    return volumes(ends, np.ones(ends.shape[1]), number.size)


def conjugate_gradient(seed: int, pattern: str) -> sp.csr_array:
    """Return the traffic of a pattern `cg:RxC` both ways, its ranks numbered at random."""
    messages = build_pattern(pattern).traffic.tocoo()
    number = np.random.default_rng(seed).permutation(messages.shape[0])
    directed = sp.csr_array((messages.data, (number[messages.row], number[messages.col])), shape=messages.shape)
    return sp.csr_array(sp.triu(directed + directed.T))


def geometric(seed: int, points: int) -> sp.csr_array:
    """Return traffic of 1 to 9 between points of the unit square that are close, about twelve neighbours each."""
    rng = np.random.default_rng(seed)
    near = cKDTree(rng.random((points, 2))).query_pairs(sqrt(12 / (pi * points)), output_type="ndarray")
    return volumes(near.T, rng.integers(1, 10, len(near)), points)


def triangulate(seed: int, points: int) -> sp.csr_array:
    """Return unit traffic along the edges of the Delaunay triangulation of random points."""
    ends = _sides(np.random.default_rng(seed).random((points, 2))).T
    return volumes(ends, np.ones(ends.shape[1]), points)


def _sides(points: FloatArray) -> IntArray:
    """Return the edges[e, 2] of the Delaunay triangulation of `points[n, 2]`."""
    corners = Delaunay(points).simplices
    return np.unique(np.sort(np.concatenate([corners[:, :2], corners[:, 1:], corners[:, ::2]]), axis=1), axis=0)


def roads(seed: int, size: int) -> sp.csr_array:
    """Return unit traffic along roads between junctions, two fifths of all vertices, numbered at random.

    Half of the junctions are in towns. A shortest tree joins them, whose leaves are dead ends, and three tenths as many
    roads more, short ones sooner than long ones. The other vertices divide the roads at random points: 9 % of all have
    one neighbour, and 69 % two.
    """
    rng, count = np.random.default_rng(seed), 2 * size // 5
    towns, spread = rng.random((size // 256, 2)), rng.choice([0.01, 0.03], size // 256)
    home = rng.integers(0, len(towns), count)
    built = towns[home] + spread[home, None] * rng.standard_normal((count, 2))
    points = np.where(rng.random((count, 1)) < 0.5, built, rng.random((count, 2)))
    sides = _sides(points)
    length = np.linalg.norm(points[sides[:, 0]] - points[sides[:, 1]], axis=1)
    tree = minimum_spanning_tree(volumes(sides.T, length, count)).tocoo()
    in_tree = np.isin(sides @ [count, 1], tree.row * count + tree.col)
    at_end = (np.bincount(sides[in_tree].ravel(), minlength=count) == 1)[sides].any(axis=1)
    others = np.flatnonzero(~in_tree & ~at_end)
    more = others[np.argsort(length[others] * rng.exponential(size=len(others)))[: 3 * count // 10]]
    kept = np.concatenate([np.flatnonzero(in_tree), more])
    # Where a road begins, the vertices that divide it, and where it ends: steps along these are the edges.
    inner = rng.multinomial(size - count, length[kept] / length[kept].sum())
    line = np.full((inner + 2).sum(), -1)
    last = np.cumsum(inner + 2) - 1
    line[last - inner - 1], line[last] = sides[kept].T
    line[line < 0] = count + np.arange(size - count)
    steps = np.delete(np.stack([line[:-1], line[1:]]), last[:-1], axis=1)
    return volumes(rng.permutation(size)[steps], np.ones(steps.shape[1]), size)


def attach_preferentially(seed: int, size: int) -> sp.csr_array:
    """Return unit traffic of a graph whose every new vertex joins four by degree; A.-L. Barabasi, R. Albert 1999."""
    graph = nx.barabasi_albert_graph(size, 4, seed=seed)
    return sp.csr_array(sp.triu(nx.to_scipy_sparse_array(graph, dtype=float), 1))


def draw_recursively(seed: int, size: int) -> sp.csr_array:
    """Return unit traffic of R-MAT, about eight neighbours a vertex; D. Chakrabarti, Y. Zhan, C. Faloutsos 2004.

    The quadrants of the matrix, at every scale, are drawn with the usual 0.57, 0.19, 0.19 and 0.05.
    """
    rng, levels = np.random.default_rng(seed), (size - 1).bit_length()
    quadrants = rng.choice(4, (levels, 4 * size), p=[0.57, 0.19, 0.19, 0.05])
    ends = np.stack([(1 << np.arange(levels)) @ (quadrants // 2), (1 << np.arange(levels)) @ (quadrants % 2)])
    ends = np.unique(np.sort(ends[:, ends[0] != ends[1]], axis=0), axis=1)
    return volumes(rng.permutation(size)[ends], np.ones(ends.shape[1]), size)


def volumes(ends: IntArray, traffic: np.ndarray, size: int) -> sp.csr_array:
    """Return traffic[e] between ends[2, e] as an upper triangular matrix."""
    return sp.csr_array((traffic.astype(float), (ends.min(axis=0), ends.max(axis=0))), shape=(size, size))
