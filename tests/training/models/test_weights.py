"""Tests of the types that weights and caches are kept in by models that serve."""

import pytest

import tiger
from tiger.errors import InputError
from tiger.training.models.shape import Shape
from tiger.training.models.sizes import model_of
from tiger.training.models.transformer import layers_of_shape

SMALL = {"layers": 2, "hidden": 8, "heads": 4, "vocabulary": 10, "sequence": 3, "gated": True, "ffn": 20}
# Weights of attention and of the block, and of norms, of a layer.
PRODUCTS, NORMS, ENDS = 4 * 64 + 480, 16, (80, 88)
CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 8,
    "num_attention_heads": 4,
    "intermediate_size": 20,
    "vocab_size": 10,
    "max_position_embeddings": 3,
}


@pytest.mark.parametrize(
    ("weights", "products", "others"),
    [
        (None, 2, 2),
        ("fp32", 4, 4),
        ("fp8", 1 + 1 / 4096, 2),
        ("int8", 1, 2),
        ("int4", 0.5 + 2.5 / 128, 2),
        ("mxfp4", 0.53125, 2),
        ("q4_k", 0.5625, 0.5625),
        ("q8_0", 1.0625, 1.0625),
    ],
)
def test_weights_take_the_bytes_of_their_type(weights: str | None, products: float, others: float) -> None:
    """Where the type is not that of all, embedding, head and norms stay as they are; fp8 keys take a byte each."""
    layers = layers_of_shape(Shape(**SMALL, serve=True, weights=weights, kv="fp8"))
    layer = products * PRODUCTS + others * NORMS + 2 * 3 * 8
    assert layers.state_bytes == pytest.approx([others * ENDS[0], layer, layer, others * ENDS[1]])


def test_of_a_mixture_experts_alone_are_in_mxfp4() -> None:
    """4 x 480 weights; attention, the router and dense layers are not."""
    shape = Shape(**SMALL, experts=4, dense_layers=1, serve=True, weights="mxfp4", kv="bf16")
    cache = 2 * 3 * 8 * 2
    mixed = 0.53125 * 4 * 480 + 2 * (256 + 8 * 4 + NORMS) + cache
    assert layers_of_shape(shape).state_bytes.tolist()[1:3] == [2 * (PRODUCTS + NORMS) + cache, mixed]


@pytest.mark.parametrize(
    ("name", "gibibytes"), [("gpt-oss-120b", 60.8), ("gpt-oss-20b", 12.8), ("llama-3-70b", 131.4), ("qwen3-8b", 15.26)]
)
def test_checkpoints_have_their_published_sizes(name: str, gibibytes: float) -> None:
    """Those of gpt-oss are in the table of its model card, arXiv:2508.10925."""
    served = model_of(name).serve(1)
    empty = model_of(f"{name}:serve=true,sequence=1").given.state_bytes.sum()
    assert served.given.state_bytes.sum() > empty
    assert empty / 2**30 == pytest.approx(gibibytes, rel=2e-3)


def test_deepseek_v3_is_served_in_fp8() -> None:
    """688.6 GB of its checkpoint, less the layer that predicts and its copies of embedding and head."""
    state = model_of("deepseek-v3:serve=true,sequence=1").given.state_bytes.sum()
    predictor = 11.5e9 + 0.1e9 * 2 + 2 * 2 * 129280 * 7168
    assert state + predictor == pytest.approx(688_586_727_753, rel=1e-3)


@pytest.mark.parametrize(
    ("quantization", "weights"),
    [
        (None, None),
        ({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}, "mxfp4"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "int4"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": {"weights": {"num_bits": 8, "type": "float"}}},
            },
            "fp8",
        ),
    ],
)
def test_a_configuration_states_its_weights(quantization: object, weights: str | None) -> None:
    """Where it serves; where it learns it does so in the type of its matrices."""
    model = model_of(CONFIG | {"quantization_config": quantization})
    served = model.serve(5)
    assert served.shape == Shape(**SMALL, kv_heads=4, tied=False, biases=False, serve=True, batch=5, weights=weights)
    assert model.shape is not None
    assert model.shape.weights is None


@pytest.mark.parametrize(
    ("quantization", "message"),
    [
        ("fp8", "model/quantization_config: expected an object, got 'fp8'"),
        ({}, "model/quantization_config/quant_method: expected one of awq, .*, got null"),
        ({"quant_method": "gptq4"}, "quant_method: expected one of awq, .*, got 'gptq4'; did you mean 'gptq'"),
        ({"quant_method": "gptq", "bits": 3}, "model/quantization_config/bits: expected one of 4, 8 for gptq, got 3"),
        ({"quant_method": "awq", "bits": [4]}, "model/quantization_config/bits: expected one of 4 for awq"),
        ({"quant_method": "compressed-tensors"}, "model/quantization_config/config_groups: expected one of"),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": []}}}},
            "model/quantization_config/config_groups/a/weights: expected one of",
        ),
    ],
)
def test_unknown_quantizations_are_refused_where_they_serve(quantization: object, message: str) -> None:
    """By their key; in training nobody asks."""
    document = CONFIG | {"quantization_config": quantization}
    assert tiger.place(document, "dgx:1", pipeline=2).feasible
    with pytest.raises(InputError, match=message):
        tiger.place(document, "dgx:1", pipeline=2, serve=1)


def test_models_that_learn_have_no_such_types() -> None:
    """Nor do those whose layers are listed serve."""
    for key, value in (("weights", "int4"), ("kv", "fp8")):
        with pytest.raises(InputError, match=f"model/transformer/{key}: expected serve=true beside it"):
            Shape(**SMALL, **{key: value})
        with pytest.raises(InputError, match=f"model/transformer/{key}: expected one of"):
            Shape(**SMALL, serve=True, **{key: "int3"})
    with pytest.raises(InputError, match="serve: expected none, as only the shape of a transformer tells"):
        tiger.place("examples/models/layers.csv", "dgx:1", serve=2)
    with pytest.raises(InputError, match="recompute: expected 'none', as only the shape of a transformer that learns"):
        tiger.place(CONFIG, "dgx:1", serve=2, recompute="full")


def test_an_option_makes_a_model_serve() -> None:
    """Its weights and the keys and values of so many sequences of a length, a head of them on each of eight devices."""
    report = tiger.place("llama-3-70b", "dgx-h100:1", tensor=8, pipeline=1, serve=16, sequence=8192)
    assert report.feasible
    assert report.stages[0].memory_bytes == pytest.approx((2 * 70_553_706_496 + 16 * 8192 * 327_680) / 8)
    latent = tiger.place("deepseek-v2-lite", "dgx-h100:1", tensor=8, pipeline=1, serve=16, sequence=8192)
    assert latent.stages[0].memory_bytes > 16 * 8192 * 31_104
    plan = tiger.plan("llama-3-8b", "dgx-h100:1", serve=8, batch=8)
    assert plan.feasible


@pytest.mark.parametrize(
    "model",
    [
        "llama-3-8b:weights=q4_k,kv=int8",
        "transformer:layers=2,hidden=8,heads=4,vocabulary=10,sequence=3,weights=q4_k,kv=int8",
        {"transformer": dict(SMALL, weights="q4_k", kv="int8")},
    ],
)
def test_bug_types_of_weights_beside_the_option_that_serves(model: str | dict[str, object]) -> None:
    """They were refused unless the model itself said serve=true."""
    report = tiger.place(model, "dgx-h100:1", serve=2, pipeline=1, sequence=4096)
    with pytest.raises(InputError, match="weights: expected serve=true beside it or the option serve"):
        tiger.place(model, "dgx-h100:1")
    assert report.deployment is not None
    assert report.deployment.layers.served is not None
    assert (report.deployment.layers.served.sequences, report.deployment.layers.served.cache_type) == (2, "int8")
