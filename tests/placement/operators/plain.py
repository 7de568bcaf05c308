"""Kernels run as plain Python, where what they do can be seen."""

from types import ModuleType

import pytest

from tiger.placement.operators import linear_orders
from tiger.placement.operators.throughput import annealer, annealing, cut_dp, proposals, state
from tiger.solvers import generator


def interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel of the search by its Python function, wherever it is imported."""
    for module in (annealing, cut_dp, generator, linear_orders, annealer, proposals, state):
        _interpret_module(monkeypatch, module)


def _interpret_module(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    for name, value in vars(module).copy().items():
        if hasattr(value, "py_func"):
            monkeypatch.setattr(module, name, value.py_func)
