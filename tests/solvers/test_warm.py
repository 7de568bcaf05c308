"""Tests of loading the kernels."""

from tiger.solvers import warm


def test_warming_says_what_comes_next():
    """Tests the progress of `tiger warm`."""
    said = []
    warm.warm(said.append)
    assert said == ["greedy construction", "local search", "branch and bound", "other objectives"]
