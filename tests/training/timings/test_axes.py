"""Sizes of operations as axes, and their work."""

from dataclasses import replace

import pytest

from tiger.training.timings.axes import TableKey, axes_of, key_of, work_of
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Product

ATTENTION = Attention(sequences=2, tokens=64, heads=8, kv_heads=2, head=16, value_head=16, dtype="bf16")
DECODING = Decoding(sequences=2, context=64, heads=8, kv_heads=2, head=16, value_head=16, dtype="bf16")
EXPERTS = ExpertBlocks(tokens=64, hidden=32, width=16, active=2, experts=2, routed=8, dtype="fp8")


def work(operation):
    """Return the work of an operation."""
    return work_of(key_of(operation), axes_of(operation))


def test_rows_are_named_by_kind_type_and_window():
    """A window of all tokens is none."""
    assert key_of(replace(ATTENTION, window=16)) == TableKey(Attention, "bf16", 16)
    assert key_of(replace(ATTENTION, window=64)) == key_of(ATTENTION) == TableKey(Attention, "bf16")
    assert key_of(EXPERTS) == TableKey(ExpertBlocks, "fp8")


@pytest.mark.parametrize(
    ("operation", "larger", "factor"),
    [
        (Product(m=2, n=3, k=5, dtype="bf16"), {"m": 4, "k": 10}, 4),
        (ATTENTION, {"tokens": 128}, 4),
        (ATTENTION, {"kv_heads": 8}, 1),
        (ATTENTION, {"value_head": 48}, 2),
        (DECODING, {"context": 128}, 2),
        (DECODING, {"kv_heads": 4}, 2),
        (DECODING, {"heads": 16}, 1),
        (EXPERTS, {"tokens": 128, "experts": 1}, 1),
    ],
)
def test_work_is_proportional_to_what_is_computed_or_read(operation, larger, factor):
    """FLOP, but in decoding numbers of the cache."""
    assert work(replace(operation, **larger)) == pytest.approx(factor * work(operation))


def test_a_window_leaves_out_what_it_does_not_see():
    """Of 64 x 64 / 2 pairs 16 x (64 - 8) are left."""
    assert work(replace(ATTENTION, window=16)) / work(ATTENTION) == pytest.approx(16 * 56 / (64 * 32))
