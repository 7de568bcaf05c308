"""Tests of configurations of Hugging Face: parameters and caches of models that are known."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tiger
from tiger.errors import InputError
from tiger.training.costs.stages import state_bytes
from tiger.training.models.cache import token_bytes
from tiger.training.models.configs import shape_of_config
from tiger.training.models.layer_shapes import shapes_of_layers
from tiger.training.models.reading import read_model
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.sizes import model_of
from tiger.training.models.transformer import layers_of_shape

# The numbers of the config.json of each model on Hugging Face: kind, layers, width, heads, heads with keys and values,
# width of a block, vocabulary, longest sequence, what else; its parameters and the bytes of its cache a token.
MLA = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
DEEPSEEK_V3 = MLA | {
    "q_lora_rank": 1536,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "num_nextn_predict_layers": 1,
}
ALTERNATE = ["sliding_attention", "full_attention"]
GPT_OSS = {
    "head_dim": 64,
    "sliding_window": 128,
    "layer_types": ALTERNATE * 12,
    "num_experts_per_tok": 4,
}
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
    (
        "gemma-2-9b",
        ("gemma2", 42, 3584, 16, 8, 14336, 256000, 8192, {"head_dim": 256, "sliding_window": 4096}),
        9_241_705_984,
        344_064,
    ),
    (
        "gemma-3-1b",
        (
            "gemma3_text",
            26,
            1152,
            4,
            1,
            6912,
            262144,
            32768,
            {"head_dim": 256, "sliding_window": 512, "sliding_window_pattern": 6},
        ),
        999_885_952,
        26_624,
    ),
    ("deepseek-v3", ("deepseek_v3", 61, 7168, 128, 128, 18432, 129280, 163840, DEEPSEEK_V3), 671_026_419_200, 70_272),
    (
        "deepseek-v2",
        (
            "deepseek_v2",
            60,
            5120,
            128,
            128,
            12288,
            102400,
            163840,
            MLA
            | {
                "q_lora_rank": 1536,
                "first_k_dense_replace": 1,
                "moe_intermediate_size": 1536,
                "n_routed_experts": 160,
                "n_shared_experts": 2,
                "num_experts_per_tok": 6,
            },
        ),
        235_741_434_880,
        69_120,
    ),
    (
        "deepseek-v2-lite",
        (
            "deepseek_v2",
            27,
            2048,
            16,
            16,
            10944,
            102400,
            163840,
            MLA
            | {
                "q_lora_rank": None,
                "first_k_dense_replace": 1,
                "moe_intermediate_size": 1408,
                "n_routed_experts": 64,
                "n_shared_experts": 2,
                "num_experts_per_tok": 6,
            },
        ),
        15_706_484_224,
        31_104,
    ),
    (
        "kimi-k2",
        (
            "kimi_k2",
            61,
            7168,
            64,
            64,
            18432,
            163840,
            131072,
            DEEPSEEK_V3 | {"first_k_dense_replace": 1, "n_routed_experts": 384, "num_nextn_predict_layers": 0},
        ),
        1_026_000_000_000,
        70_272,
    ),
    (
        "gpt-oss-120b",
        (
            "gpt_oss",
            36,
            2880,
            64,
            8,
            2880,
            201088,
            131072,
            GPT_OSS | {"num_local_experts": 128, "layer_types": ALTERNATE * 18},
        ),
        116_829_156_672,
        73_728,
    ),
    (
        "gpt-oss-20b",
        ("gpt_oss", 24, 2880, 64, 8, 2880, 201088, 131072, GPT_OSS | {"num_local_experts": 32}),
        20_914_757_184,
        49_152,
    ),
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
    shape = replace(shape_of_config(config_of(numbers)), mtp_layers=0)
    layers = layers_of_shape(shape)
    shared = shape.vocabulary * shape.hidden if shape.shared else 0
    assert layers.parameter_bytes.sum() / 2 - shared == pytest.approx(parameters, rel=1e-3)
    assert sum(token_bytes(layer) for layer in shapes_of_layers(shape)) == cache


def test_deepseek_v3_is_added_up_by_hand() -> None:
    """Its checkpoint, matrix by matrix, but for the 58 biases of routers: 671.03 billion, 11.61 of them to predict."""
    shape = shape_of_config(config_of(KNOWN[14][1]))
    counts = layers_of_shape(shape).parameter_bytes / 2
    queries, keys = 7168 * 1536 + 1536 * 128 * 192, 7168 * 576 + 512 * 128 * (128 + 128)
    attention = queries + keys + 128 * 128 * 7168 + 1536 + 512 + 2 * 7168
    expert, matrix = 3 * 7168 * 2048, 129280 * 7168
    mixture = attention + 257 * expert + 256 * 7168
    assert counts.tolist() == [
        matrix,
        *[attention + 3 * 7168 * 18432] * 3,
        *[mixture] * 58,
        mixture + 2 * 7168**2 + 3 * 7168 + matrix,
        matrix + 7168,
    ]
    assert counts.sum() - counts[-2] + 58 * 256 == 671_026_419_200
    assert counts[-2] - matrix == pytest.approx(11.61e9, rel=1e-3)


def test_stages_of_deepseek_v3_are_added_up_by_hand() -> None:
    """As it was trained: 16 stages, 128 replicas that share the optimizer out, experts among 64 of them.

    Without its optimizer a parameter takes 2 + 4 bytes, which takes 12 more, a 128th of that on each rank; of experts
    there are two copies of each, so that a rank has half of it.
    """
    setup = TrainingSetup(data=128, expert=64, sharding="zero-1")
    layers = layers_of_shape(shape_of_config(config_of(KNOWN[14][1])), setup=setup)
    stages = state_bytes(layers, (0, 2, *range(6, 62, 4), 62, 64))
    attention, expert = 187_107_328 + 2 * 7168, 3 * 7168 * 2048
    alone, shared = 6 + 12 / 128, 6 + 12 / 2
    mixture = (attention + expert + 256 * 7168) * alone + 256 / 64 * expert * shared
    dense = (attention + 3 * 7168 * 18432) * alone
    matrix = 129280 * 7168 * alone
    assert stages[0] == pytest.approx(matrix + dense)
    assert stages[1] == pytest.approx(2 * dense + 2 * mixture)
    assert stages[2] == pytest.approx(4 * mixture)
    assert stages[-1] == pytest.approx(mixture + (2 * 7168**2 + 4 * 7168) * alone + 2 * matrix)


@pytest.mark.parametrize(
    ("changes", "dense", "window"),
    [
        ({"mlp_only_layers": [0, 1]}, [0, 1], None),
        ({"decoder_sparse_step": 2}, [0, 2], None),
        ({"mlp_only_layers": [0, 1, 2], "decoder_sparse_step": 2}, [0, 1, 2], None),
    ],
)
def test_mixtures_may_have_dense_layers(changes: dict[str, object], dense: list[int], window: int | None) -> None:
    """Of the width that they have in the configuration, without experts."""
    shape = shape_of_config(config_of(KNOWN[10][1]) | {"num_hidden_layers": 4} | changes)
    layers = shapes_of_layers(shape)
    assert [k for k, layer in enumerate(layers) if layer.experts is None] == dense
    assert {layer.width for layer in layers} == {12288, 1536}
    assert layers[0].window is window


@pytest.mark.parametrize(
    ("name", "changes", "windows"),
    [
        ("gpt-oss-120b", {"num_hidden_layers": 4, "layer_types": ALTERNATE * 2}, [128, None, 128, None]),
        ("gpt-oss-120b", {"num_hidden_layers": 2, "layer_types": None}, [128, None]),
        ("gpt-oss-120b", {"num_hidden_layers": 2, "layer_types": ["full_attention"] * 2}, [None, None]),
        ("gpt-oss-120b", {"num_hidden_layers": 2, "layer_types": ["sliding_attention"] * 2}, [128, 128]),
        ("gemma-3-1b", {"num_hidden_layers": 7}, [512, 512, 512, 512, 512, None, 512]),
        ("mistral-7b", {"num_hidden_layers": 2, "sliding_window": 4096}, [4096, 4096]),
        ("qwen3-32b", {"num_hidden_layers": 1, "sliding_window": 4096, "use_sliding_window": False}, [None]),
    ],
)
def test_layers_may_see_a_window_alone(name: str, changes: dict[str, object], windows: list[int | None]) -> None:
    """By the types of layers, or as the kind of model has them where these are missing."""
    numbers = next(row[1] for row in KNOWN if row[0] == name)
    assert [layer.window for layer in shapes_of_layers(shape_of_config(config_of(numbers) | changes))] == windows


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
        ({"model_type": "lama"}, "model/model_type: expected one of deepseek_v2, .*; did you mean 'llama'"),
        (
            {"model_type": "deepseek_v4"},
            "model/model_type: expected one of deepseek_v2, .*; did you mean 'deepseek_v3'",
        ),
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


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("qwen3-235b-a22b", {"mlp_only_layers": [3]}, "model/mlp_only_layers: expected the first layers, as 0, 1, .."),
        ("deepseek-v3", {"moe_layer_freq": 2}, "model/moe_layer_freq: expected 1, got 2"),
        ("deepseek-v3", {"kv_lora_rank": None}, "model/kv_lora_rank: expected a whole number from 1"),
        ("gpt-oss-20b", {"layer_types": ALTERNATE[::-1] * 12}, "model/layer_types: expected slid"),
        ("gpt-oss-20b", {"layer_types": ALTERNATE}, "model/layer_types: expected a list of 24 of sliding_attention"),
        ("gpt-oss-20b", {"layer_types": "full"}, "model/layer_types: expected a list of 24 of sliding_attention"),
        ("qwen3-32b", {"use_sliding_window": True}, "model/use_sliding_window: expected false for qwen3, got true"),
    ],
)
def test_layers_that_a_shape_cannot_say_are_refused(name: str, changes: dict[str, object], message: str) -> None:
    """By their key."""
    numbers = next(row[1] for row in KNOWN if row[0] == name)
    with pytest.raises(InputError, match=message):
        shape_of_config(config_of(numbers) | changes)


def test_a_length_of_sequences_is_for_shapes_alone() -> None:
    """Tables state what a microbatch costs."""
    with pytest.raises(InputError, match="sequence: expected none, as only the shape"):
        tiger.place("examples/models/layers.csv", "dgx:1", sequence=4096)
