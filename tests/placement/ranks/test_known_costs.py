"""Tests of the costs that are known."""

import numpy as np

from tiger.placement.ranks import known_costs
from tiger.placement.ranks.known_costs import KnownCosts


def test_parts_are_evaluated_once_and_equal_ones_share_a_row():
    """Keys 7 and 3 cost the same; a second question evaluates only what is new."""
    known, asked, costs = KnownCosts(np.empty((0, 1))), list[int](), {7: 1.0, 3: 1.0, -2: 2.0, 5: 3.0}

    def rows(keys: list[int]) -> list[float]:
        def evaluate(unknown: np.ndarray) -> np.ndarray:
            asked.extend(np.array(keys)[unknown].tolist())
            return np.array([[costs[keys[number]]] for number in unknown])

        row = known.rows(np.array(keys), lambda unknown: np.array(keys)[unknown], evaluate)
        return known.values[row, 0].tolist()

    assert rows([7, 3, -2]) == [1, 1, 2]
    assert rows([5, -2, 7, 5]) == [3, 2, 1, 3]
    assert sorted(asked) == [-2, 3, 5, 7]
    assert sorted(known.values.ravel().tolist()) == [1, 2, 3]
    assert known.label[known.values.ravel() == 2].tolist() == [-2]


def test_parts_of_one_pattern_are_evaluated_once():
    """Of three keys of two patterns two are evaluated; later ones of a known pattern are not."""
    known, asked = KnownCosts(np.empty((0, 1))), list[int]()

    def evaluate(unknown: np.ndarray) -> np.ndarray:
        asked.extend(unknown.tolist())
        return np.arange(len(unknown), dtype=float)[:, None]

    first = known.rows(np.array([4, 5, 6]), lambda unknown: unknown % 2, evaluate)
    later = known.rows(np.array([6, 9]), lambda unknown: unknown % 2, evaluate)
    assert first[0] == first[2] != first[1]
    assert later.tolist() == [first[0], first[1]]
    assert asked == [0, 1]


def test_too_many_parts_are_forgotten(monkeypatch):
    """Above the limit the table begins again, and gives the same answers."""
    monkeypatch.setattr(known_costs, "KEPT", 2)
    known = KnownCosts(np.empty((0, 1)))
    for keys in (np.array([1, 2, 3]), np.array([3, 4]), np.array([1])):
        row = known.rows(keys, keys.__getitem__, lambda unknown, keys=keys: keys.astype(float)[unknown][:, None])
        assert known.values[row, 0].tolist() == keys.tolist()
    assert known.by_key.keys.tolist() == [1, 3, 4]
