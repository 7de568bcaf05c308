"""The routes of rebalancers: decisions, retries, steps at the same time, and requests that are refused."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

import tiger
from tiger.api.routes import rebalancers
from tiger.api.schemas.rebalancers import RebalancerBody
from tiger.api.schemas.reports import model_of
from tiger.rebalancing.decision import Decision

LAYERS = [
    {"name": f"l{k}", "forward_s": 0.001, "backward_s": 0.002, "parameter_bytes": 1e8, "activation_bytes": 1e5}
    for k in range(8)
]
CLUSTER = {"devices": [{"name": name, "memory_bytes": 8e9} for name in "abc"], "uniform_bandwidth": 1e11}
REQUEST: dict[str, Any] = {
    "model": {"layers": LAYERS},
    "cluster": CLUSTER,
    "plan": {"cuts": [0, 4, 8], "devices": ["b", "a"]},
    "microbatches": 8,
}
SKEWED = {"loads": [0.03] * 2 + [0.003] * 6}

Begin = Callable[..., str]


@pytest.fixture
def begin(solving: TestClient) -> Begin:
    """Return a function that begins a rebalancer, but for the fields given, and returns where it is."""

    def post(**fields: object) -> str:
        begun = solving.post("/rebalancers", json={**REQUEST, **fields})
        assert begun.status_code == 201, begun.text
        return str(begun.headers["location"])

    return post


def local() -> tiger.Rebalancer:
    """Return the rebalancer of the request."""
    asked = {**REQUEST, "plan": None}
    plan = tiger.Rebalancer(asked["model"], asked["cluster"], options=tiger.RebalanceOptions(pipeline=2)).plan
    line = type(plan).line((0, 4, 8), (1, 0))
    return tiger.Rebalancer(asked["model"], asked["cluster"], plan=line, options=tiger.RebalanceOptions(microbatches=8))


def decision(answer: httpx.Response) -> Decision:
    """Return the decision of an answer that is as the OpenAPI document says, but for its seconds."""
    assert answer.status_code == 200, answer.text
    model_of(Decision).model_validate(answer.json())
    return replace(Decision.from_dict(answer.json()), seconds=0.0)


def fault(answer: httpx.Response) -> str:
    """Return the pointer of an answer that refuses a field."""
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json"), answer.text
    return str(answer.json()["errors"][0]["pointer"])


def test_a_rebalancer_begins_with_its_plan(solving: TestClient) -> None:
    """The one in use, with what an iteration takes by the times of the model."""
    begun = solving.post("/rebalancers", json=REQUEST)
    body = RebalancerBody.model_validate(begun.json())
    assert (body.cuts, body.devices, body.lost, body.steps, body.microbatches) == ([0, 4, 8], ["b", "a"], [], 0, 8)
    assert 0 < (body.lower_bound_s or 0) <= (body.iteration_s or 0)
    assert body.created_s < body.expires_s
    assert solving.get(begun.headers["location"]).json() == begun.json()
    assert begun.headers["location"] == f"/rebalancers/{body.id}"


@pytest.mark.slow
def test_its_decisions_are_those_of_a_local_one(solving: TestClient, begin: Begin) -> None:
    """Of layers, of stages, of a lost device and of packing, one after another."""
    where, here = begin(), local()
    there = [solving.post(f"{where}/steps", json=step) for step in (SKEWED, {"loads": [0.02, 0.01]}, {"lost": "a"})]
    expected = [here.step(SKEWED["loads"]), here.step([0.02, 0.01]), here.lose("a")]
    assert [decision(answer) for answer in there] == [replace(one, seconds=0.0) for one in expected]
    packed = solving.post(f"{where}/steps", json={"target_s": 10})
    assert decision(packed) == replace(here.pack(10), seconds=0.0)
    shown = solving.get(where).json()
    assert tiger.RebalancerState.from_dict(shown) == here.state
    assert shown["steps"] == 4


def test_a_device_that_nothing_can_replace_leaves_no_plan(solving: TestClient, begin: Begin) -> None:
    """The rebalancer says so, and then refuses times."""
    small = {**CLUSTER, "devices": [{"name": name, "memory_bytes": 5e8} for name in "ab"]}
    where = begin(cluster=small)
    assert decision(solving.post(f"{where}/steps", json={"lost": "a"})).action == "stop"
    assert (solving.get(where).json()["iteration_s"], solving.get(where).json()["lost"]) == (None, ["a"])
    assert fault(solving.post(f"{where}/steps", json=SKEWED)) == "#/cluster/devices"


def test_a_deleted_rebalancer_is_unknown(solving: TestClient, begin: Begin) -> None:
    """Whatever is asked of it."""
    where = begin()
    deleted = solving.delete(where)
    assert (deleted.status_code, deleted.content) == (204, b"")
    answers = [solving.delete(where), solving.get(where), solving.post(f"{where}/steps", json=SKEWED)]
    assert {answer.status_code for answer in answers} == {404}
    assert solving.get("/rebalancers/x").json()["detail"] == "There is no such rebalancer, or not any more."


def test_a_repeated_step_is_taken_once(solving: TestClient, begin: Begin) -> None:
    """The answer to the first one comes again; another body is refused, and without a key it is a step."""
    where, keyed = begin(), {"Idempotency-Key": "k"}
    first, again = (solving.post(f"{where}/steps", json=SKEWED, headers=keyed) for _ in range(2))
    assert (again.content, solving.get(where).json()["steps"]) == (first.content, 1)
    other = solving.post(f"{where}/steps", json={"target_s": 1}, headers=keyed)
    assert (other.status_code, "Idempotency-Key" in other.json()["detail"]) == (422, True)
    assert decision(solving.post(f"{where}/steps", json=SKEWED)).action == "keep"
    assert solving.get(where).json()["steps"] == 2


def test_a_repeated_beginning_is_the_same_rebalancer(solving: TestClient) -> None:
    """As it is by then; another body is refused."""
    keyed = {"Idempotency-Key": "begin"}
    first = solving.post("/rebalancers", json=REQUEST, headers=keyed)
    solving.post(f"{first.headers['location']}/steps", json=SKEWED)
    again = solving.post("/rebalancers", json=REQUEST, headers=keyed)
    assert (again.status_code, again.json()["id"], again.json()["steps"]) == (201, first.json()["id"], 1)
    other = solving.post("/rebalancers", json={**REQUEST, "microbatches": 4}, headers=keyed)
    assert other.status_code == 422


def test_steps_at_the_same_time_are_never_lost(solving: TestClient, begin: Begin) -> None:
    """Each one is taken or refused, and the state is that of those taken."""
    where = begin()
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: solving.post(f"{where}/steps", json=SKEWED), range(6)))
    taken = [answer for answer in answers if answer.status_code == 200]
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert solving.get(where).json()["steps"] == len(taken) >= 1
    refused = [answer for answer in answers if answer.status_code == 409]
    assert all(answer.headers["location"] == where for answer in refused)


def test_the_same_step_at_the_same_time_is_taken_once(solving: TestClient, begin: Begin) -> None:
    """All who ask with its key have its answer."""
    where, keyed = begin(), {"Idempotency-Key": "same"}
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: solving.post(f"{where}/steps", json=SKEWED, headers=keyed), range(6)))
    assert len({answer.content for answer in answers}) == 1
    assert (answers[0].status_code, solving.get(where).json()["steps"]) == (200, 1)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"cluster": 3}, "#/cluster"),
        ({"cluster": "dgx:0"}, "#/cluster"),
        ({"model": {"layers": []}}, "#/model/layers"),
        ({"schedule": "interleaved"}, "#/schedule"),
        ({"microbatches": 0}, "#/microbatches"),
        ({"iterations": 1 << 40}, "#/iterations"),
        ({"threshold": 1.0}, "#/threshold"),
        ({"balancer": "x"}, "#/balancer"),
        ({"plan": None, "pipeline": 9}, "#/pipeline"),
        ({"plan": {"cuts": [0, 8]}}, "#/plan/devices"),
        ({"plan": {"cuts": [0, 8], "devices": ["x"]}}, "#/plan/devices/0"),
        ({"plan": {"cuts": [0, 4, 8], "devices": ["a", "a"]}}, "#/plan/devices/1"),
        ({"plan": {"cuts": [0, 8], "devices": ["a", "b"]}}, "#/plan/cuts"),
        ({"plan": {"cuts": [0, 0, 8], "devices": ["a", "b"]}}, "#/plan/cuts/1"),
        ({"plan": {"cuts": [0, 9], "devices": ["a"]}}, "#/plan"),
        ({"cluster": {**CLUSTER, "devices": [{"name": "a", "memory_bytes": 1}]}, "plan": None}, "#/cluster/devices"),
        ({"unknown": 1}, "#/unknown"),
    ],
)
def test_a_beginning_at_fault_names_its_field(solving: TestClient, fields: dict[str, Any], pointer: str) -> None:
    """None of it is kept."""
    assert fault(solving.post("/rebalancers", json={**REQUEST, **fields})) == pointer


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b"{}", "#"),
        (b'{"loads": [1], "lost": "a"}', "#/lost"),
        (b'{"loads": [1, 2, 3]}', "#/loads"),
        (b'{"loads": []}', "#/loads"),
        (b'{"loads": [[1, 1], [1, 1], [1, 1]]}', "#/loads"),
        (b'{"loads": [[1, 1], 1]}', "#/loads"),
        (b'{"loads": ["1", 1]}', "#/loads"),
        (b'{"loads": [true, 1]}', "#/loads"),
        (b'{"loads": [1, 1e400]}', "#/loads"),
        (b'{"loads": [1, 1%b]}' % (b"0" * 400), "#/loads"),
        (b'{"loads": [0, 0]}', "#/loads"),
        (b'{"loads": [1, -1]}', "#/loads/1"),
        (b'{"loads": [[1, 1], [-1, 1]]}', "#/loads/1/0"),
        (b'{"lost": "x"}', "#/lost"),
        (b'{"lost": 1}', "#/lost"),
        (b'{"target_s": 0}', "#/target_s"),
        (b'{"target_s": "1"}', "#/target_s"),
        (b'{"pack": 1}', "#/pack"),
    ],
)
def test_a_step_at_fault_names_its_field(solving: TestClient, begin: Begin, body: bytes, pointer: str) -> None:
    """The rebalancer stays as it is."""
    where = begin()
    refused = solving.post(f"{where}/steps", content=body, headers={"Content-Type": "application/json"})
    assert fault(refused) == pointer
    assert solving.get(where).json()["steps"] == 0


def test_a_first_plan_that_takes_too_long_is_refused(solving: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what can be done about it."""
    monkeypatch.setattr(rebalancers, "BEGIN_S", 0.2)
    shape = "transformer:layers=1000,hidden=64,heads=8,vocabulary=1000,sequence=64"
    refused = solving.post("/rebalancers", json={"model": shape, "cluster": "dgx:8"})
    assert refused.status_code == 422
    assert "stated as `plan`" in refused.json()["detail"]


def test_sizes_and_types_are_bounded_as_elsewhere(refusing: TestClient) -> None:
    """A body that is too large, one that is no JSON, and too many layers."""
    for path in ("/rebalancers", "/rebalancers/x/steps"):
        assert refusing.post(path, content=b" " * 3000, headers={"Content-Type": "application/json"}).status_code == 413
        assert refusing.post(path, content=b"x", headers={"Content-Type": "application/json"}).status_code == 400
        assert refusing.post(path, content=b"{}").status_code == 415
    many = {**REQUEST, "model": {"layers": [{"name": f"{k}"} for k in range(9)]}}
    assert fault(refusing.post("/rebalancers", content=json.dumps(many), headers={"Content-Type": "application/json"}))
