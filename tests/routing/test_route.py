"""Tests of routed circuits."""

import numpy as np

from tiger.routing.route import PLAIN, Route

START = np.array([2, 0, 1], np.int32)


def route(*steps: tuple[int, int]) -> Route:
    """Return a route on three device qubits."""
    return Route(start=START, steps=np.array(steps, np.int32).reshape(-1, 2))


def test_swaps_and_bridges_cost_three_cx_each() -> None:
    """A node carried out as it stands costs nothing."""
    found = route((0, PLAIN), (-1, 1), (1, 2), (-3, 1))
    assert (found.swaps, found.bridges, found.extra_cx) == (2, 1, 9)


def test_a_swap_exchanges_what_two_places_hold() -> None:
    """Qubits 1 and 2, on places 0 and 1, change places; then 2 and 0 do."""
    assert route((-1, 1)).end().tolist() == [2, 1, 0]
    assert route((-1, 1), (-1, 2)).end().tolist() == [0, 1, 2]


def test_without_steps_nothing_moves() -> None:
    """The end is the start."""
    assert route().end().tolist() == START.tolist()
