"""Tests of `tiger calibrate`: what it prints and writes, its exit status, and what bad input gets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tiger.cli.app import run

Run = Callable[..., tuple[int, str, str]]
SPEC = "transformer:layers=4,hidden=1024,heads=16,vocabulary=1000,sequence=1024"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in a folder with a table of runs, and returns what comes out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("tp,dp,gbs,seconds\n1,2,8,0.02\n2,1,8,0.03\n1,1,8,0.04\n")

    def call(command: str, *arguments: str) -> tuple[int, str, str]:
        status = run((command, SPEC, "--cluster", "dgx-h100:1x2", *arguments))
        return status, *capsys.readouterr()

    return call


def test_factors_are_written_and_used(cli: Run, tmp_path: Path) -> None:
    """By --json and --costs, and drawn."""
    status, out, err = cli("calibrate", "--measured", "t.csv", "--json", "f.json", "--plot", "f.svg")
    assert (status, err) == (0, "")
    assert out.startswith("calibrated by 3 runs: predictions are off by ")
    assert "\npredicted over measured:\n" in out
    assert (tmp_path / "f.svg").read_bytes().startswith(b"<?xml")
    schedule = ("--schedule", "1f1b", "--microbatches", "4", "--json", "-")
    usual = json.loads(cli("place", *schedule)[1])
    slower = json.loads(cli("place", *schedule, "--costs", "f.json")[1])
    assert slower["iteration_s"] > 1.2 * usual["iteration_s"]


def test_measured_operations_are_read(cli: Run, tmp_path: Path) -> None:
    """By `tiger place`, which says how much of the time was measured."""
    (tmp_path / "ops.csv").write_text("device,operation,dtype,seconds,m,n,k\nh100,product,bf16,1,1024,3072,1024\n")
    report = json.loads(cli("place", "--costs", "ops.csv", "--json", "-")[1])
    assert report["times"]["counted"] < 0.01
    assert report["bottleneck_s"] > 1


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("tp,gbs\n1,8\n", "measured/seconds: line 1: expected a header with this column, got none"),
        ("tp,gbs,seconds\n3,8,1\n", "measured/tp: line 2: expected a divisor of 16"),
        ("depth,gbs,seconds\n3,8,1\n", "measured: line 1: expected columns out of seconds, model, cluster, tp"),
    ],
)
def test_bad_tables_are_refused(table: str, complaint: str, cli: Run, tmp_path: Path) -> None:
    """In one line, with status 2."""
    (tmp_path / "t.csv").write_text(table)
    status, out, err = cli("calibrate", "--measured", "t.csv")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"tiger: error: {complaint}")
