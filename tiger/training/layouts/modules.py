"""The modules of a model as layouts count them: which of them are decoder layers, and what stands at the ends."""

import re
from itertools import groupby

from tiger.errors import InputError
from tiger.training.layouts.megatron import FIELD, SYMBOLS
from tiger.training.models.layers import Layers
from tiger.training.models.transformer import is_made_of_shape

# Names under which torchtitan takes the modules of every stage: the second up to version 0.1, the first since.
CHUNKS = ("module_fqns_per_model_part", "module_names_per_model_chunk")
# The modules of a Llama in torchtitan around its decoder layers; the last goes with the norm before it.
FIRST, LAST = "tok_embeddings", ("norm", "output")


def check_kinds(layers: Layers, field: str) -> None:
    """Raise InputError of a field where it is not known which layers are decoder layers."""
    if not {"embedding", "head"} & set(layers.kinds) or "layer" not in layers.kinds:
        reason = "expected a model that says which layers are decoder layers, embedding and head (its kinds)"
        raise InputError(field, f"{reason}, got one that does not")


def count_layers(layers: Layers, field: str = FIELD) -> dict[str, list[int]]:
    """Return of how many layers each module is made, by the symbol of its kind.

    Raises InputError of a field unless embedding, decoder layers, MTP and head are known and stand in this order.
    """
    check_kinds(layers, field)
    sizes: dict[str, list[int]] = {symbol: [] for symbol in SYMBOLS.values()}
    for size, symbol in _list_modules(layers):
        sizes[symbol].append(size)
    order = re.sub(r"(.)\1+", r"\1", "".join(symbol for _, symbol in _list_modules(layers)))
    if not re.fullmatch("E?tm?L?", order):
        reason = "expected embedding, decoder layers, MTP and head in this order, got another"
        raise InputError(field, reason)
    return sizes


def name_modules(layers: Layers) -> list[tuple[str, int]]:
    """Return the name that torch knows of every module, and of how many layers it is made.

    Those of a shape have the names that torchtitan gives the modules of Llama.
    """
    if is_made_of_shape(layers):
        decoders = [(f"layers.{k}", 1) for k in range(layers.kinds.count("layer"))]
        predictors = [(name, 1) for name, kind in zip(layers.modules, layers.kinds, strict=True) if kind == "mtp"]
        return [(FIRST, 1), *decoders, *predictors, (LAST[0], 1), (LAST[1], 0)]
    return [(name, len(list(same))) for name, same in groupby(layers.modules)]


def _list_modules(layers: Layers) -> list[tuple[int, str]]:
    """Return of how many layers each module is made, and the symbol of its kind."""
    runs = [list(same) for _, same in groupby(range(layers.size), key=lambda at: layers.modules[at])]
    return [(len(members), SYMBOLS[layers.kinds[members[0]]]) for members in runs]
