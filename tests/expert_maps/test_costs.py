"""Costs of placements of experts."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.expert_maps.assignment import place_in_order
from tiger.expert_maps.costs import ExpertProblem, device_costs, hop_sum

Draw = Callable[..., ExpertProblem]


@pytest.mark.slow
@given(st.integers(2, 4), st.sampled_from([(2, 2), (4, 2), (6, 3), (4, 4)]), st.integers(0, 99), st.floats(1, 9))
@cases(quick=15, long=2_000)
def test_hops_are_those_of_every_transition(
    drawn_problem: Draw, layers: int, size: tuple[int, int], seed: int, far: float
) -> None:
    """One by one."""
    problem = drawn_problem(layers, *size, seed, far)
    place = np.random.default_rng(seed).permuted(place_in_order(problem), axis=1)
    experts = range(problem.experts)
    steps = list(product(range(layers - 1), experts, experts))
    weights = [problem.hops[place[layer, a], place[layer + 1, b]] for layer, a, b in steps]
    counts = [problem.counts[step] for step in steps]
    assert hop_sum(problem, place) == pytest.approx(np.dot(counts, weights), rel=1e-12)


def test_the_costs_of_a_layer_are_those_of_its_hops(drawn_problem: Draw) -> None:
    """A change of one layer changes the sum by them."""
    problem = drawn_problem(4, 6, 3, 0, far=5.0)
    place = place_in_order(problem)
    for layer in range(4):
        other = place.copy()
        other[layer] = place[layer, ::-1]
        costs, experts = device_costs(problem, place, layer), np.arange(6)
        change = costs[experts, other[layer]].sum() - costs[experts, place[layer]].sum()
        assert hop_sum(problem, other) - hop_sum(problem, place) == pytest.approx(change)
