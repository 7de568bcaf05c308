"""Tests of branch and bound, against all placements."""

from dataclasses import replace

import numpy as np
import pytest

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import best_of_all, chain, interpret, mixture, worth
from tiger.placement.operators.bounds import exact as exactly
from tiger.placement.operators.bounds.bound import BoundParams
from tiger.placement.operators.bounds.exact import place_exactly
from tiger.placement.operators.terms import Terms


@pytest.fixture(name="plainly")
def _plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch)


def check(seed: int) -> None:
    """Assert that the exact placement of a mixture is as good as the best of all, from which odd seeds start."""
    terms = mixture(seed)
    best, place = best_of_all(terms)
    found = place_exactly(terms, BoundParams(), bool, place if seed % 2 else None)
    assert found.proven
    assert (found.place is None) == (place is None)
    assert found.place is None or worth(terms, found.place) == pytest.approx(best)
    assert found.bound_s == pytest.approx(best)


@pytest.mark.usefixtures("plainly")
def test_plain_branch_and_bound_agrees_with_all_placements() -> None:
    """Of drawn mixtures, the kernels run as plain Python."""
    for seed in range(5):
        check(seed)


@pytest.mark.slow
def test_branch_and_bound_agrees_with_all_placements() -> None:
    """Of three hundred drawn mixtures, from nothing and from a best placement."""
    for seed in range(300):
        check(seed)


@pytest.mark.usefixtures("plainly")
def test_without_nodes_the_bound_may_prove_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """No node at all, but a start that meets the bound."""
    monkeypatch.setattr(exactly, "NODES", 0)
    terms = Terms.from_operators(chain([2.0] * 4, 0.0, [0.0] * 4), cluster("aa"), {})
    start = np.array([0, 0, 1, 1])
    found = place_exactly(terms, BoundParams(), bool, start)
    assert found.proven
    assert found.place is start
    assert found.bound_s == pytest.approx(4.0)


@pytest.mark.usefixtures("plainly")
def test_a_linear_program_alone_proves_nothing_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bound is as close as its tolerance, and not claimed beyond: three of five groups have to share a device."""
    monkeypatch.setattr(exactly, "NODES", 0)
    terms = Terms.from_operators(chain([2.0] * 5, 0.0, [0.0] * 5), cluster("aa"), {})
    found = place_exactly(terms, BoundParams(), bool, np.array([0, 0, 0, 1, 1]))
    assert not found.proven
    assert 6.0 * (1 - 2e-6) < found.bound_s < 6.0


@pytest.mark.usefixtures("plainly")
def test_groups_of_many_operators_get_fewer_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a node takes as long as its group has operators and ends of edges: about two and a half, and 28."""
    asked: list[int] = []
    monkeypatch.setattr(exactly, "NODES", 1000)
    monkeypatch.setattr(exactly, "VISITS", 1000)
    monkeypatch.setattr(exactly, "SLICES", 1)
    monkeypatch.setattr(exactly, "search", lambda _, __, nodes: asked.append(nodes))
    for colour in (np.arange(10), np.zeros(10, np.int64)):
        model = replace(chain([1.0] * 10, 0.0, [0.0] * 10), colour=colour)
        place_exactly(Terms.from_operators(model, cluster("aa"), {}), BoundParams(), lambda: True, None)
    assert asked == [1000 // 3, 1000 // 29]


@pytest.mark.usefixtures("plainly")
def test_a_worse_start_is_kept_unproved_when_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """All five on one device, 10 s, and no node: kept, and the work divided is the bound."""
    monkeypatch.setattr(exactly, "NODES", 0)
    terms = Terms.from_operators(chain([2.0] * 5, 0.0, [0.0] * 5), cluster("aa"), {})
    found = place_exactly(terms, BoundParams(), lambda: True, np.zeros(5, np.int64))
    assert not found.proven
    assert found.bound_s == pytest.approx(5.0)


@pytest.mark.usefixtures("plainly")
def test_what_fits_nowhere_is_proved() -> None:
    """Three operators of more than half a device, on two: no place, and an infinite bound."""
    terms = Terms.from_operators(chain([1.0] * 3, 0.0, [5.0] * 3), cluster("aa", 8.0), {})
    found = place_exactly(terms, BoundParams(), bool, None)
    assert found.proven
    assert found.place is None
    assert found.bound_s == np.inf
