"""The `quantization_config` of a configuration: in what type its checkpoint has the weights."""

from collections.abc import Mapping

from tiger.errors import InputError
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.training.models.weights import Weights

FIELD = "model/quantization_config"
# Types by method, and by bits where a method has several.
METHODS: Mapping[str, Weights | Mapping[object, Weights]] = {
    "awq": {4: "int4"},
    "compressed-tensors": {(4, "int"): "int4", (8, "int"): "int8", (8, "float"): "fp8"},
    "fbgemm_fp8": "fp8",
    "fp8": "fp8",
    "gptq": {4: "int4", 8: "int8"},
    "mxfp4": "mxfp4",
}


def weights_of_quantization(document: object) -> Weights | None:
    """Return the type of weights that a `quantization_config` states, None without one; raise InputError by its key."""
    if document is None:
        return None
    if not isinstance(document, dict):
        raise InputError(FIELD, f"expected an object, got {describe(document)}")
    method = document.get("quant_method")
    if not isinstance(method, str) or method not in METHODS:
        hint = suggest_name(method, METHODS)
        raise InputError(f"{FIELD}/quant_method", f"expected one of {', '.join(METHODS)}, got {describe(method)}{hint}")
    known = METHODS[method]
    if isinstance(known, str):
        return known
    key, bits = _find_bits(document) if method == "compressed-tensors" else ("bits", document.get("bits"))
    if not isinstance(bits, int | tuple) or bits not in known:
        wanted = ", ".join(str(each) for each in known)
        raise InputError(f"{FIELD}/{key}", f"expected one of {wanted} for {method}, got {describe(bits)}")
    return known[bits]


def _find_bits(document: Mapping[str, object]) -> tuple[str, object]:
    """Return the key and the bits and kind of numbers of the first group of `compressed-tensors`."""
    groups = document.get("config_groups")
    name, group = next(iter(groups.items()), ("", None)) if isinstance(groups, dict) else ("", None)
    weights = group.get("weights") if isinstance(group, dict) else None
    if not isinstance(weights, dict):
        return "config_groups", None
    bits, kind = weights.get("num_bits"), weights.get("type")
    whole = isinstance(bits, int) and isinstance(kind, str)
    return f"config_groups/{name}/weights", (bits, kind) if whole else None
