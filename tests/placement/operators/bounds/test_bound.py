"""Tests of the bound on the largest load, against all placements."""

import numpy as np
import pytest

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import best_of_all, chain, interpret, mixture
from tiger.placement.operators.bounds.bound import BoundParams, load_bound_s
from tiger.placement.operators.terms import Terms


@pytest.fixture(autouse=True)
def _plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch)


def never() -> bool:
    """Let the search go on."""
    return False


@pytest.mark.parametrize("known", [1.0, 1.5, np.inf])
def test_no_placement_is_below_the_bound(known: float) -> None:
    """Of a few drawn mixtures, whatever load is known."""
    for seed in range(3):
        terms = mixture(seed)
        best, _ = best_of_all(terms)
        assert load_bound_s(terms, BoundParams(), never, best * known) <= best * (1 + 1e-9)


@pytest.mark.long
def test_most_small_placements_are_proved_best() -> None:
    """At least nine in ten of 150 drawn mixtures have a bound that meets the best, and none one above it."""
    met = []
    for terms in map(mixture, range(150)):
        best, _ = best_of_all(terms)
        bound = load_bound_s(terms, BoundParams(), never, best)
        assert bound <= best * (1 + 1e-9)
        met.append(bound >= best * (1 - 1e-6))
    assert sum(met) >= 135


def test_the_bound_is_at_most_what_is_known() -> None:
    """Two operators of 3 s on one device take 6 s, and a load of 5 s said to be known is not contradicted."""
    terms = Terms.from_operators(chain([3.0, 3.0], 0.0, [0.0, 0.0]), cluster("a"), {})
    assert load_bound_s(terms, BoundParams(), never, np.inf) == pytest.approx(6.0)
    assert load_bound_s(terms, BoundParams(), never, 5.0) == pytest.approx(5.0)


def test_memory_makes_send() -> None:
    """Four operators of 1 s and half a device, on two: some edge is cut, and both devices pay 3 s for it."""
    terms = Terms.from_operators(chain([1.0] * 4, 3.0, [4.0] * 4), cluster("aa", 8.0), {})
    assert load_bound_s(terms, BoundParams(), never, 5.0) == pytest.approx(5.0)


def test_what_may_not_be_separated_has_to_fit() -> None:
    """Two operators that send for 10 s and do not fit together cannot both stay below 11 s."""
    terms = Terms.from_operators(chain([1.0, 1.0], 10.0, [5.0, 5.0]), cluster("aa", 8.0), {})
    assert load_bound_s(terms, BoundParams(), never, 20.0) >= 11.0 * (1 - 1e-3)


def test_bins_are_not_divided() -> None:
    """Five operators of 2 s on two devices take 6 s, not 5."""
    terms = Terms.from_operators(chain([2.0] * 5, 0.0, [0.0] * 5), cluster("aa"), {})
    assert load_bound_s(terms, BoundParams(), never, 6.0) == pytest.approx(6.0)


def test_nothing_fits() -> None:
    """Three halves and a bit do not fit on two devices: infinite."""
    terms = Terms.from_operators(chain([1.0] * 3, 0.0, [5.0] * 3), cluster("aa", 8.0), {})
    assert load_bound_s(terms, BoundParams(), never, np.inf) == np.inf


def test_a_stopped_bound_is_valid_and_the_same_twice() -> None:
    """Stopped at once it is the work divided; left alone it is the same for the same arguments."""
    terms = Terms.from_operators(chain([2.0] * 5, 0.0, [0.0] * 5), cluster("aa"), {})
    assert load_bound_s(terms, BoundParams(), lambda: True, 6.0) == pytest.approx(5.0)
    terms = mixture(3)
    assert load_bound_s(terms, BoundParams(), never, 20.0) == load_bound_s(terms, BoundParams(), never, 20.0)
