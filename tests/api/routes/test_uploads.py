"""Uploads over REST: kept once, referred to in place of texts, and seen by their owner alone."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import tiger
from tests.api.desk import Clerk
from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.middleware.keys import parse
from tiger.api.settings import Settings

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CSV = (EXAMPLES / "ranks4.csv").read_bytes()
ID = hashlib.sha256(CSV).hexdigest()
OTHER = {"X-API-Key": "b" * 16}
TYPE = {"Content-Type": "text/csv"}


@pytest.fixture
def client(solving: TestClient) -> TestClient:
    """Return a client of a service that keeps no upload yet."""
    for each in solving.get("/uploads").json()["uploads"]:
        solving.delete(f"/uploads/{each['id']}")
    return solving


@pytest.fixture(scope="module")
def shared() -> Iterator[TestClient]:
    """Return a client of a service of two owners, of whom it is the first, that takes a thousand bytes."""
    settings = Settings(workers=1, max_upload_bytes=1000, api_keys=parse(f"{'a' * 16},{'b' * 16}"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiger.api.app.Workers", lambda *_: Clerk())
        with TestClient(create_app(settings, in_memory), headers={"X-API-Key": "a" * 16}) as client:
            yield client


def upload(client: TestClient, content: bytes = CSV, name: str = "ranks4.csv", **headers: str) -> Any:
    """Upload a file, and return the answer."""
    return client.post("/uploads", params={"name": name}, content=content, headers=TYPE | headers)


def send(client: TestClient, path: str, **fields: object) -> Any:
    """Send a request, and return the answer."""
    return client.post(path, json=fields)


def point(answer: Any) -> tuple[int, str]:
    """Return the status of a refusal, and at what it points."""
    return answer.status_code, answer.json()["errors"][0]["pointer"]


def test_an_upload_is_kept_once(client: TestClient) -> None:
    """Under its hash and its first name, whether it is compressed or not."""
    first = upload(client)
    assert (first.status_code, first.headers["location"]) == (201, f"/uploads/{ID}")
    found = first.json()
    assert (found["id"], found["name"], found["bytes"], found["jobs"]) == (ID, "ranks4.csv", len(CSV), 0)
    again = client.post("/uploads?name=b.csv", content=gzip.compress(CSV), headers=TYPE | {"Content-Encoding": "gzip"})
    assert (again.status_code, again.json()["id"], again.json()["name"]) == (200, ID, "ranks4.csv")
    assert client.get(f"/uploads/{ID}").json() == again.json()
    assert client.get("/uploads").json() == {"uploads": [again.json()], "next": None}
    content = client.get(f"/uploads/{ID}/content")
    assert (content.content, content.headers["content-type"]) == (CSV, "text/plain; charset=utf-8")
    assert content.headers["content-disposition"] == 'attachment; filename="ranks4.csv"'


def test_pages_of_uploads_follow_each_other(client: TestClient) -> None:
    """By their links."""
    ids = {upload(client, str(k).encode()).json()["id"] for k in range(3)}
    page = client.get("/uploads?limit=2").json()
    rest = client.get(page["next"]).json()
    assert ({each["id"] for each in page["uploads"] + rest["uploads"]}, rest["next"]) == (ids, None)
    assert client.get("/uploads?after=x").status_code == 422
    assert client.get("/uploads?limit=0").status_code == 422


def test_the_example_of_the_document_is_uploaded_and_mapped(client: TestClient, document: dict[str, Any]) -> None:
    """It runs as it stands there."""
    body = document["paths"]["/uploads"]["post"]["requestBody"]["content"]["text/csv"]["examples"]["ranks"]["value"]
    found = upload(client, body.encode()).json()
    answer = send(client, "/assign", tasks={"upload": found["id"]}, topology="ring:3")
    assert (answer.status_code, len(answer.json()["mapping"])) == (200, 3)
    assert document["components"]["schemas"]["UploadReference"]["required"] == ["upload"]


def test_tasks_and_hardware_are_those_of_the_texts(client: TestClient) -> None:
    """In every place where a file may stand, by their own names or another; a job emits what they come to."""
    conf, sockets = ((EXAMPLES / name).read_bytes() for name in ("topology.conf", "two_sockets.xml"))
    ids = [upload(client, *each).json()["id"] for each in ((CSV, "x.csv"), (conf, "a.txt"), (sockets, "s.xml"))]
    asked: dict[str, Any] = {
        "tasks": {"upload": ids[0]},
        "topology": {"file": "topology.conf", "upload": ids[1]},
        "node_topology": [{"topology": {"upload": ids[2]}}],
        "ranks_per": "node=2",
        "seed": 1,
    }
    there = send(client, "/assign", **asked)
    files = (EXAMPLES / name for name in ("ranks4.csv", "topology.conf", "two_sockets.xml"))
    tasks, topology, inside = files
    here = tiger.assign(tasks, topology, node_topology=inside, ranks_per="node=2", seed=1, effort=1)
    assert (there.status_code, there.json()["mapping"]) == (200, here.mapping), there.text
    where = there.headers["location"]
    assert json.loads(client.get(f"{where}/files/request.json").content) == asked
    assert client.get(f"{where}/emit/openmpi").text == here.emit("openmpi")
    client.delete(f"/uploads/{ids[1]}")
    assert point(client.get(f"{where}/emit/openmpi")) == (422, "#/topology/upload")


def test_models_and_clusters_are_those_of_the_texts(client: TestClient) -> None:
    """Of placements, and of hosts inside a cluster."""
    names = ("models/layers.csv", "clusters/uneven4.json")
    model, cluster = (upload(client, (EXAMPLES / name).read_bytes(), Path(name).name).json()["id"] for name in names)
    there = send(client, "/place", model={"upload": model}, cluster={"upload": cluster})
    here = tiger.place(*(EXAMPLES / name for name in names))
    assert (there.status_code, there.json()["bottleneck_s"]) == (200, here.bottleneck_s), there.text


def test_a_preview_shows_an_upload(client: TestClient) -> None:
    """As it shows a text."""
    upload(client)
    found = send(client, "/views", tasks={"upload": ID})
    assert (found.status_code, found.json()["kind"], found.json()["total"]) == (200, "tasks", 4)
    assert point(send(client, "/views", tasks={"upload": "0" * 64})) == (422, "#/tasks/upload")


@pytest.mark.parametrize("wrong", ["0" * 64, "x", 3, None, "../../etc/passwd"])
def test_an_unknown_upload_is_pointed_at(client: TestClient, wrong: object) -> None:
    """Whatever is no id, and in whatever field."""
    assert point(send(client, "/assign", tasks={"upload": wrong}, topology="ring:4")) == (422, "#/tasks/upload")
    upload(client)
    named = {"upload": ID, "file": wrong}
    if not isinstance(wrong, str):
        assert point(send(client, "/assign", tasks=named, topology="ring:4")) == (422, "#/tasks/file")
    nested = {"hosts": {"upload": wrong}, "machine": "dgx:1"}
    assert point(send(client, "/place", model="gpt2", cluster=nested)) == (422, "#/cluster/hosts/upload")


def test_limits_hold_for_texts_of_uploads(client: TestClient) -> None:
    """Once they are read; what is too large is a job that fails."""
    large = json.dumps({"nodes": [{"id": k} for k in range(5000)], "edges": []}).encode()
    found = upload(client, large, "large.json").json()["id"]
    answer = send(client, "/assign", tasks={"upload": found}, topology="ring:4")
    assert point(answer) == (422, "#/tasks")
    assert "expected at most 4096 tasks, got 5000" in answer.json()["detail"]
    bad = upload(client, b"1,2,x\n", "bad.csv").json()["id"]
    assert point(send(client, "/assign", tasks={"upload": bad}, topology="ring:4")) == (422, "#/tasks")


def test_a_request_that_is_sent_again_is_the_same_job_without_its_upload(client: TestClient) -> None:
    """With its key; without one it is refused."""
    upload(client)
    asked = {"tasks": {"upload": ID}, "topology": "ring:4"}
    key = {"Idempotency-Key": "again"}
    first = client.post("/assign", json=asked, headers=key)
    client.delete(f"/uploads/{ID}")
    again = client.post("/assign", json=asked, headers=key)
    assert (first.status_code, again.status_code, again.content) == (200, 200, first.content)
    assert again.headers["location"] == first.headers["location"]
    assert point(client.post("/assign", json=asked)) == (422, "#/tasks/upload")


def test_bug_what_is_nested_deeply_holds_no_file(client: TestClient) -> None:
    """It was a failure of the server; a request that names no field for a file is refused as ever."""
    nested: Any = {"upload": ID}
    for _ in range(400):
        nested = [nested]
    answer = client.post(
        "/place",
        content=json.dumps({"model": nested, "cluster": "dgx:1"}),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 422
    assert send(client, "/rebalancers", model={"upload": ID}, cluster="dgx:1").status_code == 422


def test_more_uploads_than_any_request_needs_are_refused(client: TestClient) -> None:
    """Before they are looked for."""
    inside = [{"topology": {"upload": f"{k:064x}"}} for k in range(17)]
    answer = send(client, "/assign", tasks="ring:4", topology="ring:4", node_topology=inside)
    assert (answer.status_code, answer.json()["detail"]) == (422, "expected at most 16 uploads, got 17")


@pytest.mark.parametrize("name", ["", "a/b.csv", "..", "a\\b", "x" * 201, "a\nb", 'a"b'])
def test_a_name_is_that_of_a_file_without_folders(client: TestClient, name: str) -> None:
    """It is never opened, and goes into headers."""
    assert point(upload(client, CSV, name)) == (422, "#/name")
    assert client.post("/uploads", content=CSV, headers=TYPE).status_code == 422


def test_a_name_may_have_any_letters(client: TestClient) -> None:
    """As headers write those."""
    found = upload(client, b"1", "größe.csv").json()
    disposition = client.get(f"/uploads/{found['id']}/content").headers["content-disposition"]
    assert (found["name"], disposition) == ("größe.csv", "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe.csv")


def test_others_see_nothing_of_an_upload(shared: TestClient) -> None:
    """Nor can their requests refer to it."""
    small = upload(shared, b"0,1,2\n").json()["id"]
    for verb, path in (("GET", ""), ("GET", "/content"), ("DELETE", "")):
        assert shared.request(verb, f"/uploads/{small}{path}", headers=OTHER).status_code == 404
    assert shared.get("/uploads", headers=OTHER).json()["uploads"] == []
    answer = shared.post("/assign", json={"tasks": {"upload": small}, "topology": "ring:4"}, headers=OTHER)
    assert point(answer) == (422, "#/tasks/upload")
    assert upload(shared, b"0,1,2\n", **OTHER).status_code == 201
    assert shared.delete(f"/uploads/{small}").status_code == 204
    assert shared.get(f"/uploads/{small}", headers=OTHER).status_code == 200


def test_what_cannot_be_kept_is_refused(shared: TestClient) -> None:
    """By its size, its type or its bytes; and no id that is none."""
    assert upload(shared, b"x" * 1001).status_code == 413
    assert upload(shared, b"\xff").status_code == 400
    assert upload(shared, **{"Content-Type": "image/png"}).status_code == 415
    assert shared.get("/uploads/x").status_code == 404
    assert shared.delete(f"/uploads/{'0' * 64}").status_code == 404
    assert shared.post("/uploads?name=a", content=b"x").status_code == 415


def test_bug_check_of_large_bodies_knows_uploads(client: TestClient) -> None:
    """They are checked by a worker, and the job is not small for that."""
    upload(client)
    spare = {f"t{k}": "0" for k in range(9000)}
    answer = client.post(
        "/assign",
        json={"tasks": {"upload": ID}, "topology": "ring:4", "pinned": spare},
        headers={"Prefer": "respond-async"},
    )
    assert answer.status_code == 202
    ended = client.get(f"{answer.headers['location']}?wait=60").json()
    assert (ended["status"], ended["problem"]["status"]) == ("failed", 422)


def test_what_is_asked_of_jobs_takes_uploads(client: TestClient) -> None:
    """A comparison by variants, another mapping after a change, and what would be solved; each keeps the reference."""
    upload(client)
    asked: dict[str, Any] = {"tasks": {"upload": ID}, "topology": "grid:2x3"}
    posed = client.post("/assign", params={"validate": True}, json=asked).json()
    assert (posed["sizes"]["tasks"], posed["sizes"]["nodes"], posed["at_once"]) == (4, 6, False)
    compared = send(
        client, "/comparisons", kind="assign", request=asked, variants=[{"changes": {"seed": k}} for k in (1, 2)]
    )
    assert compared.status_code == 201, compared.text
    table = client.get(compared.headers["location"], params={"wait": 30}).json()
    assert [row["status"] for row in table["rows"]] == ["done", "done"]
    job = f"/jobs/{table['rows'][0]['job']}"
    lost = next(iter(client.get(job).json()["report"]["mapping"].values()))
    again = client.post(f"{job}/replan", json={"lost_nodes": [lost]}, headers={"Prefer": "wait=30"})
    assert [move["why"] for move in again.json()["moves"]] == ["lost"]
    assert client.get(f"{again.headers['location']}/files/request.json").json()["tasks"] == {"upload": ID}
    fewer = client.post(f"{job}/replan", json={"lost_tasks": ["rank3"]}, headers={"Prefer": "wait=30"})
    assert sorted(fewer.json()["mapping"]) == ["rank0", "rank1", "rank2"]
    client.delete(f"/uploads/{ID}")
    refused = client.post(f"{job}/replan", json={"lost_nodes": [lost]})
    assert point(refused) == (422, "#/job")
    assert "tasks/upload" in refused.json()["detail"]


def test_bug_a_change_takes_other_hardware_as_an_upload(client: TestClient) -> None:
    """As whatever else takes a file does; the new job keeps the reference, and an unknown one is named."""
    hardware = json.dumps({"nodes": [{"id": name} for name in "abcd"], "edges": []}).encode()
    named = {"file": "other.json", "upload": upload(client, hardware, "hardware.json").json()["id"]}
    asked = {"tasks": "ring:3", "topology": "ring:4"}
    job = client.post("/assign", json=asked, headers={"Idempotency-Key": "changed-by-upload"}).headers["location"]
    again = client.post(f"{job}/replan", json={"topology": named}, headers={"Prefer": "wait=30"})
    assert again.status_code == 200, again.text
    assert again.json()["feasible"] is False
    assert client.get(f"{again.headers['location']}/files/request.json").json()["topology"] == named
    unknown = client.post(f"{job}/replan", json={"topology": {"upload": "0" * 64}})
    assert point(unknown) == (422, "#/topology/upload")


def test_bug_a_graph_with_words_of_its_own_is_changed(client: TestClient) -> None:
    """What looks like a reference where no file stands is none, and no upload that was deleted."""
    tasks = {"nodes": [{"id": "a", "upload": "0" * 64}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}
    asked = {"tasks": tasks, "topology": "ring:4"}
    first = client.post("/assign", json=asked, headers={"Idempotency-Key": "words-of-its-own"})
    assert first.status_code == 200, first.text
    again = client.post(f"{first.headers['location']}/replan", json={"lost_nodes": [first.json()["mapping"]["a"]]})
    assert again.status_code == 200, again.text
