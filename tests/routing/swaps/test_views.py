"""Tests of a circuit in the four views that the search reads it."""

from itertools import pairwise

import numpy as np

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.swaps.views import build_views, order_strictly

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])


def fan() -> GateDag:
    """Return two CX with one control, which may change places, and one that waits for the second."""
    pairs = ((0, 1), (0, 2), (2, 3))
    return gate_dag_of(4, [Operation(pair, ("z", "x"), pair=True, bridge=True) for pair in pairs]).gate_dag


def list_successors(first: np.ndarray, after: np.ndarray) -> list[list[int]]:
    """Return the successors of every node."""
    return [after[a:b].tolist() for a, b in pairwise(first.tolist())]


def test_strict_order_chains_the_gates_of_a_qubit() -> None:
    """Gates that may change places wait for each other then, and what waited already still does."""
    assert list_successors(fan().first, fan().after) == [[], [2], []]
    strict = order_strictly(fan())
    assert list_successors(strict.first, strict.after) == [[1], [2], []]
    assert strict.waits.tolist() == [0, 1, 1]


def test_ways_are_forwards_and_backwards_as_it_is_and_in_order() -> None:
    """Nodes keep their numbers, and shorter lists are padded at the end."""
    views = build_views(fan(), LINE)
    listed = [list_successors(first, after) for first, after in zip(views.first, views.after, strict=True)]
    assert listed == [[[], [2], []], [[], [], [1]], [[1], [2], []], [[], [0], [1]]]
    assert views.waits.tolist() == [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 1, 0]]


def test_kernels_get_arrays_that_can_be_written_to() -> None:
    """Read-only arrays would be another type to them, and be compiled for anew."""
    assert all(array.flags.writeable and array.flags.c_contiguous for array in build_views(fan(), LINE))


def test_a_circuit_without_gates_has_four_empty_ways() -> None:
    """Nothing waits for anything."""
    views = build_views(gate_dag_of(2, []).gate_dag, LINE)
    assert views.first.tolist() == [[0]] * 4
    assert views.after.shape == (4, 0)
