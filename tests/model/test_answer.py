"""Tests of reports as notebooks show them."""

import sys

import pytest

import tiger
from tiger.errors import InputError
from tiger.model.violation import Violation
from tiger.run.report import Report

REPORT = tiger.assign("ring:4", "grid:2x2")


def test_a_report_draws_itself():
    """Tests that the picture is that of `tiger.draw`."""
    assert len(REPORT.plot("hops").axes) == len(tiger.draw(REPORT, "hops").axes) == 1


@pytest.mark.long
def test_a_notebook_shows_the_card():
    """Tests that it is that of `tiger.card`."""
    assert REPORT._repr_html_() == tiger.card(REPORT)


def test_a_frame_has_a_row_for_each_stage():
    """Tests the columns of stages, with figures of their own beside."""
    pandas = pytest.importorskip("pandas")
    frame = REPORT.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["name"]) == [stage.name for stage in REPORT.stages]
    assert {"cost", "seconds", "lower_bound"} <= set(frame.columns)


def test_a_missing_pandas_is_advised(monkeypatch):
    """Tests the line that installs it."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"^frame: expected pandas: pip install pandas"):
        REPORT.to_frame()


def test_a_report_without_a_mapping_says_so():
    """Tests the headline of what cannot be met."""
    unmet = Report(
        feasible=False,
        solver="auto",
        rule="levels",
        seed=0,
        seconds=0.0,
        violations=(Violation(kind="slots", message="few"),),
    )
    assert unmet.headline == "infeasible: no mapping meets"
    assert "<li>few</li>" in unmet._repr_html_()
