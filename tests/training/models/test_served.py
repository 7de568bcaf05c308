"""What a model that serves keeps of sequences, and what of its layers is experts."""

import pytest

from tiger.training.models.reading import read_model
from tiger.training.models.serving import forward_alone, with_sequences
from tiger.training.models.sizes import model_of

MIXTURE = "transformer:layers=3,hidden=64,heads=4,kv_heads=2,ffn=96,vocabulary=100,sequence=32,batch=2,gated=true"
SERVED = f"{MIXTURE},experts=4,top_k=2,dense_layers=1,dense_ffn=128,serve=true"


def test_experts_and_cache_are_counted_by_hand() -> None:
    """Of four experts of three matrices in 16 bits; keys and values of 2 x 2 heads of 16 for 64 tokens."""
    served = read_model(SERVED).served
    assert served is not None
    assert served.expert_bytes.tolist() == [0, 0, *[2.0 * 4 * 3 * 64 * 96] * 2, 0]
    assert served.cache_bytes.tolist() == [0, *[64 * 2 * 2 * 16 * 2.0] * 3, 0]
    assert (served.sequences, served.tokens, served.cache_type) == (2, 32, "bf16")


def test_two_of_four_experts_take_their_share_of_a_pass() -> None:
    """By FLOP: both of their blocks beside attention, its scores and the router."""
    layers = read_model(f"{SERVED},flops=1e12")
    assert layers.served is not None
    experts = 2 * 2 * 3 * 64 * 96
    rest = 2 * (2 * 64 * 64 + 2 * 64 * 32 + 64 * 4) + 2 * 0.5 * 32 * (64 + 64)
    assert layers.served.expert_share[2:4] == pytest.approx([experts / (experts + rest)] * 2)


def test_experts_take_their_share_of_a_step() -> None:
    """Nearly all of it where they are most of what is read."""
    layers = read_model("mixtral-8x7b:serve=true,sequence=16")
    assert layers.served is not None
    assert 0.7 < layers.served.expert_share[1] < 0.95
    assert layers.served.expert_share[[0, -1]].tolist() == [0, 0]


def test_quantized_experts_take_their_format() -> None:
    """Half a byte a weight and a scale of 1 for 32."""
    served = read_model(f"{SERVED},weights=mxfp4,kv=fp8").served
    assert served is not None
    assert served.expert_bytes[2] == 4 * 3 * 64 * 96 * (0.5 + 1 / 32)
    assert served.cache_type == "fp8"


def test_more_sequences_take_more_cache_and_the_same_weights() -> None:
    """Twice as many twice the cache; a model that learns has none."""
    layers = read_model(SERVED)
    assert layers.served is not None
    more = with_sequences(layers, 4)
    assert (more.state_bytes == layers.state_bytes + layers.served.cache_bytes).all()
    learning = read_model(MIXTURE)
    assert learning.served is None
    assert with_sequences(learning, 4) is learning


def test_a_forward_pass_alone_has_its_messages_whole() -> None:
    """Of a model that serves, whose messages are counted in each of two passes; others have them as they are."""
    served, learning = read_model(SERVED), read_model(MIXTURE)
    assert forward_alone(served).crossing_bytes[1] == 2 * 64 * 2 == 2 * served.crossing_bytes[1]
    assert (forward_alone(learning).crossing_bytes == learning.crossing_bytes).all()
    assert not forward_alone(learning).backward_s.any()


def test_bug_experts_in_8_bits_took_more_than_the_layer() -> None:
    """A weight that serves in fp8 has no copy in 16 bits."""
    layers = read_model(f"{SERVED},dtype=fp8")
    assert layers.served is not None
    assert layers.served.expert_bytes[2] == 4 * 3 * 64 * 96
    assert (layers.served.expert_bytes <= layers.state_bytes - layers.served.cache_bytes).all()


def test_bug_a_step_makes_a_token_of_each_sequence() -> None:
    """Rates counted as many tokens as sequences have."""
    assert model_of(SERVED).tokens(4) == 4
    assert model_of(MIXTURE).tokens(4) == 128
