"""Lattices: task graphs that are grids or tori, tasks numbered in any order, and where each task lies in them."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from tiger.model.arrays import BoolArray, FloatArray, IntArray, distinct
from tiger.model.problem import Problem
from tiger.solvers.geometry.diagonals import axis_edges, has_diagonals, neighbours
from tiger.solvers.geometry.squares import axes_of

# Tasks looked at, and the most neighbours of one: those of a lattice of eight axes.
SAMPLE, MOST_DEGREE = 32, 16
# Share of the pairs of neighbours that must be corners of squares, and of all edges that a lattice must explain.
LIKELY, EXPLAINED = 0.7, 0.7
# Share of the edges below which an axis is taken for a few odd ones.
RARE = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Hold coordinates `coords[n, d]` below `dims[d]`, which axes wrap around, and the traffic across the layers.

    `pull[d]` is the traffic of a task with the next one along an axis, on average, diagonals counted along each of
    their axes. Two tasks may share coordinates where the graph is a lattice only for the most part.
    """

    dims: tuple[int, ...]
    wrap: tuple[bool, ...]
    coords: IntArray
    pull: FloatArray

    @property
    def size(self) -> int:
        """Return n, the number of tasks."""
        return len(self.coords)

    @property
    def across(self) -> FloatArray:
        """Return across[d], the traffic through a cut between two layers of each axis."""
        return np.asarray(self.pull * self.size / np.array(self.dims))


def recognise(problem: Problem) -> Lattice | None:
    """Return the lattice that the task graph is, except for a few edges if need be, None where it is none.

    Directed traffic counts both ways. Grids and tori with diagonals (9-point, 27-point) are lattices too. O(edges) for
    most graphs that are none, O(n d^2 log n) for those that are.
    """
    if not may_be_lattice(problem):
        return None
    traffic = problem.tasks.traffic + problem.inflow
    edges = sp.triu(traffic, 1).tocoo()
    ends, volume = np.stack([edges.row, edges.col], axis=1).astype(np.int64), edges.data
    size = problem.tasks.size
    if len(ends) < max(size - 1, 1) or connected_components(traffic, directed=False)[0] > 1:
        return None
    plain = axis_edges(sp.csr_array(traffic), ends) if has_diagonals(problem) else ends
    in_line = len(plain) <= size and np.bincount(plain.ravel()).max() <= 2
    axes = np.zeros(len(plain), np.int64) if in_line else axes_of(size, plain)
    return None if axes is None else _lattice(size, plain, axes, (ends, volume))


def may_be_lattice(problem: Problem) -> bool:
    """Return whether the surroundings of a few tasks look like those in a lattice; O(n), hardly any of it in Python."""
    return _has_squares(problem) or has_diagonals(problem)


def merge_axes(lattice: Lattice) -> Lattice | None:
    """Return the same lattice with pairs of axes of extent 2 as cycles of 4, None where there is no such pair."""
    twos = [axis for axis, extent in enumerate(lattice.dims) if extent == 2]
    twos.sort(key=lambda axis: lattice.pull[axis])
    pairs = list(zip(twos[0::2], twos[1::2], strict=False))
    if not pairs:
        return None
    kept = [axis for axis in range(len(lattice.dims)) if all(axis not in pair for pair in pairs)]
    around = [lattice.coords[:, a] * 2 + (lattice.coords[:, a] ^ lattice.coords[:, b]) for a, b in pairs]
    pull = [float(lattice.pull[list(pair)].mean()) for pair in pairs]
    return Lattice(
        dims=(*(lattice.dims[axis] for axis in kept), *(4 for _ in pairs)),
        wrap=(*(lattice.wrap[axis] for axis in kept), *(True for _ in pairs)),
        coords=np.stack([*lattice.coords[:, kept].T, *around], axis=1),
        pull=np.array([*lattice.pull[kept], *pull]),
    )


def _has_squares(problem: Problem) -> bool:
    """Return whether two neighbours of a task have one more in common, most pairs of them, or tasks lie in a line."""
    size, pairs, squares, straight, triangles, lines = problem.tasks.size, 0, 0, 0, 0, 0
    picked = np.unique(np.linspace(0, size - 1, SAMPLE).astype(np.int64)).tolist()
    for task in picked:
        around = neighbours(problem, task)
        if len(around) > MOST_DEGREE:
            return False
        lines += len(around) <= 2
        rings = [neighbours(problem, other) for other in around]
        straight += len(rings) // 2
        pairs += len(rings) * (len(rings) - 1) // 2 - len(rings) // 2
        triangles += sum(len(around & ring) for ring in rings) // 2
        squares += sum(len(one & other) == 2 for k, one in enumerate(rings) for other in rings[:k])
    return lines == len(picked) or (squares >= LIKELY * max(pairs, 1) and triangles <= straight)


def _lattice(size: int, ends: IntArray, axes: IntArray, edges: tuple[IntArray, FloatArray]) -> Lattice | None:
    """Return the lattice whose edges `ends[e, 2]` run along `axes[e]`, None where it explains too few of all edges."""
    shares = np.append(np.bincount(axes[axes >= 0]) / len(axes), 0.0)
    large = shares[axes] >= RARE
    ends, axes = ends[large], axes[large]
    columns = [_layers(size, ends, axes == axis) for axis in np.unique(axes)]
    if not columns:
        return None
    columns.sort(key=lambda column: -int(column[0].max()))
    coords = np.stack([position for position, _ in columns], axis=1)
    dims, wrap = tuple(int(x) + 1 for x in coords.max(axis=0)), tuple(around for _, around in columns)
    if np.prod(np.array(dims, np.float64)) > size / EXPLAINED:
        return None
    gaps = np.abs(coords[edges[0][:, 0]] - coords[edges[0][:, 1]])
    gaps = np.minimum(gaps, np.where(wrap, np.array(dims) - gaps, gaps))
    if (gaps.max(axis=1) == 1).mean() < EXPLAINED:
        return None
    layers = np.array(dims) - np.where(wrap, 0, 1)
    steps = np.maximum(layers, 1) * size / np.array(dims)
    gaps[gaps.max(axis=1) > 1] = 0
    return Lattice(dims, wrap, coords, np.asarray(edges[1] @ gaps / steps))


def _layers(size: int, ends: IntArray, along: BoolArray) -> tuple[IntArray, bool]:
    """Return position[n] of each task along an axis, and whether the axis closes to a cycle.

    Layers are what the edges along all other axes connect.
    """
    layer = _components(size, ends[~along])
    count = int(layer.max()) + 1
    low, high = layer[ends[along]].min(axis=1), layer[ends[along]].max(axis=1)
    keys = distinct((low * count + high)[low < high])
    links = np.stack([keys // count, keys % count], axis=1)
    order = _order_layers(count, links)
    degree = np.bincount(links.ravel(), minlength=count)
    return order[layer], bool(count > 2 and (degree == 2).all())


def _components(size: int, ends: IntArray) -> IntArray:
    """Return the connected component of each task."""
    links = sp.csr_array((np.ones(len(ends), np.int8), ends.T), shape=(size, size))
    return np.asarray(connected_components(links, directed=False)[1], np.int64)


def _order_layers(count: int, links: IntArray) -> IntArray:
    """Return the position of each layer along a path or a cycle of them, else its distance from the farthest one."""
    both = np.concatenate([links, links[:, ::-1]])
    graph = sp.csr_array((np.ones(len(both), np.int8), both.T), shape=(count, count))
    degree = np.diff(graph.indptr)
    if count > 2 and (degree == 2).all():
        return _cycle_positions(graph)
    end = breadth_first_order(graph, int(np.where(degree, degree, count).argmin()), directed=False)[0][-1]
    return depths(graph, int(end))


def _cycle_positions(graph: sp.csr_array) -> IntArray:
    """Return the position of each vertex of a cycle."""
    neighbours = graph.indices.reshape(-1, 2).tolist()
    position = np.empty(len(neighbours), np.int64)
    before, here = neighbours[0][0], 0
    for number in range(len(neighbours)):
        position[here] = number
        one, other = neighbours[here]
        before, here = here, other if one == before else one
    return position


def depths(graph: sp.csr_array, source: int) -> IntArray:
    """Return the number of edges from a vertex to all others, those out of reach as far as the farthest."""
    order, parent = breadth_first_order(graph, source, directed=False)
    place = np.zeros(graph.shape[0], np.int64)
    place[order] = np.arange(len(order))
    above = place[np.maximum(parent[order], 0)]
    above[0] = 0
    depth = np.ones(len(order), np.int64)
    depth[0] = 0
    # Pointer jumping: after k rounds every vertex knows the 2^k steps above it.
    while above.any():
        depth, above = depth + depth[above], above[above]
    found = np.full(graph.shape[0], depth.max(), np.int64)
    found[order] = depth
    return found
