"""Passes of layers, operation by operation."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.training.hardware.accelerators import ACCELERATORS
from tiger.training.models.parts import decoder_of
from tiger.training.models.passes import list_products, time_decoder, time_embedding, time_head, time_predictor
from tiger.training.models.setup import NO_SETUP, TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape
from tiger.training.timings.costs import Factors
from tiger.training.timings.operation_costs import USUAL_COSTS, OperationCosts
from tiger.training.timings.operations import ExpertBlocks, Product

GPT = Shape(layers=48, hidden=6144, heads=64, vocabulary=51200, sequence=2048, batch=4, dtype="fp16", attention="full")
LLAMA = Shape(
    layers=4, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocabulary=32000, sequence=4096, gated=True, tied=False
)
MIXTURE = replace(LLAMA, experts=8, top_k=2)
LATENT = replace(LLAMA, kv_heads=None, kv_lora_rank=512, q_lora_rank=1536, rope_head_dim=64, head_dim=128)
A100 = OperationCosts(device=ACCELERATORS["a100"])


def test_a_published_layer_takes_as_long_as_it_did() -> None:
    """27.2 ms of a layer of 22B on eight A100, computed again, of which 4.6 ms are messages (arXiv:2205.05198)."""
    times = time_decoder(GPT, TrainingSetup(tensor=8, recompute="full", sequence_parallel=False), A100)
    assert times.forward_s + times.backward_s + 4.6e-3 == pytest.approx(27.2e-3, rel=0.03)


@pytest.mark.parametrize("shape", [GPT, LLAMA, MIXTURE, LATENT])
@pytest.mark.parametrize("tensor", [1, 4])
def test_products_do_the_flop_of_the_layer(shape: Shape, tensor: int) -> None:
    """All matrices of a layer, of which each rank has its columns; those of latent vectors every rank computes."""
    setup = TrainingSetup(tensor=tensor)
    flops = 0.0
    for each in list_products(shape, setup)[0]:
        if isinstance(each, Product):
            # Routers are on every rank, which the FLOP of a layer count once.
            flops += each.flops if each.n != shape.experts else each.flops / tensor
        else:
            copies = each.tokens * each.active * each.experts / each.routed
            flops += 2.0 * copies * each.matrices * each.hidden * each.width
    assert tensor * flops == pytest.approx(decoder_of(shape, setup).weight_flops, rel=1e-9)


def test_ranks_hold_their_experts() -> None:
    """Two of eight on each of four ranks."""
    blocks = [
        each for each in list_products(MIXTURE, TrainingSetup(data=4, expert=4))[0] if isinstance(each, ExpertBlocks)
    ]
    assert [(each.experts, each.routed, each.active) for each in blocks] == [(2, 8, 2)]


@pytest.mark.parametrize("shape", [GPT, LLAMA, MIXTURE])
def test_what_is_computed_again_comes_on_top(shape: Shape) -> None:
    """All of a forward pass, or attention alone where it holds scores."""
    plain = time_decoder(shape, NO_SETUP, USUAL_COSTS)
    full = time_decoder(shape, TrainingSetup(recompute="full"), USUAL_COSTS)
    some = time_decoder(shape, TrainingSetup(recompute="selective"), USUAL_COSTS)
    assert full.backward_s == pytest.approx(plain.backward_s + plain.forward_s)
    assert full.forward_s == some.forward_s == plain.forward_s
    assert (some.backward_s > plain.backward_s) == (shape.attention == "full")


def test_context_ranks_share_the_tokens() -> None:
    """Half of the products each, and of attention a little more, as its blocks are shorter."""
    whole, half = (time_decoder(LLAMA, TrainingSetup(context=ranks, data=1), USUAL_COSTS) for ranks in (1, 2))
    assert 0.5 < half.forward_s / whole.forward_s < 0.6


def test_the_head_costs_more_with_more_words() -> None:
    """And is computed in 16 bits where layers are in 8."""
    few, many, eight = (
        time_head(shape, NO_SETUP, USUAL_COSTS)
        for shape in (LLAMA, replace(LLAMA, vocabulary=128000), replace(LLAMA, dtype="fp8"))
    )
    assert many.forward_s == pytest.approx(4 * few.forward_s, rel=0.01)
    assert eight.forward_s == few.forward_s


def test_layers_are_those_of_a_rank_times_the_ranks() -> None:
    """So that a stage of so many ranks takes as long as one of them, and sources add up to all of its seconds."""
    setup = TrainingSetup(tensor=4)
    layers = layers_of_shape(LLAMA, setup=setup, costs=A100)
    times = time_decoder(LLAMA, setup, A100)
    assert layers.forward_s[1] / 4 == pytest.approx(times.forward_s)
    assert layers.weight_s[1] / 4 == pytest.approx(times.weight_s)
    assert (layers.weight_s <= layers.backward_s).all()
    assert layers.source_s.sum() == pytest.approx((layers.forward_s + layers.backward_s).sum() / 4)
    assert np.flatnonzero(layers.source_s).tolist() == [3]


def test_a_rate_holds_for_all_that_layers_do() -> None:
    """Then nobody knows where times come from."""
    layers = layers_of_shape(replace(LLAMA, flops=1e15), costs=A100)
    part = decoder_of(LLAMA, NO_SETUP)
    assert layers.forward_s[1] == pytest.approx((part.weight_flops + part.other_flops) / 1e15)
    assert not len(layers.source_s)


def test_bug_context_ranks_share_attention_of_a_window() -> None:
    """Each of eight has an eighth of what its tokens see, whether a window is shorter than their share or not."""
    for window in (512, 4096, 20_000):
        shape = replace(LLAMA, sequence=32_768, window=window, vocabulary=64)
        whole, some = (time_decoder(shape, TrainingSetup(context=ranks), USUAL_COSTS).forward_s for ranks in (1, 8))
        assert 1 / 8 < some / whole < 1.3 / 8


def test_bug_predictors_look_tokens_up_and_add_gradients() -> None:
    """Beside a decoder layer they have an embedding, and a projection whose gradients are read and written."""
    parts = [time(LLAMA, NO_SETUP, USUAL_COSTS) for time in (time_decoder, time_embedding)]
    predictor, projection = time_predictor(LLAMA, NO_SETUP, USUAL_COSTS), 2 * 4096**2
    flop_s = 2 * 4096 * projection / (0.78 * 989.4e12)
    # Norms read and write two vectors of 16 bits each, there, and twice that back.
    moved_s, added_s = 4 * 2 * 4096**2 / (0.8 * 3350e9), 2 * 4 * projection / (0.8 * 3350e9)
    ahead = sum(each.forward_s for each in parts) + flop_s + moved_s
    back = sum(each.backward_s for each in parts) + 2 * flop_s + 2 * moved_s + added_s
    assert predictor.forward_s == pytest.approx(ahead, abs=50e-6)
    assert predictor.backward_s == pytest.approx(back, abs=50e-6)
    assert predictor.weight_s == pytest.approx(sum(each.weight_s for each in parts) + flop_s + added_s, abs=50e-6)


def test_bug_factors_scale_products_of_full_attention_as_a_whole() -> None:
    """Heads have one launch among them, whatever products take."""
    once, twice = (
        time_decoder(GPT, NO_SETUP, OperationCosts(factors=Factors(products=factor, memory=1e-3))).forward_s
        for factor in (1.0, 2.0)
    )
    assert twice == pytest.approx(2 * once, rel=5e-3)
