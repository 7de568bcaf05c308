"""Undirected graphs whose files list every edge at both of its ends."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray


def fold(names: Sequence[str], source: IntArray, target: IntArray, weights: FloatArray) -> sp.csr_array:
    """Return each edge once, above the diagonal; raise InputError of `tasks` unless both ends list it alike."""
    shape = (len(names), len(names))
    traffic = sp.csr_array((weights, (source, target)), shape=shape)
    _check_symmetric(names, sp.csr_array((np.ones(len(source)), (source, target)), shape=shape), "as often")
    _check_symmetric(names, traffic, "with the same weight")
    return sp.csr_array(sp.triu(traffic, 1))


def _check_symmetric(names: Sequence[str], matrix: sp.csr_array, how: str) -> None:
    """Raise InputError unless every edge stands at both ends alike."""
    odd = (matrix != matrix.T).tocoo()
    if odd.nnz:
        u, v = int(odd.row[0]), int(odd.col[0])
        found = f"{matrix[u, v]:g} and {matrix[v, u]:g}"
        raise InputError("tasks", f"expected vertices {names[u]} and {names[v]} to list each other {how}, got {found}")
