"""What launchers and other systems read of ended jobs: as a local run writes it, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

import tiger
from tests.api.desk import Clerk
from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.routes.emission import FORMATS, write
from tiger.api.routes.entries import ENTRIES
from tiger.api.schemas.limits import Limits
from tiger.api.seams.upload import NO_UPLOADS
from tiger.api.settings import Settings
from tiger.errors import InputError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
LIMITS = Limits(max_tasks=64, max_time_s=60.0)
HOSTS = {
    "nodes": [{"id": "s"}, *({"id": f"n{k}", "slots": 4} for k in range(3))],
    "edges": [{"source": "s", "target": f"n{k}", "bandwidth": 2} for k in range(3)],
}
SWITCHED = HOSTS | {"nodes": [{"id": "s", "slots": 0}, *HOSTS["nodes"][1:]]}
CONF, SOCKETS = EXAMPLES / "topology.conf", EXAMPLES / "two_sockets.xml"
SHAPE = {"transformer": {"layers": 4, "hidden": 64, "heads": 4, "sequence": 16, "batch": 1, "vocabulary": 100}}
DEVICES = {"devices": [{"name": "x"}, {"name": "y", "speed": 2}], "uniform_bandwidth": 1e10}
LAYER = {"forward_s": 1, "backward_s": 2, "parameter_bytes": 10, "activation_bytes": 5}
CHAIN = {"layers": [{"name": name, **LAYER} for name in "abcd"]}
LOADS = {"kind": "loads", "trace": [[9.0, 1, 1, 1]], "replicas": 2}
TRACE = {"trace": [[0, 2, 0], [1, 3, 1], [3, 1, 3], [2, 0, 2]], "experts": 4, "held_out": 0.0}


def file(path: Path) -> dict[str, str]:
    """Return a file as a request states it."""
    return {"file": path.name, "text": path.read_text()}


def ask(use: str, /, **fields: object) -> tuple[bytes, bytes]:
    """Return the report of a request and its body."""
    body = json.dumps(fields).encode()
    return ENTRIES[use].answer(body, LIMITS).report, body


def emit(report: Any, name: str) -> bytes | str:
    """Return what a report writes, or why it does not."""
    try:
        text = report.emit(name)
    except InputError as error:
        return str(error)
    return text if isinstance(text, bytes) else text.encode()


def emit_again(name: str, report: bytes, body: bytes) -> bytes | str:
    """Return what the service writes of a stored report, or why it does not."""
    try:
        return write(name, report, NO_UPLOADS, body, LIMITS).content
    except InputError as error:
        return str(error)


def check_equal(local: Any, report: bytes, body: bytes) -> set[str]:
    """Raise AssertionError where a stored report is written otherwise than a local one; return what it can be."""
    schema = json.loads(report)["schema"]
    written = {name: emit(local, name) for name in FORMATS[schema]}
    assert {name: emit_again(name, report, body) for name in FORMATS[schema]} == written
    return {name for name, text in written.items() if isinstance(text, bytes)}


@pytest.mark.parametrize(
    ("asked", "here"),
    [
        ({"topology": "grid:3", "slots": 4}, {"topology": "grid:3", "slots": 4}),
        ({"topology": SWITCHED}, {"topology": SWITCHED}),
        (
            {
                "topology": file(CONF),
                "node_topology": [{"topology": file(SOCKETS)}],
                "allocation": [{"node": "n01", "slots": 6}, {"node": "n00", "slots": 5}, {"node": "n05", "slots": 8}],
                "nodes": 2,
            },
            {"topology": CONF, "node_topology": SOCKETS, "allocation": "n01:6 n00:5 n05:8", "nodes": 2},
        ),
    ],
    ids=["specification", "graph", "file"],
)
def test_every_launcher_gets_what_a_local_run_writes(
    asked: dict[str, Any], here: dict[str, Any], tmp_path: Path
) -> None:
    """Byte for byte, or is refused for the same reason, of hardware in each of its forms."""
    if isinstance(here["topology"], dict):
        (tmp_path / "hosts.json").write_text(json.dumps(here["topology"]))
        here = here | {"topology": tmp_path / "hosts.json"}
    report, body = ask("assign", tasks="halo:3x3", seed=1, effort=1, **asked)
    written = check_equal(tiger.assign("halo:3x3", seed=1, effort=1, **here), report, body)
    assert {"openmpi", "slurm", "csv", "wrapper", "permutation"} <= written


@pytest.mark.parametrize("model", [SHAPE, CHAIN])
def test_every_training_system_gets_what_a_local_run_writes(model: dict[str, Any]) -> None:
    """Of a placement and of one beside the layout in use."""
    for fields in ({}, {"schedule": "1f1b", "pipeline": 2}):
        report, body = ask("place", model=model, cluster=DEVICES, **fields)
        written = check_equal(tiger.place(model, DEVICES, **fields), report, body)  # type: ignore[arg-type]  # of any names
        assert ("megatron" in written) == (model is SHAPE)


@pytest.mark.long
def test_every_training_system_gets_the_best_plan() -> None:
    """That of a local run."""
    alike = DEVICES | {"devices": [{"name": "x"}, {"name": "y"}]}
    report, body = ask("plan", model=SHAPE, cluster=alike, batch=4)
    assert "megatron" in check_equal(tiger.plan(SHAPE, alike, batch=4), report, body)


@pytest.mark.parametrize("fields", [LOADS, TRACE])
def test_every_server_of_experts_gets_what_a_local_run_writes(fields: dict[str, Any]) -> None:
    """A file of numpy among them."""
    report, body = ask("experts", cluster=DEVICES, **fields)
    here = fields | {"trace": np.array(fields["trace"])}
    assert {"eplb", "vllm", "sglang"} <= check_equal(tiger.experts(cluster=DEVICES, **here), report, body)


def test_ranks_beyond_those_of_files_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no bound but that of tasks."""
    monkeypatch.setattr("tiger.api.routes.files.MAX_RANKS", 2)
    report, body = ask("assign", tasks="ring:4", topology="grid:2", slots=2)
    assert write("openmpi", report, NO_UPLOADS, body, LIMITS).content.count(b"rank ") == 4


def test_a_report_goes_with_its_own_request_alone() -> None:
    """Others have other tasks, nodes or layers."""
    report, _ = ask("assign", tasks="ring:4", topology="grid:4")
    for other in ({"tasks": "ring:3", "topology": "grid:4"}, {"tasks": "ring:4", "topology": "ring:4", "slots": 9}):
        with pytest.raises(InputError, match="report: expected a mapping"):
            write("csv", report, NO_UPLOADS, json.dumps(other | {"topology": SWITCHED}).encode(), LIMITS)
    placed, _ = ask("place", model=CHAIN, cluster=DEVICES)
    with pytest.raises(InputError, match="report: expected a report of the request beside it"):
        write("torch", placed, NO_UPLOADS, json.dumps({"model": SHAPE, "cluster": DEVICES}).encode(), LIMITS)


def submit(client: TestClient, path: str = "/assign", **fields: object) -> str:
    """Have a job done, and return where it is."""
    answer = client.post(path, json=fields, headers={"Prefer": "respond-async"})
    assert answer.status_code == 202, answer.text
    where = str(answer.headers["location"])
    assert client.get(f"{where}?wait=60").json()["status"] in ("done", "failed")
    return where


@pytest.fixture(scope="module")
def job(solving: TestClient) -> str:
    """Return where a job is whose mapping has names of nodes that most launchers refuse."""
    return submit(solving, tasks="ring:4", topology="grid:2x2")


def test_a_job_is_written_for_what_it_was_not_asked_for(solving: TestClient, job: str) -> None:
    """As a file of a name and a type."""
    found = solving.get(f"{job}/emit/csv")
    assert (found.status_code, found.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert found.headers["content-disposition"] == 'attachment; filename="ranks.csv"'
    assert found.content == solving.get(f"{job}/files/ranks.csv").content
    listed = {each["name"]: each for each in solving.get(f"{job}/emit").json()}
    assert set(listed) == set(FORMATS["tiger.report/1"])
    assert listed["kueue"] == {"name": "kueue", "file": "kueue-patches.json", "media_type": "application/json"}


def test_a_mapping_that_a_launcher_does_not_take_is_refused(solving: TestClient, job: str) -> None:
    """With the reason, which the launcher has."""
    found = solving.get(f"{job}/emit/slurm")
    assert (found.status_code, found.json()["errors"][0]["pointer"]) == (422, "#/emit")
    assert "expected hosts named by letters" in found.json()["detail"]


def test_an_unknown_name_is_told_the_known_ones(solving: TestClient, job: str) -> None:
    """Those of the kind of job; of another owner's there is nothing at all."""
    found = solving.get(f"{job}/emit/vllm")
    assert found.status_code == 404
    assert found.json()["detail"].startswith("expected one of openmpi, prrte, slurm, ")
    assert solving.get("/jobs/nobody/emit/slurm").status_code == 404
    assert solving.get("/jobs/nobody/emit").status_code == 404
    assert solving.get(f"{job}/emit/csv?width=3").status_code == 422


def test_a_map_of_experts_comes_in_bytes(solving: TestClient) -> None:
    """Numpy reads it."""
    where = submit(solving, "/experts", cluster=DEVICES, **LOADS)
    found = solving.get(f"{where}/emit/eplb")
    assert (found.status_code, found.headers["content-type"]) == (200, "application/octet-stream")
    assert found.content[:2] == b"PK"


def test_what_left_no_answer_is_written_for_nothing(solving: TestClient) -> None:
    """Nor is what is not feasible."""
    failed = submit(solving, tasks="ring:4", topology="grid:2x2", pinned={"0": "nowhere"})
    assert solving.get(f"{failed}/emit").json() == []
    assert solving.get(f"{failed}/emit/csv").status_code == 404
    unmet = submit(solving, tasks="ring:4", topology="grid:3", rule="one-to-one")
    assert solving.get(f"{unmet}/emit/csv").status_code == 422


def test_a_job_that_goes_on_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer says where it is; one whose request is lost says so."""
    clerk = Clerk()
    clerk.takes_s = 3600.0
    monkeypatch.setattr("tiger.api.app.Workers", lambda *_: clerk)
    asked = {"tasks": "ring:4", "topology": "grid:4"}
    with TestClient(create_app(Settings(), in_memory), headers={"Prefer": "respond-async"}) as client:
        where = client.post("/assign", json=asked).headers["location"]
        found = client.get(f"{where}/emit/slurm")
        assert (found.status_code, found.headers["location"]) == (409, where)
        clerk.takes_s, clerk.says = 0.0, b'{"schema": "tiger.report/1"}'
        client.delete(where)
        where = client.post("/assign", json=asked).headers["location"]
        client.get(f"{where}?wait=5")
        assert client.get(f"{where}/emit/slurm").status_code == 410
