"""Requests that are validated in place of solved."""

import json
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.api.routes.test_starts import ASSIGNED, submit
from tiger.api.routes.entries import ENTRIES
from tiger.api.routes.examples import (
    EXAMPLES,
    EXPERT_MAPS,
    FOURIER_ON_RING,
    PLACEMENTS,
    PLANS,
    STENCIL_ON_TORUS,
)
from tiger.api.routes.validation import SECONDS, describe
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.reports import model_of
from tiger.api.schemas.validation import Validation

EVERY = {"/assign": EXAMPLES, "/place": PLACEMENTS, "/plan": PLANS, "/experts": EXPERT_MAPS}
WIDE = Limits(max_tasks=20_000, max_time_s=60.0)


def validate(client: TestClient, body: object, path: str = "/assign") -> httpx.Response:
    """Ask what a request would have solved."""
    answer: httpx.Response = client.post(f"{path}?validate=true", json=body)
    return answer


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, named in EVERY.items() for name in named])
def test_every_example_is_posed_and_not_kept(solving: TestClient, path: str, name: str) -> None:
    """The answer is as the OpenAPI document has it, nothing is said against it, and there is no job."""
    before = len(solving.get("/jobs").json()["jobs"])
    answer = validate(solving, EVERY[path][name]["value"], path)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    model_of(Validation).model_validate(found)
    assert (found["kind"], found["feasible"] in (True, None), found["violations"]) == (path[1:], True, [])
    assert min(found["sizes"].values()) > 0
    assert (len(solving.get("/jobs").json()["jobs"]), "location" in answer.headers) == (before, False)


def test_tasks_have_sizes_rule_and_stages(solving: TestClient) -> None:
    """As their solve has; a time limit alone has no estimate, since it is all used."""
    found = validate(solving, {"tasks": "halo:8x8", "topology": "tree:4x4@1,10", "seed": 1}).json()
    assert found["sizes"] == {"tasks": 64, "edges": 224, "nodes": 16, "hosts": 16, "slots": 64}
    assert (found["rule"], found["objective"], found["solver"]) == ("capacity", "cost", "auto")
    assert found["feasible"] is True
    report = solving.post("/assign", json={"tasks": "halo:8x8", "topology": "tree:4x4@1,10", "seed": 1}).json()
    ran = [stage["name"] for stage in report["stages"] if stage["name"] not in ("baseline", "bound")]
    assert set(ran) <= set(found["stages"])
    assert found["processor_s"]["value"] > 0
    limited = validate(solving, {"tasks": "halo:8x8", "topology": "tree:4x4@1,10", "time_limit_s": 3}).json()
    assert limited["processor_s"] is None
    more = validate(solving, {"tasks": "halo:8x8", "topology": "tree:4x4@1,10", "effort": 8}).json()
    assert more["processor_s"]["value"] == pytest.approx(8 * found["processor_s"]["value"], rel=0.2)


def test_what_cannot_be_met_is_known_without_a_search(solving: TestClient) -> None:
    """Too few nodes, memory that is short, and a circuit that is too wide."""
    few = validate(solving, {"tasks": "ring:9", "topology": "ring:3", "rule": "one-to-one"}).json()
    assert (few["feasible"], len(few["violations"]) > 0) == (False, True)
    heavy = {
        "tasks": {"nodes": [{"id": k, "memory": 9} for k in range(2)], "edges": []},
        "topology": {"nodes": [{"id": k, "memory": 5} for k in "ab"], "edges": [{"source": "a", "target": "b"}]},
    }
    short = validate(solving, heavy).json()
    assert (short["feasible"], short["violations"][0]["kind"]) == (False, "memory")
    wide = validate(solving, {**FOURIER_ON_RING, "topology": "ring:3"}).json()
    assert (wide["feasible"], wide["sizes"]["qubits"]) == (False, 4)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "pinned": {"99": "0,0"}}),
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "max_moves": 3}),
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "islands": 3, "solver": "neal"}),
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "start": {"0": "0,0"}}),
        # Each of these was once found by the solve alone.
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "objective": "makespan"}),
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "objective": "ring"}),
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "objective": "multicast"}),
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "nodes": 17}),
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "nodes": 2, "slots": 4}),
        ("/assign", {"tasks": "halo:4x4", "topology": "torus:4x4", "nodes": 4, "slots": 4, "pinned": {"0": "0,0"}}),
        ("/assign", {**FOURIER_ON_RING, "objective": "success"}),
        ("/assign", {**FOURIER_ON_RING, "initial_layout": [0, 1, 2, 2]}),
        ("/place", {"model": "transformer:layers=4", "cluster": "dgx:1", "tensor": 64}),
        ("/plan", {"model": "transformer:layers=4", "cluster": "dgx:1"}),
        ("/experts", {"kind": "loads", "trace": [[1, 2]], "cluster": "dgx:1", "replicas": -1}),
    ],
)
def test_what_a_solve_would_refuse_is_refused_alike(solving: TestClient, path: str, body: dict[str, Any]) -> None:
    """The same problem, by the same field."""
    answers = [solving.post(path, json=body), validate(solving, body, path)]
    assert [answer.status_code for answer in answers] == [422, 422]
    assert answers[0].json() == answers[1].json()


def test_little_work_is_told_and_jobs_are_started_from(solving: TestClient) -> None:
    """A start of a job is looked up as for a solve."""
    assert validate(solving, STENCIL_ON_TORUS).json()["at_once"] is True
    assert validate(solving, {**STENCIL_ON_TORUS, "effort": 1000}).json()["at_once"] is False
    first = submit(solving, "/assign", ASSIGNED)
    assert validate(solving, {**ASSIGNED, "start_job": first["id"]}).json()["feasible"] is True
    gone = validate(solving, {**ASSIGNED, "start_job": "none"})
    assert (gone.status_code, gone.json()["errors"][0]["pointer"]) == (422, "#/start_job")


def test_estimates_grow_with_what_they_are_of() -> None:
    """More tasks, gates and layers take longer, and none takes less than the least that was measured."""
    for bodies in (
        [{"tasks": f"halo:{n}x{n}", "topology": f"torus:{n}x{n}"} for n in (4, 16, 64)],
        [{"circuit": _chain(n), "topology": "heavy-hex:7", "level": 3} for n in (2, 8, 32)],
    ):
        found = [describe(ENTRIES["assign"].check(json.dumps(body).encode(), WIDE), WIDE) for body in bodies]
        seconds = [each.processor_s.value for each in found if each.processor_s is not None]
        assert seconds == sorted(seconds)
        assert len(set(seconds)) > 1
    assert min(growth.least for growth in SECONDS.values()) > 0


def _chain(qubits: int) -> str:
    """Return a circuit of many gates between neighbours and others."""
    gates = "".join(f"cx q[{a}],q[{(a + step) % qubits}];" for step in range(1, qubits) for a in range(qubits))
    return f'OPENQASM 2.0; include "qelib1.inc"; qreg q[{qubits}]; {gates}'
