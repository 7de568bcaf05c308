"""Fixtures that run compiled code as plain Python, where coverage can see it."""

import pytest

from tiger.solvers import branching, construction, moves


@pytest.fixture
def plain(monkeypatch):
    """Replace every kernel by its plain Python function, so that they call each other uncompiled too."""
    for module in (branching, construction, moves):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)
