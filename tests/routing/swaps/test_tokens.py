"""Tests of token swapping, as plain Python."""

import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.swaps import tokens as module
from tiger.routing.swaps.tokens import (
    AT_GOALS,
    SwapStep,
    Tokens,
    build_device,
    build_tokens,
    choose_goal_swap,
    clear_list,
    count_added_hops,
    count_token_hops,
    draw_unit,
    exchange,
    list_qubit,
)
from tiger.solvers.records import allocate_records

LINE = build_device(Coupling.of(4, [(0, 1), (1, 2), (2, 3)]))


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function."""
    for name, kernel in vars(module).copy().items():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(module, name, kernel.py_func)
            monkeypatch.setitem(globals(), name, kernel.py_func)


def line(goals: list[int]) -> Tokens:
    """Return four qubits in order on a line, all listed, with goals."""
    tokens = build_tokens(np.arange(4, dtype=np.int32))
    tokens.goal[:] = goals
    for qubit in range(4):
        list_qubit(tokens, qubit)
    return tokens


def test_an_exchange_keeps_places_and_holders_inverse() -> None:
    """Swaps 1 and 2, and then 0 and 1, which carries qubit 2 to 0."""
    tokens = line([-1] * 4)
    exchange(tokens, 1, 2)
    exchange(tokens, 0, 1)
    assert tokens.place.tolist() == [1, 2, 0, 3]
    assert tokens.holds[tokens.place].tolist() == [0, 1, 2, 3]


def test_hops_away_are_those_to_goals_alone() -> None:
    """Qubit 0 has to go three hops, qubit 3 may end anywhere."""
    assert count_token_hops(LINE, line([3, 1, 2, -1])) == 3


@pytest.mark.parametrize(("goals", "change"), [([1, 0, 2, 3], -2), ([0, 1, 2, 3], 2), ([1, -1, 2, 3], -1)])
def test_added_hops_are_what_a_swap_adds(goals: list[int], change: int) -> None:
    """Swaps two qubits that both want it, that both do not, and one that wants it."""
    tokens = line(goals)
    before = count_token_hops(LINE, tokens)
    assert count_added_hops(LINE, tokens, 0, 1) == change
    exchange(tokens, 0, 1)
    assert count_token_hops(LINE, tokens) == before + change


@pytest.mark.parametrize("seed", range(4))
def test_goal_swaps_bring_every_qubit_to_its_goal(seed: int) -> None:
    """A SWAP that does not take others away more than it helps exists on a line."""
    tokens, choice = line(np.random.default_rng(seed).permutation(4).tolist()), allocate_records(SwapStep)
    for _ in range(20):
        if choose_goal_swap(LINE, tokens, choice) == AT_GOALS:
            break
        exchange(tokens, choice[0].p, choice[0].q)
    assert count_token_hops(LINE, tokens) == 0


def test_a_qubit_is_listed_once_until_the_list_is_emptied() -> None:
    """Lists one of four again, and one after emptying."""
    tokens = line([0, 1, 2, 3])
    list_qubit(tokens, 2)
    assert tokens.counters[0].count == 4
    clear_list(tokens)
    list_qubit(tokens, 3)
    assert tokens.listed[: tokens.counters[0].count].tolist() == [3]


def test_random_numbers_are_park_and_millers_sequence() -> None:
    """The tenth thousandth state from 1 on is known for the multiplier 48271."""
    rng_state = np.ones(1, np.int64)
    drawn = [draw_unit(rng_state) for _ in range(10_000)]
    assert rng_state[0] == 399_268_537
    assert 0.49 < np.mean(drawn) < 0.51
