"""Tests of token swapping, as plain Python and compiled."""

import numpy as np
import pytest

from tiger.circuits.coupling import Coupling
from tiger.circuits.routing import tokens as module
from tiger.circuits.routing.tokens import (
    NOWHERE,
    Tokens,
    chance,
    clear_roster,
    device_of,
    displacement,
    drift,
    enlist,
    exchange,
    homeward,
    tokens_of,
)

LINE = device_of(Coupling.of(4, [(0, 1), (1, 2), (2, 3)]))


@pytest.fixture(params=["plain", "compiled"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function, or not."""
    for name, kernel in vars(module).copy().items():
        if request.param == "plain" and hasattr(kernel, "py_func"):
            monkeypatch.setattr(module, name, kernel.py_func)
            monkeypatch.setitem(globals(), name, kernel.py_func)


def line(goals: list[int]) -> Tokens:
    """Return four qubits in order on a line, all on the roster, with goals."""
    tokens = tokens_of(np.arange(4, dtype=np.int32))
    tokens.goal[:] = goals
    for qubit in range(4):
        enlist(tokens, qubit)
    return tokens


def test_an_exchange_keeps_places_and_holders_inverse() -> None:
    """Swaps 1 and 2, and then 0 and 1, which carries qubit 2 to 0."""
    tokens = line([-1] * 4)
    exchange(tokens, 1, 2)
    exchange(tokens, 0, 1)
    assert tokens.place.tolist() == [1, 2, 0, 3]
    assert tokens.holds[tokens.place].tolist() == [0, 1, 2, 3]


def test_displacement_counts_the_hops_to_goals_alone() -> None:
    """Qubit 0 has to go three hops, qubit 3 may end anywhere."""
    assert displacement(LINE, line([3, 1, 2, -1])) == 3


@pytest.mark.parametrize(("goals", "change"), [([1, 0, 2, 3], -2), ([0, 1, 2, 3], 2), ([1, -1, 2, 3], -1)])
def test_drift_is_what_a_swap_adds_to_the_displacement(goals: list[int], change: int) -> None:
    """Swaps two qubits that both want it, that both do not, and one that wants it."""
    tokens = line(goals)
    before = displacement(LINE, tokens)
    assert drift(LINE, tokens, 0, 1) == change
    exchange(tokens, 0, 1)
    assert displacement(LINE, tokens) == before + change


@pytest.mark.parametrize("seed", range(6))
def test_steps_homeward_bring_every_qubit_home(seed: int) -> None:
    """A SWAP that does not drive others off more than it helps exists on a line."""
    tokens, choice = line(np.random.default_rng(seed).permutation(4).tolist()), np.zeros(3, np.int32)
    for _ in range(20):
        if homeward(LINE, tokens, choice) == NOWHERE:
            break
        exchange(tokens, choice[0], choice[1])
    assert displacement(LINE, tokens) == 0


def test_a_qubit_is_listed_once_until_the_roster_is_emptied() -> None:
    """Lists one of four again, and one after emptying."""
    tokens = line([0, 1, 2, 3])
    enlist(tokens, 2)
    assert tokens.marks[0] == 4
    clear_roster(tokens)
    enlist(tokens, 3)
    assert tokens.roster[: tokens.marks[0]].tolist() == [3]


def test_chance_is_park_and_millers_sequence() -> None:
    """The tenth thousandth state from 1 on is known for the multiplier 48271."""
    dice = np.ones(1, np.int64)
    drawn = [chance(dice) for _ in range(10_000)]
    assert dice[0] == 399_268_537
    assert 0.49 < np.mean(drawn) < 0.51
