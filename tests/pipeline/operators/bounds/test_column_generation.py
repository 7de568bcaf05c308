"""Tests of covers by shares."""

from dataclasses import replace

import numpy as np
import pytest

from tests.pipeline.operators.instances import cluster
from tests.pipeline.operators.mixtures import chain
from tiger.pipeline.operators.bounds import column_generation as covering
from tiger.pipeline.operators.bounds.column_generation import Cover, cover_bound
from tiger.pipeline.operators.bounds.contraction import Contraction
from tiger.pipeline.operators.bounds.floors import Floors
from tiger.pipeline.operators.bounds.patterns import Shares
from tiger.pipeline.operators.terms import Terms


@pytest.mark.parametrize("limited", [False, True])
def test_searches_that_end_by_themselves_get_no_more_nodes(monkeypatch: pytest.MonkeyPatch, *, limited: bool) -> None:
    """They would end as they did; those that nodes ended get more."""
    asked = []

    def ask(cover: Cover, *_: object) -> bool:
        asked.append(cover.nodes)
        cover.limited, cover.spent_s = limited, cover.spent_s + 1.0
        return False

    monkeypatch.setattr(Cover, "ask", ask)
    monkeypatch.setattr(Cover, "grow", lambda *_: False)
    terms = Terms.from_operators(chain([1.0] * 4, 1.0, np.zeros(4).tolist()), cluster("aa"), {})
    cover_bound(Shares.of(terms, Contraction.of(terms, Floors.of(terms), 1e9), 10.0), 0.2, 1, bool)
    assert (max(asked) > covering.NODES) == limited


def test_bug_prices_of_tiny_work_are_finite() -> None:
    """Of 1e-320 units, whose inverse is infinite: each of four alike classes is worth half of one of two devices."""
    terms = Terms.from_operators(chain([1.0] * 4, 1.0, np.zeros(4).tolist()), cluster("aa"), {})
    shares = Shares.of(terms, Contraction.of(terms, Floors.of(terms), 1e9), 10.0)
    tiny = replace(shares, work=np.full_like(shares.work, 1e-320))
    assert Cover.of(tiny, 0.0).worths()[0].price == pytest.approx(0.5)
