"""Steps of models that serve: one token of each sequence."""

from dataclasses import replace

import pytest

from tiger.training.models.cache import cached_bytes
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape
from tiger.training.timings.costs import Factors
from tiger.training.timings.operation_costs import OperationCosts

LLAMA = Shape(
    layers=2,
    hidden=4096,
    heads=32,
    kv_heads=8,
    ffn=14336,
    vocabulary=128256,
    sequence=4096,
    gated=True,
    tied=False,
    serve=True,
)
MIXTURE = replace(LLAMA, experts=8, top_k=2)
# Of an H100, in bytes a second.
BANDWIDTH = 0.8 * 3350e9


def test_a_step_takes_as_long_as_weights_and_cache_are_read() -> None:
    """And a few launches: of one sequence, in 16 bits."""
    layers = layers_of_shape(LLAMA)
    weights = layers.state_bytes[1] - cached_bytes(LLAMA)
    assert layers.forward_s[1] == pytest.approx((weights + cached_bytes(LLAMA)) / BANDWIDTH, abs=60e-6)
    assert layers.forward_s[1] > (weights + cached_bytes(LLAMA)) / BANDWIDTH


@pytest.mark.parametrize(("weights", "bytes_each"), [("q4_k", 144 / 256), ("q8_0", 34 / 32)])
def test_quantized_weights_are_read_sooner(weights: str, bytes_each: float) -> None:
    """By the bytes that they have."""
    plain, few = (layers_of_shape(replace(LLAMA, sequence=1, weights=kind)).forward_s[-1] for kind in ("bf16", weights))
    words = 4096 * 128256
    assert plain - few == pytest.approx((2 - bytes_each) * words / BANDWIDTH, rel=0.01)


def test_more_sequences_share_the_weights() -> None:
    """Sixteen take little longer than one with short caches."""
    one, many = (layers_of_shape(replace(LLAMA, sequence=16, batch=batch)).forward_s[1] for batch in (1, 16))
    assert one < many < 1.1 * one


def test_one_token_reads_the_experts_that_it_goes_through() -> None:
    """Two of eight; many tokens read all."""
    one, many = (layers_of_shape(replace(MIXTURE, sequence=1, batch=batch)).forward_s[1] for batch in (1, 64))
    block = 3 * 4096 * 14336 * 2
    assert many - one == pytest.approx(6 * block / BANDWIDTH, rel=0.05)


def test_ranks_read_their_share() -> None:
    """A step on four ranks is nearly four times as quick, before messages."""
    whole, cut = (layers_of_shape(LLAMA, setup=TrainingSetup(tensor=ranks)).forward_s[1] / ranks for ranks in (1, 4))
    assert whole / 4 < cut < whole / 2


def test_a_latent_vector_is_read_once_for_all_heads() -> None:
    """A token leaves 576 numbers where 32 heads would leave 8,192."""
    latent = replace(LLAMA, kv_heads=None, kv_lora_rank=512, rope_head_dim=64, head_dim=128)
    long, short = (layers_of_shape(replace(latent, sequence=tokens)).forward_s[1] for tokens in (100_000, 1000))
    assert long - short == pytest.approx(2 * 576 * 99_000 / BANDWIDTH, rel=0.01)


def test_bug_attention_is_read_in_16_bits_beside_experts_in_mxfp4() -> None:
    """Of one sequence that goes through one narrow expert of 64, attention is most of what is read."""
    shape = replace(LLAMA, experts=64, top_k=1, ffn=512, sequence=1, weights="mxfp4")
    attention, expert = 2 * 4096 * (4096 + 1024), 3 * 4096 * 512
    read = 2 * (attention + 64 * 4096) + 17 / 32 * expert
    assert layers_of_shape(shape).forward_s[1] == pytest.approx(read / BANDWIDTH, abs=60e-6)
    assert layers_of_shape(shape).forward_s[1] > read / BANDWIDTH


def test_bug_factors_of_products_hold_with_quantized_weights() -> None:
    """A head takes twice as long at twice the time of products."""
    shape = replace(LLAMA, weights="q4_k", batch=64)
    once, twice = (
        layers_of_shape(shape, costs=OperationCosts(factors=Factors(products=factor))).forward_s[-1]
        for factor in (1.0, 2.0)
    )
    assert twice == pytest.approx(2 * once)


def test_bug_a_latent_vector_is_multiplied_twice() -> None:
    """With 128 queries for its 576 numbers, and for 512 of them as values, at 78 % of the peak, in caches of 8 bits."""
    latent = replace(LLAMA, heads=128, kv_heads=None, kv_lora_rank=512, rope_head_dim=64, head_dim=128, kv="fp8")
    long, short = (layers_of_shape(replace(latent, sequence=tokens)).forward_s[1] for tokens in (100_000, 1000))
    assert long - short == pytest.approx(2 * 128 * (576 + 512) * 99_000 / (0.78 * 989.4e12), rel=0.01)
