"""A lower bound on the slowest link of rings of devices."""

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray

# Steps of a search for a ring, after which it counts as found: a lower bound stays one.
STEPS = 20_000


def ring_bound_s(table_s: FloatArray, link_type: IntArray, ranks: int) -> FloatArray:
    """Return a lower bound on the slowest link of all rings of so many of m devices, for every column.

    `table_s[k, x]` are the seconds of types of links, `link_type[m, m]` the type of each pair. Infinite where there
    is no such ring. Exact, unless a search for a ring takes more than 20,000 steps: then the ring counts as found.
    """
    if ranks == 1:
        return np.zeros(table_s.shape[1])
    known: dict[tuple[int, ...], bool] = {}
    used = np.unique(link_type[~np.eye(len(link_type), dtype=bool)])
    bounds = np.full(table_s.shape[1], np.inf)
    for column in range(table_s.shape[1]):
        for limit in np.unique(table_s[used, column]):
            allowed = tuple(used[table_s[used, column] <= limit].tolist())
            if allowed not in known:
                known[allowed] = has_ring(np.isin(link_type, allowed), ranks)
            if known[allowed]:
                bounds[column] = limit
                break
    return bounds


def has_ring(linked: BoolArray, ranks: int) -> bool:
    """Return whether some 2 or more nodes of a graph `linked[m, m]` form a ring; True as well when that takes too long.

    Depth-first search from the least node of the ring.
    """
    links = [frozenset(np.flatnonzero(row).tolist()) - {node} for node, row in enumerate(linked)]
    steps = 0
    for first in range(len(links) - ranks + 1):
        stack: list[tuple[int, ...]] = [(first,)]
        while stack:
            path = stack.pop()
            steps += 1
            if steps > STEPS or (len(path) == ranks and first in links[path[-1]]):
                return True
            if len(path) < ranks:
                stack += [(*path, node) for node in sorted(links[path[-1]] - {*path}) if node > first]
    return False
