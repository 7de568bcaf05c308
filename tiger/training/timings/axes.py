"""The sizes of operations as axes of a table, and the work by which times beyond a table are scaled."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.precision import Precision
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Operation, Product

Number = TypeVar("Number", float, FloatArray)
Kind = type[Product] | type[Attention] | type[Decoding] | type[ExpertBlocks]


class TableKey(NamedTuple):
    """Name the rows that a time is looked up among: a kind of operation, a type, and the window of attention."""

    kind: Kind
    dtype: Precision
    window: int | None = None


# Names of operations in files.
KINDS: Mapping[str, Kind] = {
    "product": Product,
    "attention": Attention,
    "decoding": Decoding,
    "expert_blocks": ExpertBlocks,
}


def key_of(operation: Operation) -> TableKey:
    """Return the rows for an operation; a window that holds all tokens is none."""
    if isinstance(operation, Attention) and operation.window is not None and operation.window < operation.tokens:
        return TableKey(Attention, operation.dtype, operation.window)
    return TableKey(type(operation), operation.dtype)


def axes_of(operation: Operation) -> tuple[float, ...]:
    """Return the sizes of an operation, those first of which tables have few values.

    Heads of keys are counted by the heads that share one, and the width of values by that of keys: tables have most
    numbers of heads for one group, and most widths for values as wide as keys.
    """
    match operation:
        case Product():
            return operation.n, operation.k, operation.m
        case Attention():
            return *_head_axes(operation), operation.sequences, operation.tokens
        case Decoding():
            return *_head_axes(operation), operation.sequences, operation.context
        case ExpertBlocks():
            experts = operation.routed, operation.experts
            return operation.hidden, operation.width, operation.active, *experts, operation.tokens


def work_of(key: TableKey, axes: Sequence[Number]) -> Number:
    """Return what the time of large operations is proportional to, by the axes of one or of many.

    FLOP of products, attention and experts, numbers that are read in decoding; constants that all rows share are left
    out, so that it is a power law wherever there is no window.
    """
    if key.kind is Product:
        n, k, m = axes
        return n * k * m
    if key.kind is ExpertBlocks:
        hidden, width, active, routed, experts, tokens = axes
        return hidden * width * tokens * active * experts / routed
    head, value_width, group, heads, sequences, tokens = axes
    if key.kind is Decoding:
        return head * (1 + value_width) * heads / group * sequences * tokens
    window = tokens if key.window is None else np.minimum(tokens, key.window)
    return head * (1 + value_width) * heads * sequences * window * (tokens - window / 2)


def _head_axes(operation: Attention | Decoding) -> tuple[float, ...]:
    """Return the width of heads, that of values to it, the heads that share those of keys, and all heads."""
    group = operation.heads / operation.kv_heads
    return operation.head, operation.value_head / operation.head, group, operation.heads
