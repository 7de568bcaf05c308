"""Tests of layers of which the first of each stage alone are computed again, beside all and none."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape

SHAPE = Shape(layers=6, hidden=64, heads=4, vocabulary=100, sequence=32, mtp_layers=1, gated=True, flops=1e9)
# Embedding and 2 layers, 3 layers, 1 layer, the layer that predicts and the head.
CUTS = (0, 3, 6, 9)


def made(first: int | None, recompute: str = "full") -> Layers:
    """Return the layers of the shape by how many of a stage are computed again."""
    return layers_of_shape(SHAPE, setup=TrainingSetup(recompute=recompute, recompute_layers=first))  # type: ignore[arg-type]  # a word of it


def cluster_of(room: float) -> Cluster:
    """Return three devices of as many bytes."""
    curves, link = (Curve.affine(1e9, 1e-6),), np.zeros((3, 3), np.int64)
    return Cluster(names=("a", "b", "c"), speed=np.ones(3), memory_bytes=np.full(3, room), curves=curves, link=link)


def test_the_first_decoder_layers_of_every_stage_are_computed_again():
    """Whatever stands before them; layers that predict further tokens are not, as in Megatron-LM."""
    partial = made(2).partial
    assert partial is not None
    assert np.flatnonzero(partial.find_repeated(CUTS)).tolist() == [1, 2, 3, 4, 6]
    assert np.flatnonzero(partial.find_repeated((0, 9))).tolist() == [1, 2]


def test_each_layer_costs_what_it_does_with_all_or_none():
    """Times, what is held, what works, and messages that are repeated."""
    again, kept, mixed = made(None), made(None, "none"), made(1).between(CUTS)
    repeated = np.isin(np.arange(9), [1, 3, 6])
    for name in ("forward_s", "backward_s", "held_bytes", "working_bytes", "state_bytes", "weight_s"):
        expected = np.where(repeated, getattr(again, name), getattr(kept, name))
        assert getattr(mixed, name).tolist() == expected.tolist()
    assert mixed.traffic.repeats.tolist() == repeated.tolist()
    assert mixed.partial is None


def test_no_cuts_make_a_layer_cheaper_than_its_least():
    """And without such layers both are the layers themselves."""
    layers = made(2)
    for inner in combinations(range(1, 9), 2):
        mixed = layers.between((0, *inner, 9))
        assert all((getattr(layers.least, n) <= getattr(mixed, n)).all() for n in ("backward_s", "held_bytes"))
    assert made(None).between(CUTS).least.partial is None
    assert (plain := made(None)).between(CUTS) is plain.least is plain


def test_a_stage_adds_its_own_layers_up():
    """Two stages of four and two layers, of which three and two are computed again."""
    shape = replace(SHAPE, mtp_layers=0)
    layers = layers_of_shape(shape, setup=TrainingSetup(recompute="full", recompute_layers=3))
    kept, again = (layers_of_shape(shape, setup=TrainingSetup(recompute=each)) for each in ("none", "full"))
    (load,) = workloads(layers, cluster_of(np.inf), Plan.line((0, 5, 8), (0, 1)))
    first = kept.backward_s[0] + 3 * again.backward_s[1] + kept.backward_s[4]
    assert load.backward_s == pytest.approx([first, 2 * again.backward_s[5] + kept.backward_s[7]])
    assert load.held_bytes[0] == pytest.approx(kept.held_bytes[0] + 3 * again.held_bytes[1] + kept.held_bytes[4])


def test_layers_of_a_stage_go_with_full_recomputation_alone():
    """The error names the option."""
    with pytest.raises(InputError, match="recompute_layers: expected none without recompute full, got 2"):
        made(2, "none")
