"""Shares of tokens in batches."""

import numpy as np
import pytest

from tiger.expert_maps.replicas.loads import ExpertLoads, gpu_loads
from tiger.expert_maps.shares.solution import fix_shares, share_equally, share_loads, solve_shares

# Experts 0 and 1 share device 1, experts 1 and 2 device 2, and expert 3 is alone.
SLOTS = np.array([[0, 3, 0, 1, 1, 2]])
LOADS = ExpertLoads(np.array([[4.0, 3.0, 1.0, 1.0]]), 6, 1, 1, 3)


def test_batches_are_solved_each_for_itself():
    """With loads that are even where they can be, and those of an expert that is alone where they cannot."""
    batches = np.array([[[4.0, 3.0, 1.0, 1.0]], [[0.0, 0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0, 6.0]]])
    found = solve_shares(LOADS, SLOTS, batches)
    assert found.largest.ravel() == pytest.approx([3.0, 0.0, 6.0])
    assert found.tokens[0, 0].reshape(3, 2).sum(axis=1) == pytest.approx([3.0, 3.0, 3.0])
    assert found.tokens[1].sum() == 0


def test_fixed_shares_are_of_an_experts_tokens():
    """They add up to 1, are the best for the loads they are made for, and equal where there are none."""
    shares = fix_shares(LOADS, SLOTS, LOADS.weight)
    assert np.bincount(SLOTS[0], shares[0]) == pytest.approx(np.ones(4))
    assert share_loads(LOADS, SLOTS, shares, LOADS.weight[None])[0] == pytest.approx(np.full((1, 3), 3.0))
    assert fix_shares(LOADS, SLOTS, np.zeros((1, 4))).tolist() == share_equally(SLOTS, 4).tolist()


def test_equal_shares_are_those_of_eplb():
    """A replica carries its expert's load over the number of replicas."""
    equal = share_loads(LOADS, SLOTS, share_equally(SLOTS, 4), LOADS.weight[None])[0]
    assert equal == pytest.approx(gpu_loads(LOADS, SLOTS))


def test_bug_shares_of_tiny_loads_add_up():
    """Beside others they are none, and shared alike."""
    shares = fix_shares(LOADS, SLOTS, np.array([[1e-320, 3e10, 1.0, 1.0]]))
    assert np.bincount(SLOTS[0], shares[0]) == pytest.approx(np.ones(4))
