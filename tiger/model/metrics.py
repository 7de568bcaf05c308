"""Distances between nodes: a dense matrix, a grid or torus, a tree of fan-outs."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray, freeze

# A matrix of distances between this many nodes takes 512 MB.
DENSE_LIMIT = 8192
# Rows and columns that are compared at once: both blocks stay in the cache.
BLOCK = 256
# Which formula a kernel takes distances from.
DENSE, GRID, TREE = 0, 1, 2


class DistanceArrays(NamedTuple):
    """Hold a metric as plain arrays for compiled code: its kind, a dense table, integer shape and float steps.

    DENSE: `table[m, m]`. GRID: `shape` = dims, `steps` = wrap flags then the length of a hop. TREE: `shape` = leaves
    under a node of each level, `steps` = distances, both innermost first. Parts that do not apply have size 1.
    """

    kind: int
    table: FloatArray
    shape: IntArray
    steps: FloatArray


class Metric(Protocol):
    """Give the distance between any two of `size` nodes."""

    @property
    def size(self) -> int:
        """Return m, the number of nodes."""
        ...

    @property
    def symmetric(self) -> bool:
        """Return whether distances are the same both ways."""
        ...

    @property
    def farthest(self) -> float:
        """Return the largest finite distance."""
        ...

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """Return the distances from nodes `a` to nodes `b`, broadcast against each other."""
        ...

    def arrays(self) -> DistanceArrays:
        """Return the metric for compiled code."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class DenseMetric:
    """Read distances from a matrix `table[m, m]` of numbers >= 0; infinity: there is no way between two nodes.

    The remaining fields are derived: whether distances are the same both ways, whether all are finite, and the largest
    finite one.
    """

    table: FloatArray
    symmetric: bool = field(init=False)
    connected: bool = field(init=False)
    farthest: float = field(init=False)

    def __post_init__(self) -> None:
        """Check shape, size and bounds; O(m^2) with little memory beside the matrix."""
        table = np.asarray(self.table, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not len(table):
            raise InputError("topology/distances", f"expected a square matrix, got shape {table.shape}")
        if len(table) > DENSE_LIMIT:
            raise InputError(
                "topology", f"expected at most {DENSE_LIMIT} nodes without grid or tree structure, got {len(table)}"
            )
        if not table.min() >= 0:
            raise InputError("topology/distances", "expected distances >= 0, got a negative one or NaN")
        table = freeze(np.ascontiguousarray(table))
        most = float(table.max())
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "symmetric", _is_mirrored(table))
        object.__setattr__(self, "connected", math.isfinite(most))
        finite = most if math.isfinite(most) else float(table.max(initial=0.0, where=np.isfinite(table)))
        object.__setattr__(self, "farthest", finite)

    @property
    def size(self) -> int:
        """Return m, the number of nodes."""
        return len(self.table)

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """Return the distances from nodes `a` to nodes `b`, broadcast against each other."""
        return self.table[a, b]

    def arrays(self) -> DistanceArrays:
        """Return the metric for compiled code."""
        return DistanceArrays(DENSE, self.table, np.ones(1, np.int64), np.ones(1))


@dataclass(frozen=True, slots=True)
class GridMetric:
    """Count hops on a grid of shape `dims`, the last axis varying fastest, wrapping around along some axes.

    `wrap` says which axes; `hop` is the length of one hop.
    """

    dims: tuple[int, ...]
    wrap: tuple[bool, ...]
    hop: float = 1.0

    def __post_init__(self) -> None:
        """Check the shape."""
        if not self.dims or min(self.dims) < 1:
            raise InputError("topology", f"expected grid extents >= 1, got {self.dims}")
        if len(self.wrap) != len(self.dims):
            raise InputError("topology", f"expected {len(self.dims)} wrap flags, got {len(self.wrap)}")
        if not (math.isfinite(self.hop) and self.hop >= 0):
            raise InputError("topology", f"expected a finite hop length >= 0, got {self.hop:g}")

    @property
    def size(self) -> int:
        """Return m, the number of nodes."""
        return math.prod(self.dims)

    @property
    def symmetric(self) -> bool:
        """Return whether distances are the same both ways."""
        return True

    @property
    def farthest(self) -> float:
        """Return the largest distance."""
        hops = sum(d // 2 if around else d - 1 for d, around in zip(self.dims, self.wrap, strict=True))
        return hops * self.hop

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """Return the distances from nodes `a` to nodes `b`, broadcast against each other."""
        hops = np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b)))
        rest_a, rest_b = np.asarray(a), np.asarray(b)
        for extent, around in zip(self.dims[::-1], self.wrap[::-1], strict=True):
            gap = np.abs(rest_a % extent - rest_b % extent)
            hops += np.minimum(gap, extent - gap) if around else gap
            rest_a, rest_b = rest_a // extent, rest_b // extent
        return hops * self.hop

    def arrays(self) -> DistanceArrays:
        """Return the metric for compiled code."""
        steps = np.array([*map(float, self.wrap), self.hop])
        return DistanceArrays(GRID, np.zeros((1, 1)), np.array(self.dims, np.int64), steps)


@dataclass(frozen=True, slots=True)
class TreeMetric:
    """Measure leaves of a tree by the highest level that separates them.

    `fanouts` are outermost first; `distances` are innermost first, one per level, not falling: two leaves that differ
    only in their last coordinate are `distances[0]` apart.
    """

    fanouts: tuple[int, ...]
    distances: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check fan-outs and distances."""
        if not self.fanouts or min(self.fanouts) < 1:
            raise InputError("topology", f"expected fan-outs >= 1, got {self.fanouts}")
        if len(self.distances) != len(self.fanouts):
            raise InputError("topology", f"expected {len(self.fanouts)} distances, got {len(self.distances)}")
        rising = all(x <= y for x, y in zip(self.distances, self.distances[1:], strict=False))
        if not (all(math.isfinite(d) and d >= 0 for d in self.distances) and rising):
            raise InputError(
                "topology", f"expected finite distances >= 0 from innermost, not falling, got {self.distances}"
            )

    @property
    def size(self) -> int:
        """Return m, the number of leaves."""
        return math.prod(self.fanouts)

    @property
    def symmetric(self) -> bool:
        """Return whether distances are the same both ways."""
        return True

    @property
    def leaves(self) -> IntArray:
        """Return how many leaves a subtree of each level holds, innermost first; the first is 1."""
        return np.cumprod([1, *self.fanouts[:0:-1]], dtype=np.int64)

    @property
    def farthest(self) -> float:
        """Return a bound on the largest distance: a level with a single subtree separates nothing."""
        return self.distances[-1]

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """Return the distances from nodes `a` to nodes `b`, broadcast against each other."""
        distances = np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b)))
        for leaves, distance in zip(self.leaves, self.distances, strict=True):
            distances = np.where(np.asarray(a) // leaves != np.asarray(b) // leaves, distance, distances)
        return distances

    def arrays(self) -> DistanceArrays:
        """Return the metric for compiled code."""
        return DistanceArrays(TREE, np.zeros((1, 1)), self.leaves, np.array(self.distances, np.float64))


def _is_mirrored(table: FloatArray) -> bool:
    """Return whether a matrix is symmetric; block by block, as the transpose of a large one is slow to read."""
    cuts = [slice(begin, begin + BLOCK) for begin in range(0, len(table), BLOCK)]
    return all(np.array_equal(table[a, b], table[b, a].T) for k, a in enumerate(cuts) for b in cuts[k:])
