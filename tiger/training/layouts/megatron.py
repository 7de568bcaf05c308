"""The layouts of Megatron-LM, `--pipeline-model-parallel-layout`: symbols of stages in short, there and back.

E is the embedding, t a decoder layer, m one of MTP, L the head with the loss. A bar stands between stages, `x*n` and
`(..)*n` repeat, a group holds no group, and commas mean nothing. Syntax: Megatron-LM,
megatron/core/transformer/pipeline_parallel_layer_layout.py.
"""

import re
from itertools import groupby

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.training.models.layers import LayerKind
from tiger.training.models.limits import LAYER_LIMIT

FIELD = "layout"
SYMBOLS: dict[LayerKind, str] = {"embedding": "E", "layer": "t", "mtp": "m", "head": "L"}
# Symbols of a layout that is written out: a bar behind each layer of the largest model.
SYMBOL_LIMIT = 2 * LAYER_LIMIT
# Digits of a number of repeats, more than any layout within the limit needs.
DIGITS = 9
# Characters of a faulty text that are shown.
SHOWN = 12
_ITEM = re.compile(r",|(?:(?P<symbol>[EtmL|])|\((?P<group>[^()]*)\))(?:\*(?P<count>[0-9]+))?")


def expand_layout(layout: str) -> tuple[str, ...]:
    """Return the symbols of every stage; raise InputError of `layout` that names the character at fault."""
    return tuple(_expand(layout, 0).split("|"))


def write_layout(stages: tuple[str, ...]) -> str:
    """Return the symbols of stages as a layout, runs of a symbol and of equal stages in short."""
    runs = [(stage, len(list(same))) for stage, same in groupby(_shorten(stage) for stage in stages)]
    parts = [f"({stage}|)*{count}," if count > 2 else f"{stage}|" * count for stage, count in runs[:-1]]
    last, count = runs[-1]
    # The bar stands between stages, so the last one is never part of a group.
    parts.append((f"({last}|)*{count - 1}," if count > 3 else f"{last}|" * (count - 1)) + last)
    return "".join(parts)


def _expand(text: str, begin: int) -> str:
    """Return a text that begins at a character of a layout with all repeats written out."""
    parts, size, at = list[str](), 0, 0
    while at < len(text):
        found = _ITEM.match(text, at)
        if found is None or (found["group"] is not None and found["count"] is None):
            rest = describe(text[at : at + SHOWN])
            raise InputError(FIELD, f"expected E, t, m, L, | or (..)*n at character {begin + at + 1}, got {rest}")
        group, count = found["group"], found["count"] or "1"
        part = found["symbol"] or ("" if group is None else _expand(group, begin + found.start("group")))
        if len(count) > DIGITS or size + len(part) * int(count) > SYMBOL_LIMIT:
            where = f"at character {begin + found.start('count' if found['count'] else 0) + 1}"
            raise InputError(FIELD, f"expected at most {SYMBOL_LIMIT} symbols in all, got more {where}")
        parts.append(part * int(count))
        size += len(parts[-1])
        at = found.end()
    return "".join(parts)


def _shorten(stage: str) -> str:
    """Return the symbols of a stage with runs of three or more in short."""
    runs = [(symbol, len(list(same))) for symbol, same in groupby(stage)]
    return "".join(f"{symbol}*{count}" if count > 2 else symbol * count for symbol, count in runs)
