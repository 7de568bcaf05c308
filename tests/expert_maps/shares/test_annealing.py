"""Annealing of maps whose shares are balanced: costs are exact after any change, and rules are kept."""

import numpy as np
import pytest

from tiger.expert_maps.replicas.loads import ExpertLoads, keep_to_rules
from tiger.expert_maps.shares import annealing, balancing
from tiger.expert_maps.shares.annealing import BALANCED, EQUAL, anneal_shares, start_annealing
from tiger.expert_maps.shares.balancing import balance_board, set_board

DEVICES, SIZE, EXPERTS = 6, 4, 12
# Of largest loads, one a batch.
PRICES = np.arange(1.0, 7.0)


def start(seed, speeds=(1.0,), copies=1, most=99, node=DEVICES * SIZE, sharing=BALANCED):
    """Return the state of a map of 12 experts in 24 slots with prices of moves, and the batches."""
    rng = np.random.default_rng(seed)
    speed, weight = np.resize(speeds, DEVICES), rng.random((6, EXPERTS)) ** 2
    weight *= speed.sum() / weight.sum(axis=1, keepdims=True)
    # Two replicas of each expert, both on one node where there are two.
    slots = np.tile(np.arange(EXPERTS).reshape(24 // node, -1), 2).ravel()
    held = np.zeros((EXPERTS, DEVICES), np.int64)
    held[slots, np.arange(24) // SIZE] = 1
    receipts = (1 - held) * rng.uniform(0, 0.1, held.shape)
    board = set_board(slots, speed, weight)
    return start_annealing(board, receipts, 1 - held, PRICES, (copies, node, most, -1, sharing)), weight


def price(state, slots, weight):
    """Return what a map costs, by balancing it anew, and its moves."""
    board = set_board(slots, state.board.speed, weight)
    if state.limits[4] == EQUAL:
        board.peak[:] = (board.load / board.speed).max(axis=1)
    else:
        balance_board(board)
    held = np.zeros((EXPERTS, DEVICES), np.int64)
    held[slots, np.arange(24) // SIZE] = 1
    return PRICES @ (board.peak - 1) + (state.receipts * held).sum(), int((state.moved * held).sum())


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"speeds": (1.0, 0.5)},
        {"copies": 2},
        {"most": 5},
        {"node": 12},
        {"sharing": EQUAL, "copies": 2, "speeds": (1.0, 0.5)},
    ],
    ids=lambda rules: str(rules),
)
def test_costs_are_exact_and_rules_are_kept(rules):
    """At every temperature, of the present map and of the best."""
    state, weight = start(3, **rules)
    begun = state.total[0]
    for seed, temperature in enumerate((1.0, 0.1, 0.01)):
        anneal_shares(state, temperature, 400, seed)
        for slots, cost in ((state.board.slots, state.total[0]), (state.best, state.total[1])):
            assert price(state, slots, weight)[0] == pytest.approx(cost, abs=1e-7)
            loads = ExpertLoads(np.ones((1, EXPERTS)), 24, 1, 1, DEVICES, rules.get("copies", 1))
            assert keep_to_rules(loads, slots.reshape(1, DEVICES, SIZE)).all()
        assert price(state, state.board.slots, weight)[1] == state.moves[0] <= rules.get("most", 99)
        if "node" in rules:
            assert set(state.best[:12].tolist()) == set(range(6))
    assert state.total[1] < begun
    lists = [sorted(row[:number].tolist()) for row, number in zip(state.board.where, state.board.number, strict=True)]
    assert lists == [np.flatnonzero(state.board.slots == expert).tolist() for expert in range(EXPERTS)]


@pytest.mark.parametrize("sharing", [EQUAL, BALANCED])
def test_uncompiled_code_says_the_same(monkeypatch, sharing):
    """So that coverage sees it."""
    plain, weight = start(4, sharing=sharing)
    for module in (balancing, annealing):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)
    begun = plain.total[0]
    annealing.anneal_shares(plain, 0.05, 150, 1)
    assert price(plain, plain.best, weight)[0] == pytest.approx(plain.total[1], abs=1e-7)
    assert plain.total[1] < begun
    assert plain.moves[0] > 0
