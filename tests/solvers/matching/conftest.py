"""Kernels of matching as plain Python, where coverage can see them."""

import pytest

from tiger.solvers.matching import (
    ears,
    graph_matching,
    growth,
    monomorphism,
    neighbourhoods,
    partial_matching,
    patterns,
    regrowth,
)

MODULES = (monomorphism, neighbourhoods, patterns, growth, ears, regrowth, partial_matching, graph_matching)


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function, wherever it has been imported."""
    for module in MODULES:
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)
