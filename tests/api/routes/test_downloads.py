"""What a job leaves, as its owner sees it."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import TypeAdapter

from tests.api.routes.test_files import BELL
from tiger.api.routes.downloads import takes_packed
from tiger.api.routes.examples import HEAD_AWARE
from tiger.api.schemas.views import ViewBody

VIEW: TypeAdapter[Any] = TypeAdapter(ViewBody)


@pytest.fixture(scope="module")
def place(solving: TestClient, line: dict[str, Any]) -> str:
    """Return where a job is that has mapped three tasks."""
    return run_job(solving, "/assign", {"tasks": line, "topology": "grid:3"})


def run_job(client: TestClient, route: str, body: dict[str, Any]) -> str:
    """Have a job done, and return where it is."""
    where: str = client.post(route, json=body, headers={"Prefer": "respond-async"}).headers["location"]
    assert client.get(where, params={"wait": 3600}).json()["status"] == "done"
    return where


def test_files_are_listed(solving: TestClient, place: str) -> None:
    """With what they are for, their sizes and their types."""
    found = {file["name"]: file for file in solving.get(f"{place}/files").json()}
    assert found["mapping.csv"] == {
        "name": "mapping.csv",
        "description": "The node of every task.",
        "bytes": len(solving.get(f"{place}/files/mapping.csv").content),
        "media_type": "text/csv",
    }


@pytest.mark.parametrize("coding", ["identity", "gzip, deflate"])
def test_a_file_is_saved_under_its_name(solving: TestClient, place: str, coding: str) -> None:
    """Compressed for those who take it so."""
    answer = solving.get(f"{place}/files/mapping.csv", headers={"Accept-Encoding": coding})
    assert answer.text.splitlines()[0] == "task,node"
    assert answer.headers["content-disposition"] == 'attachment; filename="mapping.csv"'
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert ("content-encoding" in answer.headers, answer.headers["vary"]) == ("deflate" in coding, "Accept-Encoding")


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("", False),
        ("gzip", False),
        ("Deflate", True),
        ("br, deflate;q=0.5", True),
        ("deflate; q=0.0", False),
        ("*", False),
    ],
)
def test_a_client_says_what_it_takes(accepted: str, *, packed: bool) -> None:
    """By the coding's name; a weight of 0 refuses it."""
    assert takes_packed(accepted) is packed


def test_an_answer_is_shown(solving: TestClient, place: str) -> None:
    """As its schema says."""
    answer = solving.get(f"{place}/view")
    assert (VIEW.validate_json(answer.content).kind_, answer.headers["content-type"]) == ("mapping", "application/json")
    assert "content-disposition" not in answer.headers


@pytest.mark.slow
def test_circuits_and_placements_are_shown(solving: TestClient) -> None:
    """Each in its own way."""
    for route, body in (("/assign", {"circuit": BELL, "topology": "grid:4"}), ("/place", HEAD_AWARE)):
        where = run_job(solving, route, body)
        assert VIEW.validate_json(solving.get(f"{where}/view").content).kind_ == (
            "circuit" if "circuit" in body else "placement"
        )


@pytest.mark.parametrize("path", ["/files/none.txt", "/files/%00", "/files/..%2Fa", f"/files/{'a' * 200}"])
def test_a_file_that_is_none_is_404(solving: TestClient, place: str, path: str) -> None:
    """The job is there."""
    assert solving.get(place + path).status_code == 404


def test_a_job_that_found_nothing_has_nothing_to_show(solving: TestClient, line: dict[str, Any]) -> None:
    """The problem says why there may be no file."""
    where = run_job(solving, "/assign", {"tasks": line, "topology": "grid:2", "rule": "one-to-one"})
    answer = solving.get(f"{where}/view")
    assert (answer.status_code, "no such file" in answer.json()["detail"]) == (404, True)
    assert [file["name"] for file in solving.get(f"{where}/files").json()] == ["request.json"]
