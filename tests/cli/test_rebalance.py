"""Tests of `tiger rebalance`: what it prints, its exit status, and what bad input gets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tiger.cli.app import run

Run = Callable[..., tuple[int, str, str]]
SPEC = "transformer:layers=6,hidden=64,heads=4,vocabulary=100,sequence=32,flops=1e9"
DEVICES = [{"name": name, "memory_bytes": 1e9} for name in ("x", "y")]
CLUSTER = {"devices": DEVICES, "uniform_bandwidth": 1e9, "uniform_latency": 1e-6}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger rebalance` in a folder of its own, and returns what comes out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text(json.dumps(CLUSTER))
    (tmp_path / "t.csv").write_text("1,1,1,1,1,1,1,1\n9,9,9,1,1,1,1,1\n")

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(("rebalance", SPEC, "--cluster", "c.json", *arguments))
        return status, *capsys.readouterr()

    return call


def test_the_summary_has_the_intervals_with_moves(cli: Run) -> None:
    """Beside uniform cuts, the best static ones and the bound."""
    status, out, err = cli("--times", "t.csv")
    assert (status, err) == (0, "")
    assert out.startswith("8 layers in 2 stages, 1f1b of 8 microbatches, 2 intervals of 1000 iterations, simulated\n")
    assert "\nuniform cuts " in out
    assert "\n1 rebalances move 2 layers " in out
    assert [line.split()[0] for line in out.splitlines()[-2:]] == ["0", "1"]


@pytest.mark.slow
def test_json_has_every_decision(cli: Run) -> None:
    """With its moves, alone on standard output."""
    status, out, _ = cli("--workload", "early-exit:intervals=5,ramp=0", "--json", "-")
    report = json.loads(out)
    assert (status, report["schema"], len(report["intervals"])) == (0, "tiger.rebalancing/1", 5)
    decision = report["intervals"][0]["decision"]
    assert decision["action"] == "move"
    assert {"first", "last", "source", "target", "bytes", "seconds"} <= decision["moves"][0].keys()


def test_the_run_is_drawn(cli: Run, tmp_path: Path) -> None:
    """Into a file of the ending; one that cannot be written is refused before the work."""
    status, out, _ = cli("--times", "t.csv", "--plot", "run.svg")
    assert (status, out[:8]) == (0, "8 layers")
    assert (tmp_path / "run.svg").read_bytes().startswith(b"<?xml")
    status, _, err = cli("--times", "none.csv", "--plot", "run.gif")
    assert (status, err[:30]) == (2, "tiger: error: plot: expected a")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((), "times"),
        (("--times", "t.csv", "--workload", "mod"), "times"),
        (("--times", "none.csv"), "times"),
        (("--workload", "mood"), "workload"),
        (("--workload", "mod", "--iterations", "0"), "iterations"),
        (("--workload", "mod", "--threshold", "2"), "threshold"),
        (("--workload", "mod", "--balancer", "best"), "balancer"),
    ],
)
def test_bad_input_is_one_line_that_names_the_field(cli: Run, arguments: tuple[str, ...], field: str) -> None:
    """And exit status 2."""
    status, out, err = cli(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"tiger: error: {field}: ")
