"""What a microbatch costs in the layers of a transformer, against published formulas and sums by hand."""

import pytest

from tiger.training.models.parts import decoder_of, embedding_of, head_of, sent_bytes
from tiger.training.models.shape import Shape

SMALL = {"layers": 2, "hidden": 8, "heads": 4, "vocabulary": 10, "sequence": 3, "batch": 2}


@pytest.mark.parametrize(("b", "s", "h", "a"), [(1, 2048, 1024, 16), (4, 1024, 768, 12), (2, 8192, 512, 8)])
def test_a_gpt_layer_does_the_published_work(b, s, h, a):
    """24 b s h^2 (1 + s / 6h) FLOP, of which flash attention leaves out half of what grows with s^2."""
    shape = {"layers": 1, "hidden": h, "heads": a, "vocabulary": 9, "sequence": s, "batch": b}
    part, flash = decoder_of(Shape(**shape, attention="full")), decoder_of(Shape(**shape))
    assert part.weight_flops + part.other_flops == pytest.approx(24 * b * s * h**2 * (1 + s / (6 * h)), rel=1e-14)
    assert part.weight_flops == flash.weight_flops == 24 * b * s * h**2
    assert flash.other_flops == part.other_flops / 2


@pytest.mark.parametrize(("b", "s", "h", "a"), [(1, 2048, 1024, 16), (4, 1024, 768, 12)])
def test_a_gpt_layer_holds_the_published_bytes(b, s, h, a):
    """It is s b h (34 + 5 a s / h), and without the scores with flash attention."""
    shape = {"layers": 1, "hidden": h, "heads": a, "vocabulary": 9, "sequence": s, "batch": b}
    assert decoder_of(Shape(**shape, attention="full")).held_bytes == s * b * (34 * h + 5 * a * s)
    assert decoder_of(Shape(**shape)).held_bytes == 34 * s * b * h


def test_a_gpt_layer_has_the_published_parameters():
    """12 h^2 + 13 h."""
    assert decoder_of(Shape(**SMALL)).parameters == 12 * 64 + 13 * 8


def test_a_llama_layer_has_three_matrices_and_no_biases():
    """Queries 64, keys and values 2 x 32, output 64, block 3 x 8 x 20, two norms of 8."""
    part = decoder_of(Shape(**SMALL, gated=True, kv_heads=2, ffn=20))
    assert part.parameters == 64 + 64 + 64 + 480 + 16
    assert part.weight_flops == 2 * 6 * (192 + 480)
    assert part.other_flops == 2 * 6 * 3 * 8


def test_a_llama_layer_holds_no_masks():
    """Of each of 6 tokens 2 bytes of 6 inputs of 8, keys and values of 4, and 3 x 20 in the block; scores 4 x 3."""
    shape = SMALL | {"gated": True, "kv_heads": 2, "ffn": 20}
    assert decoder_of(Shape(**shape)).held_bytes == 6 * 2 * (6 * 8 + 2 * 4 + 60)
    assert decoder_of(Shape(**shape, attention="full")).held_bytes == 6 * 2 * (6 * 8 + 2 * 4 + 60 + 12)


def test_experts_cost_parameters_but_only_some_of_them_work():
    """Four blocks of 2 x 8 x 32 weights and 40 biases, two at work, and a router of 8 x 4."""
    part, dense = decoder_of(Shape(**SMALL, experts=4)), decoder_of(Shape(**SMALL))
    assert part.parameters - dense.parameters == 3 * (512 + 40) + 32
    assert part.weight_flops - dense.weight_flops == 2 * 6 * (512 + 32)
    # Each of the two holds 64 numbers of the block, and both a copy of the input.
    assert part.held_bytes - dense.held_bytes == 6 * 2 * (64 + 2 * 8)


def test_an_embedding_only_looks_up():
    """10 tokens and 3 positions of 8; no work; a mask of a byte a number; half of an all-reduce in each pass."""
    part = embedding_of(Shape(**SMALL))
    assert (part.parameters, part.weight_flops, part.held_bytes) == (13 * 8, 0, 48)
    assert (part.reduced_bytes, part.reductions) == (48, 1)
    assert embedding_of(Shape(**SMALL, gated=True)).parameters == 80


def test_a_head_multiplies_and_holds_logits():
    """2 b s h V FLOP; two inputs of 2 bytes and a logit of 4; norms of 2 x 8, or 8 without shift."""
    part = head_of(Shape(**SMALL))
    assert (part.weight_flops, part.held_bytes) == (2 * 6 * 80, 6 * (4 * 8 + 4 * 10))
    assert (part.parameters, head_of(Shape(**SMALL, gated=True)).parameters) == (80 + 16, 80 + 8)
    assert part.reduced_bytes == (96 + 3 * 4 * 6) / 2


def test_layers_all_reduce_twice_what_they_send():
    """6 tokens of 8 numbers, of 2 or 4 bytes."""
    assert sent_bytes(Shape(**SMALL)) == 96
    assert (decoder_of(Shape(**SMALL)).reduced_bytes, decoder_of(Shape(**SMALL)).reductions) == (192, 2)
    assert sent_bytes(Shape(**SMALL, dtype="fp32")) == 192
