"""Tests of calibrations as callers have them: the report, what reads it, its words and its picture."""

import json
from pathlib import Path

import pytest

import tiger
from tests.planning.calibration.conftest import CLUSTER, MODEL, Write
from tests.reports import CALIBRATION
from tiger.errors import InputError
from tiger.planning.calibration.explanation import explain_calibration
from tiger.planning.calibration.pictures import list_pictures
from tiger.planning.calibration.report import CalibrationReport, off_text
from tiger.planning.calibration.summary import calibration_summary
from tiger.training.timings.costs import CostSource, Factors, read_source

CSV = "device,operation,dtype,seconds,m,n,k\nh100,product,bf16,1e-3,2048,4096,4096\n"


def test_a_report_is_what_costs_reads(write_runs: Write, tmp_path: Path) -> None:
    """And a plan with it takes as long as the run did."""
    report = tiger.calibrate(MODEL, CLUSTER, write_runs(Factors(products=1.2, between=2.0)))
    assert CalibrationReport.from_dict(report.to_dict()) == report
    file = tmp_path / "factors.json"
    file.write_text(json.dumps(report.to_dict()))
    assert read_source(file) == read_source(report.to_dict()) == CostSource(report.factors)
    run = report.runs[0]
    given = "tp=4,pp=2,dp=1,gbs=16"
    plan = tiger.plan(MODEL, CLUSTER, given=given, costs=file, pipeline=2, tensor=4, data=1, schedule="gpipe")
    assert plan.given is not None
    assert plan.given.iteration_s == pytest.approx(run.after_s, rel=1e-9)
    assert run.after_s == pytest.approx(run.measured_s, rel=0.02)
    assert report.error_before > 0.1 > 0.02 > report.error_after
    assert report.error_left_out is not None
    assert report.error_left_out >= report.error_after


def test_measured_operations_go_with_the_factors(write_runs: Write, tmp_path: Path) -> None:
    """As their text, which the report has."""
    (tmp_path / "ops.csv").write_text(CSV)
    report = tiger.calibrate(MODEL, CLUSTER, write_runs(), costs=tmp_path / "ops.csv")
    assert read_source(report.to_dict()) == CostSource(report.factors, csv=CSV)
    assert report.runs[0].before_s > report.runs[0].measured_s


def test_few_runs_say_what_they_do_not_tell(write_runs: Write) -> None:
    """Two are not predicted by each other."""
    report = tiger.calibrate(MODEL, CLUSTER, write_runs(plans=("tp=4,dp=1,gbs=8", "tp=2,dp=1,gbs=8")))
    assert report.error_left_out is None
    assert {run.left_out_s for run in report.runs} == {None}
    assert report.warnings == (
        "no run tells attention, between, which stay near 1: measure plans that spend more on them",
    )
    assert report.factors.between == pytest.approx(1)


def test_other_units_and_too_little_memory_are_warned_of(tmp_path: Path) -> None:
    """A run in milliseconds, and one that our model has no room for."""
    (tmp_path / "t.csv").write_text("dp,gbs,seconds\n8,8,350\n")
    report = tiger.calibrate(MODEL, CLUSTER, tmp_path / "t.csv")
    assert any(text.startswith("line 2: predicted is 0.00") for text in report.warnings)
    small = {"devices": [{"name": "x", "memory_bytes": 1e9, "type": "h100"}]}
    (tmp_path / "t.csv").write_text("dp,gbs,seconds\n1,1,1\n")
    report = tiger.calibrate(MODEL, small, tmp_path / "t.csv")
    assert any("line 2: by our model it lacks memory on 1 of 1 devices" in text for text in report.warnings)


def test_factors_that_help_no_other_run_are_warned_of(write_runs: Write) -> None:
    """Errors of five per cent this way and that are nothing that a factor could tell."""
    table = write_runs(plans=("tp=4,dp=1,gbs=8", "tp=4,dp=1,gbs=16", "tp=4,dp=1,gbs=32"))
    head, *rows = table.read_text().splitlines()[1:]
    shares = (1.05, 0.9, 1.05)
    cells = [row.rpartition(",") for row in rows]
    lines = [f"{plan},{float(seconds) * share}" for (plan, _, seconds), share in zip(cells, shares, strict=True)]
    table.write_text("\n".join([head, *lines]))
    report = tiger.calibrate(MODEL, CLUSTER, table)
    assert report.warnings[0].startswith("runs that are left out are predicted no better than without factors")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"costs": {"factors": {"memory": 2}}}, "costs: expected times of operations alone, as factors are fitted"),
        ({"costs": Path(__file__).parent}, "costs: expected a .csv or aiconfigurator, as a report names no folder"),
        ({"precision": "fp4"}, "precision: expected one of fp8, bf16, fp16, fp32, got 'fp4'"),
        ({"sequence": 0}, "sequence: expected a whole number from 1"),
        ({"model": f"{MODEL},flops=1e14"}, "model: expected a transformer by its shape, without flops"),
        ({"cluster": "dgx:0"}, "cluster: expected 1 to 8,192 devices, got 0"),
    ],
)
def test_arguments_are_checked(change: dict[str, object], reason: str, write_runs: Write) -> None:
    """Each by its name."""
    arguments = {"model": MODEL, "cluster": CLUSTER, "measured": write_runs(plans=("dp=1,gbs=1",))} | change
    with pytest.raises(InputError) as caught:
        tiger.calibrate(**arguments)  # type: ignore[arg-type]  # what callers may give
    assert str(caught.value).startswith(reason)


def test_what_is_said_of_a_report() -> None:
    """By hand: 1.6 s of 2 s are off by a fourth, 1.9 s by a twentieth and a little."""
    words = "predictions are off by 25.0% before and by 0.0% after, by 5.3% for a run that is left out"
    assert CALIBRATION.headline == f"calibrated by 3 runs: {words}"
    assert off_text(1.5) == "a factor of 2.5"
    summary = calibration_summary(CALIBRATION)
    assert "products                   1.200   1.141 to 1.262  98%" in summary
    assert "2     tp=2  2 s       0.800   1.000  0.950" in summary
    explained = explain_calibration(CALIBRATION)
    assert explained.found[0] == "Times are multiplied by: products 1.20, by 3 measured runs."
    assert explained.limits == ("The runs tell less than half of what is to know of: messages between machines.",)
    assert len(CALIBRATION.to_frame()) == 3
    (picture,) = list_pictures(CALIBRATION).values()
    picture()
