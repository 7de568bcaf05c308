"""The vertices at the boundaries of domains, of which a random one is an O(1) draw."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.solvers.kernel import inner_kernel


class Boundary(NamedTuple):
    """Hold the vertices with neighbours in other domains.

    These are `vertices[: size[0]]`; `rank[n]` is where a vertex stands there, -1 outside and -2 for one that may not
    move. `external[n]` counts the neighbours in other domains.
    """

    vertices: IntArray
    size: IntArray
    rank: IntArray
    external: IntArray


def empty_boundary(rank: IntArray, external: IntArray) -> Boundary:
    """Return a boundary without vertices, for `rank[n]` of -1 and -2 and the first `external[n]`."""
    return Boundary(np.empty(len(rank), np.int64), np.zeros(1, np.int64), rank, external)


@inner_kernel
def update_boundary(boundary: Boundary, t: int) -> None:
    """Keep vertex t at the boundary if it has a neighbour in another domain, and only then; O(1)."""
    k = boundary.rank[t]
    if boundary.external[t] > 0 and k == -1:
        boundary.vertices[boundary.size[0]] = t
        boundary.rank[t] = boundary.size[0]
        boundary.size[0] += 1
    elif boundary.external[t] == 0 and k >= 0:
        # The last entry fills the gap.
        boundary.size[0] -= 1
        last = boundary.vertices[boundary.size[0]]
        boundary.vertices[k] = last
        boundary.rank[last] = k
        boundary.rank[t] = -1
