"""Compile the kernels of bounds into numba's cache."""

from functools import cache

import numpy as np

KERNELS = ("bound",)


@cache
def load() -> None:
    """Run the kernels once in a process, on a ring of four tasks, two of which share a node."""
    from tiger.bounds.flows import CsrGraph
    from tiger.bounds.spreading import ColumnChoice, pack

    turn = np.arange(4)
    near = np.stack([(turn - 1) % 4, (turn + 1) % 4], axis=1).ravel().astype(np.int32)
    edge = np.stack([(turn - 1) % 4, turn], axis=1).ravel().astype(np.int32)
    graph = CsrGraph(2 * np.arange(5), near, edge, np.ones(4))
    pack(graph, ColumnChoice(np.ones(1), np.array([2]), turn, 1, 4, 4, 1 << 20), bool)
