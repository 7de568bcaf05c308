"""Fixtures that run compiled code as plain Python, where coverage can see it."""

import pytest

from tiger.solvers import branch_and_bound, construction, generator, repair
from tiger.solvers.annealing import (
    boundary_annealing,
    cost_changes,
    ejection_chains,
    fields,
    limited_kernels,
    moves,
    objective_kernels,
    swap_annealing,
    tree_kernels,
)
from tiger.solvers.multilevel import coarsening, fm_bisection, low_degree, outlines, quotient
from tiger.solvers.warm import warm

KERNELS = (
    fm_bisection,
    boundary_annealing,
    branch_and_bound,
    cost_changes,
    ejection_chains,
    coarsening,
    construction,
    fields,
    limited_kernels,
    low_degree,
    generator,
    objective_kernels,
    moves,
    outlines,
    quotient,
    repair,
    swap_annealing,
    tree_kernels,
)


@pytest.fixture(scope="session", autouse=True)
def _warm():
    """Compile every kernel first, so that no test that looks at the clock waits for that."""
    warm(lambda _: None)


@pytest.fixture
def plain(monkeypatch):
    """Replace every kernel by its plain Python function, so that they call each other uncompiled too."""
    for module in KERNELS:
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)
