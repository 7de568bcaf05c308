"""Tests of what ranks hold and send by how they train, beside sums by hand."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.training.models.description import Description
from tiger.training.models.layers import Layers
from tiger.training.models.setup import NO_SETUP, TrainingSetup, check_setup
from tiger.training.models.shape import Shape
from tiger.training.models.sizes import Model
from tiger.training.models.state import sharded_state_bytes, state_bytes_of
from tiger.training.models.transformer import layers_of_shape

GPT = Shape(layers=2, hidden=64, heads=4, vocabulary=100, sequence=32, batch=2, flops=1e9)
FULL = replace(GPT, attention="full")
MIXTURE = Shape(layers=2, hidden=64, heads=4, vocabulary=100, sequence=32, experts=8, top_k=2, gated=True, flops=1e9)
# Tokens of a microbatch times the width, and the bytes of the scores of a layer: 5 a s of every token.
WIDE, SCORES = 64 * 64, 64 * 5 * 4 * 32


def made(shape: Shape, **setup: object) -> Layers:
    """Return the layers of a shape by a setup."""
    return layers_of_shape(shape, setup=TrainingSetup(**setup))  # type: ignore[arg-type]  # of its fields


@pytest.mark.parametrize(
    ("dtype", "setup", "whole", "shared"),
    [
        ("bf16", NO_SETUP, 18, 6 + 12 / 8),
        ("fp16", NO_SETUP, 20, 4 + 16 / 8),
        ("fp32", NO_SETUP, 16, 8 + 8 / 8),
        ("fp8", NO_SETUP, 20, 8 + 12 / 8),
        ("bf16", TrainingSetup(gradients="bf16"), 16, 4 + 12 / 8),
        ("bf16", TrainingSetup(optimizer="adam-bf16"), 14, 6 + 8 / 8),
        ("bf16", TrainingSetup(optimizer="adam-8bit"), 12, 6 + 6 / 8),
        ("bf16", TrainingSetup(optimizer="sgd"), 14, 6 + 8 / 8),
    ],
)
def test_a_parameter_takes_the_published_bytes(dtype, setup, whole, shared):
    """Those of Megatron Core's table, alone and with the optimizer's shared out among eight."""
    state = state_bytes_of(dtype, setup)
    assert sharded_state_bytes(state, setup, 8) == whole
    assert sharded_state_bytes(state, replace(setup, sharding="zero-1"), 8) == shared


def test_each_stage_of_zero_shares_out_more():
    """Of 18 bytes in bf16 the optimizer's 12, then 4 of gradients, then 2 of weights."""
    state = state_bytes_of("bf16", NO_SETUP)
    stages = [sharded_state_bytes(state, TrainingSetup(sharding=each), 4) for each in ("zero-1", "zero-2", "zero-3")]
    assert stages == [6 + 12 / 4, 2 + 16 / 4, 18 / 4]


def test_without_sequence_parallelism_ranks_do_not_share_ten_bytes():
    """10 + 24 / t + 5 a s / h t of s b h, here times t, of which every rank has a t-th."""
    assert made(FULL, tensor=4).held_bytes[1] == 34 * WIDE + SCORES
    assert made(FULL, tensor=4, sequence_parallel=False).held_bytes[1] == (4 * 10 + 24) * WIDE + SCORES


def test_products_hide_messages_of_all_pieces_but_one():
    """Of 4 products with 12 h^2 weights in a layer, and nothing at the ends; only of ranks that share a sequence."""
    assert made(GPT, tensor=4).hiding_s.tolist() == [0, 0, 0, 0]
    hiding = 0.75 * 2 * 64 * 12 * 64**2 / 1e9
    assert made(GPT, tensor=4, overlap_tensor=0.1).hiding_s.tolist() == pytest.approx([0, hiding, hiding, 0])
    with pytest.raises(InputError, match="overlap_tensor: expected none without sequence_parallel"):
        made(GPT, tensor=4, overlap_tensor=0.1, sequence_parallel=False)


def test_scores_alone_are_computed_again_selectively():
    """They are held while the layer is at work, and take the products of scores once more; flash holds none."""
    whole, less = made(FULL), made(FULL, recompute="selective")
    assert less.held_bytes[1] == 34 * WIDE
    assert (whole.working_bytes.any(), less.working_bytes.tolist()) == (False, [0, SCORES, SCORES, 0])
    assert less.backward_s[1] - whole.backward_s[1] == pytest.approx(4 * 64 * 32 * 64 / 1e9)
    flash, same = made(GPT), made(GPT, recompute="selective")
    assert (same.held_bytes.tolist(), same.backward_s.tolist()) == (
        flash.held_bytes.tolist(),
        flash.backward_s.tolist(),
    )


def test_all_of_a_layer_is_computed_again_but_its_input():
    """2 s b h are kept, the rest is held for one layer; a backward pass does a forward pass, messages and all."""
    whole, least = made(GPT), made(GPT, recompute="full", tensor=2)
    assert (least.held_bytes[1], least.working_bytes.tolist()) == (2 * WIDE, [0, 32 * WIDE, 32 * WIDE, 0])
    assert made(GPT, recompute="full", tensor=2, sequence_parallel=False).held_bytes[1] == 2 * 2 * WIDE
    assert least.backward_s[1] == pytest.approx(3 * whole.forward_s[1])
    assert least.traffic.repeats.tolist() == [0, 1, 1, 0]


def test_context_ranks_have_a_share_of_the_tokens():
    """Of work, activations and messages, but not of parameters; they gather keys and values of all tokens."""
    whole, half = made(GPT), made(GPT, context=2, data=3)
    for name in ("forward_s", "backward_s", "held_bytes", "crossing_bytes", "reduced_bytes"):
        assert (getattr(half, name) * 2).tolist() == pytest.approx(getattr(whole, name).tolist())
    assert half.state_bytes.tolist() == whole.state_bytes.tolist()
    assert half.traffic.context_bytes.tolist() == [0, 2 * 2 * WIDE, 2 * 2 * WIDE, 0]
    assert made(GPT, context=2, sharding="zero-1", data=3).state_bytes[1] == whole.state_bytes[1] * (6 + 12 / 6) / 18


def test_expert_ranks_have_a_share_of_the_experts():
    """Of eight blocks of 3 x 64 x 256 weights each two ranks hold half; tokens go to two experts and back."""
    whole, half = made(MIXTURE, data=4), made(MIXTURE, data=4, expert=2)
    block = 3 * 64 * 256
    assert whole.state_bytes[1] - half.state_bytes[1] == 18 * 4 * block
    assert half.traffic.exchanged_bytes.tolist() == [0, 2 * 2 * 32 * 64 * 2, 2 * 2 * 32 * 64 * 2, 0]
    assert half.traffic.scattered_bytes[1].tolist() == [0, 4 * 4 * block, 4 * 4 * block, 0]
    shared = made(MIXTURE, data=4, expert=2, sharding="zero-1")
    dense = (half.parameter_bytes[1] - 2 * 4 * block) / 2
    assert shared.state_bytes[1] == pytest.approx((6 + 12 / 4) * dense + (6 + 12 / 2) * 4 * block)


def test_what_is_shared_out_is_gathered_and_scattered():
    """Gradients of 4 bytes go once an iteration, or in every pass, as weights of 2 bytes do in the third stage."""
    parameters = made(GPT).parameter_bytes / 2
    sent = {}
    for sharding in ("none", "zero-1", "zero-2", "zero-3"):
        traffic = made(GPT, data=2, sharding=sharding).traffic
        parts = (
            traffic.scattered_bytes,
            traffic.gathered_bytes,
            traffic.pass_scattered_bytes,
            traffic.pass_gathered_bytes,
        )
        sent[sharding] = [float(np.unique(np.round(part[0] / parameters, 9)).item()) for part in parts]
    assert sent == {
        "none": [4, 4, 0, 0],
        "zero-1": [4, 2, 0, 0],
        "zero-2": [0, 2, 4, 0],
        "zero-3": [0, 0, 4, 2],
    }


def test_two_layers_are_gathered_at_a_time():
    """The one at work and the next, in 2 bytes, and whole gradients in 4 until they are scattered."""
    sizes = np.array([132 * 64, *[12 * 64**2 + 13 * 64] * 2, 100 * 64 + 2 * 64])
    assert made(GPT, data=2, sharding="zero-3").working_bytes.tolist() == ((2 * 2 + 4) * sizes).tolist()
    assert made(GPT, data=2, sharding="zero-2").working_bytes.tolist() == (4 * sizes).tolist()
    assert not made(GPT, data=2, sharding="zero-1").working_bytes.any()


def test_offloaded_layers_hold_up_passes_that_are_quicker():
    """34 s b h go out behind a forward pass and come back behind a backward one; two layers' are on the device."""
    slow, fast = made(GPT, offload=1e6), made(GPT, offload=1e15)
    assert slow.forward_s[1] == slow.backward_s[1] == 34 * WIDE / 1e6
    assert fast.forward_s.tolist() == made(GPT).forward_s.tolist()
    assert slow.held_bytes.tolist() == [64 * 64, 0, 0, made(GPT).held_bytes[3]]
    assert slow.working_bytes.tolist() == [0, 2 * 34 * WIDE, 2 * 34 * WIDE, 0]


@pytest.mark.parametrize(
    ("setup", "shape", "message"),
    [
        ({"recompute": "full"}, None, "recompute: expected 'none', as only the shape of a transformer that learns"),
        ({"sharding": "zero-1"}, replace(GPT, serve=True), "sharding: expected 'none', as only the shape"),
        ({"context": 3}, GPT, r"context: expected twice it to divide the sequence \(32\), got 3"),
        ({"gradients": "fp16"}, GPT, "gradients: expected fp32 or bf16 with bf16, got 'fp16'"),
        ({"gradients": "bf16"}, replace(GPT, dtype="fp32"), "gradients: expected fp32 with fp32, got 'bf16'"),
        ({"expert": 2, "data": 2}, GPT, "expert: expected 1, as the model has no experts, got 2"),
        ({"expert": 3, "data": 3}, MIXTURE, r"expert: expected a divisor of 8 \(experts\), got 3"),
        ({"expert": 4, "data": 2}, MIXTURE, r"expert: expected a divisor of data x context \(2\), got 4"),
    ],
)
def test_what_does_not_go_with_a_model_is_refused_by_name(setup, shape, message):
    """Before anything is placed."""
    with pytest.raises(InputError, match=message):
        check_setup(TrainingSetup(**setup), shape)


def test_a_precision_is_that_of_the_shape():
    """Bytes, FLOP a second and the types of gradients go by what is stated beside the model."""
    model = Model(layers_of_shape(GPT), Description(GPT))
    fp8 = model.layers(2, TrainingSetup(precision="fp8"))
    assert fp8.state_bytes.tolist() == layers_of_shape(replace(GPT, dtype="fp8")).state_bytes.tolist()
    with pytest.raises(InputError, match="gradients: expected fp32 with fp32, got 'bf16'"):
        model.layers(2, TrainingSetup(precision="fp32", gradients="bf16"))


def test_any_layers_may_be_cut_and_copied():
    """Tables say nothing of what training changes, and tensor and data degrees are no part of that."""
    check_setup(TrainingSetup(tensor=4, data=8), None)
