"""Grids of operators of a training step, forward and back again."""

from types import ModuleType

import numpy as np
import pytest

from tests.placement.operators.instances import cluster
from tiger.placement.operators.terms import Terms
from tiger.training.models.operators import Operators


def lattice(rows: int, columns: int, kinds: str, memory_bytes: float = np.inf) -> Terms:
    """Return rows x columns groups of a second forward and two back, each consumed by the next of row and column.

    Messages take 0.1 s and a byte more, and a group holds a byte.
    """
    cells = np.arange(rows * columns).reshape(rows, columns)
    source = np.concatenate([cells[:, :-1].ravel(), cells[:-1].ravel()])
    target = np.concatenate([cells[:, 1:].ravel(), cells[1:].ravel()])
    size = cells.size
    back = np.repeat([False, True], size)
    operators = Operators(
        names=tuple(f"op{k}" for k in range(2 * size)),
        seconds=np.where(back, 2.0, 1.0),
        memory_bytes=np.where(back, 0.0, 1.0),
        sent_s=np.full(2 * size, 0.1),
        sent_bytes=np.full(2 * size, 0.1),
        source=np.concatenate([source, target + size, cells.ravel()]),
        target=np.concatenate([target, source + size, cells.ravel() + size]),
        colour=np.tile(np.arange(size), 2),
        backward=back,
    )
    return Terms.from_operators(operators, cluster(kinds, memory_bytes), {})


def is_within(terms: Terms, place: np.ndarray) -> bool:
    """Return whether a placement keeps to memory and to where groups may go."""
    held = np.bincount(place, terms.memory, terms.devices)
    return bool((held <= terms.capacity).all() and terms.allowed[np.arange(terms.groups), place].all())


def interpret(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
    """Replace every kernel in modules by its Python function."""
    for module in modules:
        for name, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
