"""Transformers that answer instead of learning."""

import numpy as np
import pytest

from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.sizes import model_of
from tiger.training.models.transformer import layers_of_shape

SMALL = {"layers": 2, "hidden": 8, "heads": 4, "vocabulary": 10, "sequence": 3, "batch": 2}
LLAMA2_13B = {"layers": 40, "hidden": 5120, "heads": 40, "ffn": 13824, "vocabulary": 32000, "gated": True}


def test_nothing_is_learnt():
    """A step is a token of each sequence, and there is no other pass; nothing is added up among replicas."""
    served, trained = (layers_of_shape(Shape(**SMALL, flops=1e3, serve=serve)) for serve in (True, False))
    assert (3 * served.forward_s).tolist() == pytest.approx(trained.forward_s.tolist())
    for nothing in (served.backward_s, served.weight_s, served.held_bytes, served.parameter_bytes):
        assert not nothing.any()


@pytest.mark.parametrize(("kv_heads", "width"), [(None, 8), (2, 4)])
def test_the_state_is_weights_and_keys_and_values(kv_heads, width):
    """Two bytes a parameter, and in the decoder two for each key and value of 6 tokens, of fewer heads too."""
    shape = SMALL | {"kv_heads": kv_heads}
    served, trained = layers_of_shape(Shape(**shape, serve=True)), layers_of_shape(Shape(**shape))
    cache = 2 * 6 * width * 2
    assert (served.state_bytes - trained.parameter_bytes).tolist() == [0, cache, cache, 0]


def test_a_model_of_13_billion_takes_26_gb_and_its_cache():
    """Of 4096 tokens 819,200 bytes each: 40 layers of 2 x 5120 numbers of two bytes."""
    layers = layers_of_shape(Shape(**LLAMA2_13B, sequence=4096, serve=True))
    assert layers.state_bytes.sum() == 2 * 13_015_864_320 + 4096 * 819_200


def test_a_message_goes_one_way_and_a_pass_reduces_once():
    """Two stages of two ranks at 1 byte a second: a step sends 16 bytes, sums 32 twice and gathers 20."""
    layers = layers_of_shape(Shape(**SMALL, flops=1e30, serve=True))
    curve, link = Curve.affine(1.0, 0.0), np.zeros((4, 4), np.int64)
    names, memory = ("a", "b", "c", "d"), np.full(4, np.inf)
    cluster = Cluster(names=names, speed=np.ones(4), memory_bytes=memory, curves=(curve,), link=link)
    load = workloads(layers, cluster, Plan(cuts=(0, 2, 4), grid=np.arange(4).reshape(2, 1, 2)))[0]
    assert 2 * load.transfer_s[0] == 16
    # A ring of two sends a half twice.
    passes = load.forward_s + load.backward_s
    assert passes.tolist() == pytest.approx([32 + 2 * 32, 2 * 32 + 20])
    assert load.closing_s.tolist() == [0, 0]


def test_ranks_hold_copies_of_what_cannot_be_cut():
    """Two heads with keys and values go round two ranks; of a latent vector each rank has all, 2 bytes of 3 + 1."""
    heads, latent = SMALL | {"kv_heads": 2, "hidden": 8}, SMALL | {"kv_lora_rank": 3, "rope_head_dim": 1}
    for ranks, copies in ((1, 1), (2, 1), (4, 2)):
        cache = [
            layers_of_shape(Shape(**shape, serve=True), setup=TrainingSetup(tensor=ranks)).state_bytes
            - layers_of_shape(Shape(**shape), setup=TrainingSetup(tensor=ranks)).parameter_bytes
            for shape in (heads, latent)
        ]
        assert cache[0].tolist() == [0, *[2 * 6 * 4 * 2 * copies] * 2, 0]
        assert cache[1].tolist() == [0, *[6 * 4 * 2 * ranks] * 2, 0]


def test_a_window_caps_what_is_kept_of_a_sequence():
    """Two of three tokens of each sequence in the first layer, all in the second."""
    served = layers_of_shape(Shape(**SMALL, window=2, full_step=2, serve=True))
    weights = layers_of_shape(Shape(**SMALL)).parameter_bytes
    assert (served.state_bytes - weights).tolist() == [0, 2 * 2 * 16 * 2, 2 * 3 * 16 * 2, 0]


def test_a_longer_sequence_has_a_larger_cache():
    """As an option states it, on each of two ranks with a head of their own."""
    model = model_of({"transformer": SMALL | {"serve": True}})
    longer = model.layers_for(TrainingSetup(tensor=2, sequence=30))
    assert (longer.state_bytes - model.given.state_bytes).tolist() == [27 * 16, *[2 * 27 * 32] * 2, 0]
