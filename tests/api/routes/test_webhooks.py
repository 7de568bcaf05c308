"""The routes of webhooks, and requests that name whom to tell."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from tests.api.desk import Clerk
from tests.api.memory import MemoryJobs, in_memory
from tiger.api.accounts import read_accounts
from tiger.api.app import create_app
from tiger.api.jobs.database import Database
from tiger.api.jobs.migrations import WEBHOOKS
from tiger.api.pool.processes import Workers
from tiger.api.schemas.webhooks import WebhookBody, WebhooksBody
from tiger.api.seams.job import Jobs
from tiger.api.settings import Settings

KEYS = {name: f"the-key-of-{name}-0123456789" for name in ("alice", "bob")}
TASKS = {"tasks": {"nodes": [{"id": "a"}], "edges": []}, "topology": "grid:2"}
FILE = f"""
[accounts.alice]
keys = ["{KEYS["alice"]}"]
webhook_secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
[accounts.bob]
keys = ["{KEYS["bob"]}"]
"""
NAMES = ("1" * 32, "2" * 32, "3" * 32)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Database]]:
    """Return a client of a service that may tell a host, whose jobs are done by a clerk, and the rows of its events."""
    path = tmp_path_factory.mktemp("keys") / "keys.toml"
    path.write_text(FILE)
    settings = Settings(keys_file=read_accounts(path), webhook_hosts=("hooks.example", "*.b.example:8443"))
    made: list[MemoryJobs] = []

    def make(settings: Settings, workers: Workers) -> Jobs:
        jobs = in_memory(settings, workers)
        assert isinstance(jobs, MemoryJobs)
        made.append(jobs)
        return jobs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiger.api.app.Workers", lambda *_: Clerk())
        with TestClient(create_app(settings, make), headers={"X-API-Key": KEYS["alice"]}) as client:
            yield client, made[0]._rows


@pytest.fixture
def client(service: tuple[TestClient, Database]) -> TestClient:
    """Return the client, whose account has three events, one of each state."""
    client, rows = service
    states = ("delivered", "pending", "dead")
    fixed = {
        "owner": "alice",
        "job_id": "j",
        "event": "job.done",
        "url": "https://hooks.example/t",
        "host": "",
        "body": "",
    }
    with rows.begin() as connection:
        connection.execute(sa.delete(WEBHOOKS))
        for number, (name, status) in enumerate(zip(NAMES, states, strict=True)):
            row = {
                "id": name,
                "status": status,
                "attempts": number,
                "created_s": float(number),
                "next_s": 7.0,
                "claimed": 0,
            }
            settled_s = None if status == "pending" else 9.0
            connection.execute(sa.insert(WEBHOOKS).values(**fixed, **row, settled_s=settled_s, last_status=500))
    return client


@pytest.mark.parametrize("url", ["https://hooks.example/t?token=1", "https://a.b.example:8443/"])
def test_a_job_may_name_a_host_that_is_allowed(client: TestClient, url: str) -> None:
    """It becomes a job, however little work it is."""
    answer = client.post("/assign", json=TASKS, headers={"Webhook-URL": url})
    assert (answer.status_code, "location" in answer.headers) == (200, True)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        *(("https://other.example/", "that the operator allows"), ("https://hooks.example:8443/", "operator allows")),
        *((f"https://{host}/", "by its name") for host in ("127.0.0.1", "2130706433", "[::1]")),
    ],
)
def test_another_host_is_refused_with_the_reason(client: TestClient, url: str, reason: str) -> None:
    """Before anything becomes of the request."""
    for path in ("/assign", "/place", "/plan", "/experts"):
        answer = client.post(path, content=b"{", headers={"Webhook-URL": url, "Content-Type": "application/json"})
        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["pointer"]) == (422, "#/Webhook-URL")
        assert reason in error["detail"]


def test_an_account_without_a_secret_is_refused(client: TestClient) -> None:
    """Nobody could tell who sent what it is told."""
    headers = {"Webhook-URL": "https://hooks.example/", "X-API-Key": KEYS["bob"]}
    answer = client.post("/assign", json=TASKS, headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/Webhook-URL")
    assert "webhook_secrets" in answer.json()["detail"]


def test_webhooks_are_off_by_default() -> None:
    """The answer names the setting."""
    answer = TestClient(create_app(Settings(), in_memory)).post(
        "/assign", json=TASKS, headers={"Webhook-URL": "https://hooks.example/"}
    )
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/Webhook-URL")
    assert "TIGER_WEBHOOK_HOSTS" in answer.json()["detail"]


def test_events_are_listed_on_pages(client: TestClient) -> None:
    """The newest first, those of some states alone, and nobody else's."""
    first = client.get("/webhooks", params={"limit": 2, "status": ["dead", "pending", "delivered"]}).json()
    WebhooksBody.model_validate(first)
    assert [each["id"] for each in first["webhooks"]] == [NAMES[2], NAMES[1]]
    second = client.get(first["next"]).json()
    assert ([each["id"] for each in second["webhooks"]], second["next"]) == ([NAMES[0]], None)
    (dead,) = client.get("/webhooks?status=dead").json()["webhooks"]
    assert (dead["attempts"], dead["last_status"], dead["next_s"], dead["settled_s"]) == (2, 500, None, 9.0)
    assert client.get("/webhooks", headers={"X-API-Key": KEYS["bob"]}).json() == {"webhooks": [], "next": None}
    assert client.get("/webhooks?status=lost").json()["errors"][0]["pointer"].startswith("#/status")
    assert client.get("/webhooks?after=x").status_code == 422


def test_an_event_is_queued_again_by_its_owner(client: TestClient) -> None:
    """One of another owner is as unknown as one that never was."""
    again = client.post(f"/webhooks/{NAMES[2]}/redeliver")
    assert again.status_code == 202
    body = WebhookBody.model_validate(again.json())
    assert (body.status, body.attempts, body.settled_s) == ("pending", 0, None)
    for name, key in ((NAMES[2], "bob"), ("4" * 32, "alice"), ("x", "alice")):
        refused = client.post(f"/webhooks/{name}/redeliver", headers={"X-API-Key": KEYS[key]})
        assert (refused.status_code, refused.headers["content-type"]) == (404, "application/problem+json")
