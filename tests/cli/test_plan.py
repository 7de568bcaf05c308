"""Tests of `tiger plan`: what it prints, its exit status, and what bad input gets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tiger.cli.app import run

Run = Callable[..., tuple[int, str, str]]

SPEC = "transformer:layers=4,hidden=64,heads=4,vocabulary=100,sequence=32,flops=1e9"
DEVICES = [{"name": name, "memory_bytes": 4.5e6} for name in ("x", "y")]
CLUSTER = {"devices": DEVICES, "uniform_bandwidth": 1e9, "uniform_latency": 1e-6}
# One choice is quick to search, and what is printed does not depend on how many there are.
ONE = (
    "--cluster",
    "c.json",
    "--batch",
    "4",
    "--tensor-parallel",
    "1",
    "--data-parallel",
    "1",
    "--microbatch-size",
    "1",
)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger plan` in a folder of its own, and returns what comes out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text(json.dumps(CLUSTER))
    small = [device | {"memory_bytes": 1e6} for device in DEVICES]
    (tmp_path / "small.json").write_text(json.dumps(CLUSTER | {"devices": small}))

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(("plan", *arguments))
        return status, *capsys.readouterr()

    return call


def is_refused(outcome: tuple[int, str, str], field: str) -> bool:
    """Return whether an outcome is one line that names the field, exit status 2 and nothing else."""
    status, out, err = outcome
    return (status, out, err.count("\n")) == (2, "", 1) and err.startswith(f"tiger: error: {field}: ")


def test_the_summary_ranks_plans(cli: Run) -> None:
    """Under the best one, with what was ruled out and the placement of the best."""
    status, out, err = cli(SPEC, *ONE)
    assert (status, err) == (0, "")
    assert out.startswith("planned: pipeline 2 x tensor 1 x data 1, ")
    assert "\nplan   PP x TP x DP  schedule" in out
    assert "\nplan 2 is " in out
    assert "\nusual  2 x 1 x 1 " in out
    assert "\nruled out by  choices" in out
    assert "\nplan 1\nsolved: iteration " in out


@pytest.mark.slow
def test_json_on_standard_output_is_all_there_is(cli: Run) -> None:
    """`--json -` prints the report and nothing else, in the schema that is documented."""
    status, out, err = cli(SPEC, *ONE, "--json", "-", "--seed", "3", "--top", "2")
    report = json.loads(out, parse_constant=pytest.fail)
    assert (status, err, report["schema"], report["seed"]) == (0, "", "tiger.plan/1", 3)
    assert report["degrees"]["pipeline"] == 2
    assert len(report["ranked"]) == 2


@pytest.mark.slow
def test_degrees_that_are_given_are_kept(cli: Run) -> None:
    """The schedule, its stages, and the positions."""
    asked = ("--schedule", "interleaved", "--virtual", "3", "--pipeline-parallel", "2")
    out = cli(SPEC, *ONE, *asked, "--json", "-")[1]
    degrees = json.loads(out)["degrees"]
    assert (degrees["schedule"], degrees["virtual"], degrees["pipeline"]) == ("interleaved", 3, 2)


def test_the_best_plan_is_emitted(cli: Run) -> None:
    """Alone on standard output; the summary goes to the other stream."""
    status, out, err = cli(SPEC, *ONE, "--schedule", "1f1b", "--emit", "torch")
    assert status == 0
    assert err.startswith("planned: ")
    assert "planned" not in out


def test_bug_plans_that_a_framework_cannot_run_were_searched_for(cli: Run, tmp_path: Path) -> None:
    """The text was refused at the end, and the report was lost with it."""
    two = (SPEC, *ONE, "--pipeline-parallel", "2", "--json", "r.json", "--emit")
    for more, schedules in ((("deepspeed",), {"1f1b"}), (("torch", "--framework", "vllm"), {"1f1b"})):
        assert cli(*two, *more)[0] == 0
        report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        assert {each["schedule"] for each in report["ranked"]} == schedules
    assert is_refused(cli(*two, "megatron", "--schedule", "zb-v"), "emit")


@pytest.mark.long
def test_plans_are_drawn(cli: Run, tmp_path: Path) -> None:
    """Into the file that is named."""
    assert cli(SPEC, *ONE, "--plot", "plans.svg")[0] == 0
    assert (tmp_path / "plans.svg").read_bytes().startswith(b"<?xml")


def test_what_does_not_fit_ends_with_one(cli: Run) -> None:
    """And says by how much, with what bounds say of the others."""
    arguments = (SPEC, "--cluster", "small.json", "--batch", "4", "--emit", "torch", "--json", "r.json")
    status, out, err = cli(*arguments, "--plot", "p.svg")
    assert (status, out) == (1, "")
    assert err.startswith("infeasible: no plan meets\n  memory: pipeline ")
    assert "and the largest has 1 MB" in err
    assert json.loads(Path("r.json").read_text())["feasible"] is False


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("--cluster", "c.json", "--batch", "0"), "batch"),
        (("--cluster", "c.json", "--batch", "x"), "batch"),
        (("--cluster", "c.json", "--data-parallel", "3"), "data"),
        (("--cluster", "c.json", "--top", "0"), "top"),
        (("--cluster", "c.json", "--schedule", "2f2b"), "schedule"),
        (("--cluster", "c.json", "--schedule", "zb-v", "--framework", "megatron"), "schedule"),
        (("--cluster", "none.json"), "cluster"),
        (("--cluster", "c.json", "--plot", "p.gif"), "plot"),
        (("--cluster", "c.json", "--emit", "torch", "--json", "-"), "emit"),
        (("--cluster", "c.json", "--json", "."), "json"),
        ((), "cluster"),
    ],
)
def test_bad_input_names_its_field(cli: Run, arguments: tuple[str, ...], field: str) -> None:
    """On one line, with exit status 2."""
    assert is_refused(cli(SPEC, *arguments), field)


def test_a_bad_model_is_refused(cli: Run) -> None:
    """By the field of the SPEC."""
    assert is_refused(cli("transformer:layers=4", "--cluster", "c.json"), "model/transformer/hidden")


@pytest.mark.slow
def test_plans_are_for_a_network_with_something_inside(cli: Run, tmp_path: Path) -> None:
    """As placements are."""
    (tmp_path / "t.conf").write_text("SwitchName=s0 Nodes=a,b\n")
    (tmp_path / "one.json").write_text(json.dumps({"devices": 1, "memory_bytes": 4.5e6}))
    hosts = ("--cluster", "t.conf", "--node-topology", "one.json", "--bandwidths", "node=1e9")
    status, out, _ = cli(SPEC, *hosts, *ONE[2:], "--json", "-")
    assert status == 0
    assert json.loads(out)["placement"]["stages"][0]["device"] in ("a.gpu0", "b.gpu0")
