"""Tests of moving cuts."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tiger.placement.search.cut_moves import move_cuts


def test_a_far_cut_is_found_step_by_step() -> None:
    """The best cut of 100 layers is at 70."""
    found = move_cuts((0, 10, 100), lambda cuts: abs(cuts[1] - 70.0), 200)
    assert (found.cuts, found.value) == ((0, 70, 100), 0.0)


def test_the_budget_counts_questions() -> None:
    """Three answers are not enough to get there."""
    evaluated = []
    found = move_cuts((0, 10, 100), lambda cuts: evaluated.append(cuts) or abs(cuts[1] - 70.0), 3)
    assert found.evaluations == len(evaluated) == 3
    assert found.value == 57.0


def test_nothing_is_evaluated_twice() -> None:
    """Moves that lead back are known."""
    evaluated: list[tuple[int, ...]] = []
    move_cuts((0, 3, 5, 8), lambda cuts: evaluated.append(cuts) or float(sum(cuts) % 5), 1000)
    assert len(evaluated) == len(set(evaluated))


def test_two_cuts_move_together_where_one_alone_does_not_help() -> None:
    """The middle stage has to keep its length while it moves, as does the one between two that move apart."""
    assert move_cuts((0, 1, 3, 9), lambda cuts: math.inf if cuts[2] - cuts[1] != 2 else 9.0 - cuts[2], 500).value == 1.0
    apart = move_cuts((0, 3, 4, 5, 9), lambda cuts: 20.0 * (cuts[1] + cuts[3] != 8) - cuts[3], 500)
    assert apart.value == -7.0


def test_what_is_not_allowed_is_left_for_what_is() -> None:
    """A start that is not allowed does not matter."""
    found = move_cuts((0, 1, 6), lambda cuts: math.inf if cuts[1] < 2 else float(cuts[1]), 100)
    assert (found.cuts, found.value) == ((0, 2, 6), 2.0)


def test_a_stop_ends_at_the_best_so_far() -> None:
    """The start alone is evaluated."""
    assert move_cuts((0, 1, 6), lambda cuts: 1.0, 100, lambda: True).evaluations == 1


@given(st.sets(st.integers(1, 9), min_size=1, max_size=5), st.lists(st.integers(0, 9), min_size=10, max_size=10))
def test_every_stage_keeps_a_layer(inner: set[int], weights: list[int]) -> None:
    """Cuts rise whatever the evaluate says, and are never worse than the start."""
    start = (0, *sorted(inner), 10)

    def evaluate(cuts: tuple[int, ...]) -> float:
        assert all(a < b for a, b in pairwise(cuts))
        return float(max(sum(weights[i:j]) for i, j in pairwise(cuts)))

    assert move_cuts(start, evaluate, 300).value <= evaluate(start)
