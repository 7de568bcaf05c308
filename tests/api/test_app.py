"""The routes: answers, errors and documentation."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.api.memory import in_memory
from tiger.api import app
from tiger.api.app import create_app
from tiger.api.pool.processes import SolverLostError, Workers
from tiger.api.settings import Settings
from tiger.errors import InputError

Post = Callable[..., httpx.Response]
NAN, INF = float("nan"), float("inf")


def tasks(*edges: dict[str, Any], **fields: object) -> dict[str, Any]:
    """Return a directed graph of tasks a, b, c with edges."""
    return {"directed": True, "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "edges": list(edges), **fields}


def edge(source: object, target: object, **fields: object) -> dict[str, Any]:
    """Return an edge."""
    return {"source": source, "target": target, **fields}


@pytest.mark.slow
def test_a_problem_is_answered_with_its_report(ask: Post) -> None:
    """Two tasks that talk become neighbours."""
    answer = ask(seed=3)
    report = answer.json()
    assert (answer.status_code, report["schema"], report["seed"]) == (200, "tiger.report/1", 3)
    assert (report["cost"], report["feasible"], set(report["mapping"])) == (3.0, True, {"a", "b", "c"})


def test_the_same_request_has_the_same_answer(ask: Post) -> None:
    """Seed and effort decide the mapping."""
    assert ask(seed=5).json()["mapping"] == ask(seed=5).json()["mapping"]


@pytest.mark.parametrize(
    "fields",
    [
        {"topology": "grid:2", "rule": "one-to-one"},
        {"pinned": {"a": "0", "b": "0"}, "rule": "one-to-one"},
        {"pinned": {"a": "0"}, "forbidden": [["a", "0"]]},
        {"topology": {"nodes": [{"id": 0}, {"id": 1}], "edges": []}, "pinned": {"a": "0", "b": "1"}},
    ],
)
def test_what_cannot_be_met_is_an_answer(ask: Post, fields: dict[str, object]) -> None:
    """A well-formed problem without a solution is 200, and says what stands against it."""
    answer = ask(**fields)
    report = answer.json()
    assert (answer.status_code, report["feasible"], report["cost"], report["mapping"]) == (200, False, None, {})
    assert report["violations"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"pinned": {"z": "0"}}, "#/pinned/z"),
        ({"pinned": {"a": "9"}}, "#/pinned/a"),
        ({"forbidden": [["z", "0"]]}, "#/forbidden/0/0"),
        ({"forbidden": [["a", "0"], ["a", "9"]]}, "#/forbidden/1/1"),
        ({"tasks": tasks(edge("a", "b", weight=-1))}, "#/tasks/edges/0/weight"),
        ({"tasks": tasks(edge("a", "b", weight=INF))}, "#/tasks/edges/0/weight"),
        ({"tasks": tasks(edge("a", "b", weight=NAN))}, "#/tasks/edges/0/weight"),
        ({"tasks": tasks(edge("a", "b", weight="1"))}, "#/tasks/edges/0/weight"),
        ({"tasks": tasks(edge("a", "b", weight=True))}, "#/tasks/edges/0/weight"),
        ({"tasks": tasks(edge("a", "b", weight=10**400))}, "#/tasks/edges/0/weight"),
        ({"tasks": tasks(edge("a", "z"))}, "#/tasks/edges/0/target"),
        ({"tasks": tasks({"source": "a"})}, "#/tasks/edges/0"),
        ({"tasks": tasks(nodes=[{"id": "a"}, {"id": "a"}])}, "#/tasks"),
        ({"tasks": tasks(nodes=[{"id": 1}, {"id": "1"}])}, "#/tasks"),
        ({"tasks": tasks(nodes=[{"id": "a", "work": NAN}])}, "#/tasks/nodes/0/work"),
        ({"tasks": tasks(nodes=[{"id": "a", "memory": -1}])}, "#/tasks/nodes/0/memory"),
        ({"tasks": tasks(nodes=[])}, "#/tasks"),
        ({"tasks": tasks(nodes={})}, "#/tasks"),
        ({"tasks": tasks(nodes=None)}, "#/tasks"),
        ({"tasks": tasks(edges=5)}, "#/tasks"),
        ({"tasks": tasks(directed="yes")}, "#/tasks"),
        ({"tasks": {}}, "#/tasks"),
        ({"tasks": tasks(edge("a", "b"), edge("b", "a")), "rule": "levels"}, "#/tasks"),
        ({"tasks": tasks(edge("a", "b"), directed=False), "rule": "levels"}, "#/tasks"),
        ({"topology": {"nodes": [{"id": "x", "slots": -1}], "edges": []}}, "#/topology"),
        ({"topology": {"nodes": [], "edges": []}}, "#/topology"),
        ({"topology": "ring"}, "#/topology"),
        ({"topology": "torus:0x4"}, "#/topology"),
        ({"topology": ""}, "#/topology"),
        ({"topology": "/etc/passwd"}, "#/topology"),
        ({"tasks": "/etc/passwd"}, "#/tasks"),
        ({"solver": "magic"}, "#/solver"),
        ({"objective": "latency"}, "#/objective"),
        ({"objective": "makespan", "tasks": tasks(edge("a", "b"), directed=False)}, "#/objective"),
        ({"effort": 0}, "#/effort"),
        ({"time_limit_s": 0}, "#/time_limit_s"),
        ({"time_limit_s": -1}, "#/time_limit_s"),
        ({"time_limit_s": 5.5}, "#/time_limit_s"),
        ({"time_limit_s": NAN}, "#/time_limit_s"),
        ({"seed": -1}, "#/seed"),
        ({"seed": 10**30}, "#/seed"),
        ({"slots": 10**30}, "#/slots"),
        ({"slots": 2, "rule": "levels"}, "#/slots"),
        ({"imbalance": 1e308}, "#/imbalance"),
        ({"allocation": ["0", "9"]}, "#/allocation/1"),
        ({"allocation": ["0", {"node": "1", "slots": 0}]}, "#/allocation"),
        ({"effort": 10**30}, "#/effort"),
        ({"ising": {"penalty_scale": 0}}, "#/ising/penalty_scale"),
        ({"ising": {"penalty_scale": 1e10}}, "#/ising/penalty_scale"),
        ({"ising": {"beta_range": [2, 1]}}, "#/ising/beta_range"),
        ({"ising": {"capacity": "any"}}, "#/ising/capacity"),
        ({"ising": {"sweeps": 5}}, "#/ising/sweeps"),
        ({"circuit": "x"}, "#/circuit"),
        ({"executor": None}, "#/executor"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_input_is_422_and_points_at_the_field(ask: Post, fields: dict[str, object], pointer: str) -> None:
    """Whatever is wrong, the answer is a strict problem document."""
    answer = ask(**fields)
    problem = json.loads(answer.text, parse_constant=pytest.fail)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert problem["status"] == 422
    assert problem["errors"][0]["pointer"].startswith(pointer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/assign", {"tasks": {}, "topology": "ring:3", "effort": 2**63}),
        ("/assign", {"tasks": {}, "topology": "ring:3", "effort": 5, "solver": "magic"}),
        ("/assign", {"effort": 5, "tasks": {}, "topology": "moebius:3"}),
        ("/assign", {"circuit": "", "topology": "ring:3", "effort": 2**63}),
        ("/place", {"model": [], "effort": 2**63}),
    ],
    ids=str,
)
def test_bug_what_nobody_can_do_is_refused_before_the_queue(
    refusing: TestClient, path: str, fields: dict[str, object]
) -> None:
    """It needs no worker, so that no slow job keeps it waiting, however much it asks."""
    answer = refusing.post(path, json=fields)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"#/{list(fields)[-1]}")


@pytest.mark.parametrize("field", ["tasks", "topology"])
def test_a_path_is_never_opened(ask: Post, field: str) -> None:
    """Nothing of a file comes back."""
    assert "root" not in ask(**{field: "/etc/passwd"}).text


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"tasks":1,"tasks":2}', b"[" * 1900, b'{"tasks":"\\ud800"}'])
def test_what_is_not_json_is_400(refused: Post, body: bytes) -> None:
    """Nothing is solved."""
    answer = refused(body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "#")


def test_json_of_another_kind_is_422(refused: Post) -> None:
    """A request is an object."""
    assert refused(b"[1]").json()["detail"] == "expected an object, got an array"


def test_too_many_tasks_are_refused_before_they_are_read(refused: Post) -> None:
    """Nodes are counted, not looked at."""
    answer = refused(json.dumps({"tasks": {"nodes": [0] * 9}, "topology": "grid:9"}).encode())
    assert answer.json()["errors"] == [{"pointer": "#/tasks", "detail": "expected at most 8 tasks, got 9"}]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("GET", "/assign", 405), ("POST", "/solvers", 405), ("POST", "/assign/", 404)],
)
def test_a_wrong_route_or_method_is_a_problem(refusing: TestClient, method: str, path: str, status: int) -> None:
    """These, too, are problem documents, which say what is expected."""
    answer = refusing.request(method, path)
    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert answer.json()["detail"].startswith("expected a ")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.slow
def test_solvers_are_listed(refusing: TestClient) -> None:
    """The default is one of them; D-Wave's are where the operator turned them on."""
    paying = TestClient(create_app(Settings(workers=1, enable_dwave=True)))
    free, all_ = ({solver["name"] for solver in x.get("/solvers").json()["solvers"]} for x in (refusing, paying))
    assert "auto" in free
    assert all_ - free == {"dwave", "leap-bqm", "leap-cqm", "leap-nl"}


def test_dwave_is_off(refused: Post) -> None:
    """A request that names a D-Wave solver is refused before anything is solved."""
    answer = refused(b'{"tasks": {"nodes": [{"id": 0}], "edges": []}, "topology": "grid:2", "solver": "dwave"}')
    detail = "D-Wave solvers are off at this service; its operator can turn them on with TIGER_ENABLE_DWAVE"
    assert (answer.status_code, answer.json()["errors"]) == (422, [{"pointer": "#/solver", "detail": detail}])


def test_every_listed_topology_has_an_example_that_works(refusing: TestClient) -> None:
    """Each kind's example is a specification."""
    from tiger.topologies.spec import build

    kinds = refusing.get("/topologies").json()["topologies"]
    assert {"torus", "fat-tree"} <= {kind["name"] for kind in kinds}
    assert all(build(kind["example"]).size for kind in kinds)


def test_health_is_answered_without_workers(refusing: TestClient) -> None:
    """The server is alive before a worker is warm."""
    assert refusing.get("/healthz").json() == {"status": "ok"}


@pytest.mark.slow
def test_bug_workers_that_are_lost_at_rest_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to ask for work, which is not to be sent while the server is not ready."""
    monkeypatch.setattr(app, "LOOK_S", 0.1)
    keeper = mock.Mock(side_effect=in_memory)
    with TestClient(create_app(Settings(workers=1), keeper)) as client:
        workers = keeper.call_args.args[1]
        while client.get("/readyz").status_code != 200:
            time.sleep(0.05)
        assert client.portal is not None
        before, pool = client.portal.call(workers.run, 60, os.getpid), workers._pool
        os.kill(before, signal.SIGKILL)
        while workers._pool is pool or client.get("/readyz").status_code != 200:
            time.sleep(0.05)
        assert client.portal.call(workers.run, 60, os.getpid) != before


@pytest.mark.usefixtures("lines")
def test_bug_a_server_is_not_ready_before_a_worker_has_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that are there and lost one after the other are none."""
    lost = mock.AsyncMock(side_effect=SolverLostError)
    monkeypatch.setattr(Workers, "run", lost)
    monkeypatch.setattr(Workers, "active", True)
    monkeypatch.setattr(app, "LOOK_S", 0.01)
    with TestClient(create_app(Settings(workers=1), in_memory)) as client:
        while lost.await_count < 6:
            assert client.get("/readyz").status_code == 503


@pytest.mark.slow
def test_health_is_answered_during_a_solve(solving: TestClient, ask: Post, endless: dict[str, object]) -> None:
    """The event loop never waits for a solve."""
    long = threading.Thread(target=lambda: ask(**endless, time_limit_s=2))
    long.start()
    waits = []
    while long.is_alive():
        begun = time.perf_counter()
        assert solving.get("/healthz").status_code == 200
        waits.append(time.perf_counter() - begun)
    assert len(waits) > 20
    # A loop that waited would be silent for the two seconds of the solve; a busy machine is for less.
    assert sorted(waits)[len(waits) // 2] < 0.1
    assert max(waits) < 1.5


def test_the_page_of_the_documentation_needs_no_network(refusing: TestClient) -> None:
    """Every script and style comes from the server itself."""
    page = refusing.get("/docs").text
    assert "http://" not in page
    assert "https://" not in page
    for part in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert refusing.get(f"/static-offline-docs/{part}").status_code == 200


def test_the_document_shows_requests_and_refusals(document: dict[str, Any]) -> None:
    """The schemas of requests, worked examples and every refusal are in the OpenAPI document."""
    post = document["paths"]["/assign"]["post"]
    content = post["requestBody"]["content"]["application/json"]
    assert set(content["examples"]) == {"eleven-tasks", "stencil", "ranks", "pattern", "fourier", "entangled"}
    assert len(content["schema"]["oneOf"]) == 2
    errors = {"400", "401", "405", "408", "409", "413", "415", "421", "422", "429", "500", "503"}
    assert set(post["responses"]) == {"200", "202", *errors}
    assert {parameter["name"] for parameter in post["parameters"]} == {
        *("Prefer", "Idempotency-Key", "Webhook-URL", "priority", "tag", "validate"),
    }
    assert "example" in post["responses"]["202"]["content"]["application/json"]
    assert all("application/problem+json" in post["responses"][status]["content"] for status in errors)


def test_bad_settings_stop_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are read when the service is built."""
    monkeypatch.setenv("TIGER_MAX_TASKS", "none")
    with pytest.raises(InputError, match="TIGER_MAX_TASKS"):
        create_app()


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_can_be_asked_without_a_body(solving: TestClient, path: str) -> None:
    """As balancers do."""
    answer = solving.head(path)
    assert (answer.status_code, answer.content) == (200, b"")
