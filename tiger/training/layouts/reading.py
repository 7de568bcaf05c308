"""The cuts of a pipeline, read from what a framework is told of its stages.

That is a layout of Megatron-LM (`Ettt|(tt|)*14,ttL`), the `parts` of DeepSpeed (`[0, 4, 9]`), the decoder layers of
every stage as vLLM takes them (`8,8,9,7`), the modules of every stage as JSON for torchtitan, or the text of a script
that states one of these.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.wording import describe
from tiger.training.layouts.megatron import DIGITS, FIELD, SHOWN, expand_layout
from tiger.training.layouts.modules import CHUNKS, count_layers, name_modules
from tiger.training.models.layers import Layers

Cuts = tuple[int, ...]
# What symbols of Megatron-LM stand for.
MEANINGS = {"E": "embedding (E)", "t": "decoder layers (t)", "m": "layers of MTP (m)", "L": "head (L)"}
_FLAG = re.compile(r"--pipeline-model-parallel-layout[ =]+(\"[^\"]*\"|'[^']*'|\S+)")
_VARIABLE = re.compile(r"VLLM_PP_LAYER_PARTITION=[\"']?([0-9, ]+)")
_PARTS = re.compile(r"^\s*parts *= *(\[[^\]]*\])", re.MULTILINE)
_COUNTS = re.compile(r"[0-9]+(?: *, *[0-9]+)*")
_LIST = re.compile(r"\[ *([0-9]+(?:\s*,\s*[0-9]+)*) *,? *\]")


def read_layout(text: str, layers: Layers) -> Cuts:
    """Return the cuts of the stages that a text states, each with a layer at least.

    Raises InputError of `layout` for a text of no known form, naming the character at fault, and for stages that do not
    hold every layer of the model once and in order; TypeError for what is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"{FIELD}: expected text, got {type(text).__name__}")
    cuts = _read_cuts(_find_statement(text), layers)
    empty = next((stage for stage, (begin, end) in enumerate(pairwise(cuts)) if begin == end), None)
    if empty is not None:
        raise InputError(FIELD, f"expected a layer of the model in every stage, got none in stage {empty}")
    return cuts


def _find_statement(text: str) -> str:
    """Return what a script states, or a text that is no script; a line behind # states nothing."""
    plain = text.strip()
    if plain.startswith("{"):
        return plain
    code = "\n".join(line for line in plain.splitlines() if not line.lstrip().startswith("#"))
    found = [match[1].strip("\"' ") for pattern in (_FLAG, _VARIABLE, _PARTS) for match in pattern.finditer(code)]
    if len(set(found)) > 1:
        raise InputError(FIELD, f"expected a text that states one layout, got {len(set(found))} of them")
    if not found and "\n" in code:
        expected = "expected --pipeline-model-parallel-layout, VLLM_PP_LAYER_PARTITION= or parts ="
        raise InputError(FIELD, f"{expected} in a text of several lines, got none")
    return found[0] if found else code


def _read_cuts(text: str, layers: Layers) -> Cuts:
    """Return the cuts that a statement makes, by its form."""
    if text.startswith("{"):
        return _cut_by_names(read_json(text, FIELD), layers)
    if text.startswith("["):
        return _read_parts(text, layers)
    if _COUNTS.fullmatch(text):
        return _cut_by_counts([_read_number(word) for word in text.split(",")], layers)
    return _cut_by_symbols(expand_layout(text), layers)


def _read_parts(text: str, layers: Layers) -> Cuts:
    """Return the cuts of DeepSpeed's `parts`."""
    found = _LIST.fullmatch(text)
    if found is None:
        raise InputError(FIELD, f"expected whole numbers such as [0, 4, 9], got {describe(text)}")
    cuts = tuple(_read_number(word) for word in found[1].split(","))
    if len(cuts) < 2 or cuts[0] or cuts[-1] != layers.size or any(end < begin for begin, end in pairwise(cuts)):
        wanted = f"expected rising parts from 0 to {layers.size}, as the model has {layers.size} layers"
        raise InputError(FIELD, f"{wanted}, got {describe(text)}")
    return cuts


def _cut_by_counts(counts: Sequence[int], layers: Layers) -> Cuts:
    """Return the cuts of stages with so many decoder layers, the embedding in the first and the head in the last."""
    sizes, last = count_layers(layers), len(counts) - 1
    if sum(counts) != len(sizes["t"]):
        raise InputError(FIELD, f"expected {len(sizes['t'])} decoder layers, as the model has, got {sum(counts)}")
    ends = [("E" * (k == 0), ("m" * len(sizes["m"]) + "L") * (k == last)) for k in range(len(counts))]
    stages = [first + "t" * count + rest for count, (first, rest) in zip(counts, ends, strict=True)]
    return _cut_by_symbols(stages, layers)


def _cut_by_symbols(stages: Sequence[str], layers: Layers) -> Cuts:
    """Return the cuts of stages of symbols; raise InputError of `layout` unless they are all layers in order."""
    sizes, order = count_layers(layers), "".join(stages)
    for symbol, meaning in MEANINGS.items():
        got, ends = order.count(symbol), symbol in "EL"
        wanted = min(len(sizes[symbol]), 1) if ends else len(sizes[symbol])
        # Layouts have both ends whether a table of layers lists them or not.
        if got != wanted and not (ends and got == 1):
            raise InputError(FIELD, f"expected {wanted} {meaning}, as the model has, got {got}")
    if not re.fullmatch("E?t*m*L?", order):
        runs = re.sub(r"(.)\1+", r"\1", order)
        raise InputError(FIELD, f"expected E, then t, then m, then L, got {describe(runs[:SHOWN])}")
    left = {symbol: iter([sum(each)] if symbol in "EL" else each) for symbol, each in sizes.items()}
    return _add_up(sum(next(left[symbol]) for symbol in stage) for stage in stages)


def _cut_by_names(document: object, layers: Layers) -> Cuts:
    """Return the cuts of stages that name their modules."""
    chunks = next((document[key] for key in CHUNKS if key in document), None) if isinstance(document, dict) else None
    if not isinstance(chunks, list) or not all(isinstance(chunk, list) for chunk in chunks):
        raise InputError(FIELD, f"expected an object with lists of modules as {CHUNKS[0]}, got another")
    known, named = name_modules(layers), [name for chunk in chunks for name in chunk]
    names = [name for name, _ in known]
    if named != names:
        same = next(
            (k for k, (a, b) in enumerate(zip(named, names, strict=False)) if a != b), min(len(named), len(names))
        )
        wanted, got = (describe(each[same]) if same < len(each) else "the end" for each in (names, named))
        raise InputError(FIELD, f"expected the modules of the model in order, {wanted} as number {same}, got {got}")
    sizes = iter([size for _, size in known])
    return _add_up(sum(next(sizes) for _ in chunk) for chunk in chunks)


def _add_up(sizes: Iterator[int]) -> Cuts:
    """Return the cuts behind stages of so many layers."""
    return tuple(accumulate(sizes, initial=0))


def _read_number(word: str) -> int:
    """Return a whole number; raise InputError of `layout` for one that no model comes near."""
    digits = word.strip()
    if len(digits) > DIGITS:
        raise InputError(FIELD, f"expected whole numbers of at most {DIGITS} digits, got {describe(digits)}")
    return int(digits)
