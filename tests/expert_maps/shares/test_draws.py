"""Batches that may come next."""

import numpy as np
import pytest

from tiger.expert_maps.shares.draws import DrawParams, draw_batches, weigh_batches

LOADS = np.random.default_rng(0).random((2, 3, 64)) + 0.1


def test_older_batches_count_less():
    """By the decay, from the newest on, and in all 1."""
    assert weigh_batches(LOADS, 1.0).weights.tolist() == [0.5, 0.5]
    halved = weigh_batches(LOADS, 0.25)
    assert halved.weights.tolist() == [0.2, 0.8]
    assert halved.mean == pytest.approx(0.2 * LOADS[0] + 0.8 * LOADS[1])


def test_batches_are_drawn_around_those_given():
    """As many of each as its weight says, with its tokens in each layer, and factors of the spread asked for."""
    given = weigh_batches(np.stack([LOADS[0], 3 * LOADS[0]]), 1 / 3)
    drawn = draw_batches(given, DrawParams(batches=40, least=0.2, largest=0.2), 7, 0)
    tokens = drawn.loads.sum(axis=2) / LOADS[0].sum(axis=1)
    assert sorted(np.round(tokens[:, 0]).tolist()) == [1.0] * 10 + [3.0] * 30
    assert tokens == pytest.approx(np.round(tokens))
    factors = drawn.loads / (np.round(tokens)[:, :1, None] * LOADS[0])
    assert np.log(factors).std() == pytest.approx(0.2, rel=0.03)


def test_parts_are_other_batches_of_one_seed():
    """So that a map is not judged on what it was made on, and the same seed has the same batches."""
    given = weigh_batches(LOADS, 1.0)
    first, again, other = (draw_batches(given, DrawParams(), 7, part).loads for part in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.isclose(first, other).any()


def test_layers_without_tokens_stay_without():
    """And nothing is divided by zero."""
    given = weigh_batches(np.zeros((1, 2, 4)), 1.0)
    assert not draw_batches(given, DrawParams(), 0, 0).loads.any()
