"""Requests for maps of experts: answers, files, errors, and what the document says of them."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tiger.api.routes.entries import EXPERTS
from tiger.api.routes.examples import EXPERT_MAPS
from tiger.api.schemas.closed import refer
from tiger.api.schemas.experts import ExpertRequest
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.reports import model_of
from tiger.errors import InputError
from tiger.expert_maps.report import ExpertReport

LIMITS = Limits(max_tasks=16, max_time_s=5.0, max_edges=100)
CLUSTER = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}
TRACE = [[0, 2, 0], [1, 3, 1], [3, 1, 3], [2, 0, 2]]
LOADS: dict[str, Any] = {"kind": "loads", "trace": [[9.0, 1, 1, 1]], "experts": None, "replicas": 2}


def ask(**fields: object) -> bytes:
    """Return the bytes of a request for four experts on two devices, but for the fields given."""
    return json.dumps({"trace": TRACE, "cluster": CLUSTER, "experts": 4, "held_out": 0.0, **fields}).encode()


@pytest.mark.parametrize("fields", [{}, LOADS, LOADS | {"in_use": [[0, 1, 2, 3, 1, 2]], "token_s": 1.0}])
def test_experts_are_answered_as_documented(fields: dict[str, Any]) -> None:
    """With the fields that the documentation promises, and as in Python."""
    document = json.loads(EXPERTS.answer(ask(**fields), LIMITS).report)
    model_of(ExpertReport).model_validate(document)
    assert ExpertReport.from_dict(document).to_dict() == document
    assert (document["schema"], document["feasible"], document["optimal"]) == ("tiger.experts/1", True, True)


def test_shares_are_answered_as_documented() -> None:
    """Of several batches; layers of all of them count, and what is searched for longer is not answered at once."""
    fields = LOADS | {"trace": [[[9.0, 1, 1, 1]], [[1.0, 1, 1, 9]]], "sharing": "balanced", "decay": 0.5}
    document = json.loads(EXPERTS.answer(ask(**fields), LIMITS).report)
    model_of(ExpertReport).model_validate(document)
    assert (document["shares"]["batches"], len(document["shares"]["slots"][0])) == (2, 6)
    with pytest.raises(InputError, match="trace: expected at most 100 slots in all layers, got 120"):
        EXPERTS.check(ask(**fields | {"trace": [[[1.0] * 4] * 10] * 2}), LIMITS)


def test_only_a_batch_with_equal_shares_is_answered_at_once() -> None:
    """Others are searched for longer."""
    both: dict[str, Any] = {"trace": [[[9.0, 1, 1, 1]], [[1.0, 1, 1, 9]]]}
    asked = [LOADS, LOADS | {"sharing": "balanced"}, LOADS | both, {}]
    requests = [ExpertRequest(cluster=CLUSTER, **({"trace": TRACE, "experts": 4} | fields)) for fields in asked]
    assert [request.is_small for request in requests] == [True, False, False, False]


def test_maps_are_files_beside_the_report() -> None:
    """For systems that read a text; ExFlow has no replicas."""
    files = {draft.name: json.loads(draft.write()) for draft in EXPERTS.answer(ask(**LOADS), LIMITS).drafts}
    assert sorted(files) == ["expert_location.json", "expert_map.json", "initial_expert_map.json"]
    assert len(files["initial_expert_map.json"][0]) == 6
    assert "solution.csv" in {draft.name for draft in EXPERTS.answer(ask(), LIMITS).drafts}


def test_maps_that_no_file_states_have_none() -> None:
    """Those of devices with unlike slots, and those that do not fit into memory, which is an answer."""
    devices = [{"name": name, "memory_bytes": size} for name, size in (("x", 10), ("y", 2))]
    cluster = CLUSTER | {"devices": devices}
    for size, feasible in ((1.0, True), (4.0, False)):
        solution = EXPERTS.answer(ask(**LOADS, cluster=cluster, expert_bytes=size), LIMITS)
        document = json.loads(solution.report)
        model_of(ExpertReport).model_validate(document)
        assert (document["feasible"], document["slots_of_devices"]) == (feasible, [[4, 2]] if feasible else None)
        assert not list(solution.drafts)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"trace": "/etc/passwd"}, "#/trace"),
        ({"trace": [[0, 1], [2]]}, "#/trace"),
        ({"trace": [[0, 9]]}, "#/trace"),
        ({"trace": [[0.5, 1]]}, "#/trace"),
        ({"trace": []}, "#/trace"),
        ({"trace": [[0] * 30]}, "#/trace"),
        ({"kind": "loads", "trace": [[1, -1, 1, 1]]}, "#/trace/0/1"),
        ({"kind": "loads", "trace": [[[1, 1, 1, 1]], [[1, -1, 1, 1]]]}, "#/trace/1/0/1"),
        ({"sharing": "balanced"}, "#/sharing"),
        ({"cluster": None}, "#/cluster"),
        ({"cluster": "/etc/passwd"}, "#/cluster"),
        ({"cluster": "dgx:100000000"}, "#/cluster"),
        ({"in_use": [[0, 1, 2, 3]]}, "#/in_use"),
        ({"in_use": [[0, 1, 2, 3], [0]]}, "#/in_use"),
        ({"experts": 5}, "#/experts"),
        ({"replicas": -1}, "#/replicas"),
        ({"reserved_bytes": 1.0}, "#/reserved_bytes"),
        ({"time_limit_s": 6}, "#/time_limit_s"),
        ({"mode": "experts"}, "#/mode"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_input_is_422_and_points_at_the_field(solving: TestClient, fields: dict[str, Any], pointer: str) -> None:
    """Whatever is wrong."""
    found = solving.post("/experts", content=ask(**fields), headers={"Content-Type": "application/json"})
    if fields.get("trace") == [[0] * 30]:
        with pytest.raises(InputError, match="trace: expected at most 100 slots in all layers, got 120"):
            EXPERTS.check(ask(**fields), LIMITS)
        return
    assert (found.status_code, found.headers["content-type"]) == (422, "application/problem+json")
    assert found.json()["errors"][0]["pointer"].startswith(pointer)


def test_experts_are_a_job(solving: TestClient) -> None:
    """Which says of what kind it is, and has the report of a local run."""
    stated = EXPERT_MAPS["trace"]["value"]
    found = solving.post("/experts", json=stated, headers={"Prefer": "respond-async"})
    assert (found.status_code, found.json()["kind"]) == (202, "experts")
    report = solving.get(f"/jobs/{found.json()['id']}?wait=3600").json()["report"]
    assert (report["schema"], report["placed"]["crossing"]) == ("tiger.experts/1", 0)


def test_the_document_shows_request_and_report(document: dict[str, Any]) -> None:
    """With worked examples."""
    content = document["paths"]["/experts"]["post"]["requestBody"]["content"]["application/json"]
    assert (set(content["examples"]), content["schema"]) == (set(EXPERT_MAPS), refer("ExpertRequest"))
    assert document["components"]["schemas"]["ExpertRequest"]["required"] == ["trace", "cluster"]


def test_the_example_of_loads_pays() -> None:
    """As its description says."""
    document = json.loads(EXPERTS.answer(json.dumps(EXPERT_MAPS["loads"]["value"]).encode(), Limits(64, 9.0)).report)
    assert document["verdict"]["advice"] == "move"
