"""Tests of `tiger place`: what it prints, its exit status, and what bad input gets."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.placement.emission import deepspeed_parser, megatron_parser, torch_parser, vllm_parser
from tiger.cli.app import run
from tiger.placement.params import PlaceParams
from tiger.placement.result import PlaceResult
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

Run = Callable[..., tuple[int, str, str]]

KINDS = ("embedding", *["layer"] * 4, "head")
ROW = {"forward_s": 0.001, "backward_s": 0.002, "parameter_bytes": 1e9, "activation_bytes": 1e6}
LAYERS = [{"name": f"op{k}", "kind": kind, **ROW} for k, kind in enumerate(KINDS)]
LAYERS[-1] |= {"forward_s": 0.003, "backward_s": 0.006}
DEVICES = [{"name": name, "memory_bytes": 8e9} for name in ("x", "y")]
CLUSTER = {"devices": DEVICES, "uniform_bandwidth": 1e9, "uniform_latency": 0}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger place` in a folder of its own, and returns what comes out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.json").write_text(json.dumps({"layers": LAYERS}))
    (tmp_path / "c.json").write_text(json.dumps(CLUSTER))

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(("place", *arguments))
        return status, *capsys.readouterr()

    return call


def is_refused(outcome: tuple[int, str, str], field: str) -> bool:
    """Return whether an outcome is one line that names the field, exit status 2 and nothing else."""
    status, out, err = outcome
    return (status, out, err.count("\n")) == (2, "", 1) and err.startswith(f"tiger: error: {field}: ")


def test_the_summary_is_a_table_of_stages(cli: Run) -> None:
    """Under what was gained: the head takes as long as three layers, and messages 2 ms a stage."""
    status, out, err = cli("m.json", "--cluster", "c.json")
    assert (status, err) == (0, "")
    assert out.startswith("solved: bottleneck 14 ms, 1.21x as fast as the 17 ms of the uniform split\n")
    assert "  lower bound        14 ms\noptimal              yes\n" in out
    assert "\n0      x       0..3 (4)  12          2                 4 GB of 8 GB\n" in out
    assert "\n1      y       4..5 (2)  12          2                 2 GB of 8 GB\n" in out


def test_a_schedule_is_simulated(cli: Run) -> None:
    """Its iteration is the headline: six microbatches on the slower stage, and what the first pass waits."""
    out = cli("m.json", "--cluster", "c.json", "--schedule", "1f1b", "--microbatches", "6")[1]
    assert out.startswith("solved: iteration ")
    assert "\nschedule             1f1b, 6 microbatches\n" in out
    assert "\nbubble               " in out


def test_json_on_standard_output_is_all_there_is(cli: Run) -> None:
    """`--json -` prints the report and nothing else, in the schema that is documented."""
    status, out, err = cli("m.json", "--cluster", "c.json", "--json", "-", "--seed", "3")
    report = json.loads(out, parse_constant=pytest.fail)
    assert (status, err, report["schema"], report["seed"]) == (0, "", "tiger.placement/1", 3)
    assert [(stage["device"], len(stage["ops"])) for stage in report["stages"]] == [("x", 4), ("y", 2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "parsed"),
    [
        ("megatron", megatron_parser.parse),
        ("deepspeed", deepspeed_parser.parse),
        ("vllm", vllm_parser.parse),
        ("torch", torch_parser.parse),
    ],
)
def test_the_emitted_plan_is_alone_on_standard_output(
    cli: Run, tmp_path: Path, system: str, parsed: Callable[[str], object]
) -> None:
    """It can be pasted; the summary is beside it, the report in a file."""
    status, out, err = cli("m.json", "--cluster", "c.json", "--emit", system, "--json", "r.json")
    assert status == 0
    assert parsed(out)
    assert err.startswith("solved: bottleneck 14 ms")
    assert json.loads((tmp_path / "r.json").read_text())["feasible"]


def test_an_emitted_file_is_the_layout_of_another_run(cli: Run, tmp_path: Path) -> None:
    """Whatever system it is for; a faulty one is refused in one line."""
    for system, name in (("megatron", "l.txt"), ("deepspeed", "l.py"), ("vllm", "l.sh"), ("torch", "l.json")):
        emitted = cli("m.json", "--cluster", "c.json", "--emit", system)[1]
        (tmp_path / name).write_text(emitted, encoding="utf-8")
        status, out, err = cli("m.json", "--cluster", "c.json", "--layout", name)
        assert (status, err) == (0, "")
        assert "\nkeep yours: no quicker plan was found\n" in out
    assert is_refused(cli("m.json", "--cluster", "c.json", "--layout", "no.txt"), "layout")
    assert is_refused(cli("m.json", "--cluster", "c.json", "--layout", "Et(t|tL"), "layout")


def test_options_reach_the_engine(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under their own names."""
    seen: list[PlaceParams] = []

    def record(layers: Layers, cluster: Cluster, params: PlaceParams, *rest: object) -> PlaceResult:
        seen.append(params)
        return PlaceResult(plan=None)

    monkeypatch.setattr("tiger.placement.solve.place_layers", record)
    sizes = ["--pipeline-parallel", "1", "--tensor-parallel", "1", "--data-parallel", "2", "--virtual", "2"]
    search = ["--solver", "neal", "--effort", "2", "--time-limit", "9", "--pin", "op0=x", "--mode", "chain"]
    assert cli("m.json", "--cluster", "c.json", "--schedule", "interleaved", *sizes, *search)[0] == 1
    groups = PlaceParams(schedule="interleaved", pipeline=1, data=2, virtual=2, pinned={"op0": "x"})
    assert seen == [replace(groups, solver="neal", effort=2, time_limit_s=9.0)]


@pytest.mark.long
def test_what_does_not_fit_is_a_result(cli: Run, tmp_path: Path) -> None:
    """Exit status 1 and a reason; nothing that could be pasted, and no picture."""
    small = CLUSTER | {"devices": [{"name": name, "memory_bytes": 1e9} for name in ("x", "y")]}
    (tmp_path / "small.json").write_text(json.dumps(small))
    status, out, err = cli("m.json", "--cluster", "small.json", "--plot", "p.svg")
    assert (status, err) == (1, "")
    assert out.startswith("infeasible: no placement meets\n  memory: every device would need ")
    assert "'op2'" in out
    assert cli("m.json", "--cluster", "small.json", "--emit", "vllm") == (1, "", out)
    assert json.loads(cli("m.json", "--cluster", "small.json", "--json", "-")[1])["feasible"] is False
    assert not (tmp_path / "p.svg").exists()


def test_a_picture_is_drawn(cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the report, beside the summary."""
    monkeypatch.setattr("tiger.plotting.picturefile.write", lambda report, path: Path(path).write_text(report.solver))
    status, out, _ = cli("m.json", "--cluster", "c.json", "--plot", "p.svg")
    assert (status, out[:7], (tmp_path / "p.svg").read_text()) == (0, "solved:", "auto")


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ({"layers": LAYERS, "edges": [["op0", "op1"], ["op1", "op0"]]}, "model"),
        ({"layers": [{"name": "op0", "forward_s": 1}]}, "model/layers/0/backward_s"),
        ({"layers": [LAYERS[0] | {"parameter_bytes": -1}]}, "model/layers/0/parameter_bytes"),
        ({"layers": "none"}, "model/layers"),
        ([], "model/layers"),
        (5, "model"),
    ],
)
def test_bad_models_are_named(cli: Run, tmp_path: Path, model: object, field: str) -> None:
    """One line, and nothing written."""
    (tmp_path / "bad.json").write_text(json.dumps(model))
    outcome = cli("bad.json", "--cluster", "c.json", "--json", "out.json")
    assert outcome[2].startswith(f"tiger: error: {field}")
    assert (outcome[:2], outcome[2].count("\n")) == ((2, ""), 1)
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("cluster", "field"),
    [
        (CLUSTER | {"links": [{"a": "x", "b": "z", "bandwidth": 1}]}, "cluster/links/0/b"),
        ({"devices": DEVICES}, "cluster/links"),
        ({"devices": [{"name": "x", "memory_bytes": "8 apples"}]}, "cluster/devices/0/memory_bytes"),
        ({"devices": []}, "cluster/devices"),
        ([], "cluster"),
    ],
)
def test_bad_clusters_are_named(cli: Run, tmp_path: Path, cluster: object, field: str) -> None:
    """One line."""
    (tmp_path / "bad.json").write_text(json.dumps(cluster))
    assert is_refused(cli("m.json", "--cluster", "bad.json"), field)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--cluster", "missing.json"], "cluster"),
        (["--cluster", "moebius:3"], "cluster"),
        (["--mode", "layers"], "mode"),
        (["--mode", "experts"], "experts"),
        (["--mode", "dag"], "model"),
        (["--contiguous"], "contiguous"),
        (["--objective", "both"], "objective"),
        (["--objective", "beauty"], "objective"),
        (["--schedule", "2f2b"], "schedule"),
        (["--microbatches", "0", "--schedule", "gpipe"], "microbatches"),
        (["--microbatches", "4"], "microbatches"),
        (["--microbatches", "many"], "microbatches"),
        (["--virtual", "2"], "virtual"),
        (["--pipeline-parallel", "3"], "pipeline"),
        (["--tensor-parallel", "2"], "tensor"),
        (["--data-parallel", "0"], "data"),
        (["--pin", "op0"], "pinned"),
        (["--pin", "op9=x"], "pinned/op9"),
        (["--pin", "op0=z"], "pinned/op0"),
        (["--pin", "op0=x", "--pin", "op0=y"], "pinned/op0"),
        (["--solver", "nobody"], "solver"),
        (["--seed", "-1"], "seed"),
        (["--effort", "0"], "effort"),
        (["--time-limit", "0"], "time_limit_s"),
        (["--emit", "jax"], "emit"),
        (["--emit", "vllm", "--json", "-"], "emit"),
        (["--json", "no/out.json"], "json"),
        (["--plot", "no/p.svg"], "plot"),
        (["--plot", "p.gif"], "plot"),
        (["--frobnicate"], "frobnicate"),
    ],
    ids=" ".join,
)
def test_bad_options_name_their_field(cli: Run, options: list[str], field: str) -> None:
    """Exit status 2 and one line on standard error."""
    cluster = [] if "--cluster" in options else ["--cluster", "c.json"]
    assert is_refused(cli("m.json", *cluster, *options), field)


def test_a_cluster_is_needed(cli: Run) -> None:
    """Nothing stands for it."""
    assert is_refused(cli("m.json"), "cluster")


def test_a_plan_that_a_system_cannot_say_is_refused(cli: Run, tmp_path: Path) -> None:
    """A model without kinds has no decoder layers; the report is kept."""
    plain = [{name: value for name, value in row.items() if name != "kind"} for row in LAYERS]
    (tmp_path / "plain.json").write_text(json.dumps(plain))
    assert is_refused(cli("plain.json", "--cluster", "c.json", "--emit", "megatron", "--json", "r.json"), "emit")
    assert json.loads((tmp_path / "r.json").read_text())["feasible"]


def test_a_network_has_a_machine_inside_each_host(cli: Run, tmp_path: Path) -> None:
    """By options, repeated for hosts that differ; a bandwidth may have a unit or be a number."""
    (tmp_path / "t.conf").write_text("SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b\nSwitchName=t Switches=s[0-1]\n")
    (tmp_path / "one.json").write_text(json.dumps({"devices": 1, "memory_bytes": "8GB"}))
    inside = ("--node-topology", "a=one.json", "--node-topology", "b=one.json")
    status, out, _ = cli("m.json", "--cluster", "t.conf", *inside, "--bandwidths", "node=1e9, rack=8Gb/s")
    assert (status, "a.gpu0" in out, "b.gpu0" in out) == (0, True, True)


@pytest.mark.parametrize(
    ("stated", "complaint"),
    [
        ((), "node_topology: expected what is inside each host"),
        (("--node-topology", "dgx:1"), "bandwidths: expected the bandwidth between hosts by level out of node"),
        (("--node-topology", "dgx:1", "--bandwidths", "node"), "bandwidths: expected LEVEL=X,.."),
        (("--node-topology", "dgx:1", "--bandwidths", "node=1,node=2"), "bandwidths: expected different levels"),
        (("--node-topology", "dgx:1", "--bandwidths", "node=fast"), "bandwidths/node: expected a number or a quantity"),
        (("--node-topology", "dgx:1", "--labels", "a"), "labels: expected them with nodes of Kubernetes"),
    ],
)
def test_what_is_wrong_with_a_network_is_named(
    cli: Run, tmp_path: Path, stated: tuple[str, ...], complaint: str
) -> None:
    """By its option."""
    (tmp_path / "t.conf").write_text("SwitchName=s0 Nodes=a,b\n")
    status, _, err = cli("m.json", "--cluster", "t.conf", *stated)
    assert (status, f"tiger: error: {complaint}" in err) == (2, True), err
