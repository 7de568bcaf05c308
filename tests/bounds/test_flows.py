"""Tests of shortest paths to the nearest tasks, and of the ways downhill that flows take, as plain Python."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from tiger.bounds import flows
from tiger.bounds.capacity import _neighbours
from tiger.bounds.flows import CLOSED, DISTANCE, FAR, WITHIN, CsrGraph, FlowSearch


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    """Run the kernels as plain Python."""
    for name in ("settle", "forget", "_enter"):
        monkeypatch.setattr(flows, name, getattr(flows, name).py_func)


def draw(rng):
    """Return a random graph, in which some tasks may have no neighbour, and a search with lengths, some closed."""
    size = int(rng.integers(2, 40))
    graph = CsrGraph(*_neighbours(sp.random_array((size, size), density=rng.uniform(0.05, 0.3), rng=rng, format="csr")))
    search = FlowSearch.of(graph)
    search.length[:] = rng.integers(1, CLOSED + 1, len(graph.volume))
    search.length[rng.random(len(graph.volume)) < 0.2] = CLOSED
    search.task[:, WITHIN] = rng.random(size) < 0.8
    return graph, search


def measure(graph, search, inside):
    """Return the distances of all pairs over open edges, within the set if there is one."""
    size = len(graph.first) - 1
    ends, length = np.repeat(np.arange(size), np.diff(graph.first)), search.length[graph.edge]
    known = np.ones(size, bool) if inside < 0 else search.task[:, WITHIN] == inside
    keep = (length < CLOSED) & known[ends] & known[graph.near]
    return dijkstra(sp.csr_array((length[keep].astype(float), (ends[keep], graph.near[keep])), shape=(size, size)))


def test_the_nearest_are_settled_with_all_ways_downhill():
    """Searches one after another on the same arrays, from several tasks, with limits and within sets."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        graph, search = draw(rng)
        size = len(graph.first) - 1
        for inside in (-1, 1, -1):
            able = np.flatnonzero(search.task[:, WITHIN] == 1) if inside == 1 else np.arange(size)
            if not able.size:
                continue
            seeds = rng.permutation(able)[: rng.integers(1, 4)]
            least = measure(graph, search, inside)[seeds].min(axis=0)
            limit = int(rng.integers(len(seeds), size + 1))
            search.order[: len(seeds)] = seeds
            settled, many = flows.settle(graph, search, len(seeds), limit, inside, -1)
            order = search.order[:settled]
            assert settled == min(limit, np.isfinite(least).sum())
            assert (search.task[order, DISTANCE] == np.sort(least)[:settled]).all()
            assert (search.task[order, DISTANCE] == least[order]).all()
            for k, task in enumerate(order):
                row = slice(graph.first[task], graph.first[task + 1])
                way = zip(graph.near[row].tolist(), graph.edge[row].tolist(), strict=True)
                down = [(u, e) for u, e in way if search.length[e] < CLOSED and least[u] < least[task]]
                part = slice(search.start[k], search.start[k + 1])
                assert list(zip(order[search.link[part]].tolist(), search.over[part].tolist(), strict=True)) == down
            flows.forget(search, many)
            assert (search.task[:, DISTANCE] == FAR).all()


def test_a_search_ends_at_its_target():
    """The target is settled last, at its distance."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        graph, search = draw(rng)
        away = measure(graph, search, -1)[0]
        target = int(np.argmax(np.where(np.isfinite(away), away, -1)))
        search.order[0] = 0
        settled, many = flows.settle(graph, search, 1, len(away), -1, target)
        assert search.order[settled - 1] == target
        assert search.task[target, DISTANCE] == away[target]
        flows.forget(search, many)
