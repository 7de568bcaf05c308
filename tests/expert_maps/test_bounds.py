"""Lower bounds on hops."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.expert_maps.assignment import place_greedily
from tiger.expert_maps.bounds import BLOCK, bound_hops
from tiger.expert_maps.costs import ExpertProblem, hop_sum

Draw = Callable[..., ExpertProblem]


@pytest.mark.slow
@given(
    st.integers(2, 3), st.sampled_from([(2, 1), (4, 2), (4, 4), (6, 2), (5, 5)]), st.integers(0, 9_999), st.floats(1, 9)
)
@cases(quick=10, long=500)
def test_no_placement_is_below_its_bound(
    drawn_problem: Draw,
    least_hops: Callable[[ExpertProblem], float],
    layers: int,
    size: tuple[int, int],
    seed: int,
    far: float,
) -> None:
    """By enumeration, on one node or two."""
    problem = drawn_problem(layers, *size, seed, far)
    assert bound_hops(problem) <= least_hops(problem) * (1 + 1e-12)


@pytest.mark.parametrize("devices", [2, 5, 8])
def test_one_expert_a_device_is_placed_optimally(drawn_problem: Draw, devices: int) -> None:
    """The bound says so: one linear assignment a pair of layers."""
    problem = drawn_problem(9, devices, devices, 1)
    assert hop_sum(problem, place_greedily(problem)) == bound_hops(problem)


def test_both_bounds_are_of_use(drawn_problem: Draw) -> None:
    """Pairs that all weigh the same leave half the flow to cross where there are two devices."""
    problem = drawn_problem(3, 8, 2, 0)
    even = problem._replace(counts=problem.counts * 0 + 1)
    assert bound_hops(even) == pytest.approx(64)
    diagonal = even._replace(counts=even.counts * 0)
    assert bound_hops(diagonal) == 0


def test_bug_a_bound_ends_when_it_has_to(drawn_problem: Draw) -> None:
    """With the layers that it has looked at by then: of many experts, all took longer than a time limit."""
    problem = drawn_problem(20, 8, 4, 0, far=3.0)
    answers = iter([False, False])
    some = bound_hops(problem, lambda: next(answers, True))
    first = problem._replace(counts=problem.counts[: 2 * BLOCK])
    assert bound_hops(problem, lambda: True) == 0
    assert 0 < some <= bound_hops(first) < bound_hops(problem)
