"""Tests of which runs of layers fit."""

import numpy as np
import pytest

from tests.placement.chain.instances import draw_case, layers_of
from tiger.placement.chain.fitting_runs import admitted_ends, fitting_ends
from tiger.training.costs.sums import state_bytes


def test_runs_end_where_memory_does() -> None:
    """Four bytes hold layers of 1, 2, 1 bytes, but no layer of 5."""
    assert fitting_ends(layers_of([0.0] * 4, state=[1.0, 2.0, 1.0, 5.0]), 4, 0).tolist() == [3, 3, 3, 3, 4]


def test_microbatches_in_flight_need_memory() -> None:
    """With two of them, a layer takes 1 + 2 x 1 bytes."""
    assert fitting_ends(layers_of([0.0] * 3, held=[1.0] * 3), 6, 2).tolist() == [2, 3, 3, 3]


def test_tied_layers_count_once_in_a_run() -> None:
    """From layer 0 on the last layer is free, from layer 1 on it is not."""
    layers = layers_of([0.0] * 3, state=[5.0, 1.0, 5.0], tied=((0, 2),))
    assert fitting_ends(layers, 6, 0).tolist() == [3, 3, 3, 3]
    assert fitting_ends(layers, 5, 0).tolist() == [1, 2, 3, 3]


def test_endless_memory_holds_all() -> None:
    """Every run reaches the end."""
    assert fitting_ends(layers_of([0.0] * 3), np.inf, 3).tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize("seed", range(6))
def test_runs_agree_with_what_stages_hold(seed: int) -> None:
    """A run that ends there fits, a longer one does not."""
    layers, _, _ = draw_case(seed, 7, 1)
    capacity = float(layers.state_bytes.sum()) * 0.6
    for start, end in enumerate(fitting_ends(layers, capacity, 1).tolist()[:-1]):
        fits = []
        for j in range(start + 1, layers.size + 1):
            cuts = tuple(sorted({0, start, j, layers.size}))
            stage = cuts.index(start)
            fits.append(state_bytes(layers, cuts)[stage] + layers.held_bytes[start:j].sum() <= capacity)
        assert end == start + (fits.index(False) if False in fits else len(fits))


def test_pins_end_runs() -> None:
    """Host 1 may hold nothing past a layer of host 0, a host of all pins nothing of two of them."""
    pinned = {1: 0, 3: 1, 4: 1}
    assert admitted_ends(6, pinned, {1}).tolist() == [1, 1, 6, 6, 6, 6, 6]
    assert admitted_ends(6, pinned, {0}).tolist() == [3, 3, 3, 3, 4, 6, 6]
    assert admitted_ends(6, pinned, {0, 1}).tolist() == [3, 3, 6, 6, 6, 6, 6]
    assert admitted_ends(6, pinned, ()).tolist() == [1, 1, 3, 3, 4, 6, 6]
    assert admitted_ends(2, {}, ()).tolist() == [2, 2, 2]
