"""Tests of layouts completed by nearness."""

import numpy as np

from tiger.routing.coupling import Coupling
from tiger.routing.embedding.nearness import place_near_partners

ANY = np.full(3, -1, np.int32)


def _pull(size: int, **weights: float) -> np.ndarray:
    """Return a symmetric attraction from names such as q01=2."""
    pull = np.zeros((size, size))
    for name, weight in weights.items():
        pull[int(name[1]), int(name[2])] = pull[int(name[2]), int(name[1])] = weight
    return pull


def test_the_most_attracted_qubit_comes_first() -> None:
    """On a line, of two partners of the qubit at its end the heavier one gets the place beside it."""
    line = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
    assert place_near_partners(np.array([0, -1, -1], np.int32), _pull(3, q01=1, q02=2), line, ANY).tolist() == [
        0,
        2,
        1,
        3,
    ]


def test_qubits_bound_to_a_part_come_before_others() -> None:
    """The only other qubit of a part goes to the one bound to it, though another is more attracted."""
    pair = Coupling.of(3, [(0, 1)])
    part = np.array([-1, pair.part[0], pair.part[0]], np.int32)
    assert place_near_partners(np.array([-1, 0, -1], np.int32), _pull(3, q01=9, q12=1), pair, part).tolist() == [
        2,
        0,
        1,
    ]


def test_a_whole_layout_stays() -> None:
    """With nothing to place, spare qubits fill the rest in order."""
    line = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
    assert place_near_partners(np.array([2, 1], np.int32), np.zeros((2, 2)), line, ANY[:2]).tolist() == [2, 1, 0, 3]
