"""Tests of loading the kernels."""

import pytest
from numba.core import event

from tiger.feasibility.start import launch_order
from tiger.solvers import registry, warm


def test_warming_says_what_comes_next():
    """Tests the progress of `tiger warm`."""
    said = []
    warm.warm(said.append)
    assert tuple(said) == warm.KERNELS


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_warming_leaves_no_kernel_out(rule, random_problem):
    """Tests that nothing is compiled afterwards, by listening to numba."""
    warm.warm(lambda _: None)
    problem = random_problem(rule, 1, tasks=8, nodes=8)
    with event.install_recorder("numba:compile") as recorder:
        for name in ("greedy", "exact", "random"):
            registry.search(name).search(problem, launch_order(problem), effort=1, seed=0, stop=bool)
        for _, search in registry.native_searches(problem):
            search.search(problem, launch_order(problem), effort=1, seed=0, stop=bool)
    assert recorder.buffer == []


def test_a_search_without_kernels_needs_none():
    """Tests a name that is not in the list."""
    warm.load("geometry")
