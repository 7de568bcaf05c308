"""The `config.json` of a model on Hugging Face: the shape of a decoder that is built like Llama."""

from collections.abc import Mapping

from tiger.errors import InputError
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.training.models.shape import NUMBER_LIMIT, Precision, Shape

# Keys of a configuration by the kind of model: the width of a feed-forward block and the number of experts.
DENSE = ("intermediate_size", None)
KINDS: Mapping[str, tuple[str, str | None]] = {
    "gemma": DENSE,
    "llama": DENSE,
    "mistral": DENSE,
    "mixtral": ("intermediate_size", "num_local_experts"),
    "qwen2": DENSE,
    "qwen3": DENSE,
    "qwen3_moe": ("moe_intermediate_size", "num_experts"),
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
    kind = document.get("model_type")
    if not isinstance(kind, str) or kind not in KINDS:
        hint = suggest_name(kind, KINDS)
        raise InputError("model/model_type", f"expected one of {', '.join(KINDS)}, got {describe(kind)}{hint}")
    width, experts = KINDS[kind]
    _check_layers(kind, document)
    heads = _count(document, "num_attention_heads")
    return Shape(
        layers=_count(document, "num_hidden_layers"),
        hidden=_count(document, "hidden_size"),
        heads=heads,
        vocabulary=_count(document, "vocab_size"),
        sequence=min(_count(document, "max_position_embeddings"), USUAL_SEQUENCE),
        ffn=_count(document, width),
        kv_heads=_count(document, "num_key_value_heads", heads),
        head_dim=None if document.get("head_dim") is None else _count(document, "head_dim"),
        experts=None if experts is None else _count(document, experts),
        top_k=None if experts is None else _count(document, "num_experts_per_tok"),
        gated=True,
        tied=_is_tied(kind, document),
        dtype=_precision(document),
    )


def _check_layers(kind: str, document: Mapping[str, object]) -> None:
    """Raise InputError for a mixture of which some layers are dense, which a shape cannot say."""
    if kind == "qwen3_moe" and (document.get("mlp_only_layers") or document.get("decoder_sparse_step", 1) != 1):
        key = "mlp_only_layers" if document.get("mlp_only_layers") else "decoder_sparse_step"
        raise InputError(f"model/{key}", f"expected experts in every layer, got {describe(document[key])}")


def _count(document: Mapping[str, object], key: str, default: int | None = None) -> int:
    """Return a whole number of a configuration."""
    value = document.get(key, default)
    if value is None and default is not None:
        value = default
    if type(value) is not int or not 1 <= value <= NUMBER_LIMIT:
        got = "none" if value is None else describe(value)
        raise InputError(f"model/{key}", f"expected a whole number from 1 to {NUMBER_LIMIT}, got {got}")
    return value


def _is_tied(kind: str, document: Mapping[str, object]) -> bool:
    """Return whether embedding and head share a matrix, as Gemma's do where a configuration says nothing."""
    value = document.get("tie_word_embeddings", kind == "gemma")
    if not isinstance(value, bool):
        raise InputError("model/tie_word_embeddings", f"expected true or false, got {describe(value)}")
    return value


def _precision(document: Mapping[str, object]) -> Precision:
    """Return the type of the weights, bf16 where none is stated."""
    value = document.get("torch_dtype", document.get("dtype", "bfloat16"))
    if not isinstance(value, str) or value not in TYPES:
        key = "torch_dtype" if "torch_dtype" in document else "dtype"
        raise InputError(f"model/{key}", f"expected one of {', '.join(TYPES)}, got {describe(value)}")
    return TYPES[value]
