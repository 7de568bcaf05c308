"""The route that maps the tasks of a job anew after a change."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi.testclient import TestClient

import tiger
from tests.api.desk import LIMITS
from tiger.api.routes.changes import change_request, check
from tiger.api.routes.entries import ASSIGN
from tiger.api.routes.examples import ENTANGLED_ON_TARGET, REPLANS, STENCIL_ON_TORUS, TWO_SPEEDS
from tiger.api.schemas.limits import Limits
from tiger.errors import InputError

ASKED: dict[str, Any] = {"tasks": "halo:4x4", "topology": "torus:4x5", "seed": 1}
WIDE = Limits(max_tasks=1000, max_time_s=5.0)


def submit(client: TestClient, body: object, path: str = "/assign", **headers: str) -> httpx.Response:
    """Have a request answered as a job that is kept."""
    answer: httpx.Response = client.post(path, json=body, headers={"Idempotency-Key": uuid4().hex, **headers})
    assert answer.status_code == 200, answer.text
    return answer


def change(asked: dict[str, Any], report: tiger.Report, **fields: object) -> dict[str, Any]:
    """Return the request that a change makes of another."""
    sent = (json.dumps(asked), json.dumps(report.to_dict()), json.dumps(fields))
    found: dict[str, Any] = json.loads(change_request(*(text.encode() for text in sent), WIDE))
    return found


@pytest.fixture(scope="module", name="mapped")
def _mapped() -> tiger.Report:
    """Return the answer to the request."""
    return tiger.assign("halo:4x4", "torus:4x5", seed=1)


def test_lost_nodes_of_a_specification_move_their_tasks_alone(solving: TestClient, mapped: tiger.Report) -> None:
    """The new job is kept with the whole problem, and outlives the first one, with a key too."""
    first = submit(solving, ASKED).headers["location"]
    lost = [mapped.mapping["0"], mapped.mapping["9"]]
    answer = submit(solving, {"lost_nodes": lost}, f"{first}/replan", **{"Idempotency-Key": "lost"})
    report = answer.json()
    assert {move["task"]: (move["before"], move["why"]) for move in report["moves"]} == {
        "0": (lost[0], "lost"),
        "9": (lost[1], "lost"),
    }
    assert not set(lost) & set(report["mapping"].values())
    second = answer.headers["location"]
    kept = solving.get(f"{second}/files/request.json").json()
    assert kept["previous"] == dict(mapped.mapping)
    assert set(kept["allocation"]) == {f"{a},{b}" for a in range(4) for b in range(5)} - set(lost)
    assert solving.get(second).json()["kind"] == "assign"
    assert solving.delete(f"{first}?purge=true").status_code == 204
    assert (
        submit(solving, {"lost_nodes": lost}, f"{first}/replan", **{"Idempotency-Key": "lost"}).headers["location"]
        == second
    )
    assert solving.post(f"{first}/replan", json={}).status_code == 404
    back = submit(solving, {"added_nodes": lost, "move_cost": 0.5}, f"{second}/replan").json()
    assert back["cost"] <= report["cost"]
    assert back["move_cost"] == 0.5


@pytest.mark.parametrize("name", REPLANS)
def test_every_example_of_the_document_has_an_answer(solving: TestClient, document: dict[str, Any], name: str) -> None:
    """It is a change of the job of the example with a stencil."""
    content = document["paths"]["/jobs/{job_id}/replan"]["post"]["requestBody"]["content"]["application/json"]
    first = submit(solving, STENCIL_ON_TORUS).headers["location"]
    report = submit(solving, content["examples"][name]["value"], f"{first}/replan").json()
    assert report["feasible"]
    assert {move["why"] for move in report["moves"]} <= {"new", "lost", "gain"}


def test_tasks_come_and_go_with_their_traffic(mapped: tiger.Report) -> None:
    """Names, pins and forbidden pairs go along, and each direction of traffic has its own edge."""
    asked = {**ASKED, "pinned": {"3": mapped.mapping["3"], "2": "0,0"}, "forbidden": [["2", "1,1"], ["4", "1,1"]]}
    found = change(
        asked,
        mapped,
        lost_tasks=["2"],
        added_tasks={"nodes": [{"id": 99, "work": 3}], "edges": [{"source": 0, "target": 99, "weight": 7}]},
        traffic=[{"source": "1", "target": "0", "weight": 5}, {"source": "0", "target": "4", "weight": 0}],
    )
    names = [node["id"] for node in found["tasks"]["nodes"]]
    edges = {(str(edge["source"]), str(edge["target"])): edge.get("weight", 1) for edge in found["tasks"]["edges"]}
    assert names == [str(k) for k in range(16) if k != 2] + ["99"]
    assert {pair: weight for pair, weight in edges.items() if "0" in pair and weight != 1} == {
        ("0", "99"): 7,
        ("1", "0"): 5,
    }
    assert (("0", "4") in edges, ("4", "0") in edges, any("2" in pair for pair in edges)) == (False, True, False)
    assert (found["pinned"], found["forbidden"]) == ({"3": mapped.mapping["3"]}, [["4", "1,1"]])
    report = json.loads(ASSIGN.answer(json.dumps(found).encode(), WIDE).report)
    assert [move["task"] for move in report["moves"] if move["why"] != "new"] == []


def test_files_of_hosts_lose_nodes_with_their_slots() -> None:
    """An allocation in text keeps its slots and its order, and other hardware goes without it."""
    asked = {
        "tasks": "ring:6",
        "topology": {"file": "t.conf", "text": "SwitchName=s Nodes=n[0-3]\n"},
        "allocation": "n03 slots=2\nn00:3\nn01:3".replace("n0", "n"),
    }
    report = tiger.Report.from_dict(json.loads(ASSIGN.answer(json.dumps(asked).encode(), WIDE).report))
    found = change(asked, report, lost_nodes=["n0"])
    assert found["allocation"] == [{"node": "n3", "slots": 2}, {"node": "n1", "slots": 3}]
    with pytest.raises(InputError, match="expected a job whose allocation states no slots"):
        change(asked, report, added_nodes=["n2"])
    assert "allocation" not in change(asked, report, topology="ring:9")


def test_fewer_tasks_keep_the_slots_that_nodes_had_by_default() -> None:
    """Else nodes of two tasks would have one alone, and half of the tasks would move."""
    asked = {"tasks": "ring:8", "topology": "ring:4"}
    report = tiger.assign("ring:8", "ring:4")
    found = change(asked, report, lost_tasks=["0", "1", "2", "3", "4"])
    assert (found["rule"], found["slots"]) == ("capacity", 2)
    assert json.loads(ASSIGN.answer(json.dumps(found).encode(), WIDE).report)["moves"] == []
    assert change(asked, report, lost_nodes=["0"])["slots"] == 3


def test_tasks_do_not_share_nodes_unless_that_is_asked_for() -> None:
    """Fewer nodes than tasks are a report that says so, as a request with the rule is."""
    asked = {"tasks": "ring:4", "topology": "ring:4"}
    report = tiger.assign("ring:4", "ring:4")
    found = change(asked, report, lost_nodes=["0"])
    assert found["rule"] == "one-to-one"
    answered = json.loads(ASSIGN.answer(json.dumps(found).encode(), WIDE).report)
    assert (answered["feasible"], answered["rule"]) == (False, "one-to-one")
    shared = change(asked, report, lost_nodes=["0"], rule="capacity")
    moved = json.loads(ASSIGN.answer(json.dumps(shared).encode(), WIDE).report)
    assert [move["why"] for move in moved["moves"]] == ["lost"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"lost_nodes": ["9,9"]}, "lost_nodes/0"),
        ({"lost_nodes": ["0,0", "pinned"]}, "lost_nodes/1"),
        ({"added_nodes": ["0,0"]}, "added_nodes/0"),
        ({"lost_nodes": [f"{a},{b}" for a in range(4) for b in range(5)]}, "lost_nodes"),
        ({"lost_tasks": ["x"]}, "lost_tasks/0"),
        ({"added_tasks": {"nodes": [{"id": 0}]}}, "added_tasks/nodes/0/id"),
        ({"added_tasks": {"nodes": [{}]}}, "added_tasks/nodes/0/id"),
        ({"added_tasks": {"nodes": [], "edges": [{"source": "0", "target": "x"}]}}, "added_tasks/edges/0/target"),
        ({"lost_tasks": ["2"], "traffic": [{"source": "2", "target": "0", "weight": 1}]}, "traffic/0/source"),
        ({"traffic": [{"source": "1", "target": "0"}]}, "traffic/0/weight"),
        ({"traffic": [{"source": "1", "target": "0", "weight": -1}]}, "traffic/0/weight"),
        ({"added_tasks": {"nodes": [{"id": "x", "memory": "y"}]}}, "added_tasks/nodes/0/memory"),
        (
            {"added_tasks": {"nodes": [{"id": "x"}], "edges": [{"source": "x", "target": "1", "weight": True}]}},
            "added_tasks/edges/0/weight",
        ),
        ({"lost_tasks": [str(task) for task in range(16)]}, "lost_tasks"),
    ],
)
def test_changes_of_what_there_is_not_are_named(mapped: tiger.Report, fields: dict[str, Any], field: str) -> None:
    """The field is that of the change."""
    node = mapped.mapping["3"]
    asked = {**ASKED, "pinned": {"3": node}}
    named = {
        name: [node if part == "pinned" else part for part in listed] if name == "lost_nodes" else listed
        for name, listed in fields.items()
    }
    if field == "lost_nodes":
        asked = ASKED
    with pytest.raises(InputError) as caught:
        change(asked, mapped, **named)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("path", "asked", "reason"),
    [
        ("/assign", ENTANGLED_ON_TARGET, "a circuit is laid out anew"),
        ("/place", TWO_SPEEDS, "a rebalancer follows a placement whose devices are lost"),
        ("/assign", ASKED | {"objective": "max-link-load"}, "expected one without objective"),
        ("/assign", ASKED | {"nodes": 16}, "expected one without nodes"),
        ("/assign", ASKED | {"tasks": {"file": "a.hgr", "text": "1 3\n1 2 3"}}, "one of tasks without hyperedges"),
    ],
)
def test_jobs_that_nothing_can_be_counted_of_are_refused(
    solving: TestClient, path: str, asked: dict[str, Any], reason: str
) -> None:
    """The answer says what to do in place of that."""
    first = submit(solving, asked, path).headers["location"]
    answer = solving.post(f"{first}/replan", json={"lost_nodes": ["0,0"]})
    assert (answer.status_code, reason in answer.json()["detail"]) == (422, True), answer.text


def test_unknown_fields_and_jobs_are_refused(solving: TestClient) -> None:
    """With the pointer of the one, and 404 for the other."""
    answer = solving.post("/jobs/none/replan", json={"lost": []})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/lost")
    assert solving.post("/jobs/none/replan", json={}).status_code == 404
    with pytest.raises(InputError, match="expected at most 8 tasks"):
        check(json.dumps({"added_tasks": {"nodes": [{"id": k} for k in range(9)]}}).encode(), LIMITS)
