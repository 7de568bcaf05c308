"""Tests of places made whole."""

import numpy as np

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import chain
from tiger.placement.operators.qubo.repair import repair
from tiger.placement.operators.terms import Terms

TERMS = Terms.from_operators(chain([1.0, 2.0, 3.0, 4.0], 0.0, [4.0, 3.0, 2.0, 1.0]), cluster("aa", 6.0), {})


def test_a_place_that_fits_stays() -> None:
    """Memory 4 + 2 and 3 + 1 of 6 and 6."""
    assert repair(TERMS, np.array([0, 1, 0, 1])).tolist() == [0, 1, 0, 1]


def test_what_is_too_much_moves() -> None:
    """All on the first device, which has room for the largest and, after the second did not fit, the third."""
    assert repair(TERMS, np.zeros(4, np.int64)).tolist() == [0, 1, 0, 1]


def test_groups_without_a_device_go_where_least_is_to_be_done() -> None:
    """The largest first, to the first device; the next to the other, which has less to do; and so on."""
    assert repair(TERMS, np.full(4, -1)).tolist() == [0, 1, 0, 1]


def test_forbidden_devices_are_left() -> None:
    """An operator pinned to the second device does not stay on the first."""
    terms = Terms.from_operators(chain([1.0, 1.0], 0.0, [1.0, 1.0]), cluster("aa"), {0: 1})
    assert repair(terms, np.zeros(2, np.int64)).tolist() == [1, 0]
