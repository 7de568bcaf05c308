"""Tests of `tiger place --mode experts`: what it prints, its exit status, and what bad input gets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tiger.cli.app import run

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger place` in a folder with a trace, and returns what comes out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("0,2,0\n1,3,1\n3,1,3\n2,0,2\n0,2,0\n")
    (tmp_path / "c.json").write_text('{"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}')

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(("place", "t.csv", *arguments))
        return status, *capsys.readouterr()

    return call


EXPERTS = ("--mode", "experts", "--experts", "4", "--cluster", "c.json")


def test_the_summary_compares_with_simple_placements(cli: Run) -> None:
    """On the tokens that it was made for, and on the others."""
    status, out, err = cli(*EXPERTS)
    assert (status, err) == (0, "")
    assert "experts              4 in each of 3 layers, on 2 devices\n" in out
    assert "tokens               4, and 1 held out\n" in out
    assert "\nplaced     0.00%          0     0.00%                    0\n" in out
    assert "\norder      100.00%        1     100.00%                  1\n" in out


def test_json_has_every_expert_of_every_layer(cli: Run) -> None:
    """As operators of stages."""
    _, out, _ = cli(*EXPERTS, "--held-out", "0", "--json", "-")
    report = json.loads(out)
    assert report["schema"] == "tiger.experts/1"
    assert report["held_out_tokens"] == 0
    assert sorted(op for stage in report["stages"] for op in stage["ops"])[:3] == ["0:0", "0:1", "0:2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mode", "experts"), "experts: expected the number of experts of a layer beside the mode experts, got none"),
        (("--mode", "experts", "--experts", "4"), "cluster: expected a cluster, got none"),
        (("--experts", "4"), "experts: expected the mode experts beside it, got the mode chain"),
        (("--held-out", "0.1"), "held_out: expected the mode experts beside it, got the mode chain"),
        ((*EXPERTS, "--schedule", "1f1b"), "schedule: expected the mode chain or dag beside it"),
        ((*EXPERTS, "--server", "x"), "server: expected"),
        ((*EXPERTS, "--emit", "vllm"), "emit: expected the mode chain or dag beside it"),
        ((*EXPERTS, "--experts", "2"), "trace: expected experts 0 to 1, got 2 for token 0 in layer 1"),
    ],
)
def test_bad_input_names_the_option(cli: Run, arguments: tuple[str, ...], message: str) -> None:
    """And ends with 2."""
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert message in err
