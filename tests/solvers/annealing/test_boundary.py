"""Tests of the vertices at boundaries against those that have neighbours elsewhere."""

import numpy as np

from tiger.solvers.annealing.boundary import empty_boundary, update_boundary


def test_it_holds_those_with_neighbours_elsewhere_that_may_move():
    """Tests counts that come and go at random; a vertex that may not move never enters."""
    rng = np.random.default_rng(0)
    rank = np.where(np.arange(20) % 5, -1, -2)
    boundary = empty_boundary(rank, np.zeros(20, np.int64))
    for t in rng.integers(0, 20, 500).tolist():
        boundary.external[t] = rng.integers(0, 3)
        update_boundary.py_func(boundary, t)
        held = boundary.vertices[: boundary.size[0]]
        assert sorted(held.tolist()) == [u for u in range(20) if u % 5 and boundary.external[u] > 0]
        assert (boundary.rank[held] == np.arange(len(held))).all()
