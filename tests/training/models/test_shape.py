"""The shape of a transformer."""

import pytest

from tiger.errors import InputError
from tiger.training.models.shape import Shape

SMALL = {"layers": 2, "hidden": 8, "heads": 4, "vocabulary": 10, "sequence": 3}


def test_a_shape_is_a_gpt_by_default():
    """A block four times as wide, a key for every head, a shared matrix, 4e14 FLOP/s."""
    shape = Shape(**SMALL)
    assert (shape.width, shape.key, shape.active, shape.shared, shape.flops) == (32, 8, 1, True, None)


def test_a_gated_shape_is_a_llama():
    """The width of Llama 7B, and two matrices."""
    shape = Shape(layers=32, hidden=4096, heads=32, vocabulary=32000, sequence=4096, gated=True)
    assert (shape.width, shape.shared) == (11008, False)


def test_fewer_heads_have_keys():
    """Two of four heads, each 2 wide."""
    assert Shape(**SMALL, kv_heads=2).key == 4


@pytest.mark.parametrize(("experts", "top_k", "active"), [(8, None, 2), (1, None, 1), (8, 3, 3), (None, None, 1)])
def test_a_token_goes_through_some_experts(experts, top_k, active):
    """Two where there are as many."""
    assert Shape(**SMALL, experts=experts, top_k=top_k).active == active


def test_tokens_of_a_microbatch_are_those_of_all_its_sequences():
    """Two of three."""
    assert Shape(**SMALL, batch=2).tokens == 6


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("layers", 0),
        ("hidden", -8),
        ("heads", 3),
        ("heads", True),
        ("vocabulary", 10.0),
        ("sequence", 10**9 + 1),
        ("sequence", 10**400),
        ("batch", None),
        ("ffn", 0),
        ("kv_heads", 3),
        ("experts", "8"),
        ("top_k", 1),
        ("gated", 1),
        ("tied", "no"),
        ("serve", "yes"),
        ("dtype", "int8"),
        ("dtype", []),
        ("attention", None),
        ("flops", 0),
        ("flops", 0.5),
        ("flops", 1e31),
        ("flops", float("nan")),
        ("flops", "fast"),
        ("biases", 1),
        ("kv_lora_rank", 0),
        ("q_lora_rank", 4),
        ("rope_head_dim", 4),
        ("v_head_dim", 4),
        ("window", 0),
        ("full_step", 2),
        ("dense_layers", 1),
        ("dense_layers", -1),
        ("dense_ffn", 8),
        ("expert_step", 2),
        ("expert_step", 0),
        ("shared_experts", 1),
        ("mtp_layers", None),
    ],
)
def test_bad_numbers_are_named(key, value):
    """Zero, negative, huge, of another type, or without a divisor."""
    with pytest.raises(InputError) as caught:
        Shape(**(SMALL | {key: value}))
    assert caught.value.field == f"model/transformer/{key}"


def test_no_token_goes_through_more_experts_than_there_are():
    """Three of two."""
    with pytest.raises(InputError, match="at most 2"):
        Shape(**SMALL, experts=2, top_k=3)


def test_numbers_of_layers_that_differ_go_together():
    """No more dense layers than there are, and no keys of other heads beside a latent vector."""
    for key, shape in (
        ("dense_layers", {"experts": 2, "dense_layers": 3}),
        ("kv_heads", {"kv_lora_rank": 4, "kv_heads": 2}),
    ):
        with pytest.raises(InputError) as caught:
            Shape(**SMALL, **shape)
        assert caught.value.field == f"model/transformer/{key}"
