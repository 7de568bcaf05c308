"""What a key is told of its use, and how it is refused once a quota is used up."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.api.desk import Clerk
from tiger.api.app import create_app
from tiger.api.factory import make_durable_jobs
from tiger.api.jobs.database import Database
from tiger.api.jobs.usage import UsageStore
from tiger.api.routes.examples import REBALANCERS
from tiger.api.seams.quota import Charge, Quotas
from tiger.api.settings import Settings
from tiger.client.errors import ServiceError
from tiger.client.usage import QuotaUse, read_usage

ANN, BOB = ({"X-API-Key": letter * 16} for letter in "ab")
SMALL = {"tasks": {"nodes": [{"id": "a"}], "edges": []}, "topology": "grid:2"}
LATER = {"Prefer": "respond-async"}
KEYS = f"""
[accounts.ann]
keys = ["{"a" * 16}"]
queued_jobs = 2
running_jobs = 5
processor_s_per_day = 10
kept_bytes = 1000
[accounts.bob]
keys = ["{"b" * 16}"]
"""


class Idle(Clerk):
    """Stand in for workers that take up no job."""

    def __init__(self) -> None:
        super().__init__(0)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """Return a client of a service of two accounts whose jobs stay where they are."""
    monkeypatch.setattr("tiger.api.app.Workers", lambda *_: Idle())
    path = tmp_path / "keys.toml"
    path.write_text(KEYS, encoding="utf-8")
    settings = Settings(data_dir=tmp_path / "data", keys_file=str(path), max_jobs=8)  # type: ignore[arg-type]  # is read
    with TestClient(create_app(settings, make_durable_jobs)) as client:
        yield client


def submit(client: TestClient, key: dict[str, str]) -> httpx.Response:
    """Submit a job."""
    answer: httpx.Response = client.post("/assign", json=SMALL, headers=key | LATER)
    return answer


def test_use_is_told_with_its_quotas(client: TestClient) -> None:
    """Of whoever asks alone; without a quota there is neither limit nor rest."""
    submit(client, ANN)
    found = client.get("/usage?days=2", headers=ANN).json()
    size = len(json.dumps(SMALL, separators=(",", ":")))
    assert (found["owner"], found["queued_jobs"]) == ("ann", {"used": 1, "limit": 2, "left": 1})
    assert found["running_jobs"] == {"used": 0, "limit": 5, "left": 5}
    assert found["kept_bytes"] == {"used": size, "limit": 1000, "left": 1000 - size}
    assert found["processor_s_per_day"] == {"used": 0, "limit": 10, "left": 10}
    assert [day["processor_s"] for day in found["days"]] == [0, 0]
    other = client.get("/usage", headers=BOB).json()
    assert (other["queued_jobs"], len(other["days"])) == ({"used": 0, "limit": None, "left": None}, 7)


@pytest.mark.parametrize("days", ["0", "367", "x"])
def test_days_are_a_number_up_to_a_year(client: TestClient, days: str) -> None:
    """Others are refused by name."""
    answer = client.get("/usage", params={"days": days}, headers=ANN)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/days")


def test_a_refusal_names_the_quota_and_is_counted(client: TestClient) -> None:
    """With what is used and left, and when to ask again; others are not refused."""
    assert [submit(client, ANN).status_code for _ in range(2)] == [202, 202]
    answer = submit(client, ANN)
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (429, "application/problem+json")
    names = ("quota", "used", "limit", "left", "resets_s")
    assert [problem[name] for name in names] == ["queued_jobs", 2, 2, 0, 5]
    assert answer.headers["retry-after"] == "5"
    assert submit(client, BOB).status_code == 202
    assert 'tiger_quota_refusals_total{quota="queued_jobs"} 1.0' in client.get("/metrics", headers=BOB).text


def test_a_day_that_is_used_up_refuses_all_work(client: TestClient, tmp_path: Path) -> None:
    """Until midnight (UTC); a job that there is is answered all the same, and so is who looks at what there is."""
    key = ANN | LATER | {"Idempotency-Key": "k"}
    job = client.post("/assign", json=SMALL, headers=key).json()["id"]
    database = Database(f"sqlite:///{tmp_path}/data/tiger.sqlite")
    UsageStore(database, lambda _: Quotas()).charge([Charge("ann", 12.5)])
    database.close()
    asked = {"/assign": SMALL, "/views": {"topology": "grid:2"}, "/rebalancers": REBALANCERS["frozen"]["value"]}
    answers = [client.post(path, json=body, headers=ANN) for path, body in asked.items()]
    answers.append(client.post("/assign", json=SMALL, headers=ANN | {"Idempotency-Key": "another"}))
    assert [answer.status_code for answer in answers] == [429] * 4
    problem = answers[0].json()
    assert [problem[name] for name in ("quota", "used", "limit", "left")] == ["processor_s_per_day", 12.5, 10, 0]
    assert 0 < problem["resets_s"] == int(answers[0].headers["retry-after"]) <= 86_400
    assert client.post("/assign", json=SMALL, headers=key).json()["id"] == job
    assert client.get("/usage", headers=ANN).json()["processor_s_per_day"] == {"used": 12.5, "limit": 10, "left": 0}
    assert submit(client, BOB).status_code == 202


def test_half_of_the_queue_is_an_owner_s_without_a_quota(client: TestClient) -> None:
    """Of eight jobs that may wait, four are."""
    answers = [submit(client, BOB) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [202] * 4 + [429]
    assert (answers[4].json()["quota"], answers[4].json()["limit"]) == ("queued_jobs", 4)


def test_a_client_reads_what_is_told(client: TestClient) -> None:
    """And nothing else."""
    found = read_usage(client.get("/usage", headers=ANN).json())
    assert (found.owner, found.queued_jobs) == ("ann", QuotaUse(used=0, limit=2, left=2))
    assert list(found.days.values()) == [0.0] * 7
    with pytest.raises(ServiceError, match="expected what a service says of usage"):
        read_usage({"owner": "ann"})


def test_work_that_is_answered_at_once_is_charged(solving: TestClient) -> None:
    """With the processor time of the worker."""
    before = solving.get("/usage").json()["processor_s_per_day"]["used"]
    assert solving.post("/assign", json=SMALL).status_code == 200
    assert solving.get("/usage").json()["processor_s_per_day"]["used"] > before
