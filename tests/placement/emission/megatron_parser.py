"""Read the layout of Megatron-LM back from the text that TIGER writes."""

import re
from dataclasses import dataclass

from tiger.errors import InputError
from tiger.model.wording import describe

LAYOUT = "layout"
# Symbols of a layout that is written out: more than any model has layers.
LONGEST = 1_000_000
_GROUP = re.compile(r"\(([^)]+)\)\*(\d+)")
_RUN = re.compile(r"(.)\*(\d+)")
_FLAG = re.compile(r"--([a-z-]+)[ =]+(\"[^\"]*\"|'[^']*'|\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MegatronSplit:
    """Hold a layout of Megatron-LM: symbols E, t, m and L of every stage, and the sizes.

    Stage k runs on pipeline rank k mod `pipeline`, as its virtual stage k // `pipeline`.
    """

    stages: tuple[str, ...]
    pipeline: int
    tensor: int
    num_layers: int


def parse(text: str) -> MegatronSplit:
    """Return the split of a text of `write`; raise InputError of `layout` for another."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    flags = {name: value.strip("\"'") for name, value in _FLAG.findall(" ".join(lines))}
    stages = stages_of_layout(flags.get("pipeline-model-parallel-layout", ""))
    sizes = [_size(flags, f"{name}-model-parallel-size") for name in ("pipeline", "tensor")]
    if len(stages) % sizes[0]:
        raise InputError(LAYOUT, f"expected a multiple of {sizes[0]} stages, got {len(stages)}")
    decoders, stated = sum(stage.count("t") for stage in stages), _size(flags, "num-layers")
    if decoders != stated:
        raise InputError(LAYOUT, f"expected {stated} decoder layers, as --num-layers says, got {decoders}")
    return MegatronSplit(stages=stages, pipeline=sizes[0], tensor=sizes[1], num_layers=stated)


def stages_of_layout(layout: str) -> tuple[str, ...]:
    """Return the symbols of every stage of a layout, with `x*n` and `(..)*n` written out.

    Commas mean nothing, a group holds no group. Raises InputError of `layout` for what Megatron-LM refuses: another
    symbol, no E first or no L last or either twice, a decoder layer behind MTP. Syntax:
    Megatron-LM, megatron/core/transformer/pipeline_parallel_layer_layout.py.
    """
    plain = layout.replace(",", "")
    for pattern in (_GROUP, _RUN):
        plain = _expand(pattern, plain)
    odd = next((symbol for symbol in plain if symbol not in "EtmL|"), None)
    if odd is not None:
        raise InputError(LAYOUT, f"expected E, t, m, L and |, got {describe(odd)} in {describe(layout)}")
    order = plain.replace("|", "")
    if not re.fullmatch("Et*m*L", order):
        raise InputError(LAYOUT, f"expected one E, then t, then m, then one L, got {describe(layout)}")
    return tuple(plain.split("|"))


def _expand(pattern: re.Pattern[str], text: str) -> str:
    """Return a text with every match repeated as often as it says."""
    size = 0
    for match in pattern.finditer(text):
        size += len(match[1]) * int(match[2][:9])
        if size > LONGEST or len(match[2]) > 9:
            raise InputError(LAYOUT, f"expected at most {LONGEST} symbols, got more")
    return pattern.sub(lambda match: match[1] * int(match[2]), text)


def _size(flags: dict[str, str], name: str) -> int:
    """Return the whole number of a flag."""
    value = flags.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) < 10 and int(value)):
        raise InputError(LAYOUT, f"expected --{name} with a whole number from 1, got {describe(value)}")
    return int(value)
