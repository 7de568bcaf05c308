"""Tests of the command line: what each command prints, its exit status, and what bad input gets."""

import json
import runpy
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import dimod
import numpy as np
import pytest
from dimod.serialization import coo
from dwave.samplers import SimulatedAnnealingSampler

import tiger
from tiger.cli.app import THREADS, main, run
from tiger.formats.files import read_tasks
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of
from tiger.topologies.spec import build

Run = Callable[..., tuple[int, str, str]]

PAIR = {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b", "weight": 2}], "directed": True}
PATH = {
    "nodes": [{"id": name} for name in "xyz"],
    "edges": [{"source": "x", "target": "y"}, {"source": "y", "target": "z"}],
}
ISLANDS = {"nodes": [{"id": "x"}, {"id": "y"}], "edges": []}
SMALL = {"nodes": [{"id": "x", "memory": 4}, {"id": "y", "memory": 4}], "edges": [{"source": "x", "target": "y"}]}
HEAVY = {**PAIR, "nodes": [{"id": "a", "memory": 9}, {"id": "b", "memory": 1}]}
CYCLE = {**PAIR, "edges": [*PAIR["edges"], {"source": "b", "target": "a"}]}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger` in a folder of its own and returns status, output and complaints."""
    monkeypatch.chdir(tmp_path)
    for name, graph in {
        "pair": PAIR,
        "path": PATH,
        "islands": ISLANDS,
        "small": SMALL,
        "heavy": HEAVY,
        "cycle": CYCLE,
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(graph))

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        return status, *capsys.readouterr()

    return call


def is_refused(outcome: tuple[int, str, str], field: str) -> bool:
    """Return whether an outcome is one line that names the field, exit status 2 and nothing else."""
    status, out, err = outcome
    one_line = err.endswith("\n") and err.count("\n") == 1
    return status == 2 and not out and one_line and err.startswith(f"tiger: error: {field}: ")


def test_assign_prints_a_summary(cli: Run) -> None:
    """Two tasks that talk end up next to each other."""
    status, out, err = cli("assign", "pair.json", "--topology", "path.json")
    assert (status, err) == (0, "")
    assert out.startswith("solved: cost 2")


def test_hardware_may_be_switches_of_slurm(cli: Run) -> None:
    """Hosts and slots as the file and the option say; a fault is one line that names the line of the file."""
    Path("topology.conf").write_text("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n2\nSwitchName=c Switches=a,b\n")
    status, out, _ = cli("assign", "pair.json", "--topology", "topology.conf", "--json", "-")
    assert (status, json.loads(out)["cost"]) == (0, 4)
    ask = ("assign", "pair.json", "--topology", "topology.conf", "--slots", "2", "--pack")
    assert cli(*ask)[1].startswith("solved: cost 0")
    Path("topology.conf").write_text("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2,n2\n")
    outcome = cli("assign", "pair.json", "--topology", "topology.conf")
    assert is_refused(outcome, "topology")
    assert "line 2: Nodes: expected hosts once in a list, got 'n2' again" in outcome[2]


def test_tasks_may_be_a_pattern(cli: Run) -> None:
    """A SPEC in the place of a file, also to be encoded; a misspelt kind gets the list."""
    status, out, err = cli("assign", "halo:2x2", "--topology", "grid:2x2")
    assert (status, err) == (0, "")
    assert out.startswith("solved: cost 8")
    assert cli("encode", "ring:3", "--topology", "grid:3", "-o", "ring.bqm")[0] == 0
    outcome = cli("assign", "hallo:2x2", "--topology", "grid:2x2")
    assert is_refused(outcome, "tasks")
    assert "halo, ring, alltoall, fft, tree-allreduce, cg, parallel" in outcome[2]


def test_json_on_standard_output_is_all_there_is(cli: Run) -> None:
    """`--json -` prints the report and nothing else, in the schema that is documented."""
    status, out, err = cli("assign", "pair.json", "--topology", "grid:2x2", "--json", "-", "--seed", "3")
    report = json.loads(out, parse_constant=pytest.fail)
    assert (status, err) == (0, "")
    assert (report["schema"], report["cost"], report["seed"]) == ("tiger.report/1", 2, 3)
    assert set(report["mapping"]) == {"a", "b"}


def test_another_objective_leads_the_summary(cli: Run) -> None:
    """What was minimized comes first, then the cost as ever."""
    status, out, _ = cli("assign", "pair.json", "--topology", "path.json", "--objective", "makespan")
    assert (status, out.startswith("solved: makespan 2"), "\ncost " in out) == (0, True, True)
    report = json.loads(
        cli("assign", "pair.json", "--topology", "path.json", "--objective", "makespan", "--json", "-")[1]
    )
    assert report["objective"] == {
        "name": "makespan",
        "value": 2,
        "baseline": 2,
        "cyclic": 2,
        "start": None,
        "bound": 2,
    }


def test_hyperedges_are_paid_once(cli: Run) -> None:
    """The summary leads with multicasts; objectives of pairs and models for export are refused, with the field."""
    Path("team.hgr").write_text("2 4 1\n3 1 2 3\n2 4 1\n")
    arguments = ("team.hgr", "--topology", "grid:4", "--slots", "2", "--pack")
    status, out, _ = cli("assign", *arguments)
    assert status == 0
    assert out.startswith("solved: multicast 3")
    assert [line.split("  ")[0] for line in out.splitlines()[2:5]] == ["multicast", "block order", "cyclic order"]
    assert "best multicast" in out
    assert "best cost" not in out
    assert "cost of pairs" in out
    cli("assign", *arguments, "--json", "hyper.json")
    out = cli("explain", "hyper.json")[1]
    assert "the cost of multicasts (paid once for all tasks of a node), which is 3" in out
    assert "at a cost of" not in out
    assert is_refused(cli("assign", *arguments, "--objective", "ring"), "objective")
    assert is_refused(cli("assign", *arguments, "--routing", "equal"), "routing")
    assert is_refused(cli("encode", *arguments, "-o", "model.bqm"), "tasks")
    Path("reads.txt").write_text("0 " * 16)
    assert is_refused(cli("decode", *arguments, "--samples", "reads.txt"), "tasks")
    Path("team.hgr").write_text("2 4\n1 2 9\n2 4\n")
    assert is_refused(cli("assign", *arguments), "tasks")


@pytest.mark.parametrize(("tasks", "objective"), [("path.json", "makespan"), ("cycle.json", "makespan")])
def test_objectives_that_a_problem_does_not_have(cli: Run, tasks: str, objective: str) -> None:
    """An undirected graph and one with a cycle have no makespan."""
    assert is_refused(cli("assign", tasks, "--topology", "grid:4", "--objective", objective), "objective")


@pytest.mark.long
def test_a_picture_is_drawn_beside_the_summary(cli: Run, tmp_path: Path) -> None:
    """A page has all pictures; there is none of what cannot be met."""
    assert cli("assign", "pair.json", "--topology", "path.json", "--plot", "p.html")[1].startswith("solved: ")
    assert (tmp_path / "p.html").read_text().count("<svg ") == 5
    assert cli("assign", "pair.json", "--topology", "islands.json", "--plot", "q.svg")[0] == 1
    assert not (tmp_path / "q.svg").exists()


def test_json_in_a_file_leaves_the_summary(cli: Run, tmp_path: Path) -> None:
    """The report is in the file, the summary on standard output, and no draft is left."""
    before = set(tmp_path.iterdir())
    status, out, _ = cli("assign", "pair.json", "--topology", "grid:2x2", "--json", "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["feasible"] is True
    assert (status, out[:7]) == (0, "solved:")
    assert set(tmp_path.iterdir()) - before == {tmp_path / "out.json"}


def test_the_same_seed_gives_the_same_report(cli: Run) -> None:
    """Two runs differ in their seconds at most."""
    arguments = ("assign", "path.json", "--topology", "grid:2x2", "--seed", "5", "--json", "-")
    first, second = (json.loads(cli(*arguments)[1]) for _ in range(2))
    assert first["mapping"] == second["mapping"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [pytest.param(["--solver", "search", "--effort", "5"], marks=pytest.mark.long), ["--solver", "neal"]]
)
def test_threads_do_not_change_the_mapping(cli: Run, ring: str, options: list[str]) -> None:
    """One, two and three find the same, stage by stage."""
    reports = [
        json.loads(cli("assign", ring, "--topology", "grid:4x4", "--threads", count, "--json", "-", *options)[1])
        for count in ("1", "2", "3")
    ]
    for report in reports[1:]:
        assert report["mapping"] == reports[0]["mapping"]
        assert [stage["cost"] for stage in report["stages"]] == [stage["cost"] for stage in reports[0]["stages"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "mapping"),
    [
        (["--pin", "a=z"], {"a": "z", "b": "y"}),
        (["--forbid", "a=x", "--forbid", "a=y", "--forbid", "b=x"], {"a": "z", "b": "y"}),
        (["--slots", "2", "--pack", "--pin", "b=z"], {"a": "z", "b": "z"}),
        (["--rule", "capacity", "--imbalance", "1", "--pin", "b=z"], {"a": "z", "b": "z"}),
        (["--allocation", "z", "--imbalance", "1"], {"a": "z", "b": "z"}),
        (["--allocation", "z x", "--pin", "a=z"], {"a": "z", "b": "x"}),
    ],
)
def test_terms_are_kept(cli: Run, options: list[str], mapping: dict[str, str]) -> None:
    """Pins, forbidden pairs and slots leave one cheapest mapping."""
    _, out, _ = cli("assign", "pair.json", "--topology", "path.json", "--json", "-", *options)
    assert json.loads(out)["mapping"] == mapping


def test_a_pin_is_split_at_the_last_sign(cli: Run, tmp_path: Path) -> None:
    """A task may have the sign in its name."""
    (tmp_path / "odd.json").write_text(json.dumps({"nodes": [{"id": "a=b"}], "edges": []}))
    _, out, _ = cli("assign", "odd.json", "--topology", "path.json", "--pin", "a=b=y", "--json", "-")
    assert json.loads(out)["mapping"] == {"a=b": "y"}


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["path.json", "--topology", "ring:2", "--rule", "one-to-one"], "slots"),
        (["path.json", "--topology", "ring:2", "--slots", "1"], "slots"),
        (["pair.json", "--topology", "islands.json", "--rule", "one-to-one"], "disconnected"),
        (["pair.json", "--topology", "path.json", "--pin", "a=x", "--pin", "b=x"], "one-to-one"),
        (["pair.json", "--topology", "path.json", "--pin", "a=x", "--forbid", "a=x"], "forbidden"),
        (["heavy.json", "--topology", "small.json"], "memory"),
    ],
)
def test_what_cannot_be_met_is_a_result(cli: Run, arguments: list[str], kind: str) -> None:
    """Exit status 1, a report that is not feasible, and violations that say why."""
    status, out, err = cli("assign", *arguments, "--json", "-")
    report = json.loads(out)
    assert (status, err) == (1, "")
    assert (report["feasible"], report["cost"], report["mapping"]) == (False, None, {})
    assert report["violations"]
    assert all(set(violation) == {"kind", "message"} for violation in report["violations"])
    assert kind in {violation["kind"] for violation in report["violations"]}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--pin", "q=x"], "pinned/q"),
        (["--pin", "a=q"], "pinned/a"),
        (["--pin", "a=x", "--pin", "a=y"], "pinned/a"),
        (["--pin", "a"], "pinned"),
        (["--pin", "=x"], "pinned"),
        (["--forbid", "a="], "forbidden"),
        (["--forbid", "q=x"], "forbidden/0/0"),
        (["--forbid", "a=x", "--forbid", "a=q"], "forbidden/1/1"),
        (["--rule", "two-to-two"], "rule"),
        (["--slots", "0"], "slots"),
        (["--slots", "2", "--rule", "levels"], "slots"),
        (["--slots", "many"], "slots"),
        (["--imbalance", "-1"], "imbalance"),
        (["--imbalance", "nan"], "imbalance"),
        (["--imbalance", "0.5", "--rule", "one-to-one"], "imbalance"),
        (["--allocation", "x q"], "allocation/1"),
        (["--allocation", "x:2", "--slots", "3"], "slots"),
        (["--allocation", " "], "allocation"),
        (["--allocation", "x[1-"], "allocation/0"),
        (["--allocation", "missing.txt"], "allocation/0"),
        (["--solver", "nobody"], "solver"),
        (["--objective", "latency"], "objective"),
        (["--solver", ""], "solver"),
        (["--seed", "-1"], "seed"),
        (["--seed", "99999999999999999999"], "seed"),
        (["--seed", "1.5"], "seed"),
        (["--effort", "0"], "effort"),
        (["--effort", "-3"], "effort"),
        (["--time-limit", "0"], "time_limit_s"),
        (["--time-limit", "-1"], "time_limit_s"),
        (["--time-limit", "nan"], "time_limit_s"),
        (["--time-limit", "inf"], "time_limit_s"),
        (["--time-limit", "soon"], "time_limit"),
        (["--threads", "0"], "threads"),
        (["--islands", "0"], "islands"),
        (["--islands", "2", "--solver", "neal"], "islands"),
        (["--threads", "two"], "threads"),
        (["--penalty-scale", "0"], "ising/penalty_scale"),
        (["--penalty-scale", "-1"], "ising/penalty_scale"),
        (["--penalty-scale", "nan"], "ising/penalty_scale"),
        (["--penalty-scale", "inf"], "ising/penalty_scale"),
        (["--penalty-scale", "much"], "penalty_scale"),
        (["--beta-range", "1"], "ising/beta_range"),
        (["--beta-range", "1,2,3"], "ising/beta_range"),
        (["--beta-range", "hot,cold"], "ising/beta_range"),
        (["--beta-range", "2,1"], "ising/beta_range"),
        (["--beta-range", "0,1"], "ising/beta_range"),
        (["--beta-range", "1,inf"], "ising/beta_range"),
        (["--capacity-encoding", "none"], "capacity_encoding"),
        (["--frobnicate"], "frobnicate"),
        (["more"], "command"),
        (["--json", "no/such/folder.json"], "json"),
        (["--json", "."], "json"),
        (["--json"], "json"),
        (["--plot", "a.gif"], "plot"),
        (["--plot", "no/such/folder.svg"], "plot"),
    ],
    ids=" ".join,
)
def test_bad_options_name_their_field(cli: Run, tmp_path: Path, options: list[str], field: str) -> None:
    """Exit status 2, one line on standard error, and nothing written."""
    before = set(tmp_path.iterdir())
    target = [] if "--json" in options else ["--json", "out.json"]
    assert is_refused(cli("assign", "pair.json", "--topology", "path.json", *target, *options), field)
    assert set(tmp_path.iterdir()) == before


@pytest.mark.long
def test_options_of_the_ising_path_reach_the_sampler(cli: Run, ring: str) -> None:
    """Every round of the report shows the penalty scale and the temperatures that were asked for."""
    options = ["--penalty-scale", "0.4", "--beta-range", "0.2,3", "--capacity-encoding", "slack-free"]
    _, out, _ = cli(
        "assign", ring, "--topology", "grid:3x2", "--slots", "2", "--solver", "neal", "--json", "-", *options
    )
    stage = next(stage for stage in json.loads(out)["stages"] if stage["name"] == "qubo")
    assert {row["penalty_scale"] for row in stage["rounds"]} == {0.4}
    assert [row["beta_range"] for row in stage["rounds"]] == [[0.2, 3.0]] * len(stage["rounds"])
    assert stage["variables"] == 9 * 6


@pytest.fixture
def ring(cli: Run, tmp_path: Path) -> str:
    """Return the name of a file of nine tasks whose launch order is not the best."""
    edges = [{"source": k, "target": k * 4 % 9, "weight": 1 + k} for k in range(1, 9)]
    (tmp_path / "ring.json").write_text(json.dumps({"nodes": [{"id": k} for k in range(9)], "edges": edges}))
    return "ring.json"


STATED = {
    "one-to-one": ["--topology", "grid:3x4", "--pin", "0=1,1", "--forbid", "1=0,0"],
    "capacity": ["--topology", "grid:2x3", "--slots", "2", "--imbalance", "0.5"],
    "allocation": ["--topology", "grid:2x8", "--allocation", "0,0 0,1 0,2 0,5 0,6 0,7 1,0 1,1 1,6 1,7"],
}


def draw_samples(path: Path) -> dimod.SampleSet:
    """Return samples of a model in a file."""
    if path.suffix == ".coo":
        with path.open(encoding="utf-8") as file:
            model = coo.load(file)
    else:
        model = dimod.BinaryQuadraticModel.from_file(path.read_bytes())
    return SimulatedAnnealingSampler().sample(model, num_reads=30, seed=1)


@pytest.mark.parametrize("rule", STATED)
@pytest.mark.parametrize(
    ("form", "samples", "options"),
    [
        ("bqm", "samples.json", []),
        ("bqm", "samples.csv", ["--penalty-scale", "0.5"]),
        ("coo", "samples.txt", ["--capacity-encoding", "slack-free"]),
    ],
)
def test_a_model_goes_out_and_its_samples_come_back(
    cli: Run, ring: str, tmp_path: Path, rule: str, form: str, samples: str, options: list[str]
) -> None:
    """Encode, sample what dimod reads from the file, decode: the report's cost is that of its mapping."""
    status, out, err = cli("encode", ring, *STATED[rule], *options, "-o", f"m.{form}", "--variables", "v.json")
    stated = json.loads((tmp_path / "v.json").read_text())
    names = stated["variables"]
    found = draw_samples(tmp_path / f"m.{form}")
    assert (status, err) == (0, "")
    assert f"variables            {len(names)}" in out
    assert f"fingerprint          {stated['fingerprint']}" in out
    assert len(names) == len(found.variables)
    bits = found.record.sample[:, np.argsort(np.array(found.variables))]
    if samples.endswith(".json"):
        (tmp_path / samples).write_text(json.dumps(found.to_serializable()))
    else:
        np.savetxt(tmp_path / samples, bits, fmt="%d", delimiter="," if samples.endswith("csv") else " ")
    status, out, err = cli("decode", ring, *STATED[rule], "--samples", samples, "--json", "-")
    report = json.loads(out)
    tasks, hardware = read_tasks(tmp_path / ring).tasks, build(STATED[rule][1])
    places = np.array([hardware.names.index(report["mapping"][task]) for task in tasks.names])
    problem = Problem(tasks=tasks, topology=hardware, rule="capacity")
    assert (status, err, report["solver"]) == (0, "", "decode")
    assert report["cost"] == cost_of(problem, places).total < report["baseline_cost"]
    assert [stage["name"] for stage in report["stages"]] == ["baseline", "bound", "samples"]
    assert report["stages"][-1]["checked"] == ("energies" if samples.endswith("json") else "nothing")
    _, out, _ = cli("decode", ring, *STATED[rule], "--samples", samples, "--variables", "v.json", "--json", "-")
    assert json.loads(out)["stages"][-1]["checked"].startswith("fingerprint")
    assert not any("not checked" in warning for warning in json.loads(out)["warnings"])


@pytest.mark.parametrize("options", [[], ["--variables", "v.json"]])
@pytest.mark.parametrize("samples", ["samples.json", "samples.txt"])
def test_bug_samples_of_another_problem_are_refused(
    cli: Run, ring: str, tmp_path: Path, samples: str, options: list[str]
) -> None:
    """Samples for 2 x 5 nodes are none for 5 x 2; without energies and fingerprint a warning says what is not known."""
    cli("encode", ring, "--topology", "grid:2x5", "-o", "m.bqm", "--variables", "v.json")
    found = draw_samples(tmp_path / "m.bqm")
    (tmp_path / "samples.json").write_text(json.dumps(found.to_serializable()))
    np.savetxt(tmp_path / "samples.txt", found.record.sample[:, np.argsort(np.array(found.variables))], fmt="%d")
    answer = cli("decode", ring, "--topology", "grid:5x2", "--samples", samples, *options)
    if samples.endswith("json") or options:
        assert is_refused(answer, "samples")
        assert "expected samples of this problem" in answer[2]
    else:
        assert "warning: not checked that the samples are of this problem" in answer[1]
    assert cli("decode", ring, "--topology", "grid:2x5", "--samples", samples, *options)[0] == 0


def test_a_constrained_model_goes_out(cli: Run, ring: str, tmp_path: Path) -> None:
    """Hybrid solvers get every task's nodes as a discrete variable."""
    status, out, _ = cli("encode", ring, "--topology", "grid:3x3", "-o", "m.cqm")
    model = dimod.ConstrainedQuadraticModel.from_file((tmp_path / "m.cqm").read_bytes())
    assert (status, len(model.discrete), len(model.variables)) == (0, 9, 81)
    assert "constraints          18" in out


@pytest.mark.parametrize("command", ["encode", "decode"])
def test_a_model_of_what_cannot_be_met_is_a_result(cli: Run, tmp_path: Path, command: str) -> None:
    """Exit status 1 with the reason, and no model."""
    (tmp_path / "s.csv").write_text("0\n")
    own = ["-o", "m.bqm"] if command == "encode" else ["--samples", "s.csv"]
    status, out, err = cli(command, "path.json", "--topology", "ring:2", "--rule", "one-to-one", *own)
    assert (status, err) == (1, "")
    assert out.startswith("infeasible: no mapping meets\n  slots: ")
    assert not (tmp_path / "m.bqm").exists()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["encode"], "output"),
        (["encode", "-o", "m.txt"], "output"),
        (["encode", "-o", "no/m.bqm"], "output"),
        (["encode", "-o", "m.bqm", "--variables", "no/v.json"], "variables"),
        (["encode", "-o", "m.bqm", "--pin", "a=q"], "pinned/a"),
        (["encode", "-o", "m.bqm", "--penalty-scale", "0"], "ising/penalty_scale"),
        (["encode", "-o", "m.bqm", "--capacity-encoding", "none"], "capacity_encoding"),
        (["encode", "-o", "m.cqm", "--penalty-scale", "1"], "ising/penalty_scale"),
        (["encode", "-o", "m.cqm", "--capacity-encoding", "slack-free"], "ising/capacity"),
        (["decode"], "samples"),
        (["decode", "--samples", "missing.csv"], "samples"),
        (["decode", "--samples", "short.csv"], "samples"),
        (["decode", "--samples", "odd.csv"], "samples"),
        (["decode", "--samples", "pair.json"], "samples"),
        (["decode", "--samples", "good.csv", "--variables", "missing.json"], "variables"),
        (["decode", "--samples", "good.csv", "--variables", "pair.json"], "variables"),
        (["decode", "--samples", "good.csv", "--forbid", "q=x"], "forbidden/0/0"),
        (["decode", "--samples", "good.csv", "--json", "no/r.json"], "json"),
    ],
    ids=" ".join,
)
def test_bad_options_of_models_name_their_field(cli: Run, tmp_path: Path, arguments: list[str], field: str) -> None:
    """Exit status 2, one line on standard error, and nothing written."""
    for name, text in {"good": "1,0,0,0,1,0", "short": "1,0,0", "odd": "1,0,0,0,2,0"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    before = set(tmp_path.iterdir())
    command, *options = arguments
    assert is_refused(cli(command, "pair.json", "--topology", "path.json", *options), field)
    assert set(tmp_path.iterdir()) == before


def test_a_sample_of_another_width_is_told_what_is_expected(cli: Run, tmp_path: Path) -> None:
    """The message has both numbers."""
    (tmp_path / "short.csv").write_text("1,0,0")
    _, _, err = cli("decode", "pair.json", "--topology", "path.json", "--samples", "short.csv")
    assert err == "tiger: error: samples: expected 6 values a read, one for each variable, got 3\n"


@pytest.mark.parametrize(
    ("topology", "field"),
    [
        ("grid:0x4", "topology"),
        ("grid:4x", "topology"),
        ("grid:99999x99999x9999", "topology"),
        ("moebius:4", "topology"),
        ("missing.json", "topology"),
        ("", "topology"),
        ("pair.json", "topology/directed"),
        (".", "topology"),
    ],
)
def test_bad_topologies_are_named(cli: Run, topology: str, field: str) -> None:
    """Unknown kinds, bad extents, missing files and directed graphs are no hardware."""
    assert is_refused(cli("assign", "pair.json", "--topology", topology), field)


def graph(*weights: float, nodes: tuple[object, ...] = ("a", "b"), **more: object) -> str:
    """Return a task file in node-link form with an edge from a to b for each weight."""
    edges = [{"source": "a", "target": "b", "weight": weight} for weight in weights]
    return json.dumps({"nodes": [{"id": node} for node in nodes], "edges": edges, **more})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "field"),
    [
        ("t.json", graph(-1), "tasks/edges/0/weight"),
        ("t.json", graph(1, float("inf")), "tasks/edges/1/weight"),
        ("t.json", graph(float("nan")), "tasks/edges/0/weight"),
        ("t.json", graph(nodes=("a", "b", "a")), "tasks/nodes/2"),
        ("t.json", graph(nodes=("1,2", [1, 2])), "tasks/nodes/1"),
        ("t.json", graph(nodes=()), "tasks"),
        ("t.json", graph(1, nodes=("a",)), "tasks/edges/0/target"),
        ("t.json", '{"nodes": [', "tasks"),
        ("t.json", "", "tasks"),
        ("t.json", "[1, 2]", "tasks"),
        ("t.json", '{"nodes": [], "nodes": []}', "tasks"),
        ("t.json", "\udcff", "tasks"),
        ("t.graph", "2 1\n2\n", "tasks"),
        ("t.graph", "two one\n", "tasks"),
        ("t.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 1.0\n", "tasks"),
        ("t.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -1.0\n", "tasks"),
        ("t.mtx", "nothing\n", "tasks"),
        ("t.csv", "0,1\n1\n", "tasks"),
        ("t.csv", "0,1,2\n1,0,2\n", "tasks"),
        ("t.csv", "0,-1\n1,0\n", "tasks"),
        ("t.csv", "0,inf\n1,0\n", "tasks"),
        ("t.csv", "", "tasks"),
        ("t.graphml", "<graphml><graph>", "tasks"),
        ("t.graphml", "plain text", "tasks"),
        ("t.dat", "2\n0 1\n1 0\n0 1\n", "tasks"),
        ("t.dat", "zwei\n", "tasks"),
        ("t.ram", "nothing\n", "tasks"),
        ("t.doc", "a b\n", "tasks"),
        ("t", "a b\n", "tasks"),
    ],
)
def test_bad_task_files_name_what_is_wrong(cli: Run, tmp_path: Path, name: str, text: str, field: str) -> None:
    """Every kind of file is refused in one line that begins with the pointer to the fault, and nothing is written."""
    (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))
    topology = [] if name.endswith(".dat") else ["--topology", "path.json"]
    status, out, err = cli("assign", name, *topology, "--json", "out.json")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"tiger: error: {field}")
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("tasks", ["missing.json", ".", "missing.csv", "-"])
def test_a_missing_task_file_is_bad_input(cli: Run, tasks: str) -> None:
    """What is not there, or is no file, cannot be read."""
    assert is_refused(cli("assign", tasks, "--topology", "path.json"), "tasks")


@pytest.mark.parametrize("tasks", ["cycle.json", "path.json"])
def test_levels_need_a_directed_graph_without_cycles(cli: Run, tasks: str) -> None:
    """An undirected graph and a cycle have no levels."""
    assert is_refused(cli("assign", tasks, "--topology", "path.json", "--rule", "levels"), "tasks")


def test_tasks_alone_are_no_problem(cli: Run) -> None:
    """A topology must come from somewhere."""
    assert is_refused(cli("assign", "pair.json"), "topology")


@pytest.mark.parametrize("arguments", [["assign"], ["frobnicate"], ["--frobnicate"], ["serve", "--port", "http"]])
def test_bad_usage_is_bad_input(cli: Run, arguments: list[str]) -> None:
    """A missing argument, an unknown command or option and a port that is none exit with 2 in one line."""
    status, out, err = cli(*arguments)
    assert (status, out, err.count("\n"), err[:14]) == (2, "", 1, "tiger: error: ")


def test_topologies_are_listed(cli: Run) -> None:
    """Every kind stands there with an example that can be built."""
    from tiger.topologies.spec import KINDS, build

    status, out, _ = cli("topologies")
    assert status == 0
    for kind in KINDS:
        assert kind.example in out
        assert build(kind.example).size > 1


def test_solvers_are_listed(cli: Run) -> None:
    """Every name that `--solver` takes stands there."""
    status, out, _ = cli("solvers")
    assert status == 0
    assert {"auto", "neal"} <= {line.split()[0] for line in out.splitlines()}


def test_warm_says_what_it_compiles(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each stage, and how far it is, goes to standard error, and the end to standard output."""
    asked: list[tuple[str, ...]] = []

    def compile_one(commands: Iterable[str], compiled: Callable[[str, int, int], None]) -> None:
        asked.append(tuple(commands))
        compiled("swaps", 1, 20)

    monkeypatch.setattr("tiger.cli.warm.warm_all", compile_one)
    status, out, err = cli("warm", "layout")
    assert (status, err, asked) == (0, "compiling: swaps, 1 of 20\n", [("layout",)])
    assert out.startswith("every kernel is compiled")


def test_serve_hands_on_its_address(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service listens where it is told to."""
    heard: list[tuple[str, int]] = []
    monkeypatch.setattr("tiger.api.serve.serve", lambda host, port: heard.append((host, port)))
    assert cli("serve", "--host", "::1", "--port", "99") == (0, "", "")
    assert heard == [("::1", 99)]


def test_version(cli: Run) -> None:
    """The version is that of the package."""
    assert cli("--version") == (0, f"tiger {tiger.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (("asign",), "Did you mean 'assign'?"),
        (("assign", "pair.json", "--topolgy", "grid:2"), "did you mean --topology?"),
        (("layout", "ring.qasm", "--topology", "grid:2"), "did you mean --coupling?"),
        (("layout", "ring.qasm", "--device", "grid:2"), "did you mean --coupling?"),
        (("assign", "pair.json", "--coupling", "grid:2"), "did you mean --topology?"),
        (("warm", "--topology", "grid:2"), "No such option: --topology"),
        (("assign", "pair.json", "--topology", "gird:2"), "did you mean grid?"),
        (("assign", "pair.json", "--topology", "grid:2", "--rule", "onetoone"), "did you mean one-to-one?"),
        (("assign", "pair.json", "--topology", "grid:2", "--solver", "nael"), "did you mean neal?"),
        (("assign", "rign:4", "--topology", "grid:2"), "did you mean ring?"),
        (("warm", "asign"), "did you mean assign?"),
    ],
)
def test_misspelt_words_are_answered_with_the_nearest(cli: Run, arguments: tuple[str, ...], near: str) -> None:
    """Commands, options, choices, and kinds of a SPEC."""
    status, out, err = cli(*arguments)
    assert (status, out, err.endswith(f"{near}\n")) == (2, "", True)


def test_no_command_shows_the_help(cli: Run) -> None:
    """Without a command there is nothing to do, which is bad input."""
    status, out, err = cli()
    assert (status, out) == (2, "")
    assert "\nMap:\n" in err


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [[], ["assign"], ["layout"], ["encode"], ["decode"], ["topologies"], ["solvers"], ["serve"], ["warm"]],
    ids=" ".join,
)
def test_help_of_every_command(cli: Run, command: list[str]) -> None:
    """`--help` and `-h` explain each command on standard output."""
    status, out, err = cli(*command, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(" ".join(["Usage: tiger", *command]))
    assert cli(*command, "-h")[1] == out


def test_an_interrupt_is_quiet(cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ctrl-C ends a solve with status 130, without a word or a file."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tiger.mapping.entry.solve_problem", interrupt)
    before = set(tmp_path.iterdir())
    assert cli("assign", "pair.json", "--topology", "path.json", "--json", "out.json") == (130, "", "")
    assert set(tmp_path.iterdir()) == before


def test_an_interrupt_does_not_wait_for_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that still searches could take as long as its effort says."""
    left: list[int] = []
    released = threading.Event()
    searching = threading.Thread(target=released.wait, name=f"{THREADS}_0")
    monkeypatch.setattr("tiger.cli.app.run", lambda _: 130)
    monkeypatch.setattr("os._exit", left.append)
    searching.start()
    with pytest.raises(SystemExit) as ended:
        main()
    released.set()
    searching.join()
    assert (left, ended.value.code) == ([130], 130)


def test_an_interrupt_before_a_command_is_quiet(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is quick with Ctrl-C sees no traceback either."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tiger.cli.app.commands", interrupt)
    assert cli("--help") == (130, "", "")


def test_a_file_that_cannot_be_written_is_found_before_the_solve(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a result that has nowhere to go."""
    monkeypatch.setattr("tiger.mapping.entry.solve_problem", lambda *_, **__: pytest.fail("solved"))
    for option, field in (("--json", "no/file"), ("--plot", "no/file.svg")):
        assert is_refused(cli("assign", "pair.json", "--topology", "path.json", option, field), option[2:])


def test_python_m_tiger(cli: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The package runs as a module, with the exit status of the command."""
    monkeypatch.setattr(sys, "argv", ["tiger", "assign", "pair.json", "--topology", "ring:1", "--rule", "one-to-one"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("tiger", run_name="__main__")
    assert ended.value.code == 1
    assert capsys.readouterr().out.startswith("infeasible")


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_streams_that_cannot_be_written_to_give_no_traceback(stream: str, tmp_path: Path) -> None:
    """A full disk behind standard output is exit 2 and one line; behind standard error it changes nothing."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "tiger", "topologies"]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: full}
        done = subprocess.run(command, **streams, text=True, check=False, cwd=tmp_path)
    assert done.returncode == (2 if stream == "stdout" else 0)
    assert "Traceback" not in f"{done.stdout}{done.stderr}"


class Panic(BaseException):
    """Stand for a panic of compiled code, which is no Exception."""


@pytest.mark.parametrize("error", [ZeroDivisionError("division\nby zero"), Panic("index out of bounds")])
def test_bug_internal_errors_ended_with_a_traceback_and_status_1(
    error: BaseException, cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are status 70, one line that says how to report them, and a file with the traceback."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(tiger, "assign", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    status, out, err = cli("assign", "pair.json", "--topology", "grid:2")
    assert (status, out, err.count("\n")) == (70, "", 1)
    assert err.startswith(f"tiger: internal error: {type(error).__name__}: {str(error).splitlines()[0]}; please report")
    (kept,) = tmp_path.glob("tiger-*.txt")
    assert err.endswith(f"{kept}\n")
    assert "Traceback" in kept.read_text()


QUICK = ("--solver", "neal", "--sampler", "num_reads=2", "--sampler", "num_sweeps=10")


def test_options_of_a_sampler_are_passed_on(cli: Run, ring: str) -> None:
    """Values are JSON where they can be; what the sampler does not take is named, without a traceback."""
    assign = ("assign", ring, "--topology", "grid:3x3", *QUICK, "--no-control", "--json", "-")
    report = json.loads(cli(*assign, "--sampler", "randomize_order=true")[1])
    assert (report["feasible"], report["sampling"]["compared_reads"]) == (True, 0)
    assert report["sampling"]["reads"] % 2 == 0
    assert is_refused(cli(*assign, "--sampler", "sweeps=3"), "ising/sampler/sweeps")
    assert is_refused(cli(*assign, "--sampler", "seed=3"), "ising/sampler/seed")
    assert is_refused(cli(*assign, "--sampler", "num_reads=0"), "ising/sampler/num_reads")
    assert is_refused(cli(*assign, "--sampler", "randomize_order"), "ising/sampler")
    assert is_refused(cli(*assign, "--sampler", f"num_reads={10**20}"), "ising/sampler/num_reads")
    assert is_refused(cli(*assign, "--sampler", "proposal_acceptance_criteria=3"), "ising/sampler")
    assert cli(*assign, "--sampler", f"randomize_order={'[' * 60_000}")[0] == 0
    outcome = cli(*assign, "--sampler", "proposal_acceptance_criteria=Glauber")
    assert is_refused(outcome, "ising/sampler")
    assert "Glauber" in outcome[2]


@pytest.mark.parametrize(
    ("option", "field"),
    [(("--dry-run",), "dry_run"), (("--qpu-time", "1"), "qpu_time_s"), (("--in-flight", "99"), "in_flight")],
)
def test_what_a_machine_alone_has_is_refused_of_others(
    cli: Run, ring: str, option: tuple[str, ...], field: str
) -> None:
    """A budget that nothing keeps to would be a promise broken."""
    assert is_refused(cli("assign", ring, "--topology", "grid:3x3", *QUICK, *option), f"ising/{field}")


def test_samples_are_kept_and_decoded(cli: Run, ring: str) -> None:
    """The folder that `assign` fills is what `decode` reads; an empty one is refused."""
    status, out, _ = cli("assign", ring, "--topology", "grid:3x3", *QUICK, "--samples", "kept", "--json", "-")
    first = json.loads(out)
    assert (status, first["sampling"]["calls"]) == (0, len(list(Path("kept").iterdir())))
    status, out, _ = cli("decode", ring, "--topology", "grid:3x3", "--samples", "kept", "--json", "-")
    again = json.loads(out)
    assert (status, again["solver"], again["feasible"]) == (0, "decode", True)
    assert again["stages"][-1]["reads"] == first["sampling"]["reads"]
    Path("empty").mkdir()
    assert is_refused(cli("decode", ring, "--topology", "grid:3x3", "--samples", "empty"), "samples")
