"""The `config.json` of a model on Hugging Face: the shape of a decoder that is built like Llama or DeepSeek."""

from collections.abc import Mapping
from dataclasses import dataclass

from tiger.errors import InputError
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.training.models.config_layers import dense_of, window_of
from tiger.training.models.config_values import count_of, flag_of
from tiger.training.models.shape import Shape
from tiger.training.precision import Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKind:
    """Name the keys of one kind of configuration: the width of a block, and the number of experts of a mixture.

    Of `tied`, `biased` and `latent` kinds embedding and head share a matrix where a configuration says nothing,
    products have biases, and keys and values are made of latent vectors.
    """

    width: str = "intermediate_size"
    experts: str | None = None
    tied: bool = False
    biased: bool = False
    latent: bool = False


DENSE, GEMMA = ConfigKind(), ConfigKind(tied=True)
DEEPSEEK = ConfigKind(width="moe_intermediate_size", experts="n_routed_experts", latent=True)
KINDS: Mapping[str, ConfigKind] = {
    "deepseek_v2": DEEPSEEK,
    "deepseek_v3": DEEPSEEK,
    "gemma": GEMMA,
    "gemma2": GEMMA,
    "gemma3_text": GEMMA,
    "gpt_oss": ConfigKind(experts="num_local_experts", biased=True),
    "kimi_k2": DEEPSEEK,
    "llama": DENSE,
    "mistral": DENSE,
    "mixtral": ConfigKind(experts="num_local_experts"),
    "qwen2": DENSE,
    "qwen3": DENSE,
    "qwen3_moe": ConfigKind(width="moe_intermediate_size", experts="num_experts"),
}
TYPES: Mapping[str, Precision] = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
# Keys that tell a configuration from other documents.
MARKS = frozenset({"model_type", "architectures"})
# Tokens of a sequence where nobody says how long sequences are in training, as configurations state the longest alone.
USUAL_SEQUENCE = 4096


def is_config(document: object) -> bool:
    """Return whether a document is a configuration."""
    return isinstance(document, dict) and bool(document.keys() & MARKS)


def shape_of_config(document: Mapping[str, object]) -> Shape:
    """Return the shape that a configuration states, with sequences of 4,096 tokens or fewer where it has no more.

    Raises InputError that names the key, or a kind of model that is not known.
    """
    name = document.get("model_type")
    if not isinstance(name, str) or name not in KINDS:
        hint = suggest_name(name, KINDS)
        raise InputError("model/model_type", f"expected one of {', '.join(KINDS)}, got {describe(name)}{hint}")
    kind, dense, window = KINDS[name], dense_of(name, document), window_of(name, document)
    heads = count_of(document, "num_attention_heads")
    heads_with_keys = None if kind.latent else count_of(document, "num_key_value_heads", heads)
    wide = "qk_nope_head_dim" if kind.latent else "head_dim"
    return Shape(
        layers=count_of(document, "num_hidden_layers"),
        hidden=count_of(document, "hidden_size"),
        heads=heads,
        vocabulary=count_of(document, "vocab_size"),
        sequence=min(count_of(document, "max_position_embeddings"), USUAL_SEQUENCE),
        ffn=count_of(document, kind.width),
        kv_heads=heads_with_keys,
        head_dim=None if document.get(wide) is None and not kind.latent else count_of(document, wide),
        experts=None if kind.experts is None else count_of(document, kind.experts),
        top_k=None if kind.experts is None else count_of(document, "num_experts_per_tok"),
        gated=True,
        tied=flag_of(document, "tie_word_embeddings", kind.tied),
        biases=kind.biased,
        kv_lora_rank=count_of(document, "kv_lora_rank") if kind.latent else None,
        q_lora_rank=None
        if not kind.latent or document.get("q_lora_rank") is None
        else count_of(document, "q_lora_rank"),
        rope_head_dim=count_of(document, "qk_rope_head_dim") if kind.latent else None,
        v_head_dim=count_of(document, "v_head_dim") if kind.latent else None,
        window=window.tokens,
        full_step=window.full_step,
        dense_layers=dense.first,
        dense_ffn=dense.width,
        expert_step=dense.step,
        shared_experts=count_of(document, "n_shared_experts", 0, least=0) if kind.latent else 0,
        mtp_layers=count_of(document, "num_nextn_predict_layers", 0, least=0) if kind.latent else 0,
        dtype=_precision(document),
    )


def _precision(document: Mapping[str, object]) -> Precision:
    """Return the type of the weights, bf16 where none is stated."""
    key = "dtype" if document.get("torch_dtype") is None else "torch_dtype"
    value = "bfloat16" if document.get(key) is None else document[key]
    if not isinstance(value, str) or value not in TYPES:
        raise InputError(f"model/{key}", f"expected one of {', '.join(TYPES)}, got {describe(value)}")
    return TYPES[value]
