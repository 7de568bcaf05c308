"""Comparisons of jobs: what they are made of, their tables, and who may see them."""

import csv
import io
import json
from itertools import pairwise
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.api.desk import Clerk
from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.routes.examples import EXPERT_MAPS, FOURIER_ON_RING, PLANS, TWO_SPEEDS
from tiger.api.routes.expansion import merge
from tiger.api.routes.tables import tabulate
from tiger.api.schemas.comparisons import ComparisonBody
from tiger.api.seams.comparison import ComparedJob, StoredComparison
from tiger.api.seams.job import Job
from tiger.api.settings import Settings

RING = {"tasks": "ring:8", "topology": "torus:2x4"}
ENTRY: dict[str, Any] = {"kind": "assign", "request": RING}
SEEDS: dict[str, Any] = {"kind": "assign", "request": RING, "variants": [{"changes": {"seed": k}} for k in (1, 2)]}


def compare(client: TestClient, body: dict[str, Any], **asked: Any) -> ComparisonBody:
    """Return a comparison once all its jobs have ended."""
    answer = client.post("/comparisons", json=body, **asked)
    assert answer.status_code == 201, answer.text
    return read(client, answer.headers["location"])


def read(client: TestClient, where: str) -> ComparisonBody:
    """Return a comparison once all its jobs have ended."""
    return ComparisonBody.model_validate(client.get(where, params={"wait": 600}).json())


def fault(answer: httpx.Response) -> tuple[str, str]:
    """Return the pointer and the detail of an answer that refuses a field."""
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json"), answer.text
    return answer.json()["errors"][0]["pointer"], answer.json()["errors"][0]["detail"]


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_changes_are_a_merge_patch(target: object, patch: object, merged: object) -> None:
    """By the examples of RFC 7396."""
    assert merge(target, patch) == merged


def test_one_problem_by_several_seeds_and_rules(solving: TestClient) -> None:
    """Rows say what differs, figures of reports stand side by side, and jobs have the terms of the comparison."""
    variants = [{"label": "a", "changes": {"seed": 1}}, {"changes": {"topology": "ring:8", "seed": 2}}]
    found = compare(solving, {**SEEDS, "variants": variants}, params={"tag": ["night", "x"], "priority": 3})
    assert (found.kind, found.ended, found.same_problem) == ("assign", True, True)
    assert (found.labels, found.differs) == (["a", "topology=ring:8, seed=2"], ["topology", "seed"])
    first, second = found.rows
    assert (first.request, second.request) == ({"topology": "torus:2x4", "seed": 1}, {"topology": "ring:8", "seed": 2})
    assert (first.status, first.feasible, first.optimal) == ("done", True, True)
    assert (first.figures["cost"], second.figures["cost"], first.ratios["cost"]) == (8, 8, 1)
    assert {"cost", "gap", "max_link_load"} <= {*first.best} & {*second.best}
    assert "lower_bound" not in first.best
    columns = {column.name: (column.better, column.unit) for column in found.columns}
    assert (columns["cost"], columns["lower_bound"], columns["seconds"]) == (("less", ""), (None, ""), ("less", "s"))
    job = solving.get(f"/jobs/{first.job}").json()
    assert (job["tags"], job["priority"], job["report"]["cost"]) == (["night", "x"], 3, 8)


def test_bug_what_differs_by_rounding_is_as_good(solving: TestClient) -> None:
    """Sums of the same numbers in another order are no better."""
    report = solving.post("/assign", json=RING).json()
    costs = (report["cost"], report["cost"] * (1 - 1e-15), report["cost"] * 1.01)
    jobs = [
        Job(id=f"{k}", owner="", kind="assign", status="done", created_s=0.0, report=json.dumps(changed).encode())
        for k, changed in enumerate({**report, "cost": cost} for cost in costs)
    ]
    entries = tuple(ComparedJob(label=job.id, job=job.id, request={}) for job in jobs)
    found = tabulate(StoredComparison(id="c", owner="", kind="assign", created_s=0.0, entries=entries), jobs)
    assert ["cost" in row.best for row in found.rows] == [True, True, False]


def test_ended_jobs_and_new_requests_side_by_side(solving: TestClient) -> None:
    """One that has been purged since is gone, and what is known of its request stays."""
    known = solving.post("/assign", params={"tag": "known"}, json={**RING, "seed": 7}).headers["location"][6:]
    other = {"kind": "assign", "request": {**RING, "tasks": "ring:4", "solver": "exact"}}
    body = {"entries": [{"job": known}, other], **SEEDS}
    made = solving.post("/comparisons", json=body)
    found = read(solving, made.headers["location"])
    assert found.labels == [known[:8], "2", "seed=1", "seed=2"]
    assert (found.same_problem, found.differs) == (False, ["tasks", "seed", "solver"])
    assert [row.request["seed"] for row in found.rows] == [7, None, 1, 2]
    assert [row.ratios["cost"] for row in found.rows] == [1, 0.5, 1, 1]
    assert [("cost" in row.best) for row in found.rows] == [False, True, False, False]
    assert solving.delete(f"/jobs/{known}?purge=true").status_code == 204
    gone = read(solving, made.headers["location"]).rows[0]
    assert (gone.status, gone.request["seed"], set(gone.figures.values())) == ("gone", 7, {None})
    assert fault(solving.post("/comparisons", json=body)) == (
        "#/entries/0/job",
        "expected the id of a job of yours, got an unknown one",
    )


def test_what_has_not_ended_has_no_figures(solving: TestClient, endless: dict[str, Any]) -> None:
    """The table is there at once, and says when to ask again."""
    body = {"kind": "assign", "request": {**endless, "time_limit_s": 4}, "variants": [{"changes": {"seed": 1}}] * 2}
    made = solving.post("/comparisons", json=body)
    table = ComparisonBody.model_validate(made.json())
    assert (made.status_code, made.headers["retry-after"], table.ended) == (201, "1", False)
    assert all(row.status in ("queued", "running") and row.figures == {} for row in table.rows)
    assert solving.delete(made.headers["location"]).status_code == 204
    assert {solving.delete(f"/jobs/{row.job}").status_code for row in table.rows} <= {200, 202}


def test_a_table_is_saved_as_csv(solving: TestClient) -> None:
    """As spreadsheets read it."""
    where = f"/comparisons/{compare(solving, SEEDS).id}/table.csv"
    answer = solving.get(where)
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["label"], row["status"], row["request.seed"], float(row["cost"])) for row in rows] == [
        ("seed=1", "done", "1", 8),
        ("seed=2", "done", "2", 8),
    ]


def test_bug_cells_are_text_and_no_formulas(solving: TestClient) -> None:
    """Text is written as it is, quoted where it has to be, and a spreadsheet takes none for a formula."""
    labels = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", 'a,"b" ü']
    circuit = 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[2];\ncx q[0],q[1]; // "é"'
    variants = [{"label": label, "changes": {}} for label in labels]
    variants[1]["changes"] = {"circuit": circuit}
    body = {"kind": "assign", "request": CIRCUIT, "variants": variants}
    answer = solving.get(f"/comparisons/{compare(solving, body).id}/table.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert [row["label"] for row in rows] == ["'=HYPERLINK(1)", "'+1", "'-1", "'@SUM(1)", 'a,"b" ü']
    assert [row["request.circuit"] for row in rows[:2]] == [CIRCUIT["circuit"], circuit]


def test_comparisons_are_listed_and_forgotten(solving: TestClient) -> None:
    """The newest first; the jobs of one that is forgotten stay."""
    first, second = (compare(solving, SEEDS) for _ in range(2))
    page = solving.get("/comparisons", params={"limit": 1}).json()
    assert page["comparisons"] == [{name: second.model_dump()[name] for name in page["comparisons"][0]}]
    following = solving.get(page["next"]).json()
    assert following["comparisons"][0]["id"] == first.id
    where = f"/comparisons/{first.id}"
    assert [solving.delete(where).status_code for _ in range(2)] == [204, 404]
    assert [solving.get(path).status_code for path in (where, f"{where}/table.csv", "/comparisons/x")] == [404] * 3
    assert solving.get(f"/jobs/{first.jobs[0]}").status_code == 200


def test_a_repeated_request_is_the_same_comparison(solving: TestClient) -> None:
    """Of the same jobs; another body is refused."""
    keyed = {"Idempotency-Key": "compare"}
    first, again = (solving.post("/comparisons", json=SEEDS, headers=keyed) for _ in range(2))
    assert (again.status_code, again.json()["jobs"]) == (201, first.json()["jobs"])
    assert solving.post("/comparisons", json={**SEEDS, "kind": "plan"}, headers=keyed).status_code == 422


CIRCUIT = {"circuit": "OPENQASM 2.0; qreg q[2]; CX q[0],q[1];", "topology": "ring:4"}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/entries"),
        ({"entries": [{"job": "x"}]}, "#/entries"),
        ({"entries": [{"job": "x"}] * 11}, "#/entries"),
        ({"entries": [{"job": "x"}, {"job": "y", "kind": "assign"}]}, "#/entries/1"),
        ({"entries": [{"job": "x"}, {"request": RING}]}, "#/entries/1"),
        ({"entries": [{"job": "x"}, {"label": "a\nb", "job": "y"}]}, "#/entries/1/label"),
        ({**SEEDS, "variants": [{"changes": {"a/b": 1, "~": 2}}] * 2}, "#/variants/0/changes/a~1b"),
        ({**SEEDS, "variants": [{"changes": {"~/": 1}}] * 2}, "#/variants/0/changes/~0~1"),
        ({"entries": [{"job": "x"}, {"kind": "map", "request": RING}]}, "#/entries/1/kind"),
        ({"entries": [{"job": "x"}, {"kind": "assign", "request": {**RING, "seed": -1}}]}, "#/entries/1/request/seed"),
        ({**SEEDS, "variants": [{"changes": {}}, {"changes": {"seed": "x"}}]}, "#/variants/1/changes/seed"),
        ({**SEEDS, "variants": [{"changes": {}}, {"changes": {"sead": 1}}]}, "#/variants/1/changes/sead"),
        ({**SEEDS, "variants": [{"changes": {"tasks": "ring:99999999"}}] * 2}, "#/variants/0/changes/tasks"),
        ({**SEEDS, "request": {**RING, "topology": 3}}, "#/request/topology"),
        ({**SEEDS, "variants": [], "entries": [{"job": "x"}] * 2}, "#/kind"),
        ({"request": RING, "variants": SEEDS["variants"]}, "#/kind"),
        ({"kind": "assign", "variants": SEEDS["variants"]}, "#/request"),
        ({"entries": [{"kind": "assign", "request": RING}, {"job": "0" * 32}]}, "#/entries/1/job"),
        (
            {"entries": [{"kind": "assign", "request": CIRCUIT}], **SEEDS},
            "#/variants/0",
        ),
        (
            {"entries": [{"kind": "plan", "request": {"model": 3, "cluster": "dgx:1"}}], **SEEDS},
            "#/entries/0/request/model",
        ),
    ],
)
def test_what_cannot_be_compared_is_named(solving: TestClient, body: dict[str, Any], pointer: str) -> None:
    """And nothing becomes a job."""
    last = solving.get("/jobs?limit=1").json()["jobs"]
    assert fault(solving.post("/comparisons", json=body))[0] == pointer
    assert [job["id"] for job in solving.get("/jobs?limit=1").json()["jobs"]] == [job["id"] for job in last]


@pytest.mark.parametrize("label", ["", "  ", "a\nb", "x" * 101])
def test_bug_a_label_that_nobody_can_read_says_what_is_expected(solving: TestClient, label: str) -> None:
    """Of labels, and in words: a row without a visible name cannot be pressed."""
    where, reason = fault(solving.post("/comparisons", json={**SEEDS, "variants": [{"label": label}, {}]}))
    assert where == "#/variants/0/label"
    assert reason.startswith("expected 1 to 100 characters, some of them visible, and no control characters, got ")


@pytest.mark.parametrize(
    ("changes", "status", "pointer"),
    [
        ('{"effort": 1e400}', 422, "#/request"),
        ('{"ising": ' + '{"a": ' * 800 + "1" + "}" * 801, 400, "#"),
        ('{"ising": ' + '{"a": ' * 90_000 + "1" + "}" * 90_001, 400, "#"),
        ('{"\\ud800": 1}', 400, "#"),
        ('{"effort": NaN}', 422, "#/request"),
        ("null", 422, "#/variants/0/changes"),
    ],
)
def test_bug_changes_that_are_no_plain_json(solving: TestClient, changes: str, status: int, pointer: str) -> None:
    """Numbers without end, depth without end and halves of letters are refused as they are elsewhere."""
    body = f'{{"kind": "assign", "request": {json.dumps(RING)}, "variants": [{{"changes": {changes}}}, {{}}]}}'
    answer = solving.post("/comparisons", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer), answer.text


def test_bug_circuits_are_not_compared_with_tasks_beside_a_job_that_failed(solving: TestClient) -> None:
    """Of which nobody knows the request any more; what is known of the others is alike."""
    failed = solving.post("/assign", params={"tag": "failed"}, json={**RING, "pinned": {"9": "0,0"}})
    job = failed.headers["location"][6:]
    body = {"entries": [{"job": job}, *({"kind": "assign", "request": each} for each in (CIRCUIT, RING))]}
    where, reason = fault(solving.post("/comparisons", json=body))
    assert (where, reason) == ("#/entries/2", "expected circuit, as an entry before has, got tasks")


def test_two_kinds_are_not_compared(solving: TestClient) -> None:
    """The entry that is of another kind than the first is named."""
    experts = {"kind": "loads", "trace": [[1, 2, 3, 4]], "cluster": "dgx:1"}
    body = {"entries": [{"kind": "assign", "request": RING}, {"kind": "experts", "request": experts}]}
    where, reason = fault(solving.post("/comparisons", json=body))
    assert (where, reason) == ("#/entries/1", "expected assign, as the first entry is, got experts")


@pytest.mark.parametrize(
    ("kind", "request_", "changes", "best", "shown"),
    [
        ("assign", FOURIER_ON_RING, {"topology": "grid:6"}, "depth", {"extra_cx", "swaps", "gap", "lower_bound"}),
        ("place", TWO_SPEEDS, {"schedule": "gpipe", "microbatches": 2}, "bottleneck_s", {"bubble", "memory_bytes"}),
        pytest.param(
            *("plan", PLANS["degrees"]["value"], {"batch": 8}, "iteration_s", {"lower_bound_s", "tokens_per_s"}),
            marks=pytest.mark.slow,
        ),
        ("experts", EXPERT_MAPS["loads"]["value"], {"steps": 10}, "cost_s", {"largest_load", "mean_load"}),
    ],
)
def test_every_kind_has_its_figures(
    solving: TestClient, kind: str, request_: dict[str, Any], changes: dict[str, Any], best: str, shown: set[str]
) -> None:
    """As its report names them; what was made good is marked, and a bound is not."""
    body = {"kind": kind, "request": request_, "variants": [{"label": "base"}, {"changes": changes}]}
    found = compare(solving, body)
    assert [row.status for row in found.rows] == ["done", "done"], found.rows
    names = {column.name for column in found.columns}
    assert {best, "seconds", *shown} <= names
    assert (found.same_problem, set(found.differs)) == (True, set(changes))
    assert any(best in row.best for row in found.rows)
    assert not any("bound" in name for row in found.rows for name in row.best)
    report = solving.get(f"/jobs/{found.rows[0].job}").json()["report"]
    assert {name: report[name] for name in names & report.keys()} == {
        name: found.rows[0].figures[name] for name in names & report.keys()
    }


def test_a_large_request_is_read_by_a_worker(solving: TestClient) -> None:
    """Fields that are long are shown as digests, and its problem is compared all the same."""
    nodes = [{"id": f"{k}{'x' * 600}"} for k in range(128)]
    edges = [{"source": u["id"], "target": v["id"]} for u, v in pairwise(nodes)]
    graph = {"nodes": nodes, "edges": edges}
    request = {"tasks": graph, "topology": "ring:128", "time_limit_s": 1}
    other = {"kind": "assign", "request": {**request, "tasks": {"nodes": nodes, "edges": edges[1:]}}}
    found = compare(solving, {"entries": [other], "kind": "assign", "request": request, "variants": [{}]})
    assert (found.same_problem, found.differs) == (False, ["tasks"])
    digests = [row.request["tasks"] for row in found.rows]
    assert [set(digest) for digest in digests] == [{"sha256", "bytes"}] * 2  # type: ignore[call-overload]  # objects
    again = compare(solving, {"entries": [{"job": job} for job in (found.jobs[1], found.jobs[1])]})
    assert (again.same_problem, again.differs) == (True, [])
    pointer, _ = fault(solving.post("/comparisons", json={"entries": [other, {**other, "kind": "plan"}]}))
    assert pointer == "#/entries/1/request/model"


def test_a_job_that_fails_says_why(solving: TestClient) -> None:
    """In its row, whose figures are empty."""
    found = compare(
        solving, {**SEEDS, "variants": [{}, {"changes": {"topology": "torus:2x4", "pinned": {"9": "0,0"}}}]}
    )
    failed = found.rows[1]
    assert (failed.status, failed.feasible, set(failed.figures.values())) == ("failed", None, {None})
    assert failed.problem is not None
    assert (failed.problem.status, found.rows[0].problem, found.rows[0].best) == (422, None, [])
    shown = solving.get(f"/comparisons/{found.id}").json()["rows"][1]["problem"]
    assert shown == solving.get(f"/jobs/{failed.job}").json()["problem"]


def test_another_owner_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a comparison nor the jobs of one."""
    monkeypatch.setattr("tiger.api.app.Workers", lambda *_: Clerk())
    keys = ("first-key-0123456789", "second-key-0123456789")
    settings = Settings(api_keys=",".join(keys))  # type: ignore[arg-type]  # read by the model
    with TestClient(create_app(settings, in_memory), headers={"X-API-Key": keys[0]}) as client:
        made = client.post("/comparisons", json=SEEDS, headers={"Idempotency-Key": "k"})
        other = {"X-API-Key": keys[1]}
        where, job = made.headers["location"], made.json()["jobs"][0]
        assert [client.get(path, headers=other).status_code for path in (where, f"{where}/table.csv")] == [404] * 2
        assert client.delete(where, headers=other).status_code == 404
        assert client.get("/comparisons", headers=other).json() == {"comparisons": [], "next": None}
        body = {"entries": [{"job": job}], **SEEDS}
        assert fault(client.post("/comparisons", json=body, headers=other))[0] == "#/entries/0/job"
        again = client.post("/comparisons", json=SEEDS, headers={**other, "Idempotency-Key": "k"})
        assert (again.status_code, again.json()["id"] != made.json()["id"]) == (201, True)
        assert client.get(where).status_code == 200


def test_jobs_are_found_by_all_of_their_tags(solving: TestClient) -> None:
    """In capitals and without wildcards; the next page is of the same jobs."""
    asked = [("a_b", "night"), ("a_b",), ("axb", "night"), ("A_B", "night")]
    jobs = [solving.post("/assign", params={"tag": tags}, json=RING).headers["location"][6:] for tags in asked]
    page = solving.get("/jobs", params={"tag": "a_b", "limit": 1}).json()
    following = solving.get(page["next"]).json()
    assert [found["jobs"][0]["id"] for found in (page, following)] == [jobs[1], jobs[0]]
    assert following["next"] is None
    both = solving.get("/jobs", params={"tag": ["night", "a_b"]}).json()["jobs"]
    assert [job["id"] for job in both] == [jobs[0]]
    assert fault(solving.get("/jobs", params={"tag": "a b"}))[0] == "#/tag"


def test_an_address_that_may_not_be_told_is_refused(solving: TestClient) -> None:
    """As it is with a request for one job, and nothing becomes a job."""
    before = solving.get("/jobs").json()
    body = {"kind": "assign", "request": {"tasks": "ring:4", "topology": "ring:4"}, "variants": [{"changes": {}}] * 2}
    answer = solving.post("/comparisons", json=body, headers={"Webhook-URL": "https://hooks.example/"})
    assert (answer.status_code, fault(answer)[0]) == (422, "#/Webhook-URL")
    assert solving.get("/jobs").json() == before


def test_bug_requests_start_from_the_jobs_that_they_name(solving: TestClient) -> None:
    """As requests by themselves do; the mapping is kept with them, and the table has the name of the job."""
    first = solving.post("/assign", json=RING, headers={"Idempotency-Key": "start-of-a-comparison"})
    job = first.headers["location"].removeprefix("/jobs/")
    started = {**RING, "start_job": job, "max_moves": 0}
    found = compare(solving, {"entries": [{"kind": "assign", "request": started}, {"job": job}]})
    kept = solving.get(f"/jobs/{found.rows[0].job}/files/request.json").json()
    assert kept == {**RING, "max_moves": 0, "start": first.json()["mapping"]}
    assert found.rows[0].request["start_job"] == job
    assert found.rows[0].figures["cost"] == found.rows[1].figures["cost"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"entries": [ENTRY, {**ENTRY, "request": RING | {"start_job": "no"}}]}, "entries/1/request"),
        (SEEDS | {"variants": [{"changes": {"seed": 1}}, {"changes": {"start_job": "no"}}]}, "variants/1/changes"),
        (SEEDS | {"request": RING | {"start_job": "no"}}, "request"),
    ],
)
def test_bug_a_start_that_is_no_job_is_named(solving: TestClient, body: dict[str, Any], pointer: str) -> None:
    """Where the comparison states it."""
    listed = len(solving.get("/jobs").json()["jobs"])
    found = fault(solving.post("/comparisons", json=body))
    assert found == (f"#/{pointer}/start_job", "expected a job of yours, got one that is unknown")
    assert len(solving.get("/jobs").json()["jobs"]) == listed
