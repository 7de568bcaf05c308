"""Tests of column generation."""

from dataclasses import replace

import numpy as np
import pytest

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import chain
from tiger.placement.operators.bounds.column_generation import PARAMS, ColumnGeneration, column_generation_bound
from tiger.placement.operators.bounds.columns import Columns
from tiger.placement.operators.bounds.contraction import Contraction
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts
from tiger.placement.operators.bounds.patterns import Patterns
from tiger.placement.operators.terms import Terms


@pytest.mark.parametrize("limited", [False, True])
def test_searches_that_end_by_themselves_get_no_more_nodes(monkeypatch: pytest.MonkeyPatch, *, limited: bool) -> None:
    """They would end as they did; those that nodes ended get more."""
    asked = []

    def price_exactly(search: ColumnGeneration, *_: object) -> bool:
        asked.append(search.nodes)
        search.limited, search.spent_s = limited, search.spent_s + 1.0
        return False

    monkeypatch.setattr(ColumnGeneration, "price_exactly", price_exactly)
    monkeypatch.setattr(ColumnGeneration, "price_by_annealing", lambda *_: False)
    terms = Terms.from_operators(chain([1.0] * 4, 1.0, np.zeros(4).tolist()), cluster("aa"), {})
    column_generation_bound(
        Patterns.of(terms, Contraction.of(terms, DeviceTypeCosts.of(terms), 1e9), 10.0), 0.2, 1, bool
    )
    assert (max(asked) > PARAMS.nodes) == limited


def test_bug_prices_of_tiny_work_are_finite() -> None:
    """Of 1e-320 units, whose inverse is infinite: each of four alike groups is worth half of one of two devices."""
    terms = Terms.from_operators(chain([1.0] * 4, 1.0, np.zeros(4).tolist()), cluster("aa"), {})
    patterns = Patterns.of(terms, Contraction.of(terms, DeviceTypeCosts.of(terms), 1e9), 10.0)
    tiny = replace(patterns, work=np.full_like(patterns.work, 1e-320))
    assert Columns.of(tiny).start_duals()[0].group == pytest.approx(0.5)
