"""Fixtures that run compiled code as plain Python, where coverage can see it."""

import pytest

from tiger.solvers import branch_and_bound, construction, repair
from tiger.solvers.annealing import boundary_annealing as boundary
from tiger.solvers.annealing import ejection_chains as chains
from tiger.solvers.annealing import fields, moves
from tiger.solvers.annealing import objective_kernels as judging
from tiger.solvers.annealing import swap_annealing as trading
from tiger.solvers.multilevel import coarsening, outlines, quotient
from tiger.solvers.multilevel import fm_bisection as bisecting
from tiger.solvers.warm import warm

KERNELS = (
    bisecting,
    boundary,
    branch_and_bound,
    chains,
    coarsening,
    construction,
    fields,
    judging,
    moves,
    outlines,
    quotient,
    repair,
    trading,
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
