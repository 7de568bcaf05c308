"""Searches for placements of experts, and the steps that they take."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.expert_maps import annealing
from tiger.expert_maps.annealing import anneal_experts, start_annealing
from tiger.expert_maps.assignment import place_greedily, place_in_order, sweep_layers
from tiger.expert_maps.costs import ExpertProblem, device_costs, hop_sum
from tiger.expert_maps.device_pairs import exchange_pairs
from tiger.expert_maps.search import ExpertParams, place_flat, search_experts
from tiger.model.arrays import IntArray
from tiger.placement.chain.params import never_stop

Draw = Callable[..., ExpertProblem]
Balanced = Callable[[ExpertProblem, IntArray], bool]
QUICK = ExpertParams(runs=1, proposals=200, steps=3, trials=10)


@given(st.sampled_from([(12, 6), (12, 3), (20, 2), (8, 8)]), st.integers(0, 9_999), st.floats(1, 9))
@cases(quick=10, long=500)
def test_every_step_is_balanced_and_no_worse(
    drawn_problem: Draw, is_balanced: Balanced, size: tuple[int, int], seed: int, far: float
) -> None:
    """Sweeps and exchanges between devices never cost more than what they start from."""
    problem = drawn_problem(4, *size, seed, far)
    start = place_greedily(problem)
    swept = sweep_layers(problem, start, never_stop)
    paired = exchange_pairs(problem, swept, np.random.default_rng(seed), 20, never_stop)
    costs = [hop_sum(problem, place) for place in (start, swept, paired)]
    assert costs == sorted(costs, reverse=True)
    assert all(is_balanced(problem, place) for place in (start, swept, paired, place_flat(problem, never_stop)))


@pytest.mark.parametrize("how", ["compiled", "interpreted"])
def test_annealing_counts_what_it_changes(
    drawn_problem: Draw, is_balanced: Balanced, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Costs and the sums of hops are those of its placements, whether it is compiled or not."""
    anneal = anneal_experts
    if how == "interpreted":
        anneal = anneal_experts.py_func  # type: ignore[attr-defined]
        monkeypatch.setattr(annealing, "_move_flow", annealing._move_flow.py_func)  # type: ignore[attr-defined]
    problem = drawn_problem(4, 6, 3, 5, far=4.0)
    start = place_in_order(problem)
    state = start_annealing(problem, start)
    anneal(state, 50.0, 300, 3)
    assert is_balanced(problem, state.best)
    assert state.total[0] == pytest.approx(hop_sum(problem, state.place) - hop_sum(problem, start))
    assert state.total[1] == pytest.approx(hop_sum(problem, state.best) - hop_sum(problem, start))
    assert state.costs == pytest.approx(np.array([device_costs(problem, state.place, k).T for k in range(4)]))


@pytest.mark.parametrize("far", [1.0, 5.0])
def test_answers_are_the_same_and_never_below_their_bound(
    drawn_problem: Draw, is_balanced: Balanced, far: float
) -> None:
    """Of the same seed; no answer is worse than the greedy one."""
    problem = drawn_problem(5, 16, 4, 2, far)
    first, again = (search_experts(problem, QUICK, never_stop) for _ in range(2))
    assert first.solution.tolist() == again.solution.tolist()
    assert first.bound is not None
    assert first.bound <= first.value == hop_sum(problem, first.solution) < hop_sum(problem, place_greedily(problem))
    assert is_balanced(problem, first.solution)


@pytest.mark.slow
@given(st.integers(0, 9_999), st.sampled_from([(4, 2), (5, 5)]))
@cases(quick=10, long=200)
def test_names_do_not_matter(drawn_problem: Draw, seed: int, size: tuple[int, int]) -> None:
    """The optimum is the same with the experts of every layer, and the devices, in another order."""
    problem = drawn_problem(3, *size, seed)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(problem.experts) for _ in range(3)]
    renamed = np.array([counts[np.ix_(a, b)] for counts, a, b in zip(problem.counts, orders, orders[1:], strict=False)])
    found, other = (search_experts(each, QUICK, never_stop) for each in (problem, problem._replace(counts=renamed)))
    assert found.optimal
    assert other.optimal
    assert found.value == other.value


def test_nodes_count(drawn_problem: Draw) -> None:
    """Where hops between nodes weigh more, the answer has fewer weighted hops than one that takes hops for equal."""
    problem = drawn_problem(6, 16, 4, 4, far=9.0)
    found = search_experts(problem, QUICK, never_stop)
    assert found.value < hop_sum(problem, place_flat(problem, never_stop))
    assert [stage.name for stage in found.stages][2:5] == ["sweeps", "flat", "hierarchical"]


def test_a_search_ends_when_it_has_to(drawn_problem: Draw, is_balanced: Balanced) -> None:
    """With what it has by then."""
    problem = drawn_problem(5, 16, 4, 2)
    found = search_experts(problem, QUICK, lambda: True)
    assert is_balanced(problem, found.solution)
    assert [stage.name for stage in found.stages] == ["bound", "greedy"]


def test_more_effort_searches_longer(drawn_problem: Draw) -> None:
    """Runs are what it multiplies."""
    problem = drawn_problem(4, 12, 3, 7)
    once, twice = (search_experts(problem, ExpertParams(runs=1, proposals=50, effort=k), never_stop) for k in (1, 2))
    assert len(twice.stages) == len(once.stages) + 2
    assert twice.value <= once.value
