"""Tests of what measured runs are predicted to take."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import tiger
from tests.planning.calibration.conftest import CLUSTER, MODEL, PLANS, Plan
from tiger.errors import InputError
from tiger.planning.calibration.arguments import CalibrationCall
from tiger.planning.calibration.predict import PlannedRun, plan_runs
from tiger.planning.calibration.runs import read_runs
from tiger.training.timings.costs import NO_FACTORS, Factors


@pytest.mark.parametrize("factors", [NO_FACTORS, Factors(products=1.5, memory=0.5, inside=3.0, between=2.0)])
def test_a_prediction_is_what_a_given_plan_is_told_to_take(factors: Factors, plan_all: Plan) -> None:
    """With the same factors as costs."""
    plan = "tp=2,pp=2,dp=2,gbs=16,vp=2,sharding=zero-1"
    (run,) = plan_all([plan])
    costs = {"factors": factors.to_dict()}
    report = tiger.plan(MODEL, CLUSTER, given=plan, costs=costs, pipeline=2, tensor=4, data=1, schedule="gpipe")
    assert report.given is not None
    assert run.predict_s(factors) == pytest.approx(report.given.iteration_s, rel=1e-12)


def test_longer_times_of_anything_never_make_a_run_quicker(plan_all: Plan) -> None:
    """And of everything at once make it as much longer, but for launches of kernels."""
    twice = Factors(products=2.0, attention=2.0, memory=2.0, inside=2.0, between=2.0)
    for run in plan_all():
        usual = run.predict_s(NO_FACTORS)
        assert all(run.predict_s(replace(NO_FACTORS, **{name: 2.0})) >= usual for name in NO_FACTORS.to_dict())
        assert run.predict_s(twice) == pytest.approx(2 * usual, rel=0.02)


def plan_text(text: str, folder: Path, **options: object) -> list[PlannedRun]:
    """Return the planned runs of a table."""
    (folder / "t.csv").write_text(text)
    call = CalibrationCall(MODEL, CLUSTER, folder / "t.csv", **options)  # type: ignore[arg-type]  # its options
    return plan_runs(call, read_runs(folder / "t.csv"), {})


def test_rows_may_be_of_other_models_and_clusters(tmp_path: Path) -> None:
    """By name, SPEC, or a file beside the table."""
    (tmp_path / "m.json").write_text(
        json.dumps({"transformer": {"layers": 8, "hidden": 4096, "heads": 32, "vocabulary": 32000, "sequence": 2048}})
    )
    (tmp_path / "c.json").write_text(json.dumps({"devices": [{"name": "x", "type": "h100"}]}))
    text = f'gbs,seconds,model,cluster\n4,1,"{MODEL}",dgx-h100:1x1\n4,1,m.json,c.json\n4,1,,dgx-h100:1x1\n8,1,,\n'
    first, second, third, last = plan_text(text, tmp_path)
    assert first.predict_s(NO_FACTORS) == second.predict_s(NO_FACTORS) == third.predict_s(NO_FACTORS)
    assert last.pairing is not first.pairing
    assert last.choice.family.data == 8
    assert (second.label, last.label) == ("m.json c.json gbs=4", "gbs=8")


def test_runs_are_trained_as_options_say(tmp_path: Path) -> None:
    """Longer sequences take longer."""
    (short,), (long,) = (plan_text("dp,gbs,seconds\n1,8,1\n", tmp_path, sequence=tokens) for tokens in (1024, 4096))
    assert long.predict_s(NO_FACTORS) > 3 * short.predict_s(NO_FACTORS)
    with pytest.raises(InputError, match="cp: line 2: expected twice it to divide the sequence"):
        plan_text("gbs,cp,seconds\n8,8,1\n", tmp_path, sequence=20)


ROW = "tp,pp,gbs,seconds,model,cluster\n"


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        (f"{ROW}3,1,8,1,,\n", "measured/tp", "line 2: expected a divisor of 32"),
        (f"{ROW}x,1,8,1,,\n", "measured/tp", "line 2: expected a whole number from 1 to 65536, got 'x'"),
        (f'{ROW}"1,dp=2",1,8,1,,\n', "measured/tp", "line 2: expected a whole number from 1 to 65536"),
        (f"{ROW}1,11,8,1,,\n", "measured/pp", "line 2: expected tensor 1 x data 1 x pipeline 11 <= 8 devices"),
        (f"{ROW}1,1,9,1,,\n", "measured/gbs", "line 2: expected a multiple of 8 (data x microbatch), got 9"),
        ("tp,tensor,gbs,seconds\n1,1,8,1\n", "measured/tensor", "line 2: expected tensor once, got it again"),
        (f"{ROW}1,1,8,1,none.json,\n", "measured/model", "line 2: cannot read"),
        (f'{ROW}1,1,8,1,"transformer:layers=2",\n', "measured/model", "line 2: "),
        (f'{ROW}1,1,8,1,"{MODEL},flops=1e14",\n', "measured/model", "line 2: expected a transformer by its shape"),
        (f"{ROW}1,1,8,1,,dgx:0\n", "measured/cluster", "line 2: "),
        (f"{ROW}1,1,8,1,,none.json\n", "measured/cluster", "line 2: cannot read"),
    ],
)
def test_a_plan_that_does_not_go_with_its_model_is_refused(text: str, field: str, reason: str, tmp_path: Path) -> None:
    """With the line and the column."""
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        plan_text(text, tmp_path)
    assert caught.value.field == field


def test_devices_without_a_link_have_run_nothing(tmp_path: Path) -> None:
    """So that such a row is of another cluster."""
    (tmp_path / "c.json").write_text(json.dumps({"devices": [{"name": "x"}, {"name": "y"}], "links": []}))
    with pytest.raises(InputError, match="measured: line 2: expected devices that are linked, got a plan without a"):
        plan_text("pp,gbs,seconds,cluster\n2,8,1,c.json\n", tmp_path)


def test_plans_differ_in_what_they_spend_time_on(plan_all: Plan) -> None:
    """Or the tests of fits would test nothing."""
    shares = [run.predict_s(Factors(between=2.0)) / run.predict_s(NO_FACTORS) - 1 for run in plan_all(PLANS)]
    assert min(shares) < 0.05 < 0.3 < max(shares)
