"""The costs of operations on a device: of a table where it has them, else counted."""

import numpy as np
import pytest

from tiger.training.hardware.accelerators import H100
from tiger.training.timings.axes import TableKey, axes_of, key_of
from tiger.training.timings.costs import Factors
from tiger.training.timings.operation_costs import OperationCosts
from tiger.training.timings.operations import Attention, Product
from tiger.training.timings.roofline import product_s
from tiger.training.timings.tables import MeasuredRows, TimeTable
from tiger.training.timings.timed import SourceShares

PRODUCT = Product(m=64, n=32, k=16, dtype="bf16")
ATTENTION = Attention(sequences=1, tokens=128, heads=2, kv_heads=2, head=64, value_head=64, dtype="bf16")


def one_row(key: TableKey) -> MeasuredRows | None:
    """Return a product that took a second, and nothing of any other kind."""
    return (np.array([axes_of(PRODUCT)]), np.array([1.0])) if key == key_of(PRODUCT) else None


def test_rows_come_first() -> None:
    """And what has none is counted."""
    costs = OperationCosts(table=TimeTable(one_row))
    assert costs.forward(PRODUCT) == (1.0, "measured")
    assert costs.forward(ATTENTION).source == "counted"


def test_a_backward_pass_of_a_product_is_two_products() -> None:
    """Without rows of backward passes."""
    costs = OperationCosts()
    inputs, weights = costs.backward(PRODUCT)
    assert inputs.seconds == product_s(H100, PRODUCT.by_inputs)
    assert weights.seconds == product_s(H100, PRODUCT.by_weights)


def test_attention_has_no_gradients_of_weights() -> None:
    """Its backward pass is a multiple of the forward pass."""
    costs = OperationCosts()
    inputs, weights = costs.backward(ATTENTION)
    assert weights.seconds == 0
    assert inputs.seconds == pytest.approx(2.5 * 73 / 63 * costs.forward(ATTENTION).seconds)


def test_factors_multiply_all_times() -> None:
    """Each its own kind of operation."""
    plain, scaled = OperationCosts(), OperationCosts(factors=Factors(products=2.0, attention=3.0, memory=5.0))
    assert scaled.forward(PRODUCT).seconds == 2 * plain.forward(PRODUCT).seconds
    assert scaled.forward(ATTENTION).seconds == 3 * plain.forward(ATTENTION).seconds
    assert scaled.time_moves(1e9).seconds == 5 * plain.time_moves(1e9).seconds


def test_shares_are_said_in_words() -> None:
    """The largest first, without those of nothing."""
    shares = SourceShares.of([1.0, 0.0, 0.0, 3.0])
    assert shares is not None
    assert str(shares) == "75% counted, 25% measured"
    assert str(SourceShares.of([0.0, 0.0, 0.0, 3.0])) == "counted"
    assert SourceShares.of([0.0] * 4) is None
