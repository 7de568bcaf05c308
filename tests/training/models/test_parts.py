"""What a microbatch costs in the layers of a transformer, against published formulas and sums by hand."""

import pytest

from tiger.training.models.parts import decoder_of, embedding_of, head_of, predictor_of, sent_bytes
from tiger.training.models.setup import TrainingSetup
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


LATENT = {"gated": True, "ffn": 20, "head_dim": 3, "kv_lora_rank": 5, "rope_head_dim": 1, "v_head_dim": 2}


def test_latent_attention_is_added_up_by_hand():
    """Of inputs of 8 latent vectors of 6 and 5 + 1, of these queries 16, keys 12, values 8; output 8 x 8; four norms.

    Of each of 6 tokens 2 bytes of inputs of 8, both sides of the norms of 6 and 5, queries and keys of 16, values of
    8 twice, and 60 in the block. Scores are products of 16 numbers a key and 8 a value, of half of the 3 tokens.
    """
    part = decoder_of(Shape(**SMALL, **LATENT, q_lora_rank=6))
    attention = 8 * (6 + 5 + 1) + 6 * 16 + 5 * (12 + 8) + 8 * 8
    assert part.parameters == attention + 480 + 2 * 8 + 6 + 5
    assert part.weight_flops == 2 * 6 * (attention + 480)
    assert part.other_flops == 2 * 6 * 1.5 * (16 + 8)
    assert part.held_bytes == 6 * 2 * (6 * 8 - 16 + 2 * 11 + 16 + 16 + 8 + 8 + 60)
    assert part.context_bytes == 6 * 2 * (16 + 8)
    direct = decoder_of(Shape(**SMALL, **LATENT))
    assert part.parameters - direct.parameters == 8 * 6 + 6 * 16 + 6 - 8 * 16


def test_every_rank_makes_latent_vectors():
    """Of two ranks each has 8 x 12 weights that the other one has, too, and multiplies by them."""
    one, two = (decoder_of(Shape(**SMALL, **LATENT, q_lora_rank=6), TrainingSetup(tensor=t)) for t in (1, 2))
    assert two.parameters - one.parameters == 96
    assert two.weight_flops - one.weight_flops == 2 * 6 * 96
    whole = decoder_of(Shape(**SMALL, **LATENT, q_lora_rank=6), TrainingSetup(tensor=2, sequence_parallel=False))
    assert whole.held_bytes - two.held_bytes == 6 * 2 * (4 * 8 + 2 * 11)


def test_ranks_beyond_heads_of_keys_hold_copies():
    """Of 2 heads of 16 numbers on 8 ranks each is on four: weights, activations in 2 bytes, and what goes round."""
    shape = Shape(layers=1, hidden=64, heads=8, head_dim=16, kv_heads=2, vocabulary=9, sequence=4, gated=True)
    once, copied = (decoder_of(shape, TrainingSetup(tensor=t, context=2)) for t in (2, 8))
    numbers = (2 * 16) + (2 * 16)
    assert copied.parameters - once.parameters == 3 * 64 * numbers
    assert copied.held_bytes - once.held_bytes == 3 * 4 * numbers * 2
    assert copied.context_bytes == 4 * once.context_bytes == 4 * 4 * numbers * 2


def test_every_token_goes_through_shared_experts():
    """Each as wide as the others, and on every rank."""
    alone = decoder_of(Shape(**SMALL, gated=True, ffn=20, experts=4))
    both = decoder_of(Shape(**SMALL, gated=True, ffn=20, experts=4, shared_experts=2))
    assert both.parameters - alone.parameters == 2 * 480
    assert both.weight_flops - alone.weight_flops == 2 * 6 * 2 * 480
    assert both.held_bytes - alone.held_bytes == 6 * 2 * 2 * 60
    assert both.expert_parameters == alone.expert_parameters
    assert both.exchanged_bytes == alone.exchanged_bytes


def test_a_window_limits_what_is_computed():
    """Two of three tokens, of which the first sees one; full attention computes all three."""
    windows = [decoder_of(Shape(**SMALL, window=window)).other_flops for window in (2, 3, 9, None)]
    assert windows == pytest.approx([4 * 6 * 8 * (2 - 2 / 3), *[4 * 6 * 8 * 1.5] * 3])
    assert decoder_of(Shape(**SMALL, window=2, attention="full")).other_flops == 4 * 6 * 8 * 3


def test_biases_of_a_gated_layer_are_counted():
    """As in gpt-oss: 8 each of queries, keys, values and output, 2 x 20 + 8 of each block."""
    plain, biased = (decoder_of(Shape(**SMALL, gated=True, ffn=20, experts=2, biases=b)) for b in (None, True))
    assert biased.parameters - plain.parameters == 32 + 2 * 48


@pytest.mark.parametrize(("recompute", "held"), [("none", 2 * 6 * 8 * 4), ("full", 0)])
def test_a_further_token_is_predicted_behind_a_projection(recompute, held):
    """Of 16 to 8 numbers, with three norms and a matrix of 10 x 8; the head works for both, and both are sent there."""
    setup = TrainingSetup(recompute=recompute)
    shape = Shape(**SMALL, gated=True, mtp_layers=1)
    decoder, predictor = decoder_of(shape, setup), predictor_of(shape, setup)
    assert predictor.parameters - decoder.parameters == 128 + 24 + 80
    assert predictor.weight_flops - decoder.weight_flops == 2 * 6 * 128
    assert predictor.held_bytes - decoder.held_bytes == held
    head, alone = head_of(shape), head_of(Shape(**SMALL, gated=True))
    assert (head.weight_flops, head.held_bytes) == (2 * alone.weight_flops, 2 * alone.held_bytes)
    assert (head.parameters, head.reduced_bytes) == (alone.parameters, 2 * alone.reduced_bytes)
