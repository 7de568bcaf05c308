"""Times of operations from tables of a few rows."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from tiger.training.timings.axes import TableKey, axes_of, key_of
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Product
from tiger.training.timings.tables import ATTENTION_BACKWARD, TimeTable

PRODUCT = Product(m=64, n=32, k=16, dtype="bf16")
ATTENTION = Attention(sequences=1, tokens=64, heads=8, kv_heads=2, head=16, value_head=16, dtype="bf16")
DECODING = Decoding(sequences=2, context=64, heads=8, kv_heads=2, head=16, value_head=16, dtype="bf16")
EXPERTS = ExpertBlocks(tokens=64, hidden=32, width=16, active=2, experts=8, routed=8, dtype="bf16")


def rows_of(times):
    """Return rows by their keys from seconds by operations."""
    keys = {key_of(operation) for operation in times}
    of_key = {key: [each for each in times if key_of(each) == key] for key in keys}
    return {
        key: (np.array([axes_of(each) for each in some], float), np.array([times[each] for each in some]))
        for key, some in of_key.items()
    }


def table_of(times, backward=()):
    """Return a table from seconds by operations."""
    return TimeTable(rows_of(times).get, rows_of(dict(backward)).get)


@pytest.mark.parametrize("operation", [PRODUCT, ATTENTION, DECODING, EXPERTS])
def test_a_row_is_found_as_it_was_measured(operation):
    """Other types, and kinds without rows, are not found."""
    table = table_of({operation: 3e-4})
    assert table.find(operation) == (pytest.approx(3e-4), "measured")
    assert table.find(replace(operation, dtype="fp32")) is None
    assert table_of({}).find(operation) is None


def test_beyond_its_rows_a_table_keeps_their_throughput():
    """Of FLOP in products, so three times as many take three times as long."""
    table = table_of({PRODUCT: 1.0, replace(PRODUCT, m=128): 1.5})
    assert table.find(replace(PRODUCT, m=384)) == (pytest.approx(4.5), "extrapolated")
    assert table.find(replace(PRODUCT, m=96)).source == "interpolated"
    assert table.find(replace(PRODUCT, m=96, n=48)) == (
        pytest.approx(1.5 * table.find(replace(PRODUCT, m=96)).seconds),
        "extrapolated",
    )


def test_a_window_without_rows_takes_its_share_of_the_pairs():
    """With rows it takes theirs."""
    narrow, wide = replace(ATTENTION, window=16), replace(ATTENTION, window=64)
    assert table_of({ATTENTION: 2.0}).find(narrow) == (pytest.approx(2 * 16 * 56 / (64 * 32)), "extrapolated")
    assert table_of({ATTENTION: 2.0}).find(wide) == (pytest.approx(2), "measured")
    assert table_of({ATTENTION: 2.0, narrow: 1.2}).find(narrow) == (pytest.approx(1.2), "measured")


def test_between_widths_of_heads_times_are_interpolated():
    """So they are between numbers of heads that share no keys, although both sizes of a row differ."""
    wide, many = replace(ATTENTION, head=64, value_head=64), replace(ATTENTION, heads=32, kv_heads=8)
    table = table_of({ATTENTION: 1.0, wide: 4.0, many: 4.0})
    assert table.find(replace(ATTENTION, head=32, value_head=32)) == (pytest.approx(2), "interpolated")
    assert table.find(replace(ATTENTION, heads=16, kv_heads=4)) == (pytest.approx(2), "interpolated")
    assert table.find(replace(ATTENTION, value_head=32)) == (pytest.approx(1.5), "extrapolated")


def test_gradients_of_a_product_are_two_products():
    """By the source that says least of the two."""
    table = table_of({PRODUCT.by_inputs: 1.0, PRODUCT.by_weights: 4.0})
    assert table.find_backward(PRODUCT) == (pytest.approx(5), "measured")
    assert table_of({PRODUCT.by_inputs: 1.0}).find_backward(PRODUCT).source == "extrapolated"
    assert table_of({}).find_backward(PRODUCT) is None


def test_gradients_of_blocks_are_multiples_of_the_forward_pass():
    """Decoding has none."""
    table = table_of({ATTENTION: 1.0, EXPERTS: 1.0, DECODING: 1.0})
    assert table.find_backward(ATTENTION) == (pytest.approx(ATTENTION_BACKWARD), "extrapolated")
    assert table.find_backward(EXPERTS) == (pytest.approx(2), "extrapolated")
    assert table.find_backward(DECODING) is None
    assert 2.5 < ATTENTION_BACKWARD < 3.5


def test_rows_of_backward_passes_come_first():
    """Of attention, and of products whose gradients take another time than two products."""
    table = table_of({PRODUCT: 1.0, ATTENTION: 1.0}, {PRODUCT: 2.2, ATTENTION: 2.6})
    assert table.find_backward(PRODUCT) == (pytest.approx(2.2), "measured")
    assert table.find_backward(ATTENTION) == (pytest.approx(2.6), "measured")


def test_rows_are_read_once_and_when_they_are_asked_for():
    """A table reads no more than the kinds and types that were looked up."""
    asked = []

    def read(key):
        asked.append(key)
        return rows_of({PRODUCT: 1.0}).get(key)

    table = TimeTable(read)
    assert asked == []
    for m in (64, 64, 128):
        table.find(replace(PRODUCT, m=m))
    table.find(ATTENTION)
    assert asked == [TableKey(Product, "bf16"), TableKey(Attention, "bf16")]


def test_tables_go_to_other_processes():
    """With the rows that they have."""
    table = pickle.loads(pickle.dumps(table_of({PRODUCT: 1.0})))
    assert table.find(PRODUCT) == (pytest.approx(1), "measured")
