"""The best placement of few experts."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.expert_maps.costs import ExpertProblem, hop_sum
from tiger.expert_maps.layer_dp import list_few_ways, place_by_layers
from tiger.model.arrays import IntArray

Draw = Callable[..., ExpertProblem]


@given(st.integers(2, 4), st.sampled_from([(2, 1), (4, 2), (4, 4), (6, 2)]), st.integers(0, 9_999), st.floats(1, 9))
@cases(quick=10, long=500)
def test_it_is_the_best_of_all(
    drawn_problem: Draw,
    least_hops: Callable[[ExpertProblem], float],
    layers: int,
    size: tuple[int, int],
    seed: int,
    far: float,
) -> None:
    """By enumeration, on one node or two."""
    problem = drawn_problem(layers, *size, seed, far)
    ways = list_few_ways(problem)
    assert ways is not None
    assert hop_sum(problem, place_by_layers(problem, ways)) == pytest.approx(least_hops(problem), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("far", "orbits"), [(1.0, 105), (2.0, 315)])
def test_equal_devices_leave_few_ways(
    drawn_problem: Draw, is_balanced: Callable[[ExpertProblem, IntArray], bool], far: float, orbits: int
) -> None:
    """Of 2,520 for eight experts on four devices, on one node or two."""
    problem = drawn_problem(4, 8, 4, 0, far)
    ways = list_few_ways(problem)
    assert ways is not None
    assert (len(ways.place), len(ways.first)) == (2_520, orbits)
    assert is_balanced(problem, place_by_layers(problem, ways))


@pytest.mark.parametrize(("layers", "experts", "devices"), [(3, 16, 4), (3, 7, 7), (400, 12, 2)])
def test_many_ways_are_not_looked_at(drawn_problem: Draw, layers: int, experts: int, devices: int) -> None:
    """There are too many experts, orders of devices, or layers."""
    assert list_few_ways(drawn_problem(layers, experts, devices, 0)) is None
