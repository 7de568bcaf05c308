"""Fixtures that run compiled code as plain Python, where coverage can see it."""

import pytest

from tiger.solvers import (
    bisecting,
    boundary,
    branching,
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
from tiger.solvers.warm import warm

KERNELS = (
    bisecting,
    boundary,
    branching,
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
