"""Tests of default splits."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.chain.instances import all_cuts, layers_of
from tiger.placement.chain.baselines import balanced_cuts, by_time, uniform_cuts


def test_layers_of_one_kind_are_cut_at_equal_counts() -> None:
    """Ten layers in four stages: cuts at 2.5, 5 and 7.5, halves to the even."""
    assert uniform_cuts(layers_of([1.0] * 10), 4) == (0, 2, 5, 8, 10)


def test_ends_stay_with_the_first_and_the_last_stage() -> None:
    """Four layers between embedding and head are two and two."""
    layers = replace(layers_of([1.0] * 7), kinds=("embedding", *["layer"] * 4, "mtp", "head"))
    assert uniform_cuts(layers, 2) == (0, 3, 7)
    assert uniform_cuts(layers, 4) == (0, 2, 3, 4, 7)


def test_too_few_layers_let_all_kinds_count() -> None:
    """One layer cannot be cut in three."""
    layers = replace(layers_of([1.0] * 3), kinds=("embedding", "layer", "head"))
    assert uniform_cuts(layers, 3) == (0, 1, 2, 3)


@pytest.mark.parametrize("stages", [0, 3])
def test_every_stage_needs_a_layer(stages: int) -> None:
    """Two layers make one stage or two."""
    with pytest.raises(ValueError, match="1 to 2 stages"):
        uniform_cuts(layers_of([1.0, 1.0]), stages)


def test_times_are_balanced() -> None:
    """The last layer takes as long as the rest."""
    layers = layers_of([1.0, 1.0, 2.0])
    assert by_time(layers, 2) == (0, 2, 3)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.integers(1, 8))
def test_balanced_cuts_have_the_least_largest_sum(weights: list[int], stages: int) -> None:
    """Nothing is better among all cuts."""
    stages = min(stages, len(weights))

    def largest(cuts: tuple[int, ...]) -> int:
        return max(sum(weights[i:j]) for i, j in pairwise(cuts))

    found = balanced_cuts(np.array(weights, np.float64), stages)
    assert len(found) == stages + 1
    assert largest(found) == min(map(largest, all_cuts(len(weights), stages)))
