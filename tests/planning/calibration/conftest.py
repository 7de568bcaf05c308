"""Runs whose seconds are what the program itself predicts with known factors."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tiger.planning.calibration.arguments import CalibrationCall
from tiger.planning.calibration.predict import PlannedRun, plan_runs
from tiger.planning.calibration.runs import read_runs
from tiger.training.timings.costs import NO_FACTORS, Factors

MODEL = "transformer:layers=8,hidden=4096,heads=32,vocabulary=32000,sequence=2048"
# Two machines of four devices, between which messages take long enough to be told.
CLUSTER = "dgx-h100:2x4,nics=1"
# Degrees that spend their time on different things.
PLANS = (
    "tp=4,pp=2,dp=1,gbs=16",
    "tp=1,pp=1,dp=8,gbs=8",
    "tp=2,pp=1,dp=4,gbs=64,mbs=4",
    "tp=1,pp=8,dp=1,gbs=32",
    "tp=8,pp=1,dp=1,gbs=4",
    "tp=4,pp=1,dp=2,gbs=64,mbs=8,recompute=full",
)
Write = Callable[..., Path]
Plan = Callable[..., list[PlannedRun]]


@pytest.fixture(name="write_runs")
def _write_runs(tmp_path: Path, plan_all: Plan) -> Write:
    """Return a function that writes the runs of some plans with some factors, and returns the file."""

    def write(factors: Factors = NO_FACTORS, plans: Sequence[str] = PLANS) -> Path:
        seconds = [each.predict_s(factors) for each in plan_all(plans)]
        return _write(tmp_path / "times.csv", plans, seconds)

    return write


@pytest.fixture(name="plan_all")
def _plan_all(tmp_path: Path) -> Plan:
    """Return a function that returns planned runs of some plans, each of a second."""

    def plan(plans: Sequence[str] = PLANS) -> list[PlannedRun]:
        file = _write(tmp_path / "seconds.csv", plans, [1.0] * len(plans))
        return plan_runs(CalibrationCall(MODEL, CLUSTER, file), read_runs(file), {})

    return plan


def _write(file: Path, plans: Sequence[str], seconds: Sequence[float]) -> Path:
    """Write a table of runs."""
    rows = [
        dict(word.split("=") for word in plan.split(",")) | {"seconds": f"{s:.9g}"}
        for plan, s in zip(plans, seconds, strict=True)
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["# made up", ",".join(names), *(",".join(row.get(name, "") for name in names) for row in rows)]
    file.write_text("\n".join(lines) + "\n")
    return file
