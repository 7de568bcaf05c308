"""Operations by a roofline: what a device computes, or what its memory moves."""

from dataclasses import replace

import pytest

from tiger.training.hardware.accelerators import ACCELERATORS, H100
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Product
from tiger.training.timings.roofline import (
    LAUNCH_S,
    attention_s,
    blocks_s,
    count_seen,
    count_touched,
    decoding_s,
    moved_s,
    product_s,
)

A100, L40S = ACCELERATORS["a100"], ACCELERATORS["l40s"]
LARGE = Product(m=8192, n=8192, k=8192, dtype="bf16")
ATTENTION = Attention(sequences=1, tokens=4096, heads=32, kv_heads=8, head=128, value_head=128, dtype="bf16")


def test_large_products_take_their_share_of_the_peak() -> None:
    """Four fifths of 312 TFLOP/s on an A100."""
    assert product_s(A100, LARGE) == pytest.approx(LAUNCH_S + 2 * 8192**3 / (0.8 * 312e12))


def test_products_of_one_token_take_as_long_as_their_weights_are_read() -> None:
    """Two bytes each, at four fifths of 2,039 GB/s."""
    product = Product(m=1, n=8192, k=8192, dtype="bf16")
    size = 2 * (8192 * 8192 + 2 * 8192)
    assert product_s(A100, product) == pytest.approx(LAUNCH_S + size / (0.8 * 2039e9))


def test_products_in_8_bits_pay_for_their_casts() -> None:
    """Twice the peak is less than twice as quick, and devices without it compute in 16 bits."""
    eight = replace(LARGE, dtype="fp8")
    assert 1 < product_s(H100, LARGE) / product_s(H100, eight) < 2
    assert product_s(A100, eight) == product_s(A100, LARGE)


def test_fp32_has_half_of_the_peak_or_less() -> None:
    """On tensor cores, which a V100 has for 16 bits alone."""
    single, half = (product_s(A100, replace(LARGE, dtype=dtype)) for dtype in ("fp32", "bf16"))
    assert single == pytest.approx(2 * half, rel=1e-3)
    assert ACCELERATORS["v100"].products("fp32") == pytest.approx(0.78 * 15.7e12)


def test_gradients_multiply_what_products_do() -> None:
    """Both with the FLOP of the forward pass, in other orders."""
    product = Product(m=3, n=5, k=7, dtype="bf16")
    assert (product.by_inputs.m, product.by_inputs.n, product.by_inputs.k) == (3, 7, 5)
    assert (product.by_weights.m, product.by_weights.n, product.by_weights.k) == (7, 5, 3)
    assert product.flops == product.by_inputs.flops == product.by_weights.flops == 210


@pytest.mark.parametrize(("tokens", "tera"), [(2048, 115), (4096, 142), (8192, 162)])
def test_attention_is_quicker_a_flop_in_longer_sequences(tokens: int, tera: float) -> None:
    """FLOP of the half that tokens see; an A100 was measured at 93 to 155, 119 to 183 and 137 to 197 TFLOP/s."""
    flops = 2 * tokens * tokens / 2 * 2 * 32 * 128
    seconds = attention_s(A100, replace(ATTENTION, tokens=tokens)) - LAUNCH_S
    assert flops / seconds == pytest.approx(tera * 1e12, rel=0.01)


def test_windows_leave_scores_out() -> None:
    """A window of all tokens is none, one of a few leaves that many a token."""
    assert count_seen(replace(ATTENTION, window=4096)) == count_seen(ATTENTION) == 2048
    assert count_seen(replace(ATTENTION, window=128)) == pytest.approx(128 - 128 * 128 / 8192)


def test_a_new_token_reads_the_cache() -> None:
    """Keys and values of eight heads, two bytes a number."""
    step = Decoding(sequences=4, context=1000, heads=32, kv_heads=8, head=128, value_head=128, dtype="bf16")
    assert decoding_s(H100, step) == pytest.approx(LAUNCH_S + 2 * 4 * 1000 * 8 * 256 / (0.8 * 3350e9))
    half = decoding_s(H100, replace(step, number_bytes=1.0)) - LAUNCH_S
    assert half == pytest.approx((decoding_s(H100, step) - LAUNCH_S) / 2)


def test_few_tokens_touch_few_experts() -> None:
    """One token goes through two of eight, many through all of those that the rank holds."""
    blocks = ExpertBlocks(tokens=1, hidden=4096, width=1024, active=2, experts=8, routed=8, dtype="bf16")
    assert count_touched(blocks) == pytest.approx(2)
    assert count_touched(replace(blocks, tokens=1000, experts=4)) == pytest.approx(4)
    assert blocks_s(H100, blocks) < blocks_s(H100, replace(blocks, tokens=64))


def test_memory_moves_at_four_fifths_of_its_bandwidth() -> None:
    """864 GB/s on an L40S."""
    assert moved_s(L40S, 864e9) == pytest.approx(1.25)


def test_bug_attention_in_32_bits_is_no_quicker_than_their_peak() -> None:
    """A V100 has an eighth of the peak there."""
    v100 = ACCELERATORS["v100"]
    half, single = (attention_s(v100, replace(ATTENTION, dtype=dtype)) - LAUNCH_S for dtype in ("fp16", "fp32"))
    assert single == pytest.approx(half * 125 / 15.7)
