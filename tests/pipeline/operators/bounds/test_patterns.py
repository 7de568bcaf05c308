"""Tests of shares: what they cost, the cheapest that is worth enough, and growing them."""

import numpy as np
import pytest

from tests.pipeline.operators.instances import cluster
from tests.pipeline.operators.mixtures import best_of_all, chain, interpret, mixture
from tiger.pipeline.operators.bounds.contraction import Contraction
from tiger.pipeline.operators.bounds.floors import Floors
from tiger.pipeline.operators.bounds.patterns import Limits, Shares
from tiger.pipeline.operators.bounds.pricing_annealing import Growth, grow, grow_share
from tiger.pipeline.operators.loads import loads_s
from tiger.pipeline.operators.terms import Terms


def shares(terms: Terms, unit_s: float = 100.0) -> Shares:
    """Return the shares of all classes by themselves."""
    return Shares.of(terms, Contraction.of(terms, Floors.of(terms), 1e9), unit_s)


def test_a_share_costs_no_more_than_its_device_is_loaded_with() -> None:
    """Of drawn mixtures and their best placements, for every device."""
    for terms in map(mixture, range(20)):
        _, place = best_of_all(terms)
        made = Contraction.of(terms, Floors.of(terms), 1e9)
        if place is None or len(made.memory) < terms.classes or made.floors.size > 1:
            continue
        loads = np.add(*loads_s(terms, place))
        for device, load in enumerate(loads):
            assert shares(terms).load(0, place == device) * 100.0 <= load + 1e-9


def test_with_equal_links_a_share_costs_what_its_device_is_loaded_with() -> None:
    """The middle two of four operators of 1 s that send for 3 s: 2 s of work, one received and one sent."""
    made = shares(Terms.from_operators(chain([1.0] * 4, 3.0, [0.0] * 4), cluster("aa"), {}))
    assert made.load(0, np.array([False, True, True, False])) == pytest.approx(0.08)


def test_the_cheapest_share_is_that_of_an_end() -> None:
    """Worth two of four operators: those at an end, with one cut, for 2 + 1 s, not all for 4 s; worth five: none."""
    made = shares(Terms.from_operators(chain([1.0] * 4, 1.0, [0.0] * 4), cluster("aa"), {}))
    found = made.cheapest(0, (np.ones(4), 2.0), Limits(0.0, 100))
    assert found.bound == pytest.approx(0.03)
    assert found.share is not None
    assert found.share.tolist() in ([True, True, False, False], [False, False, True, True])
    assert made.cheapest(0, (np.ones(4), 5.0), Limits(0.0, 100)).bound == np.inf


def test_grown_shares_fit_and_stay_below_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three operators of 1 s, worth 1, 2 and 3, below 6 s, of which memory allows two: the last two, for 2 + 3 s."""
    interpret(monkeypatch)
    made = shares(Terms.from_operators(chain([1.0] * 3, 3.0, [4.0] * 3), cluster("aa", 8.0), {}), 1.0)
    growth = Growth(kind=0, price=np.array([1.0, 2.0, 3.0]), goal=6.0, begin=np.array([True, False, False]), hot=2.0)
    assert grow_share(made, growth, 0, 400).tolist() == [False, True, True]


def test_bug_growing_is_compiled_once_for_any_number_of_device_types() -> None:
    """Rows of costs are strided where devices are of two types, and would be another signature."""
    for kinds in ("aa", "ac"):
        made = shares(Terms.from_operators(chain([1.0] * 3, 3.0, [4.0] * 3), cluster(kinds, 8.0), {}), 1.0)
        growth = Growth(kind=0, price=np.ones(3), goal=6.0, begin=np.zeros(3, np.bool_))
        grow_share(made, growth, 0, 1)
    assert len(grow.signatures) == 1  # type: ignore[attr-defined]  # of the compiled function
