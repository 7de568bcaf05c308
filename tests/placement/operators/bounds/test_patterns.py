"""Tests of patterns: what they cost, the price that is worth enough, and growing them."""

import numpy as np
import pytest

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import best_of_all, chain, interpret, mixture
from tiger.placement.operators.bounds.contraction import Contraction
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts
from tiger.placement.operators.bounds.patterns import Patterns, PricingLimits
from tiger.placement.operators.bounds.pricing_annealing import PricingRun, anneal, anneal_pattern
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.terms import Terms


def patterns(terms: Terms, unit_s: float = 100.0) -> Patterns:
    """Return the patterns of all groups by themselves."""
    return Patterns.of(terms, Contraction.of(terms, DeviceTypeCosts.of(terms), 1e9), unit_s)


@pytest.mark.slow
def test_a_share_costs_no_more_than_its_device_is_loaded_with() -> None:
    """Of drawn mixtures and their best placements, for every device."""
    for terms in map(mixture, range(20)):
        _, place = best_of_all(terms)
        made = Contraction.of(terms, DeviceTypeCosts.of(terms), 1e9)
        if place is None or len(made.memory) < terms.groups or made.costs.size > 1:
            continue
        loads = np.add(*loads_s(terms, place))
        for device, load in enumerate(loads):
            assert patterns(terms).load(0, place == device) * 100.0 <= load + 1e-9


def test_with_equal_links_a_share_costs_what_its_device_is_loaded_with() -> None:
    """The middle two of four operators of 1 s that send for 3 s: 2 s of work, one received and one sent."""
    made = patterns(Terms.from_operators(chain([1.0] * 4, 3.0, [0.0] * 4), cluster("aa"), {}))
    assert made.load(0, np.array([False, True, True, False])) == pytest.approx(0.08)


def test_the_cheapest_pattern_is_that_of_an_end() -> None:
    """Worth two of four operators: those at an end, with one cut, for 2 + 1 s, not all for 4 s; worth five: none."""
    made = patterns(Terms.from_operators(chain([1.0] * 4, 1.0, [0.0] * 4), cluster("aa"), {}))
    found = made.solve_pricing(0, (np.ones(4), 2.0), PricingLimits(0.0, 100))
    assert found.bound == pytest.approx(0.03)
    assert found.pattern is not None
    assert found.pattern.tolist() in ([True, True, False, False], [False, False, True, True])
    assert made.solve_pricing(0, (np.ones(4), 5.0), PricingLimits(0.0, 100)).bound == np.inf


def test_annealed_patterns_fit_and_stay_below_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three operators of 1 s, worth 1, 2 and 3, below 6 s, of which memory allows two: the last two, for 2 + 3 s."""
    interpret(monkeypatch)
    made = patterns(Terms.from_operators(chain([1.0] * 3, 3.0, [4.0] * 3), cluster("aa", 8.0), {}), 1.0)
    run = PricingRun(
        device_type=0, price=np.array([1.0, 2.0, 3.0]), target=6.0, begin=np.array([True, False, False]), hot=2.0
    )
    assert anneal_pattern(made, run, 0, 400).tolist() == [False, True, True]


def test_bug_annealing_is_compiled_once_for_any_number_of_device_types() -> None:
    """Rows of costs are strided where devices are of two types, and would be another signature."""
    for device_types in ("aa", "ac"):
        made = patterns(Terms.from_operators(chain([1.0] * 3, 3.0, [4.0] * 3), cluster(device_types, 8.0), {}), 1.0)
        run = PricingRun(device_type=0, price=np.ones(3), target=6.0, begin=np.zeros(3, np.bool_))
        anneal_pattern(made, run, 0, 1)
    assert len(anneal.signatures) == 1  # type: ignore[attr-defined]  # of the compiled function
