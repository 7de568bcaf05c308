"""Tests of how estimates of time and memory are fitted."""

import pytest

from benchmarks.estimates import Measured, show


def test_figures_that_follow_a_law_are_fitted_by_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Its scale and powers are printed, and that others are no factor apart from it."""
    some = [
        Measured("layers", {"layers": n, "devices": d}, 0.002 * n**0.5 * d, 0.0)
        for n in (4, 9, 16, 25)
        for d in (1, 2, 8)
    ]
    show("SECONDS", "layers", some, lambda each: each.seconds)
    out = capsys.readouterr().out
    assert "SECONDS['layers'] = PowerLaw(0.002, {'layers': 0.5, 'devices': 1.0}, 1.0, 0.004)" in out
    assert "6 others: half within 1.00, nine tenths within 1.00" in out
