"""What a request says of its job."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.api.desk import Clerk
from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.settings import Settings

TASKS = {"tasks": {"nodes": [{"id": "a"}], "edges": []}, "topology": "grid:2"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """Return a client of a service whose jobs are done by a clerk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiger.api.app.Workers", lambda *_: Clerk())
        with TestClient(create_app(Settings(), in_memory)) as client:
            yield client


def test_terms_make_a_job_of_a_request_that_is_little_work(client: TestClient) -> None:
    """Its priority and its tags, each once, are shown with it; without terms it is answered and kept nowhere."""
    assert "location" not in client.post("/assign", json=TASKS).headers
    answer = client.post("/assign", params={"priority": 7, "tag": ["a", "team/b", "a"]}, json=TASKS)
    assert answer.status_code == 200
    shown = client.get(answer.headers["location"]).json()
    assert (shown["priority"], shown["tags"]) == (7, ["a", "team/b"])


def test_several_addresses_are_refused(client: TestClient) -> None:
    """One of them would never be told."""
    headers = [("Webhook-URL", "https://a.example/"), ("Webhook-URL", "https://b.example/")]
    answer = client.post("/assign", json=TASKS, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"pointer": "#/Webhook-URL", "detail": "expected one address, got several"}]


def test_too_many_tags_are_counted(client: TestClient) -> None:
    """The sentence says what was expected, as all others do."""
    answer = client.post("/assign", params={"tag": list("abcdefghijklmnopq")}, json=TASKS)
    assert answer.json()["errors"] == [{"pointer": "#/tag", "detail": "expected at most 16 items, got 17"}]


@pytest.mark.parametrize(
    ("params", "pointer"),
    [
        *(({"priority": 10}, "#/priority"), ({"priority": "high"}, "#/priority"), ({"tag": "a b"}, "#/tag")),
        *(({"tag": ""}, "#/tag"), ({"tag": "a" * 65}, "#/tag"), ({"tag": list("abcdefghijklmnopq")}, "#/tag")),
    ],
)
def test_terms_out_of_bounds_are_named(client: TestClient, params: dict[str, object], pointer: str) -> None:
    """The parameter at fault is in the answer."""
    answer = client.post("/assign", params=params, json=TASKS)  # type: ignore[arg-type]  # texts, numbers and lists
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


@pytest.mark.parametrize(
    "url",
    [
        *("http://a.example/", "https://", "a.example", "https://me:secret@a.example/", "https://a.example/#part"),
        *(
            "https://a.example:0/",
            "https://a.example:x/",
            "https://a.example/ b",
            "https://[::1/",
            "https://a/" + "a" * 2000,
        ),
    ],
)
def test_an_address_that_cannot_be_told_is_named(client: TestClient, url: str) -> None:
    """Only an address by https without a password is one."""
    answer = client.post("/assign", headers={"Webhook-URL": url}, json=TASKS)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/Webhook-URL")
    assert "secret" not in answer.text
