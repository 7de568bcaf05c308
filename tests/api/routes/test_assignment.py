"""From the bytes of a request to those of its answer."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tiger.api.routes.entries import ASSIGN, Solve
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.reports import model_of
from tiger.errors import InputError
from tiger.launchers.order import sort_ranks
from tiger.mapping import mapper
from tiger.mapping.options import SolveArguments
from tiger.model.problem import Problem
from tiger.qubo.params import IsingParams
from tiger.run.parallel import executors
from tiger.run.parallel.dask_pool import FanOut
from tiger.run.progress import ignore
from tiger.run.report import Report
from tiger.solvers import registry

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
LIMITS = Limits(max_tasks=3, max_time_s=2.0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the solver is asked for, in place of solving."""
    seen: dict[str, Any] = {}

    def record(problem: Problem, arguments: SolveArguments, _: object) -> Report:
        seen.update(vars(arguments), problem=problem)
        raise InputError("stop", "here")

    monkeypatch.setattr(mapper, "solve_problem", record)
    return seen


def ask(line: dict[str, Any], **fields: object) -> bytes:
    """Return the bytes of a request for the three tasks on three nodes in a row."""
    return json.dumps({"tasks": line, "topology": "grid:3", **fields}).encode()


def test_an_answer_is_a_report_in_strict_json(line: dict[str, Any]) -> None:
    """It has the fields that the documentation promises, and no others."""
    document = json.loads(ASSIGN.answer(ask(line), LIMITS).report)
    model_of(Report).model_validate(document)
    report = Report.from_dict(document)
    assert (report.feasible, report.cost, report.rule) == (True, 3.0, "one-to-one")


def test_tasks_may_be_a_pattern(line: dict[str, Any]) -> None:
    """The answer is that for the same graph; a limit holds before the graph is made, and no text is a path."""
    document = json.loads(
        ASSIGN.answer(json.dumps({"tasks": "ring:3*2", "topology": "grid:3"}).encode(), LIMITS).report
    )
    assert (document["cost"], sorted(document["mapping"])) == (8.0, ["0", "1", "2"])
    for text, reason in (
        ("alltoall:4096", "expected at most 3 tasks, got 4096"),
        ("/etc/passwd", "expected KIND:.. with a kind out of halo"),
        ("tasks.json", "expected KIND:.. with a kind out of halo"),
    ):
        with pytest.raises(InputError, match=f"^tasks: {reason}"):
            ASSIGN.check(ask(line, tasks=text), LIMITS)


def test_the_number_of_tasks_is_bounded(line: dict[str, Any]) -> None:
    """One task more than the limit is bad input of the tasks."""
    with pytest.raises(InputError, match="tasks: expected at most 2 tasks, got 3"):
        ASSIGN.check(ask(line), Limits(max_tasks=2, max_time_s=1))


def test_the_time_limit_is_bounded(line: dict[str, Any]) -> None:
    """Nobody may ask for more time than the server gives."""
    with pytest.raises(InputError, match="time_limit_s: expected at most 2, got 3"):
        ASSIGN.check(ask(line, time_limit_s=3), LIMITS)


@pytest.mark.parametrize("name", registry.DWAVE)
def test_the_operator_pays_for_dwave(line: dict[str, Any], name: str) -> None:
    """D-Wave's solvers are refused unless the service has them turned on."""
    with pytest.raises(InputError, match="solver: D-Wave solvers are off at this service; its operator"):
        ASSIGN.check(ask(line, solver=name), LIMITS)
    assert ASSIGN.check(ask(line, solver=name), replace(LIMITS, dwave=True)).solver == name


@pytest.mark.parametrize(
    ("fields", "effort", "limit"),
    [
        ({}, 1, 2.0),
        ({"effort": 7}, 7, 2.0),
        ({"time_limit_s": 1}, None, 1.0),
        ({"effort": 7, "time_limit_s": 1.5}, 7, 1.5),
    ],
)
def test_no_solve_runs_forever(
    line: dict[str, Any], asked: dict[str, Any], fields: dict[str, object], effort: int | None, limit: float
) -> None:
    """Without a time limit the server's own holds, and one round of effort."""
    with pytest.raises(InputError, match="stop"):
        ASSIGN.answer(ask(line, **fields), LIMITS)
    assert (asked["effort"], asked["time_limit_s"]) == (effort, limit)


def test_the_terms_of_a_request_reach_the_problem(line: dict[str, Any], asked: dict[str, Any]) -> None:
    """Rule, slots, pins and forbidden pairs are those asked for."""
    terms = {"rule": "capacity", "slots": 2, "imbalance": 0.5, "pinned": {"a": "0"}, "forbidden": [["b", "1"]]}
    with pytest.raises(InputError, match="stop"):
        ASSIGN.answer(ask(line, **terms, seed=4, solver="greedy"), LIMITS)
    problem = asked["problem"]
    assert (problem.rule, problem.pinned, problem.forbidden) == ("capacity", {"a": "0"}, {("b", "1")})
    assert problem.topology.slots.tolist() == [3, 3, 3]
    assert (asked["seed"], asked["solver"]) == (4, "greedy")


def test_an_allocation_reaches_the_problem(line: dict[str, Any], asked: dict[str, Any]) -> None:
    """Other nodes have no slots, the default rule does not count them, and launchers keep its order."""
    with pytest.raises(InputError, match="stop"):
        ASSIGN.answer(ask(line, allocation=["2", "0"], threshold=0.1, islands=3), LIMITS)
    assert (asked["problem"].rule, asked["problem"].topology.slots.tolist()) == ("capacity", [2, 0, 2])
    assert asked["problem"].topology.launch_hosts.tolist() == [2, 0]
    assert (asked["threshold"], asked["islands"]) == (0.1, 3)
    for given in ("2:3\n0 # one", ["2", "0", "2", "2"], [{"node": "2", "slots": 3}, "0"]):
        with pytest.raises(InputError, match="stop"):
            ASSIGN.answer(ask(line, allocation=given, pack=True), LIMITS)
        assert asked["problem"].topology.slots.tolist() == [1, 0, 3]


def test_a_search_starts_from_the_mapping_of_a_request(line: dict[str, Any], asked: dict[str, Any]) -> None:
    """It comes by names, with the limit on moves, and a node that is none is named."""
    with pytest.raises(InputError, match="stop"):
        ASSIGN.answer(ask(line, start={"a": "2", "b": "0"}, max_moves=1), LIMITS)
    assert (asked["start"], asked["max_moves"]) == ({"a": "2", "b": "0"}, 1)


@pytest.mark.parametrize("kind", ["file", "graph"])
def test_hardware_has_an_inside_levels_and_links_in_use(line: dict[str, Any], asked: dict[str, Any], kind: str) -> None:
    """Files come as texts, and specifications inside as they are; half of the link from a is left."""
    switches = {
        "file": "topology.conf",
        "text": "SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c\nSwitchName=t Switches=s[0-1]",
    }
    links = {
        "nodes": [{"id": name} for name in "abc"],
        "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}],
    }
    topology = switches if kind == "file" else links
    share = {"a": "a", "b": "s0" if kind == "file" else "b", "share": 0.5}
    fields = {"topology": topology, "node_topology": [{"topology": "tree:2@3"}], "levels": {"node": 30}, "pack": True}
    with pytest.raises(InputError, match="here"):
        ASSIGN.answer(ask(line, **fields, running=[share], allocation=["a", "b"]), LIMITS)
    made = asked["problem"].topology
    assert [made.names[k] for k in made.hosts] == ["a/0", "a/1", "b/0", "b/1"]
    assert made.metric.between(0, 1) == 3
    assert made.metric.between(0, 2) == (45 if kind == "file" else 60)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"topology": {"file": "topology.conf"}}, "topology/nodes: "),
        ({"topology": {"file": 3, "text": ""}}, "topology: expected an object of two texts, file and text"),
        ({"topology": {"file": "a.conf", "text": "x", "more": 1}}, "topology: expected an object of two texts"),
        ({"topology": {"file": "/etc/passwd", "text": ""}}, "topology: expected a file ending in"),
        ({"topology": {"file": "a.conf", "text": "Nodes=a"}}, "topology: line 1: "),
        ({"node_topology": [{"topology": {"text": ""}}]}, "node_topology/0/topology: expected an object of two texts"),
        ({"node_topology": [{"topology": "/etc/passwd"}]}, "topology: expected KIND"),
        ({"node_topology": []}, "node_topology: expected what is inside the nodes, got nothing"),
        ({"levels": {"rack": 3.0}}, "levels: expected levels out of node, got 'rack'"),
        ({"running": [{"a": "0", "b": "2", "share": 0.5}]}, "running/0: expected nodes with a link between them"),
    ],
)
def test_hardware_that_does_not_fit_is_named(line: dict[str, Any], fields: dict[str, Any], reason: str) -> None:
    """No text is opened as a file."""
    with pytest.raises(InputError, match=f"^{reason}"):
        ASSIGN.answer(ask(line, **fields), LIMITS)


def test_units_of_a_machine_reach_the_problem(line: dict[str, Any], asked: dict[str, Any]) -> None:
    """Its cores without them, and its GPUs where they are asked for."""
    file = {"file": "node.xml", "text": (EXAMPLES / "topologies" / "gpu_node.xml").read_text()}
    for units, name in (({}, "core3"), ({"units": "gpu"}, "gpu3")):
        with pytest.raises(InputError, match="stop"):
            ASSIGN.answer(ask(line, topology=file, **units), LIMITS)
        assert (asked["problem"].topology.names[-1], asked["problem"].topology.host) == (name, "g01")


def test_cores_and_ranks_of_hosts_reach_the_problem(line: dict[str, Any], asked: dict[str, Any]) -> None:
    """Three hosts of 16 slots take a rank each, of four cores, or all are on one of them."""
    fields = {"slots": 16, "cores_per_rank": 4}
    with pytest.raises(InputError, match="stop"):
        ASSIGN.answer(ask(line, **fields), LIMITS)
    made = asked["problem"].topology
    assert (made.slots.tolist(), made.cores_per_rank, asked["nodes"]) == ([1, 1, 1], 4, None)
    with pytest.raises(InputError, match="stop"):
        ASSIGN.answer(ask(line, **fields, pack=True), LIMITS)
    assert asked["problem"].topology.slots.tolist() == [4, 4, 4]
    with pytest.raises(InputError, match="stop"):
        ASSIGN.answer(ask(line, **fields, ranks_per="node=3"), LIMITS)
    assert asked["nodes"] == 1
    for stated, field in (({"cores_per_rank": 17}, "cores_per_rank"), ({"ranks_per": "node=2"}, "ranks_per")):
        with pytest.raises(InputError, match=f"^{field}: expected "):
            ASSIGN.answer(ask(line, **fields | stated), LIMITS)


@pytest.mark.parametrize(
    ("names", "field"), [([], "allocation"), ("0:0", "allocation"), ("slurm", "allocation/0"), (["9"], "allocation/0")]
)
def test_allocations_are_checked(line: dict[str, Any], names: list[str], field: str) -> None:
    """The pointer leads to the name at fault."""
    with pytest.raises(InputError) as caught:
        ASSIGN.answer(ask(line, allocation=names), LIMITS)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, IsingParams()),
        ({"ising": {}}, IsingParams()),
        (
            {"ising": {"penalty_scale": 0.5, "beta_range": [0.1, 2], "capacity": "slack-free"}},
            IsingParams(penalty_scale=0.5, beta_range=(0.1, 2.0), capacity="slack-free"),
        ),
        ({"ising": {"control": False, "qpu_time_s": 1.5}}, IsingParams(control=False, qpu_time_s=1.5)),
    ],
)
def test_options_of_the_ising_path_reach_the_solver(
    line: dict[str, Any], asked: dict[str, Any], fields: dict[str, object], expected: IsingParams
) -> None:
    """What a request leaves out is chosen as anywhere else."""
    with pytest.raises(InputError, match="stop"):
        ASSIGN.answer(ask(line, **fields), LIMITS)
    assert asked["ising"] == expected


def test_temperatures_the_wrong_way_round_are_named(line: dict[str, Any]) -> None:
    """What the schema cannot tell is bad input of the same field."""
    with pytest.raises(InputError, match="ising/beta_range: expected two finite numbers"):
        ASSIGN.answer(ask(line, ising={"beta_range": [2, 1]}), LIMITS)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses of the clusters that are asked for; all of them have failed."""
    addresses: list[str] = []

    def lend(address: str) -> FanOut:
        addresses.append(address)
        lent = FanOut(lambda: None)
        lent.trouble = "the cluster failed"
        return lent

    monkeypatch.setattr(executors, "keep_executor", lend)
    return addresses


@pytest.mark.parametrize(("fields", "times"), [({"effort": 50}, 1), ({"effort": 1}, 0)])
def test_a_cluster_is_for_large_solves(
    line: dict[str, Any], cluster: list[str], fields: dict[str, object], times: int
) -> None:
    """The report says where it has failed; the rest of it is the same."""
    body = ask(line, **fields)
    report = json.loads(Solve(LIMITS, "dask://there:1")("assign", body, ignore).report)
    assert cluster == ["dask://there:1"] * times
    assert report["warnings"] == ["the cluster failed"] * times
    assert report["mapping"] == json.loads(ASSIGN.answer(body, LIMITS).report)["mapping"]


def test_an_answer_has_the_order_of_ranks_for_a_launcher(line: dict[str, Any]) -> None:
    """By the name in the request; without one nothing is emitted, and a launcher that cannot take it is refused."""
    document = json.loads(ASSIGN.answer(ask(line, slots=1, emit="csv"), LIMITS).report)
    assert document["emitted"].startswith("rank,task,host,slot,unit,cores,")
    assert [row.split(",")[1] for row in document["emitted"].splitlines()[1:]] == sorted(document["mapping"])
    assert json.loads(ASSIGN.answer(ask(line), LIMITS).report)["emitted"] is None
    with pytest.raises(InputError, match=r"^emit: expected cores in the hardware"):
        ASSIGN.answer(ask(line, emit="openmpi"), LIMITS)
    with pytest.raises(ValidationError, match="emit"):
        ASSIGN.check(ask(line, emit="lsf"), LIMITS)


def test_launchers_have_consecutive_ranks_where_they_need_them() -> None:
    """By default for some, and with any as asked; the report has the cost without that rule."""

    def answer(**fields: object) -> dict[str, Any]:
        asked = {"tasks": "halo:4x4", "topology": "grid:2x2", "slots": 4, "seed": 1, **fields}
        solution = ASSIGN.answer(json.dumps(asked).encode(), replace(LIMITS, max_tasks=16))
        document: dict[str, Any] = json.loads(solution.report)
        return document

    document = answer(contiguous_hosts=True)
    nodes = [document["mapping"][task] for task in sort_ranks(document["mapping"])]
    assert nodes == [node for k in range(0, 16, 4) for node in [nodes[k]] * 4]
    assert document["cost"] >= document["free_cost"] > 0
    assert answer()["free_cost"] is None
    with pytest.raises(InputError, match=r"^contiguous_hosts: expected it without another objective"):
        answer(contiguous_hosts=True, objective="max-link-load")


def test_hyperedges_are_answered_by_their_multicasts(line: dict[str, Any]) -> None:
    """In JSON and as the text of a file, up to so many tasks in all of them; what goes by pairs is refused."""
    sets = [{"tasks": [node["id"] for node in line["nodes"]], "volume": 5}]
    tasks = {"nodes": line["nodes"], "hyperedges": sets}
    file = {"file": "three.hgr", "text": "1 3 1\n5 1 2 3\n"}
    for asked in (tasks, file):
        document = json.loads(ASSIGN.answer(ask(asked), LIMITS).report)
        assert document["objective"]["name"] == "multicast"
        assert (document["objective"]["value"], document["optimal"]) == (10.0, True)
        with pytest.raises(InputError, match="objective"):
            ASSIGN.answer(ask(asked, objective="makespan"), LIMITS)
        with pytest.raises(InputError, match="at most 2"):
            ASSIGN.answer(ask(asked), replace(LIMITS, max_edges=2))
