"""Diagonals of stencils: edges that change several coordinates at once, unlike those that change one."""

import math

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem

# Without this module stencils of 9 and 27 points on tori of their size cost 7 to 9 % more, `auto` at effort 1.
# Axes of the stencils that are looked for: 9 and 27 points.
AXES = (2, 3)
# Tasks looked at, and the share of them that must look like the inside of a stencil.
SAMPLE, SHARE = 8, 0.7
# Below 4/9, the least ratio of an edge along one axis, see axis_edges.
STRAIGHT = 0.4
# Difference of ratios that may be rounding alone.
TOLERANCE = 1e-9


def has_diagonals(problem: Problem) -> bool:
    """Return whether tasks with 8 or 26 neighbours share as many with each as in a stencil of 9 or 27 points; O(n)."""
    return any(_looks_like_stencil(problem, axes) for axes in AXES)


def axis_edges(traffic: sp.csr_array, ends: IntArray) -> IntArray:
    """Return those of the edges `ends[e, 2]` of a stencil with diagonals that run along one axis.

    Closed neighbourhoods of tasks are boxes, and so is what two of them have in common: along each axis that differs it
    is 2 wide. Twice that over the widths is 4/9 or 2/3 for one axis, and for two at most as much, at corners, where
    a triangle tells them apart. Source: R. Hammack, W. Imrich, On Cartesian skeletons of graphs, Ars Mathematica
    Contemporanea 2 (2009) 191.
    """
    size = traffic.shape[0]
    links = sp.csr_array((np.ones(2 * len(ends)), np.concatenate([ends, ends[:, ::-1]]).T), shape=(size, size))
    around = np.diff(links.indptr) + 1.0
    ratio = (_count_common(links, ends) + 2.0) ** 2 / (around[ends[:, 0]] * around[ends[:, 1]])
    kept = ratio > STRAIGHT
    return _untangle(size, ends[kept], ratio[kept])


def _looks_like_stencil(problem: Problem, axes: int) -> bool:
    """Return whether most of a few tasks with 3^axes - 1 neighbours look like the inside of a stencil."""
    full = 3**axes - 1
    received, sent = (np.diff(matrix.indptr) for matrix in (problem.inflow, problem.tasks.traffic))
    inside = np.flatnonzero((sent == full) | (received + sent == full))
    if not inside.size:
        return False
    picked = inside[np.unique(np.linspace(0, len(inside) - 1, SAMPLE).astype(np.int64))].tolist()
    want = sorted(
        2**changed * 3 ** (axes - changed) - 2
        for changed in range(1, axes + 1)
        for _ in range(math.comb(axes, changed) * 2**changed)
    )
    return sum(sorted(_count_shared(problem, task)) == want for task in picked) >= SHARE * len(picked)


def _count_shared(problem: Problem, task: int) -> list[int]:
    """Return how many neighbours a task shares with each of its own."""
    around = neighbours(problem, task)
    return [len(around & neighbours(problem, other)) for other in around]


def neighbours(problem: Problem, task: int) -> set[int]:
    """Return the tasks that a task exchanges traffic with, itself left out."""
    found: set[int] = set()
    for traffic in (problem.tasks.traffic, problem.inflow):
        found.update(traffic.indices[traffic.indptr[task] : traffic.indptr[task + 1]].tolist())
    return found - {task}


def _count_common(links: sp.csr_array, ends: IntArray) -> FloatArray:
    """Return how many neighbours the ends of each edge have in common."""
    paths = links @ links
    paths.sort_indices()
    size = links.shape[0]
    row = np.repeat(np.arange(size), np.diff(paths.indptr))
    at = np.searchsorted(row * size + paths.indices, ends[:, 0] * size + ends[:, 1])
    at = np.minimum(at, len(row) - 1)
    found = (row[at] == ends[:, 0]) & (paths.indices[at] == ends[:, 1])
    return np.where(found, paths.data[at], 0.0)


def _untangle(size: int, ends: IntArray, ratio: FloatArray) -> IntArray:
    """Return the edges that are not the one of lowest ratio in a triangle."""
    upper = sp.csr_array((ratio, ends.T), shape=(size, size))
    links = upper + upper.T
    degree = np.diff(links.indptr)
    tail, head = links.indices, np.repeat(np.arange(size), degree)
    keep = np.ones(len(ends), bool)
    count = degree[ends[:, 0]]
    edge = np.repeat(np.arange(len(ends)), count)
    at = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + links.indptr[ends[edge, 0]]
    third = tail[at].astype(np.int64)
    key = head.astype(np.int64) * size + tail
    order = np.argsort(key)
    wanted = ends[edge, 1] * size + third
    found = np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)
    closed = key[order[found]] == wanted
    lowest = ratio[edge] < np.minimum(links.data[at], links.data[order[found]]) - TOLERANCE
    keep[edge[closed & lowest]] = False
    return ends[keep]
