"""Tests of configurations of Hugging Face: parameters and caches of models that are known."""

import json
from pathlib import Path

import pytest

import tiger
from tiger.errors import InputError
from tiger.training.models.configs import shape_of_config
from tiger.training.models.parts import cached_bytes
from tiger.training.models.reading import read_model
from tiger.training.models.sizes import model_of
from tiger.training.models.transformer import layers_of_shape

# The numbers of the config.json of each model on Hugging Face: kind, layers, width, heads, heads with keys and values,
# width of a block, vocabulary, longest sequence, what else; its parameters and the bytes of its cache a token.
KNOWN = [
    ("llama-2-7b", ("llama", 32, 4096, 32, 32, 11008, 32000, 4096, {}), 6_738_415_616, 524_288),
    ("llama-2-13b", ("llama", 40, 5120, 40, 40, 13824, 32000, 4096, {}), 13_015_864_320, 819_200),
    ("llama-3-8b", ("llama", 32, 4096, 32, 8, 14336, 128256, 8192, {}), 8_030_261_248, 131_072),
    ("llama-3-70b", ("llama", 80, 8192, 64, 8, 28672, 128256, 8192, {}), 70_553_706_496, 327_680),
    ("llama-3.1-405b", ("llama", 126, 16384, 128, 8, 53248, 128256, 131072, {}), 405_853_388_800, 516_096),
    (
        "llama-3.2-3b",
        ("llama", 28, 3072, 24, 8, 8192, 128256, 131072, {"head_dim": 128, "tie_word_embeddings": True}),
        3_212_749_824,
        114_688,
    ),
    ("mistral-7b", ("mistral", 32, 4096, 32, 8, 14336, 32000, 32768, {}), 7_241_732_096, 131_072),
    (
        "mixtral-8x7b",
        (
            "mixtral",
            32,
            4096,
            32,
            8,
            14336,
            32000,
            32768,
            {"num_local_experts": 8, "num_experts_per_tok": 2},
        ),
        46_702_792_704,
        131_072,
    ),
    ("qwen2.5-7b", ("qwen2", 28, 3584, 28, 4, 18944, 152064, 32768, {}), 7_615_616_512, 57_344),
    ("qwen3-32b", ("qwen3", 64, 5120, 64, 8, 25600, 151936, 40960, {"head_dim": 128}), 32_762_123_264, 262_144),
    (
        "qwen3-235b-a22b",
        (
            "qwen3_moe",
            94,
            4096,
            64,
            4,
            12288,
            151936,
            40960,
            {"head_dim": 128, "moe_intermediate_size": 1536, "num_experts": 128, "num_experts_per_tok": 8},
        ),
        235_093_634_560,
        192_512,
    ),
    ("gemma-7b", ("gemma", 28, 3072, 16, 16, 24576, 256000, 8192, {"head_dim": 256}), 8_537_680_896, 458_752),
]
NAMES = (
    "model_type",
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
)


def config_of(numbers: tuple[object, ...]) -> dict[str, object]:
    """Return the configuration that states some numbers."""
    *stated, others = numbers
    return dict(zip(NAMES, stated, strict=True)) | {"torch_dtype": "bfloat16"} | dict(others)  # type: ignore[call-overload]  # of pairs


@pytest.mark.parametrize(("numbers", "parameters", "cache"), [row[1:] for row in KNOWN], ids=[row[0] for row in KNOWN])
def test_known_models_have_their_parameters_and_caches(
    numbers: tuple[object, ...], parameters: int, cache: int
) -> None:
    """Parameters within 0.1 %, and the bytes of keys and values that a token leaves exactly."""
    shape = shape_of_config(config_of(numbers))
    layers = layers_of_shape(shape)
    shared = shape.vocabulary * shape.hidden if shape.shared else 0
    assert layers.parameter_bytes.sum() / 2 - shared == pytest.approx(parameters, rel=1e-3)
    assert shape.layers * cached_bytes(shape) / shape.tokens == cache


def test_a_file_is_a_plan(tmp_path: Path) -> None:
    """With a warning of the length that is taken, unless it is stated; what the file says else is passed over."""
    path = tmp_path / "config.json"
    stated = config_of(KNOWN[0][1]) | {"architectures": ["LlamaForCausalLM"], "rope_theta": 1e4, "num_hidden_layers": 2}
    path.write_text(json.dumps(stated))
    report = tiger.plan(path, "dgx:1", batch=8)
    assert report.feasible
    assert report.warnings[0].startswith("the configuration states no length of training sequences: 4,096 tokens are")
    longer = tiger.place(path, "dgx:1", schedule="1f1b", sequence=8192)
    assert not longer.warnings
    assert read_model(path).size == 4
    assert model_of(path).tokens(2, 8192) == 2 * 8192


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_size": None}, "model/hidden_size: expected a whole number from 1 to 1000000000, got none"),
        ({"num_hidden_layers": True}, "model/num_hidden_layers: expected a whole number"),
        ({"model_type": "lama"}, "model/model_type: expected one of gemma, llama, .*; did you mean 'llama'"),
        ({"model_type": "deepseek_v3"}, "model/model_type: expected one of"),
        ({"model_type": None}, "model/model_type: expected one of"),
        ({"tie_word_embeddings": "no"}, "model/tie_word_embeddings: expected true or false, got 'no'"),
        ({"torch_dtype": "int8"}, "model/torch_dtype: expected one of bfloat16, float16, float32, got 'int8'"),
        ({"torch_dtype": ["bfloat16"]}, "model/torch_dtype: expected one of bfloat16"),
        ({"model_type": ["llama"]}, "model/model_type: expected one of"),
        ({"num_key_value_heads": 5}, "model/transformer/kv_heads: expected a divisor of heads"),
    ],
)
def test_bad_configurations_are_refused_by_name(changes: dict[str, object], message: str) -> None:
    """The key of the file, or the number of the shape."""
    document = {name: value for name, value in (config_of(KNOWN[0][1]) | changes).items() if value is not None}
    document |= {"architectures": ["x"]}
    with pytest.raises(InputError, match=message):
        model_of(document)


def test_mixtures_with_dense_layers_are_refused() -> None:
    """A shape has experts in every layer."""
    document = config_of(KNOWN[10][1])
    with pytest.raises(InputError, match="model/mlp_only_layers: expected experts in every layer"):
        shape_of_config(document | {"mlp_only_layers": [0]})
    with pytest.raises(InputError, match="model/decoder_sparse_step: expected experts in every layer"):
        shape_of_config(document | {"decoder_sparse_step": 2})


def test_a_length_of_sequences_is_for_shapes_alone() -> None:
    """Tables state what a microbatch costs."""
    with pytest.raises(InputError, match="sequence: expected none, as only the shape"):
        tiger.place("examples/models/layers.csv", "dgx:1", sequence=4096)
