"""Requests for circuits: answers, errors, and what they may not do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from tiger.api.routes.circuits import lay_out
from tiger.api.routes.entries import ASSIGN
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.closed import refer
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.reports import model_of
from tiger.circuits.entry.report import CircuitReport
from tiger.errors import InputError
from tiger.run.parallel.dask_pool import FanOut

Post = Callable[..., httpx.Response]
HEAD = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n'
TRIANGLE = HEAD + "qreg q[3]; cx q[0],q[1]; cx q[1],q[2]; cx q[0],q[2];"
LIMITS = Limits(max_tasks=3, max_time_s=5.0, max_qubits=20)
SECRET = "swordfish-4711"
TARGET = {
    "num_qubits": 4,
    "gates": [{"name": "cx", "qubits": [k, k + 1], "error": 0.01 * (k + 1)} for k in range(3)],
    "measure": [{"qubit": 0, "error": 0.1}],
}


def ask(**fields: object) -> bytes:
    """Return the bytes of a request for a triangle on a ring of four, but for the fields given."""
    return json.dumps({"circuit": TRIANGLE, "topology": "ring:4", "level": 0, **fields}).encode()


@pytest.fixture(scope="module")
def route(solving: TestClient) -> Post:
    """Return a function that posts a request for the triangle, but for the fields it is given."""
    # Compiled kernels are kept on disk: a worker that has to compile them first would be too late.
    ASSIGN.answer(ask(initial_layout=[3, 0, 1]), LIMITS)

    def post(**fields: object) -> httpx.Response:
        found: httpx.Response = solving.post(
            "/assign", content=ask(**fields), headers={"Content-Type": "application/json"}
        )
        return found

    return post


@pytest.mark.parametrize(
    "topology",
    [
        "ring:4",
        [[0, 1], [1, 2]],
        {"coupling_map": [[0, 1], [1, 2]], "num_qubits": 5},
        {"nodes": [{"id": k} for k in "abc"], "edges": [{"source": "a", "target": k} for k in "bc"]},
        TARGET,
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_circuit_is_answered_with_its_report(topology: object) -> None:
    """It has the fields that the documentation promises, and no others."""
    document = json.loads(ASSIGN.answer(ask(topology=topology, seed=4), LIMITS).report)
    model_of(CircuitReport).model_validate(document)
    report = CircuitReport.from_dict(document)
    assert (report.feasible, report.seed, set(report.initial_layout)) == (True, 4, {0, 1, 2})
    assert report.extra_cx in (3, 6)
    assert (report.qasm or "").startswith("OPENQASM 2.0;")


def test_islands_are_shared_with_a_cluster_and_change_the_answer_alone_by_their_number() -> None:
    """A cluster that is not there yet has this process do everything."""
    here = json.loads(ASSIGN.answer(ask(islands=2, level=1), LIMITS).report)
    shared = FanOut(lambda: None)
    there = lay_out(CircuitRequest.read(json.loads(ask(islands=2, level=1))), LIMITS, executor=shared).report
    assert (here["islands"], here["qasm"]) == (there.islands, there.qasm) == (2, there.qasm)


def test_a_worker_answers(route: Post) -> None:
    """Parsing and routing happen there."""
    found = route(initial_layout=[3, 0, 1])
    assert (found.status_code, found.json()["initial_layout"]) == (200, {"0": 3, "1": 0, "2": 1})
    assert found.json()["schema"] == "tiger.circuit/1"


@pytest.mark.parametrize("topology", ["ring:2", [[0, 1], [2, 3]]])
def test_what_does_not_fit_is_an_answer(route: Post, topology: object) -> None:
    """It is 200, and says what stands against it."""
    found = route(topology=topology)
    assert (found.status_code, found.json()["feasible"], found.json()["qasm"]) == (200, False, None)
    assert found.json()["violations"]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"circuit": HEAD + "opaque f a,b,c; qreg q[3]; f q[0],q[1],q[2];"}, "#/circuit"),
        ({"circuit": HEAD + "qreg q[3]; zap q[0];"}, "#/circuit"),
        ({"circuit": HEAD + "qreg q[100000000]; h q;"}, "#/circuit"),
        ({"circuit": HEAD + "qreg q[3];"}, "#/circuit"),
        ({"circuit": HEAD}, "#/circuit"),
        ({"circuit": ""}, "#/circuit"),
        ({"circuit": "/etc/passwd"}, "#/circuit"),
        ({"circuit": None}, "#/circuit"),
        ({"circuit": ["x"]}, "#/circuit"),
        (
            {
                "circuit": HEAD
                + "gate a x { h x; h x; }"
                + "".join(f"gate a{k} x {{ a{k - 1 if k else ''} x; a{k - 1 if k else ''} x; }}" for k in range(40))
                + "qreg q[1]; a39 q[0];"
            },
            "#/circuit",
        ),
        ({"tasks": {"nodes": [], "edges": []}}, "#/circuit"),
        ({"topology": "/etc/passwd"}, "#/topology"),
        ({"topology": "moebius:3"}, "#/topology"),
        ({"topology": 5}, "#/topology"),
        ({"topology": None}, "#/topology"),
        ({"topology": {}}, "#/topology"),
        ({"topology": [[0, 0]]}, "#/topology/0"),
        ({"topology": [[0, 100_000_000]]}, "#/topology/0"),
        ({"topology": {"coupling_map": [[0, "x"]]}}, "#/topology/coupling_map/0/1"),
        ({"topology": TARGET | {"gates": [{"name": "cx", "qubits": [0, 9]}]}}, "#/topology/gates/0/qubits/1"),
        ({"level": 4}, "#/level"),
        ({"level": "3"}, "#/level"),
        ({"effort": 0}, "#/effort"),
        ({"objective": "swaps"}, "#/objective"),
        ({"objective": "success"}, "#/objective"),
        ({"solver": "nobody"}, "#/solver"),
        ({"solver": "leap-bqm"}, "#/solver"),
        ({"seed": -1}, "#/seed"),
        ({"initial_layout": [0, 1, 1]}, "#/initial_layout/2"),
        ({"initial_layout": [0, 1]}, "#/initial_layout"),
        ({"initial_layout": {"0": 1}}, "#/initial_layout"),
        ({"time_limit_s": 0}, "#/time_limit_s"),
        ({"time_limit_s": 6}, "#/time_limit_s"),
        ({"threads": 4}, "#/threads"),
        ({"rule": "levels"}, "#/rule"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_input_is_422_and_points_at_the_field(route: Post, fields: dict[str, Any], pointer: str) -> None:
    """Whatever is wrong, the answer is a strict problem document."""
    found = route(**fields)
    problem = json.loads(found.text, parse_constant=pytest.fail)
    assert (found.status_code, found.headers["content-type"]) == (422, "application/problem+json")
    assert problem["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("language", ["2.0", "3.0"])
def test_nothing_of_an_included_file_comes_back(route: Post, tmp_path: Path, language: str) -> None:
    """The include is refused, not looked at."""
    (tmp_path / "secret.inc").write_text(f"{SECRET};\n")
    found = route(circuit=f'OPENQASM {language};\ninclude "{tmp_path}/secret.inc";\n')
    assert (found.status_code, SECRET in found.text) == (422, False)
    assert "expected no include but" in found.json()["detail"]


def test_one_of_tasks_and_circuit_is_asked_for(route: Post) -> None:
    """Not both, and not neither."""
    assert route(tasks={}).json()["errors"] == [
        {"pointer": "#/circuit", "detail": "expected tasks or a circuit, got both"}
    ]
    with pytest.raises(InputError, match="tasks: expected tasks or a circuit, found neither"):
        ASSIGN.check(b'{"topology": "ring:4"}', LIMITS)


def test_qubits_are_bounded_by_the_service() -> None:
    """Of the circuit and of the device."""
    wide = HEAD + "qreg q[21]; h q;"
    with pytest.raises(InputError, match="circuit: line 3: expected at most 20 qubits, got more"):
        ASSIGN.answer(ask(circuit=wide), LIMITS)
    with pytest.raises(InputError, match="topology: expected 1 to 20 qubits, got 25"):
        ASSIGN.answer(ask(topology="grid:5x5"), LIMITS)


def test_a_request_has_defaults() -> None:
    """Circuit and topology suffice."""
    request = CircuitRequest.read({"circuit": TRIANGLE, "topology": "ring:4"})
    assert (request.level, request.effort, request.objective, request.solver) == (3, 1, "cx", "auto")


def test_a_flood_of_errors_is_one() -> None:
    """Refusing a large body costs little."""
    for fields in ({f"x{k}": k for k in range(1000)}, {"initial_layout": ["a"] * 1000}):
        with pytest.raises(ValidationError) as refusal:
            CircuitRequest.read({"circuit": TRIANGLE, "topology": "ring:4", **fields})
        assert refusal.value.error_count() == 1


def test_no_search_runs_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a time limit most of the server's own is for the search, and the rest for what follows it."""
    seen: list[float | None] = []

    def record(asked: Any, layout: object) -> None:
        seen.append(asked.params.time_limit_s)
        raise InputError("stop", "here")

    monkeypatch.setattr("tiger.circuits.entry.entry.report_mapping", record)
    for fields in ({}, {"time_limit_s": 1.5}):
        with pytest.raises(InputError, match="stop"):
            ASSIGN.answer(ask(**fields), LIMITS)
    assert seen == [3.75, 1.5]


def test_both_answers_are_documented(document: dict[str, Any]) -> None:
    """One of two requests, and one of two reports or what would be solved, told apart by their schema."""
    post = document["paths"]["/assign"]["post"]
    answers = post["responses"]["200"]["content"]["application/json"]["schema"]
    asked = post["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    assert asked == [refer("AssignRequest"), refer("CircuitRequest")]
    models = document["components"]["schemas"]
    assert (models["AssignRequest"]["required"], models["CircuitRequest"]["required"]) == (
        ["tasks"],
        ["circuit", "topology"],
    )
    assert (len(answers["oneOf"]), set(answers["discriminator"]["mapping"])) == (
        3,
        {"tiger.report/1", "tiger.circuit/1", "tiger.validation/1"},
    )
