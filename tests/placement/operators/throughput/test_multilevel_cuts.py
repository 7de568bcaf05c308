"""Tests of stages along lines of very many groups."""

from unittest import mock

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tests.placement.operators.lattices import is_within, lattice
from tiger.model.seeds import derive
from tiger.placement.chain.params import never_stop
from tiger.placement.operators.linear_orders import arcs, draw_linear_order
from tiger.placement.operators.throughput import multilevel_cuts
from tiger.placement.operators.throughput.annealer import largest_load_s
from tiger.placement.operators.throughput.cut_dp import cut
from tiger.placement.operators.throughput.multilevel_cuts import CutParams, cut_lines


def ignore(_stage: str, _place: object, _cost: float) -> None:
    """Take no notice."""


@pytest.mark.parametrize("blocks", [8, 16, 60])
def test_cuts_become_exact(blocks: int) -> None:
    """As if all 200 positions had been told apart from the start."""
    terms = lattice(1, 200, "aaaa", 60.0)
    found = cut_lines(terms, CutParams(lines=1, blocks=blocks), never_stop, ignore)
    exact = cut(terms, draw_linear_order(terms, derive(0, 0)), 0)
    assert found is not None
    assert exact is not None
    assert largest_load_s(terms, found.place) == pytest.approx(largest_load_s(terms, exact.place))


@pytest.mark.parametrize("seed", range(6))
def test_no_arc_goes_backwards(seed: int) -> None:
    """Between the stages in the order of the line; and all is within memory."""
    terms = draw_terms(seed)
    found = cut_lines(terms, CutParams(seed=seed, lines=2, blocks=5), never_stop, ignore)
    if found is not None:
        stage = np.zeros(terms.devices, np.int64)
        stage[list(found.devices)] = np.arange(len(found.devices))
        source, target = arcs(terms)
        assert (stage[found.place[source]] <= stage[found.place[target]]).all()
        assert is_within(terms, found.place)


def test_what_does_not_fit_has_no_line() -> None:
    """Ten bytes on two devices of four."""
    assert cut_lines(lattice(1, 10, "aa", 4.0), CutParams(), never_stop, ignore) is None


def test_costs_that_are_told_fall() -> None:
    """From block to block and line to line."""
    told: list[float] = []
    cut_lines(lattice(8, 8, "aaa"), CutParams(blocks=10), never_stop, lambda _stage, _place, load: told.append(load))
    assert told == sorted(told, reverse=True)
    assert told


def test_bug_time_that_is_over_ends_with_the_cut_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with that of smaller blocks, nor of another line."""
    cuts_made = mock.Mock(side_effect=cut)
    monkeypatch.setattr(multilevel_cuts, "cut", cuts_made)
    assert cut_lines(lattice(1, 200, "aaaa", 60.0), CutParams(blocks=8), lambda: True, ignore) is not None
    assert cuts_made.call_count == 1
