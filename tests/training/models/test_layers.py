"""Tests of the model's value type."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.training.models.layers import Layers

TWO = {"names": ("a", "b"), "forward_s": np.ones(2), "backward_s": np.full(2, 2.0), "parameter_bytes": np.full(2, 8.0)}
BOTH = {**TWO, "crossing_bytes": np.array([0.0, 3.0, 0.0])}


def test_what_is_not_stated_has_a_default() -> None:
    """Half of the backward pass makes weight gradients, a layer holds its parameters, and is called by its name."""
    layers = Layers(**BOTH)
    assert layers.weight_s.tolist() == [1, 1]
    assert layers.state_bytes.tolist() == [8, 8]
    assert layers.held_bytes.tolist() == layers.reductions.tolist() == [0, 0]
    assert (layers.kinds, layers.modules) == (("layer", "layer"), ("a", "b"))


def test_a_tensor_crosses_every_boundary_up_to_its_last_consumer() -> None:
    """Layer 0 is read by 1 and by 3, layer 1 by 2, layer 2 by 3."""
    crossing = Layers.crossing([1, 10, 100, 1000], np.array([0, 0, 1, 2]), np.array([1, 3, 2, 3]))
    assert crossing.tolist() == [0, 1, 11, 101, 0]


def test_bug_a_small_message_behind_a_large_one_is_sent() -> None:
    """A billionth of a byte behind a terabyte crosses its boundary, and so needs a link."""
    crossing = Layers.crossing([1e12, 1e-9, 0], np.array([0, 1]), np.array([1, 2]))
    assert crossing.tolist() == [0, 1e12, 1e-9, 0]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"names": ("a", "a")}, "model/layers"),
        ({"forward_s": np.array([1.0, -1.0])}, "model/forward_s"),
        ({"backward_s": np.array([1.0, np.nan])}, "model/backward_s"),
        ({"crossing_bytes": np.zeros(2)}, "model/crossing_bytes"),
        ({"weight_s": np.array([1.0, 3.0])}, "model/weight_s"),
        ({"kinds": ("layer",)}, "model/kinds"),
        ({"kinds": ("layer", "loss")}, "model/kinds"),
        ({"tied": ((0, 2),)}, "model/tied"),
        ({"tied": ((0, 1), (1, 0))}, "model/tied"),
    ],
)
def test_bad_values_are_named(changed: dict[str, object], field: str) -> None:
    """The error says which field is wrong."""
    with pytest.raises(InputError) as caught:
        Layers(**{**BOTH, **changed})
    assert caught.value.field == field
