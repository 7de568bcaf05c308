"""The audit."""

import asyncio
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings, strategies
from starlette.requests import ClientDisconnect

from tests.api.desk import Clerk
from tests.api.memory import in_memory
from tiger.api.accounts import Accounts, Quotas, ServiceAccount
from tiger.api.app import create_app
from tiger.api.middleware import keys, problems
from tiger.api.middleware.audit import AuditLog
from tiger.api.middleware.log import RequestLog
from tiger.api.settings import Settings

Lines = Callable[[], list[dict[str, Any]]]
KEY, NEXT, WRONG, SECRET = "alice-key-0123456789", "b" * 32, "wrong-key-0123456789", "whsec-0123456789abcdef-secret"
TASKS = {"tasks": {"nodes": [{"id": "a"}], "edges": []}, "topology": "grid:2"}


@pytest.fixture
def client(lines: Lines) -> Iterator[TestClient]:
    """Return a client, without a key, of a service of one account with two keys and a secret."""
    account = ServiceAccount(
        name="alice", keys=keys.read_keys((KEY, NEXT), "alice"), quotas=Quotas(), webhook_secrets=(SECRET,)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiger.api.app.Workers", lambda *_: Clerk())
        with TestClient(create_app(Settings(keys_file=Accounts(accounts=(account,))), in_memory)) as client:
            yield client


def audited(lines: Lines) -> list[dict[str, Any]]:
    """Return the lines of the audit that are of requests."""
    return [line for line in lines() if line["event"] == "audit" and line["who"] != "tiger"]


def written(lines: list[dict[str, Any]]) -> str:
    """Return what the service has written, and not the client of the tests, which tells where it asks."""
    return json.dumps([line for line in lines if not line["event"].startswith("HTTP Request")])


def test_what_changes_something_is_on_a_line(client: TestClient, lines: Lines) -> None:
    """Who, by which key, what, of which job, from where and with what outcome; a read is on none."""
    answer = client.post("/assign", params={"priority": 1}, json=TASKS, headers={"X-API-Key": NEXT})
    job_id = answer.headers["location"].rpartition("/")[2]
    client.get(f"/jobs/{job_id}", headers={"X-API-Key": NEXT})
    (line,) = (line for line in audited(lines) if line["action"] == "assign")
    assert (line["schema"], line["who"], line["outcome"], line["status"]) == (1, "alice", "done", 200)
    assert (line["key"], line["address"], line["resource"]) == (keys.parse(NEXT)[0].digits, "testclient", job_id)
    assert line["request_id"] == answer.headers["x-request-id"]
    assert "show_job" not in {line["action"] for line in audited(lines)}


def test_comparisons_and_rebalancers_that_are_made_are_named(client: TestClient, lines: Lines) -> None:
    """As jobs are, which have a line of their own when they end."""
    headers = {"X-API-Key": KEY}
    variants = [{"changes": {"seed": seed}} for seed in (1, 2)]
    rebalancer = {
        "model": "transformer:layers=12,hidden=1024,heads=16,vocabulary=50257,sequence=2048",
        "cluster": "dgx:1",
        "pipeline": 4,
        "microbatches": 16,
    }
    comparison = {"kind": "assign", "request": TASKS, "variants": variants}
    for path, body in (("/comparisons", comparison), ("/rebalancers", rebalancer)):
        answer = client.post(path, json=body, headers=headers)
        assert answer.status_code == 201
        line = audited(lines)[-1]
        assert line["resource"] == answer.headers["location"].rpartition("/")[2]


def test_a_request_without_a_good_key_is_denied(client: TestClient, lines: Lines) -> None:
    """Nobody is named, a read among them, and nor is the key that was sent."""
    client.get("/jobs", headers={"X-API-Key": WRONG})
    (line,) = audited(lines)
    assert (line["who"], line["key"], line["outcome"], line["status"]) == (None, None, "denied", 401)
    assert (line["action"], line["resource"]) == ("unknown", None)


def test_a_refusal_names_no_resource_that_was_not_found(client: TestClient, lines: Lines) -> None:
    """The id of a path may be anything."""
    client.delete(f"/jobs/{uuid.uuid4().hex}", headers={"X-API-Key": KEY})
    (line,) = audited(lines)
    assert (line["action"], line["outcome"], line["status"], line["resource"]) == ("cancel_job", "refused", 404, None)


@pytest.mark.parametrize(
    ("raised", "outcome", "status"),
    [
        (ClientDisconnect(), "abandoned", 499),
        (asyncio.CancelledError(), "failed", 503),
        (ZeroDivisionError(), "failed", 500),
    ],
)
def test_a_request_without_an_answer_names_its_job(
    lines: Lines, raised: BaseException, outcome: str, status: int
) -> None:
    """Its client has left, the server ends, or it fails: the job that it made is on its line all the same."""
    job_id = uuid.uuid4().hex

    async def fail(request: Request) -> None:
        request.state.job_id = job_id
        raise raised

    app = FastAPI()
    for kind in problems.HANDLED:
        app.add_exception_handler(kind, problems.answer)
    app.add_middleware(AuditLog)
    app.add_middleware(RequestLog)
    app.add_api_route("/fail", fail, methods=["POST"])
    TestClient(app).post("/fail")
    (line,) = (line for line in lines() if line["event"] == "audit")
    assert (line["outcome"], line["status"], line["resource"]) == (outcome, status, job_id)


def test_reads_are_on_a_line_where_the_operator_says_so(lines: Lines) -> None:
    """TIGER_AUDIT_READS adds them."""
    client = TestClient(create_app(Settings(api_keys=keys.parse(KEY), audit_reads=True), in_memory))
    client.get("/topologies", headers={"X-API-Key": KEY})
    assert [(line["action"], line["outcome"]) for line in audited(lines)] == [("topologies", "done")]


PLACES = (
    *("X-API-Key", "Authorization", "X-Request-Id", "Idempotency-Key", "User-Agent", "Webhook-URL", "Prefer"),
    *("path", "segment", "query", "tag", "body", "field", "task", "cookie"),
)


def send(client: TestClient, secret: str, places: frozenset[str], *, good: bool) -> httpx.Response:
    """Send a request that has a secret in some places, by a good key or by none."""
    headers = {"X-API-Key": KEY} if good else {}
    headers |= dict.fromkeys(places & {"X-API-Key", "X-Request-Id", "Idempotency-Key", "User-Agent", "Prefer"}, secret)
    headers |= {"Authorization": f"Bearer {secret}"} if "Authorization" in places else {}
    headers |= {"Webhook-URL": f"https://{secret}@a.example/{secret}"} if "Webhook-URL" in places else {}
    headers |= {"Cookie": f"key={secret}"} if "cookie" in places else {}
    path = f"/{secret}" if "path" in places else f"/jobs/{secret}" if "segment" in places else "/assign"
    params = dict.fromkeys(places & {"tag", "query"}, secret)
    body: dict[str, Any] = json.loads(json.dumps(TASKS))
    body |= {secret: 1} if "field" in places else {}
    body |= {"topology": secret} if "body" in places else {}
    if "task" in places:
        body["tasks"]["nodes"] += [{"id": secret}, {"id": secret}]
    return client.request("DELETE" if "segment" in places else "POST", path, params=params, headers=headers, json=body)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    secret=strategies.sampled_from((KEY, NEXT)),
    places=strategies.frozensets(strategies.sampled_from(PLACES), min_size=1, max_size=4),
    good=strategies.booleans(),
)
def test_no_line_shows_a_key(
    client: TestClient, lines: Lines, secret: str, places: frozenset[str], *, good: bool
) -> None:
    """Wherever in a request it is, with a good key beside it or without."""
    before = len(lines())
    send(client, secret, places, good=good)
    fresh = lines()[before:]
    assert any(line["event"] == "audit" for line in fresh)
    assert secret not in written(fresh)


@pytest.mark.parametrize("place", ["X-API-Key", "Authorization"])
@pytest.mark.parametrize("other", ["path", "segment", "X-Request-Id"])
def test_no_line_shows_a_key_that_is_wrong(client: TestClient, lines: Lines, place: str, other: str) -> None:
    """One that is sent as a key may be another service's."""
    send(client, WRONG, frozenset((place, other)), good=False)
    assert WRONG not in written(lines())


def test_no_line_shows_a_secret_of_webhooks(client: TestClient, lines: Lines) -> None:
    """The service logs what it is told, and never its own secrets."""
    client.post(
        "/assign", json=TASKS, headers={"X-API-Key": KEY, "Webhook-URL": "https://hooks.example/token-1234567890"}
    )
    assert "token-1234567890" not in written(lines())
    for place in ("path", "segment", "X-Request-Id", "tag", "body"):
        send(client, SECRET, frozenset((place,)), good=True)
    assert SECRET not in written(lines())
