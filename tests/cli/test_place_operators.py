"""Tests of `tiger place --mode dag`: what it prints, its exit status, and what bad input gets."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiger.cli.app import run
from tiger.model.violation import Violation
from tiger.placement.operators.params import OperatorParams
from tiger.placement.operators.result import OperatorPlacement
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.operators import Operators

Run = Callable[..., tuple[int, str, str]]

UNIT = {"supportedOnFpga": 1, "cpuLatency": 0, "fpgaLatency": 2, "isBackwardNode": 0, "size": 3}
GRAPH: dict[str, Any] = {
    "maxFPGAs": 2,
    "maxSizePerFPGA": 9,
    "maxCPUs": 0,
    "nodes": [{"id": 1, **UNIT}, {"id": 2, **UNIT}],
    "edges": [{"sourceId": 1, "destId": 2, "cost": 0.5}],
}
TABLE = "name,seconds,memory_bytes,inputs\n1,0.002,3,\n2,0.002,3,1\n"
CLUSTER = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger place --mode dag` in a folder of its own, and returns what comes out."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("m.json", json.dumps(GRAPH)), ("m.csv", TABLE), ("c.json", json.dumps(CLUSTER))):
        (tmp_path / name).write_text(text)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(("place", *arguments, "--mode", "dag"))
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[OperatorParams]:
    """Have operators dealt out in turn, and return what each placement was asked; pins cannot be met."""
    seen: list[OperatorParams] = []

    def deal_out(operators: Operators, cluster: Cluster, params: OperatorParams, *_: object) -> OperatorPlacement:
        seen.append(params)
        if params.pinned:
            return OperatorPlacement(place=None, violations=(Violation(kind="pinned", message="'1' and '2' apart"),))
        return OperatorPlacement(
            place=np.arange(operators.groups) % cluster.size, bottleneck_s=0.0025, lower_bound_s=0.002
        )

    monkeypatch.setattr("tiger.placement.operators.solve.place_operators", deal_out)
    return seen


def test_devices_of_the_model_are_used(cli: Run, engine: list[OperatorParams]) -> None:
    """Without any cluster."""
    status, out, err = cli("m.json")
    assert (status, err) == (0, "")
    assert "\ngpu0    1          2           0.5               2.5      3 B of 9 B\n" in out


def test_a_cluster_wins_over_the_devices_of_the_model(cli: Run, engine: list[OperatorParams]) -> None:
    """In every format."""
    for model in ("m.json", "m.csv"):
        status, out, _ = cli(model, "--cluster", "c.json", "--json", "-")
        assert (status, [stage["device"] for stage in json.loads(out)["stages"]]) == (0, ["x", "y"])


def test_options_reach_the_engine(cli: Run, engine: list[OperatorParams]) -> None:
    """Under their own names."""
    cli("m.json", "--contiguous", "--objective", "both", "--seed", "3", "--time-limit", "9")
    cli("m.json", "--solver", "neal", "--effort", "2")
    wanted = OperatorParams(contiguous=True, objective="both", seed=3, time_limit_s=9.0)
    assert engine == [wanted, OperatorParams(solver="neal", effort=2)]


def test_what_cannot_be_met_is_a_result(cli: Run, engine: list[OperatorParams]) -> None:
    """Exit status 1 and a reason, and no picture."""
    status, out, err = cli("m.json", "--pin", "1=gpu0", "--plot", "p.svg")
    assert (status, err) == (1, "")
    assert out.startswith("infeasible: no placement meets\n  pinned: '1' and '2' apart\n")
    assert not Path("p.svg").exists()


@pytest.mark.slow
def test_a_picture_is_drawn(cli: Run, engine: list[OperatorParams]) -> None:
    """Of loads and memory."""
    assert cli("m.json", "--plot", "p.svg")[0] == 0
    text = Path("p.svg").read_text()
    assert "<!-- gpu0 -->" in text
    assert "<!-- One microbatch: bottleneck 2.5 ms, no placement below 2 ms -->" in text


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["m.csv"], "cluster"),
        (["no.json"], "model"),
        (["c.json"], "model"),
        (["transformer:layers=2", "--cluster", "c.json"], "model"),
        (["m.json", "--cluster", "no.json"], "cluster"),
        (["m.json", "--schedule", "1f1b"], "schedule"),
        (["m.json", "--microbatches", "4"], "microbatches"),
        (["m.json", "--virtual", "2"], "virtual"),
        (["m.json", "--pipeline-parallel", "2"], "pipeline"),
        (["m.json", "--tensor-parallel", "2"], "tensor"),
        (["m.json", "--data-parallel", "2"], "data"),
        (["m.json", "--emit", "vllm"], "emit"),
        (["m.json", "--objective", "beauty"], "objective"),
        (["m.json", "--solver", "nobody"], "solver"),
        (["m.json", "--solver", "greedy"], "solver"),
        (["m.json", "--solver", "neal", "--contiguous"], "solver"),
        (["m.json", "--solver", "neal", "--objective", "both"], "solver"),
        (["m.json", "--pin", "3=gpu0"], "pinned/3"),
        (["m.json", "--pin", "1=gpu9"], "pinned/1"),
    ],
    ids=" ".join,
)
def test_bad_input_names_its_field(cli: Run, engine: list[OperatorParams], options: list[str], field: str) -> None:
    """Exit status 2 and one line on standard error."""
    status, out, err = cli(*options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"tiger: error: {field}: ")
    assert not engine
