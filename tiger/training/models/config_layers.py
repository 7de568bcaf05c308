"""How the layers of a configuration differ: which are dense in a mixture, and which see a window of tokens alone."""

from collections.abc import Mapping
from typing import NamedTuple

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.training.models.config_values import count_of, flag_of

# Kinds whose windows hold where `layer_types` is missing, by the step of the layers without one; None: there are none.
WINDOW_STEPS: Mapping[str, int | None] = {"gemma2": 2, "gemma3_text": 6, "gpt_oss": 2, "mistral": None, "mixtral": None}
SLIDING, FULL = "sliding_attention", "full_attention"


class DenseLayers(NamedTuple):
    """Hold how many first layers of a mixture are dense, how wide, and at what step others have experts."""

    first: int = 0
    width: int | None = None
    step: int = 1


class AttentionWindow(NamedTuple):
    """Hold how many tokens a token sees in most layers, and at what step layers see all; None without windows."""

    tokens: int | None = None
    full_step: int | None = None


def dense_of(kind: str, document: Mapping[str, object]) -> DenseLayers:
    """Return which layers of a kind of model are dense; raise InputError that names the key."""
    if kind == "qwen3_moe":
        first, step = _first_layers(document), count_of(document, "decoder_sparse_step", 1)
        width = count_of(document, "intermediate_size") if first or step > 1 else None
        return DenseLayers(first, width, step)
    if "first_k_dense_replace" not in document or not kind.startswith(("deepseek", "kimi")):
        return DenseLayers()
    if (step := count_of(document, "moe_layer_freq", 1)) != 1:
        raise InputError("model/moe_layer_freq", f"expected 1, got {step}")
    first = count_of(document, "first_k_dense_replace", least=0)
    return DenseLayers(first, count_of(document, "intermediate_size") if first else None)


def window_of(kind: str, document: Mapping[str, object]) -> AttentionWindow:
    """Return the windows of a kind of model; raise InputError that names the key."""
    if kind not in WINDOW_STEPS:
        # Of Qwen's models some state a window that is not in use.
        if flag_of(document, "use_sliding_window", default=False):
            raise InputError("model/use_sliding_window", f"expected false for {kind}, got true")
        return AttentionWindow()
    if document.get("sliding_window") is None:
        return AttentionWindow()
    tokens, step = count_of(document, "sliding_window"), WINDOW_STEPS[kind]
    if document.get("layer_types") is not None:
        return _window_of_types(tokens, document["layer_types"], count_of(document, "num_hidden_layers"))
    return AttentionWindow(tokens, step and count_of(document, "sliding_window_pattern", step))


def _first_layers(document: Mapping[str, object]) -> int:
    """Return how many layers `mlp_only_layers` names, which have to be the first."""
    layers = document.get("mlp_only_layers") or []
    if not isinstance(layers, list) or list(map(repr, layers)) != list(map(repr, range(len(layers)))):
        raise InputError("model/mlp_only_layers", f"expected the first layers, as 0, 1, .., got {describe(layers)}")
    return len(layers)


def _window_of_types(tokens: int, types: object, layers: int) -> AttentionWindow:
    """Return the windows of layers by their types, of which full attention has to come at even steps."""
    if not isinstance(types, list) or len(types) != layers:
        reason = f"expected a list of {layers} of {SLIDING} and {FULL}"
        raise InputError("model/layer_types", f"{reason}, got {describe(types, 100)}")
    step = types.index(FULL) + 1 if FULL in types else None
    if types != [FULL if step and (k + 1) % step == 0 else SLIDING for k in range(len(types))]:
        raise InputError("model/layer_types", f"expected {SLIDING} with {FULL} at equal steps, got another order")
    return (
        AttentionWindow(tokens)
        if step is None
        else AttentionWindow(None if step == 1 else tokens, None if step == 1 else step)
    )
