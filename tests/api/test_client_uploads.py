"""Files that a client has a service keep, against the service itself."""

import json
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

import tiger
from tiger.client import Client, RemoteUpload, assignment, placement, planning
from tiger.errors import InputError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def client(solving: TestClient, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Return a client that asks the service without a network."""

    def ask(method: str, path: str, headers: object, content: object, timeout: object) -> httpx.Response:
        answer: httpx.Response = solving.request(method, f"/{path}", headers=headers, content=content)
        return answer

    made = Client("http://testserver", key="")
    monkeypatch.setattr(made._connection._http, "request", ask)
    return made


def test_an_upload_stands_in_place_of_its_file(client: Client) -> None:
    """Tasks, hardware and what is inside it, and a body holds none of their texts."""
    names = ("stencil8x8.json", "topology.conf", "two_sockets.xml")
    files = [EXAMPLES / name for name in names]
    tasks, topology, inside = (client.upload(file) for file in files)
    options = {"node_topology": inside, "ranks_per": "node=4", "seed": 1, "effort": 1}
    there = client.assign(tasks, topology, **options)  # type: ignore[arg-type]  # of several types
    here = tiger.assign(files[0], files[1], **options | {"node_topology": files[2]})  # type: ignore[arg-type]  # likewise
    assert (there.mapping, there.emit("openmpi")) == (here.mapping, here.emit("openmpi"))
    assert len(assignment(tasks, topology, **options).body) < 2000  # type: ignore[arg-type]  # likewise


def test_uploads_are_listed_and_deleted(client: Client) -> None:
    """The same file is one; what is gone is no error."""
    made = client.upload(str(EXAMPLES / "ranks4.csv"))
    assert isinstance(made, RemoteUpload)
    assert (Path(made), client.upload(EXAMPLES / "ranks4.csv").id) == (EXAMPLES / "ranks4.csv", made.id)
    assert "ranks4.csv', id='" in repr(made)
    assert [each["id"] for each in client.uploads()].count(made.id) == 1
    made.delete()
    client.delete_upload(made.id)
    assert made.id not in [each["id"] for each in client.uploads()]
    with pytest.raises(InputError, match="tasks/upload: expected the id of an upload"):
        client.assign(made, "ring:4")


def test_what_cannot_be_kept_is_refused(client: Client, tmp_path: Path) -> None:
    """A file that is not there, or no text."""
    with pytest.raises(InputError, match="path: cannot read"):
        client.upload(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff")
    with pytest.raises(InputError, match="expected text in UTF-8"):
        client.upload(tmp_path / "bytes.csv")


def test_requests_refer_to_uploads_wherever_files_stand(client: Client) -> None:
    """In models, clusters, the networks of clusters, and the insides of some hosts."""
    model, cluster, conf, sockets = (
        client.upload(EXAMPLES / name)
        for name in ("models/gpt2-medium.json", "clusters/uneven4.json", "topology.conf", "two_sockets.xml")
    )
    placed = json.loads(placement(model, cluster).body)
    assert (placed["model"], placed["cluster"]) == (model.reference, cluster.reference)
    planned = json.loads(planning(model, conf, node_topology="dgx:1", bandwidths={"node": "50GB/s"}).body)
    assert (planned["cluster"]["hosts"], "machine" in planned["cluster"]) == (conf.reference, True)
    inside = {"n[00-07]": sockets, "n[08-15]": str(EXAMPLES / "two_sockets.xml")}
    mapped = json.loads(assignment("ring:4", conf, node_topology=inside).body)
    assert mapped["topology"] == conf.reference
    assert [each["topology"].get("upload") for each in mapped["node_topology"]] == [sockets.id, None]


def test_bug_a_change_refers_to_an_upload_as_other_hardware(client: Client, tmp_path: Path) -> None:
    """Its path is no specification."""
    (tmp_path / "chain.json").write_text(
        '{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], '
        '"edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}]}'
    )
    job = client.submit(assignment("ring:3", "ring:4", seed=1))
    job.wait()
    assert set(job.replan(topology=client.upload(tmp_path / "chain.json")).wait().mapping.values()) == {"a", "b", "c"}
