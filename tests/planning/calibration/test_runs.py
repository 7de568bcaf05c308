"""Tests of tables of measured runs."""

import re
from pathlib import Path

import pytest

from tiger.errors import InputError
from tiger.planning.calibration.runs import MeasuredIteration, read_runs


def test_a_row_is_a_plan_with_its_seconds(tmp_path: Path) -> None:
    """Empty cells are left out, and a model or a cluster may stand beside it."""
    (tmp_path / "t.csv").write_text(
        "# a\ntp,pp,batch,seconds,model,cluster\n\n2,,16,1.5e0,llama-3-8b,\n4,2,16,3,,dgx:1\n"
    )
    first, second = read_runs(tmp_path / "t.csv")
    assert first == MeasuredIteration(4, {"tp": "2", "batch": "16"}, 1.5, {"model": "llama-3-8b"})
    assert second == MeasuredIteration(5, {"tp": "4", "pp": "2", "batch": "16"}, 3.0, {"cluster": "dgx:1"})


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("tp,gbs\n1,2\n", "measured/seconds", "line 1: expected a header with this column, got none"),
        ("tp,gbs,second\n1,2,3\n", "measured", "line 1: expected columns out of seconds, model, cluster, tp"),
        ("gbs,seconds\n2,0\n", "measured/seconds", "line 2: expected a finite number > 0, got '0'"),
        ("gbs,seconds\n# x\n2,-1\n", "measured/seconds", "line 3: expected a finite number > 0, got '-1'"),
        ("gbs,seconds\n2,1e999\n", "measured/seconds", "line 2: expected a finite number > 0, got '1e999'"),
        ("gbs,seconds\n2,5e-324\n", "measured/seconds", "line 2: expected a number from 1e-09 to 1e+09, got '5e-324'"),
        ("gbs,seconds\n2,1e308\n", "measured/seconds", "line 2: expected a number from 1e-09 to 1e+09, got '1e308'"),
        ("gbs,seconds\n2,2 s\n", "measured/seconds", "line 2: expected a finite number > 0, got '2 s'"),
        ("gbs,seconds\n2,\n", "measured/seconds", "line 2: expected a finite number > 0, got ''"),
        ("tp,gbs,seconds\n1,,1\n", "measured/gbs", "line 2: expected the sequences of an iteration, got none"),
        ("gbs,seconds\n", "measured", "expected 1 to 200 rows below the header, got 0"),
        ("gbs,seconds\n" + "1,1\n" * 201, "measured", "expected 1 to 200 rows below the header, got 201"),
        ("gbs,seconds\n1,1,1\n", "measured", "line 2: expected 2 cells, got 3"),
    ],
)
def test_what_is_no_run_is_refused(text: str, field: str, reason: str, tmp_path: Path) -> None:
    """With the line and the column."""
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        read_runs(tmp_path / "t.csv")
    assert caught.value.field == field


def test_what_is_no_path_is_refused(tmp_path: Path) -> None:
    """Rows are not taken as objects, and a file has to be there."""
    with pytest.raises(TypeError, match="measured: expected a path, got list"):
        read_runs([])  # type: ignore[arg-type]  # what callers may give
    with pytest.raises(InputError, match=r"^measured: cannot read .*: No such file"):
        read_runs(tmp_path / "none.csv")
