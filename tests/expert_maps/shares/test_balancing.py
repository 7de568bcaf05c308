"""Shares of replicas, beside a solver of linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from tiger.expert_maps.shares import balancing
from tiger.expert_maps.shares.balancing import balance_board, set_board


def solve_program(slots, speed, weight):
    """Return the least largest load over speed of a map [S] for loads [E], by its linear program."""
    count, device = len(slots), np.arange(len(slots)) // (len(slots) // len(speed))
    equal = np.zeros((len(weight), count + 1))
    equal[slots, np.arange(count)] = 1
    above = np.zeros((len(speed), count + 1))
    above[device, np.arange(count)] = 1
    above[:, -1] = -speed
    return linprog(np.eye(count + 1)[-1], A_ub=above, b_ub=np.zeros(len(speed)), A_eq=equal, b_eq=weight).fun


def draw_board(seed, speeds=(1.0,)):
    """Return a map of 12 experts in 24 slots of 8 devices, speeds, and five batches with a mean of 1."""
    rng = np.random.default_rng(seed)
    slots = rng.permutation([*range(12), *rng.integers(0, 12, 12)])
    speed, weight = np.resize(speeds, 8), rng.random((5, 12)) ** 3
    return slots, speed, weight * speed.sum() / weight.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("speeds", [(1.0,), (1.0, 0.4)])
@pytest.mark.parametrize("seed", range(3))
def test_the_largest_load_is_that_of_the_linear_program(seed, speeds):
    """And tokens are neither lost nor below zero."""
    slots, speed, weight = draw_board(seed, speeds)
    board = set_board(slots, speed, weight)
    balance_board(board)
    for k, loads in enumerate(weight):
        assert board.peak[k] == pytest.approx(solve_program(slots, speed, loads), abs=1e-8)
        assert (board.load[k] / speed).max() == pytest.approx(board.peak[k], abs=1e-8)
        assert np.bincount(slots, board.share[k]) == pytest.approx(loads)
        assert board.share[k].reshape(8, 3).sum(axis=1) == pytest.approx(board.load[k])
    assert board.share.min() >= 0


def test_devices_that_are_full_are_alone_with_their_experts():
    """Two devices with three experts of their own, and one that shares with a third: their mean is the largest load."""
    board = set_board(np.array([0, 1, 1, 2, 2, 3]), np.ones(3), np.array([[1.0, 1.2, 0.5, 0.3]]))
    balance_board(board)
    assert board.peak[0] == pytest.approx((1.0 + 1.2) / 2)
    assert board.tight[0].tolist() == [1, 1, 0]


def test_uncompiled_code_says_the_same(monkeypatch):
    """So that coverage sees it."""
    slots, speed, weight = draw_board(5)
    compiled, plain = set_board(slots, speed, weight), set_board(slots, speed, weight)
    balance_board(compiled)
    for name, kernel in vars(balancing).copy().items():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(balancing, name, kernel.py_func)
    balancing.balance_board(plain)
    assert plain.peak == pytest.approx(compiled.peak)
    assert plain.share == pytest.approx(compiled.share)


def test_bug_errors_of_rounding_end():
    """A mean of full devices that is below the target by rounding is no new target, however often it is looked for."""
    third = 1 / 3
    board = set_board(np.array([0, 0, 0, 1, 2, 2]), np.ones(3), np.array([[3 * third, 1.0 + 4e-10, 1.0 - 4e-10]]))
    balance_board(board)
    assert board.peak[0] == pytest.approx(1.0)


def test_bug_speeds_far_apart_end():
    """A mean of full devices whose product with their speed is not their load is no new target for ever."""
    board = set_board(np.array([0, 2, 2, 1]), np.array([1e-7, 1.0]), np.array([[3 / 14, 0.50000005, 2 / 7]]))
    balance_board(board)
    assert board.peak[0] == pytest.approx(3 / 14 / 1e-7)
