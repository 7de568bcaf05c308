"""Levels of traffic and of distances: the heaviest edges of a task graph, and pairs of nodes to lay them on."""

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem

# Edges a task, and links a node, above which a graph is too dense to look for: with 64, a random graph of 300 vertices
# of degree 70, a twentieth of its edges moved, is not found either.
DENSEST = 32
# The part of the edges that may be missing from the hardware, as far as degrees tell. With a twentieth of the edges
# moved they show 0.01 to 0.05 in ten families, random graphs of degree 3 on a grid or a torus of 100 nodes 0.10, of
# degree 4 there 0.19, and on heavy hexagons 0.30 and 0.44.
MISSING = 0.1
# What volumes must fall by at the end of a level, and edges a task that it has at least. Graphs of random volumes, from
# 1 to 100 or lognormal ones, end alike with a search of as much as fits by degrees, and take up to twice as long.
GAP, LEAST = 2.0, 0.5
# Distances that differ by less are equal.
EQUAL = 1e-9


def list_closest(problem: Problem) -> IntArray:
    """Return the pairs of hosts that are closest to each other, `[e, 2]`, lower first."""
    hosts = problem.topology.hosts
    table = problem.metric.between(hosts[:, None], hosts[None, :])
    above = np.triu(np.ones(table.shape, bool), 1)
    a, b = np.nonzero(above & (table <= table[above].min(initial=np.inf)))
    return np.stack([hosts[a], hosts[b]], axis=1)


def list_links(problem: Problem) -> IntArray:
    """Return the pairs of hosts between which no other host lies, `[e, 2]`, lower first, none where they are many."""
    hosts = problem.topology.hosts
    table = problem.metric.between(hosts[:, None], hosts[None, :])
    linked = np.zeros(table.shape, bool)
    for a, row in enumerate(table):
        left = np.isfinite(row)
        left[a] = False
        for _ in range(DENSEST + 1):
            if not left.any():
                break
            b = int(np.argmin(np.where(left, row, np.inf)))
            linked[a, b] = True
            # What is no farther by way of b lies behind it.
            left &= row[b] + table[b] > row * (1.0 + EQUAL)
            left[b] = False
        else:
            return np.empty((0, 2), np.int64)
    ends = np.nonzero(np.triu(linked | linked.T, 1))
    return hosts[np.stack(ends, axis=1)]


def list_edges(problem: Problem) -> tuple[IntArray, FloatArray]:
    """Return the pairs of tasks with traffic, `[e, 2]`, lower first, and their volumes both ways."""
    both = sp.triu(problem.tasks.traffic + problem.inflow, 1, "coo")
    some = both.data > 0.0
    return np.stack([both.row[some], both.col[some]], axis=1).astype(np.int64), both.data[some]


def list_levels(problem: Problem, pairs: IntArray) -> list[IntArray]:
    """Return sets of pairs of tasks, `[e, 2]`, that may lie on pairs of nodes as far as degrees tell.

    The first is all traffic, the other one what is above the widest gap: where volumes fall most, as a ratio, from one
    to the next below, by GAP at least, with LEAST edges a task above it.
    """
    ends, volumes = list_edges(problem)
    levels = [ends]
    steps, number = np.unique(volumes, return_counts=True)
    above = np.cumsum(number[::-1])[::-1][1:]
    with np.errstate(over="ignore"):
        ratios = steps[1:] / steps[:-1]
    ratios[(above < LEAST * problem.tasks.size) | (above > (1.0 + MISSING) * len(pairs))] = 0.0
    if ratios.max(initial=0.0) >= GAP:
        levels.append(ends[volumes > steps[np.argmax(ratios)]])
    return [level for level in levels if len(level) and fits(problem, level, pairs)]


def fits(problem: Problem, ends: IntArray, pairs: IntArray) -> bool:
    """Return whether degrees let most edges of the tasks lie on pairs of nodes, the highest on the highest."""
    size = max(problem.tasks.size, problem.topology.size)
    have, room = (-np.sort(-np.bincount(both.ravel(), minlength=size)) for both in (ends, pairs))
    return bool(np.maximum(have - room, 0).sum() <= 2 * MISSING * len(ends))
