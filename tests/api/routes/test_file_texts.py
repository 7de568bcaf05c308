"""Files in requests, as their names and their texts: what they hold, what bounds them, and that none is opened."""

import json
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

import tiger
from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.api.routes import assignment
from tiger.api.routes.admission import is_small
from tiger.api.routes.entries import ASSIGN, PLACE, PLAN
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.limits import Limits
from tiger.errors import InputError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TASKS = [
    *("dgx4.comscribe.csv", "diamond4.graphml", "groups4.nccl.log", "house5.graph", "pairs4.ipm.xml", "pairs4.mpiP"),
    *("ranks4.csv", "ring4.prof", "ring6.mtx", "square4.grf", "stencil8x8.json"),
]
MODELS = ["branches.json", "gpt2-medium.json", "layers.csv", "llama2-13b-serving.json", "skipnet.txt"]
CLUSTERS = ["measured2.json", "two_networks.json", "uneven4.json", "workstation4.topo"]
LIMITS = Limits(max_tasks=100, max_time_s=10.0)
GRAPH = {"nodes": [{"id": name} for name in "abc"], "edges": [{"source": "a", "target": "b"}] * 3}
CIRCUIT = 'OPENQASM 2.0; include "qelib1.inc"; qreg q[3]; cx q[0],q[1]; cx q[1],q[2];'


def text_of(path: str, folder: Path = EXAMPLES) -> dict[str, str]:
    """Return an example as a request states it."""
    return {"file": Path(path).name, "text": (folder / path).read_text()}


def assign(limits: Limits = LIMITS, **fields: object) -> dict[str, Any]:
    """Return the report of a mapping."""
    report: dict[str, Any] = json.loads(ASSIGN.answer(json.dumps(fields).encode(), limits).report)
    return report


def place(limits: Limits = LIMITS, **fields: object) -> dict[str, Any]:
    """Return the report of a placement."""
    report: dict[str, Any] = json.loads(PLACE.answer(json.dumps(fields).encode(), limits).report)
    return report


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_tasks_are_those_of_the_file(name: str) -> None:
    """Whatever its format."""
    report = assign(tasks=text_of(name), topology="grid:8x8", seed=1)
    here = tiger.assign(EXAMPLES / name, "grid:8x8", seed=1)
    assert (report["mapping"], report["cost"], report["rule"]) == (here.mapping, here.cost, here.rule)


def test_a_file_may_have_hardware_of_its_own() -> None:
    """That of QAPLIB needs no other, and takes none."""
    here = tiger.assign(EXAMPLES / "square4.dat", seed=1)
    assert assign(tasks=text_of("square4.dat"), seed=1)["cost"] == here.cost
    with pytest.raises(InputError, match="topology: expected none, as the task file brings its own"):
        assign(tasks=text_of("square4.dat"), topology="grid:4")


@pytest.mark.slow
def test_a_file_may_have_a_rule_of_its_own() -> None:
    """That of the original tool, unless another is stated."""
    fields = {"tasks": text_of("butko11.ram"), "topology": text_of("mesh_2x2_het.arc"), "seed": 1}
    assert (assign(**fields)["rule"], assign(**fields, slots=4)["rule"]) == ("levels", "capacity")
    assert assign(**fields)["cost"] == 388


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("x.mtx", "%%MatrixMarket matrix coordinate pattern general\n65536 65536 0\n", "2 tasks, got 65536"),
        ("x.graph", "3 1\n2\n1\n\n", "2 tasks, got 3"),
        ("x.csv", "0,1,1\n1,0,1\n1,1,0\n", "2 tasks, got 3"),
        ("x.json", json.dumps(GRAPH), "2 tasks, got 3"),
        ("x.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n1\n", "2 edges, got 4"),
        ("x.json", json.dumps({**GRAPH, "nodes": GRAPH["nodes"][:2]}), "2 edges, got 3"),
    ],
)
def test_tasks_and_edges_of_a_file_are_bounded(file: str, text: str, reason: str) -> None:
    """A short text that states many costs little memory."""
    tracemalloc.start()
    with pytest.raises(InputError, match=f"tasks: expected at most {reason}"):
        assign(Limits(max_tasks=2, max_time_s=5.0, max_edges=2), tasks={"file": file, "text": text}, topology="grid:4")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"tasks": {"file": "/etc/passwd", "text": "root"}}, "#/tasks"),
        ({"tasks": {"file": "/etc/hosts.graph", "text": ""}}, "#/tasks"),
        ({"tasks": {"file": "a.json", "text": "{"}}, "#/tasks"),
        ({"tasks": {"file": "a.json", "text": '{"file": "b.json", "text": "{}"}'}}, "#/tasks"),
        ({"tasks": {"file": "a.graph", "text": "2 1\n2\n3\n"}}, "#/tasks"),
        ({"tasks": {"file": "a.graph", "text": 3}}, "#/tasks"),
        ({"tasks": {"text": "2 1\n2\n1\n"}}, "#/tasks"),
        ({"topology": None}, "#/topology"),
        ({"tasks": {"file": "a.graph", "text": "2 1\n2\n1\n"}, "topology": None}, "#/topology"),
        ({"topology": {"file": "a.conf", "text": " "}}, "#/topology"),
    ],
)
def test_bad_files_of_tasks_point_at_their_field(solving: TestClient, fields: dict[str, Any], pointer: str) -> None:
    """Endings, syntax, and hardware that is missing."""
    found = solving.post("/assign", json={"tasks": GRAPH, "topology": "grid:4", **fields})
    assert (found.status_code, found.json()["errors"][0]["pointer"]) == (422, pointer)
    assert "root:" not in found.text


@pytest.mark.parametrize(("characters", "solver"), [(8192, "auto"), (600, "neal")])
def test_short_files_of_tasks_are_small(characters: int, solver: str) -> None:
    """Less so for other solvers."""
    for more, expected in ((0, True), (1, False)):
        tasks = {"file": "x.graph", "text": "1" * (characters + more)}
        assert is_small(AssignRequest.read({"tasks": tasks, "topology": "grid:2", "solver": solver})) is expected


@pytest.mark.parametrize("text", ["# a line\n0 1\n1 2\n", "[[0, 1], [1, 2]]", '{"coupling_map": [[0, 1], [1, 2]]}'])
def test_a_device_is_that_of_the_file(text: str) -> None:
    """Lines of two qubits, or JSON, within the limit of couplers."""
    fields = {"circuit": CIRCUIT, "topology": {"file": "line.txt", "text": text}, "level": 1}
    assert (assign(**fields)["extra_cx"], assign(**fields)["feasible"]) == (0, True)
    with pytest.raises(InputError, match="topology: expected at most 1 couplers, got 2"):
        assign(Limits(max_tasks=8, max_time_s=5.0, max_couplers=1), **fields)


@pytest.mark.parametrize("text", ["", "0 1\n/etc/passwd\n", "[[0, 1]", '{"gates": 3}'])
def test_bad_files_of_devices_are_bad_input(text: str) -> None:
    """Of the topology."""
    with pytest.raises(InputError, match=r"^topology"):
        assign(circuit=CIRCUIT, topology={"file": "line.txt", "text": text})


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
@cases(quick=20, long=2_000)
@given(data=st.data())
def test_damaged_files_of_tasks_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """Nothing but a graph within the limits or bad input comes of one."""
    stated = {"file": name, "text": data.draw(damaged(text_of(name)["text"]))}
    with suppress(InputError):
        assert assignment.read_tasks(stated, LIMITS).tasks.size <= LIMITS.max_tasks


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_that_of_the_file(name: str) -> None:
    """Of every format, for a placement and for a plan."""
    file = text_of(name, EXAMPLES / "models")
    here = tiger.place(EXAMPLES / "models" / name, "dgx:1")
    assert stages_of(place(model=file, cluster="dgx:1")) == stages_of(here.to_dict())
    body = json.dumps({"model": file, "cluster": "dgx:1", "pipeline": 2, "tensor": 1, "data": 1, "schedule": "1f1b"})
    report = json.loads(PLAN.answer(body.encode(), LIMITS).report)
    plan = tiger.plan(EXAMPLES / "models" / name, "dgx:1", pipeline=2, tensor=1, data=1, schedule="1f1b")
    assert (report["iteration_s"], report["batch"]) == (plan.iteration_s, plan.batch)


def stages_of(report: dict[str, Any]) -> list[tuple[str, object]]:
    """Return what runs where."""
    return [(stage["device"], stage["ops"]) for stage in report["stages"]]


@pytest.mark.parametrize("name", ["two_towers.csv", "skipnet.txt", "branches.json"])
def test_operators_are_those_of_the_file(name: str) -> None:
    """Tables, profiles, and a chain is none."""
    fields = {"model": text_of(name, EXAMPLES / "models"), "cluster": "dgx:1", "mode": "dag"}
    if name == "branches.json":
        with pytest.raises(InputError, match=r"^model: "):
            place(**fields)
        return
    here = tiger.place(EXAMPLES / "models" / name, "dgx:1", mode="dag")
    assert stages_of(place(**fields)) == stages_of(here.to_dict())


@pytest.mark.long
@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_is_that_of_the_file(name: str) -> None:
    """JSON of devices and of machines, and what nvidia-smi prints."""
    model = EXAMPLES / "models/skipnet.txt"
    here = tiger.place(model, EXAMPLES / "clusters" / name)
    report = place(model=text_of("models/skipnet.txt"), cluster=text_of(name, EXAMPLES / "clusters"))
    assert stages_of(report) == stages_of(here.to_dict())


def test_a_machine_inside_hosts_may_be_a_file() -> None:
    """Beside the network, which may be one too, and alone has no devices."""
    network, machine = text_of("topology.conf"), text_of("nvlinks4.xml")
    networks = {"node": {"bandwidth": "50GB/s"}}
    layer = {"forward_s": 1, "backward_s": 2, "parameter_bytes": 10, "activation_bytes": 5}
    model = [{"name": name, **layer} for name in "ab"]
    report = place(model=model, cluster={"hosts": network, "machine": machine, "networks": networks})
    assert report["stages"][0]["device"].endswith(".gpu0")
    with pytest.raises(InputError, match="cluster: expected devices, as what is inside its hosts is not stated"):
        place(model=model, cluster=network)
    with pytest.raises(InputError, match=r"cluster/machine: expected a file ending in \.json, \.txt"):
        place(model=model, cluster={"hosts": network, "machine": network})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"model": {"file": "a.txt", "text": "/etc/passwd"}}, "model/nodes: line 1: expected a node"),
        ({"model": {"file": "/etc/passwd", "text": "x"}}, "model: expected a file ending in .txt"),
        ({"model": {"file": "a.csv", "text": "\n"}}, "model: expected text, got none in 'a.csv'"),
        ({"model": {"file": "a.json", "text": '{"layers": [1, 2, 3, 4, 5, 6, 7, 8, 9]}'}}, "model: expected at most 8"),
        ({"model": {"file": "a.json", "text": '{"edges": [1, 2, 3, 4]}'}}, "model: expected at most 3 edges, got 4"),
        ({"cluster": {"file": "a.json", "text": '{"hosts": "/etc/passwd", "machine": "dgx:1"}'}}, "cluster/hosts: "),
        ({"cluster": {"file": "a.json", "text": '{"links": [1, 2, 3, 4]}'}}, "cluster: expected at most 3 links"),
        ({"cluster": {"file": "a.topo", "text": "nothing"}}, "cluster"),
        ({"cluster": {"file": "a.json", "text": '"/etc/passwd"'}}, "cluster: "),
        ({"cluster": {"file": "a.exe", "text": "x"}}, "cluster: expected a file ending in .json"),
    ],
)
def test_bad_files_of_networks_name_their_field(fields: dict[str, Any], reason: str) -> None:
    """And are measured before anything is built of them."""
    row = {"name": "a", "forward_s": 1, "backward_s": 2, "parameter_bytes": 10, "activation_bytes": 5}
    limits = Limits(max_tasks=8, max_time_s=5.0, max_edges=3)
    with pytest.raises(InputError) as caught:
        place(limits, **{"model": [row], "cluster": "dgx:1", **fields})
    assert f"{caught.value.field}: {caught.value.reason}".startswith(reason)
