"""Tests of the client against a small server of their own, which says what each test has it say."""

import json
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import networkx as nx
import pytest

import tiger
from tiger.client import Client, InputError, JobCancelledError, Patience, RemoteJob, ServiceError, assignment
from tiger.client import job as remote_job
from tiger.run.progress import Progress
from tiger.run.report import Report

Answer = tuple[int, Any, dict[str, str]]
QUICK = Patience(asking_s=2.0, waiting_s=5.0, first_s=0.01, most_s=0.05)
PAIR = nx.DiGraph([("a", "b")])
ASSIGN = "POST /assign"
JOB, LATER = {"id": "j1", "status": "running", "report": None}, (202, {"id": "j1", "status": "queued"}, {})
BROKEN: Answer = (0, None, {})


class Script(BaseHTTPRequestHandler):
    """Answer each route with what is written for it, one after the other, the last again and again."""

    protocol_version = "HTTP/1.1"
    answers: ClassVar[dict[str, list[Answer]]] = defaultdict(list)
    heard: ClassVar[list[tuple[str, dict[str, str], bytes]]] = []

    def answer(self) -> None:
        """Answer, or break the connection off for a status of 0."""
        sent = self.rfile.read(int(self.headers.get("content-length", 0)))
        route = f"{self.command} {self.path}"
        self.heard.append((route, {name.lower(): value for name, value in self.headers.items()}, sent))
        written = self.answers[route] or self.answers[route.partition("?")[0]] or [(404, {"detail": "unknown"}, {})]
        status, document, headers = written.pop(0) if len(written) > 1 else written[0]
        self.close_connection = not status
        if status:
            content = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture(scope="module", name="url")
def _url() -> Iterator[str]:
    """Return the URL of the server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Script) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def client(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Return a client without a key of a server that knows nothing yet."""
    monkeypatch.delenv("TIGER_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(remote_job, "PAUSE_S", 0.01)
    Script.answers.clear()
    Script.heard.clear()
    with Client(url, patience=QUICK, timeout_s=60.0) as made:
        yield made


@pytest.fixture(scope="module", name="report")
def _report() -> Report:
    """Return what a local run answers."""
    return tiger.assign(PAIR, "grid:2", seed=4)


def say(route: str, *answers: Answer) -> None:
    """Write what a route answers."""
    Script.answers[route] = list(answers)


def routes() -> list[str]:
    """Return what has been asked for."""
    return [route for route, _, _ in Script.heard]


def answer_ended(status: str, **more: object) -> Answer:
    """Return the answer of a job that has ended."""
    return 200, {**JOB, "status": status, **more}, {}


def test_an_answer_is_the_report_of_a_local_run(client: Client, report: Report) -> None:
    """The request is JSON that asks to be answered within ten seconds, and is no stored job."""
    say(ASSIGN, (200, report.to_dict(), {}))
    assert client.assign(PAIR, "grid:2", seed=4) == report
    (_, headers, sent), *others = Script.heard
    assert (headers["prefer"], headers["content-type"], others) == ("wait=10", "application/json", [])
    assert "idempotency-key" not in headers
    assert (json.loads(sent)["topology"], json.loads(sent)["seed"]) == ("grid:2", 4)


def test_an_answer_that_is_put_off_is_waited_for(client: Client, report: Report) -> None:
    """The job is asked for until it has ended."""
    say(ASSIGN, LATER)
    say("GET /jobs/j1", (200, JOB, {}), answer_ended("done", report=report.to_dict()))
    assert client.assign(PAIR, "grid:2") == report
    assert routes() == [ASSIGN, "GET /jobs/j1?wait=30", "GET /jobs/j1?wait=30"]


def test_a_path_before_the_routes_is_kept(url: str, client: Client, report: Report) -> None:
    """As behind a proxy that serves several things."""
    say("POST /tiger/assign", (200, report.to_dict(), {}))
    with Client(f"{url}/tiger/", patience=QUICK) as behind:
        assert behind.assign(PAIR, "grid:2") == report


def test_progress_comes_as_events(client: Client, report: Report) -> None:
    """The last event has the report, so that nothing more is asked."""
    steps = [{**JOB, "progress": {"stage": "anneal", "cost": cost, "fraction": None}} for cost in (3, 2)]
    stream = b": hello\n\n" + b"".join(
        b"event: progress\ndata: " + json.dumps(step).encode() + b"\n\n" for step in steps
    )
    stream += (
        b"event: done\ndata: " + json.dumps({**JOB, "status": "done", "report": report.to_dict()}).encode() + b"\n\n"
    )
    say(ASSIGN, LATER)
    say("GET /jobs/j1/events", (200, stream, {"Content-Type": "text/event-stream"}))
    seen: list[Progress] = []
    assert client.assign(PAIR, "grid:2", progress=seen.append) == report
    assert seen == [Progress("anneal", None, 3.0), Progress("anneal", None, 2.0)]
    assert (routes(), Script.heard[0][1]["prefer"]) == ([ASSIGN, "GET /jobs/j1/events"], "wait=1")


@pytest.mark.parametrize("stream", [(404, {}, {}), BROKEN, (200, b"", {"Content-Type": "text/event-stream"})])
def test_progress_without_events_is_asked_for(client: Client, report: Report, stream: Answer) -> None:
    """Where there are none, or where they break off."""
    say(ASSIGN, LATER)
    say("GET /jobs/j1/events", stream)
    say("GET /jobs/j1", (200, {**JOB, "progress": {"stage": "x"}}, {}), answer_ended("done", report=report.to_dict()))
    seen: list[Progress] = []
    assert client.assign(PAIR, "grid:2", progress=seen.append) == report
    assert seen == [Progress("x", None, None)]


@pytest.mark.slow
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_who_stops_waiting_cancels(client: Client, error: type[BaseException]) -> None:
    """Nobody else knows the job."""

    def stop(step: Progress) -> None:
        raise error

    say(ASSIGN, LATER)
    say("GET /jobs/j1", (200, {**JOB, "progress": {}}, {}))
    say("DELETE /jobs/j1", (202, {**JOB, "status": "cancelled"}, {}))
    with pytest.raises(error):
        client.assign(PAIR, "grid:2", progress=stop)
    assert routes()[-1] == "DELETE /jobs/j1"


def test_a_submitted_request_is_one_job(client: Client, report: Report) -> None:
    """It has a key of its own, the same when it must be sent again."""
    say(ASSIGN, BROKEN, LATER)
    job: RemoteJob[Report] = client.submit(assignment(PAIR, "grid:2"))
    other = client.submit(assignment(PAIR, "grid:2"))
    keys = [headers["idempotency-key"] for _, headers, _ in Script.heard]
    assert (job.id, job.status, other.ended, Script.heard[0][1]["prefer"]) == ("j1", "queued", False, "respond-async")
    assert keys[0] == keys[1] != keys[2]


def test_a_service_may_answer_at_once(client: Client, report: Report) -> None:
    """The job has ended then, and is not kept."""
    say(ASSIGN, (200, report.to_dict(), {}))
    job = client.submit(assignment(PAIR, "grid:2"))
    job.cancel()
    assert (job.id, job.ended, job.wait(), routes()) == ("", True, report, [ASSIGN])


def test_a_wait_may_have_an_end(client: Client) -> None:
    """The job goes on."""
    say(ASSIGN, LATER)
    say("GET /jobs/j1", (200, JOB, {}))
    job = client.submit(assignment(PAIR, "grid:2"))
    with pytest.raises(TimeoutError, match=r"^the job j1 has not ended after 0\.05 s$"):
        job.wait(timeout_s=0.05)
    assert not any(route.startswith("DELETE") for route in routes())


@pytest.mark.slow
def test_a_wait_outlives_a_restart(client: Client, report: Report) -> None:
    """Broken connections, and a service that is not ready yet."""
    say(ASSIGN, LATER)
    again = (503, {"detail": "Starting."}, {"Retry-After": "0"})
    say("GET /jobs/j1", (200, JOB, {}), BROKEN, BROKEN, again, answer_ended("done", report=report.to_dict()))
    assert client.submit(assignment(PAIR, "grid:2")).wait() == report


def test_a_cancelled_job(client: Client, report: Report) -> None:
    """There is no answer, but what it had found is kept."""
    say("GET /jobs/j1", (200, JOB, {}))
    say("DELETE /jobs/j1", answer_ended("cancelled", report=report.to_dict()))
    job = client.job("j1")
    job.cancel()
    assert (job.status, job.report) == ("cancelled", report)
    with pytest.raises(JobCancelledError, match="j1"):
        job.wait()
    job.cancel()
    assert routes().count("DELETE /jobs/j1") == 1


def test_a_cancel_may_be_answered_without_words(client: Client) -> None:
    """Then what is known stays."""
    say("GET /jobs/j1", (200, JOB, {}))
    say("DELETE /jobs/j1", (204, b"", {}))
    job = client.job("j1")
    job.cancel()
    assert job.status == "running"


@pytest.mark.parametrize(
    ("problem", "error", "message"),
    [
        ({"status": 422, "detail": "x", "errors": [{"pointer": "#/seed", "detail": "odd"}]}, InputError, "^seed: odd$"),
        ({"status": 503, "detail": "The solver died."}, ServiceError, r"^The solver died\. \(status 503\)$"),
        (None, ServiceError, r"that the job failed \(status 500\)$"),
    ],
)
def test_a_failed_job_raises_what_its_request_would_have(
    client: Client, problem: object, error: type[Exception], message: str
) -> None:
    """Bad input is found late where the work finds it."""
    say("GET /jobs/j1", answer_ended("failed", problem=problem))
    with pytest.raises(error, match=message):
        client.job("j1").wait()


def test_a_job_says_whom_to_tell_and_what_came_of_it(client: Client, report: Report) -> None:
    """By a header; events come page by page, and one is sent again."""
    say(ASSIGN, LATER)
    client.submit(assignment(PAIR, "grid:2"), webhook_url="https://hooks.example/t")
    assert Script.heard[0][1]["webhook-url"] == "https://hooks.example/t"
    say("GET /webhooks?status=dead", (200, {"webhooks": [{"id": "e1"}], "next": "/webhooks?after=e1"}, {}))
    say("GET /webhooks?after=e1", (200, {"webhooks": [{"id": "e2"}], "next": None}, {}))
    assert [each["id"] for each in client.webhooks(status="dead")] == ["e1", "e2"]
    say("POST /webhooks/e1/redeliver", (202, {"id": "e1", "status": "pending"}, {}))
    assert client.redeliver("e1") == {"id": "e1", "status": "pending"}


def test_jobs_come_page_by_page(client: Client, report: Report) -> None:
    """Of the address of the next page, the query alone is used: the key goes nowhere else."""
    say("GET /jobs", (200, {"jobs": [JOB, {**JOB, "id": "j2"}], "next": "http://elsewhere.example/x?after=j2"}, {}))
    say("GET /jobs?after=j2", (200, {"jobs": [{**JOB, "id": "j3", "status": "done"}], "next": None}, {}))
    say("GET /jobs/j3", answer_ended("done", id="j3", report=report.to_dict()))
    listed = client.jobs()
    first = next(listed)
    assert (repr(first), routes()) == ("RemoteJob(id='j1', status='running')", ["GET /jobs"])
    *_, last = listed
    assert (last.id, last.report, last.wait(), last.report) == ("j3", None, report, report)


def test_jobs_are_chosen_by_the_service(client: Client) -> None:
    """By the parameters of its list; a time needs its zone, which the service would not guess."""
    time = datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=1)))
    say("GET /jobs", (200, {"jobs": [], "next": None}, {}))
    some = {"status": ["done", "failed"], "kind": "plan", "tag": ["a", "b"]}
    assert list(client.jobs(**some, created_after=time, created_before=time)) == []  # type: ignore[arg-type]  # texts
    sent = parse_qs(urlsplit(routes()[0]).query)
    assert (sent["status"], sent["kind"], sent["tag"]) == (["done", "failed"], ["plan"], ["a", "b"])
    assert sent["created_after"] == sent["created_before"] == ["2026-01-31T12:00:00.000000+01:00"]
    with pytest.raises(InputError, match=r"created_before: expected a time with its zone"):
        list(client.jobs(created_before=time.replace(tzinfo=None)))


def test_tags_and_priority_go_with_every_request(url: str, client: Client, report: Report) -> None:
    """Those of the client, unless a job has its own."""
    say(ASSIGN, (200, report.to_dict(), {}), LATER)
    say("GET /jobs/j1", answer_ended("done", tags=["a"], priority=3))
    with Client(url, tags=["team/a", "b"], priority=3) as tagged:
        tagged.assign(PAIR, "grid:2", seed=4)
        tagged.submit(assignment(PAIR, "grid:2"), tags=["c"], priority=0)
    client.submit(assignment(PAIR, "grid:2"), priority=9)
    with Client(url, tags="night") as tagged:
        tagged.submit(assignment(PAIR, "grid:2"))
        tagged.submit(assignment(PAIR, "grid:2"), tags="day")
    sent = [parse_qs(urlsplit(route).query) for route in routes()]
    assert sent[:3] == [{"tag": ["team/a", "b"], "priority": ["3"]}, {"tag": ["c"]}, {"priority": ["9"]}]
    assert sent[3:] == [{"tag": ["night"]}, {"tag": ["day"]}]
    job = client.job("j1")
    assert (job.tags, job.priority) == (("a",), 3)


def test_one_tag_needs_no_list(url: str, client: Client) -> None:
    """It is one tag, as it is of lists of jobs, and not each of its letters."""
    say(ASSIGN, LATER, LATER)
    with Client(url, tags="nightly") as tagged:
        tagged.submit(assignment(PAIR, "grid:2"))
    client.submit(assignment(PAIR, "grid:2"), tags="team/a")
    assert [parse_qs(urlsplit(route).query) for route in routes()] == [{"tag": ["nightly"]}, {"tag": ["team/a"]}]


@pytest.mark.parametrize("address", ["https://ü.example/", "https://a.example/\nX-API-Key: k", " https://a.example/"])
def test_an_address_that_no_header_can_carry_is_refused(client: Client, address: str) -> None:
    """Before anything is sent."""
    with pytest.raises(InputError, match="webhook_url: expected printable ASCII"):
        client.submit(assignment(PAIR, "grid:2"), webhook_url=address)
    assert routes() == []


ROW = {"label": "a", "job": "j1", "status": "running", "problem": None, "feasible": None, "optimal": None, "best": []}
ROW |= {name: {} for name in ("request", "figures", "ratios")}
TABLE = {"id": "c1", "ended": False, "same_problem": True, "rows": [ROW]}


def test_requests_and_jobs_are_compared(client: Client) -> None:
    """By their labels or without; rows fill as jobs end, whoever asks for them again."""
    ended = {**TABLE, "ended": True, "rows": [{**ROW, "status": "done", "figures": {"cost": 3.0}, "best": ["cost"]}]}
    say("POST /comparisons", BROKEN, (201, TABLE, {}))
    say("GET /comparisons/c1", (200, TABLE, {}), (200, ended, {}))
    asked = assignment(PAIR, "grid:2", seed=4)
    comparison = client.compare({"a": asked, "b": "j2", "c": RemoteJob(client._connection, JOB, lambda _: None)})
    assert (repr(comparison), comparison.ended) == ("RemoteComparison(id='c1', labels=['a'])", False)
    entries = [{"job": "j2", "label": "b"}, {"job": "j1", "label": "c"}]
    sent = json.loads(Script.heard[-1][2])["entries"]
    assert (sent[1:], sent[0]["kind"], sent[0]["label"]) == (entries, "assign", "a")
    assert sent[0]["request"] == json.loads(asked.body)
    (row,) = comparison.wait(timeout_s=60)
    assert (row.status, row.figures, row.best, comparison.rows) == ("done", {"cost": 3.0}, ("cost",), (row,))
    client.compare([asked, asked], tags=["x"])
    keys = [headers["idempotency-key"] for route, headers, _ in Script.heard if route.startswith("POST")]
    assert (keys[0] == keys[1], routes()[-1]) == (True, "POST /comparisons?tag=x")
    say("GET /comparisons/c1/table.csv", (200, b"label,job\r\n", {}))
    assert client.find_comparison("c1").table() == "label,job\r\n"
    say("DELETE /comparisons/c1", (204, b"", {}))
    comparison.forget()


@pytest.mark.parametrize("compared", ["j1", assignment(PAIR, "grid:2"), ["j1", 2], {"a": None, "b": "j1"}])
def test_bug_what_cannot_be_compared_is_refused_before_it_is_sent(client: Client, compared: Any) -> None:
    """One request alone, whose letters or fields would else be taken for entries, and what is no job."""
    with pytest.raises(InputError, match="compared: expected "):
        client.compare(compared)


def test_what_is_no_comparison_is_an_error_of_the_service(client: Client) -> None:
    """And one that does not end is not waited for without end."""
    say("GET /comparisons/c1", (200, TABLE, {}))
    with pytest.raises(TimeoutError, match="some jobs of the comparison c1 have not ended after 0 s"):
        client.find_comparison("c1").wait(timeout_s=0)
    for rows in (None, [{}]):
        say("GET /comparisons/c1", (200, {**TABLE, "rows": rows}, {}))
        with pytest.raises(ServiceError, match="expected a comparison"):
            client.find_comparison("c1")


@pytest.mark.parametrize("answers", [[(204, b"", {})], [BROKEN, (404, {"detail": "unknown"}, {})]])
def test_a_purged_job_may_be_gone_already(client: Client, answers: list[Answer]) -> None:
    """As it is when the answer to the first request was lost."""
    say("GET /jobs/j1", answer_ended("cancelled"))
    say("DELETE /jobs/j1?purge=true", *answers)
    client.job("j1").purge()


def test_a_job_that_goes_on_is_not_purged(client: Client) -> None:
    """The service says that it has to be cancelled first."""
    say("GET /jobs/j1", (200, JOB, {}))
    say("DELETE /jobs/j1?purge=true", (409, {"detail": "The job has not ended."}, {}))
    with pytest.raises(ServiceError, match=r"not ended\. \(status 409\)"):
        client.job("j1").purge()


def test_a_job_has_a_view_and_files(client: Client) -> None:
    """Each is asked for by its name."""
    Script.answers["GET /jobs/j1"] = [(200, JOB, {})]
    Script.answers["GET /jobs/j1/view"] = [(200, {"kind": "mapping"}, {})]
    Script.answers["GET /jobs/j1/files"] = [
        (200, [{"name": "a b", "description": "c", "bytes": 1}], {}),
        (200, [1], {}),
    ]
    Script.answers["GET /jobs/j1/files/a%20b"] = [(200, b"text", {"Content-Type": "text/plain"})]
    job = client.job("j1")
    assert (job.view(), job.files(), job.file("a b")) == ({"kind": "mapping"}, {"a b": "c"}, "text")
    with pytest.raises(ServiceError, match="list of files"):
        job.files()
    with pytest.raises(ServiceError, match="unknown"):
        job.file("none")


def test_a_job_is_written_for_other_systems(client: Client) -> None:
    """As a text or as bytes, where its answer can be."""
    kind = "Content-Type"
    say("GET /jobs/j1", (200, JOB | {"status": "done"}, {}))
    say("GET /jobs/j1/emit", (200, [{"name": "csv", "file": "ranks.csv", "media_type": "text/csv"}], {}))
    say("GET /jobs/j1/emit/csv", (200, b"rank\n", {kind: "text/csv; charset=utf-8"}))
    say("GET /jobs/j1/emit/eplb", (200, b"PK\xff", {kind: "application/octet-stream"}))
    refusal = {"detail": "no", "errors": [{"pointer": "#/emit", "detail": "expected hosts"}]}
    say("GET /jobs/j1/emit/slurm", (422, refusal, {}))
    job = client.job("j1")
    assert (job.formats(), job.emit("csv"), job.emit_bytes("eplb")) == ({"csv": "ranks.csv"}, "rank\n", b"PK\xff")
    with pytest.raises(ServiceError, match="use emit_bytes"):
        job.emit("eplb")
    with pytest.raises(InputError, match="emit: expected hosts"):
        job.emit("slurm")


def test_an_id_is_no_path(client: Client) -> None:
    """Whatever it holds, it asks for a job."""
    with pytest.raises(ServiceError, match=r"^unknown \(status 404\)$"):
        client.job("../metrics?x")
    assert routes() == ["GET /jobs/..%2Fmetrics%3Fx"]


@pytest.mark.parametrize(("given", "sent"), [(None, "from-variable"), ("own", "own"), ("", None)])
def test_where_the_key_comes_from(
    url: str, client: Client, monkeypatch: pytest.MonkeyPatch, given: str | None, sent: str | None
) -> None:
    """The variable, an argument, or none."""
    monkeypatch.setenv("TIGER_API_KEY", "from-variable")
    say("GET /jobs", (200, {"jobs": [], "next": None}, {}))
    with Client(url, given) as keyed:
        assert list(keyed.jobs()) == []
    assert Script.heard[-1][1].get("x-api-key") == sent


def test_bad_input_found_by_the_service(client: Client) -> None:
    """It is the error of a local run."""
    errors = [{"pointer": "#/solver", "detail": "expected another"}]
    say(ASSIGN, (422, {"status": 422, "detail": "all", "errors": errors}, {}))
    with pytest.raises(InputError) as caught:
        client.assign(PAIR, "grid:2")
    assert (caught.value.field, caught.value.reason) == ("solver", "expected another")


def test_a_busy_service_is_asked_again(client: Client, report: Report) -> None:
    """After the time that it states."""
    busy = (429, {"detail": "Too many."}, {"Retry-After": "0"})
    say(ASSIGN, busy, (503, {}, {"Retry-After": "0"}), (200, report.to_dict(), {}))
    assert client.assign(PAIR, "grid:2") == report


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        ((503, {"detail": "The process died."}, {}), 503, "The process died."),
        ((503, {"detail": "Stopping."}, {"Retry-After": "3600"}), 503, "Stopping."),
        ((401, {"detail": "No key."}, {}), 401, "set TIGER_API_KEY"),
        ((307, b"", {"Location": "http://elsewhere.example/"}), 307, "answered Temporary Redirect"),
        ((502, b"<html>", {}), 502, "answered Bad Gateway"),
        ((200, b"<html>", {}), 200, "expected a JSON object"),
        ((200, {"hello": 1}, {}), None, r"expected a report in the schema tiger\.report/1"),
    ],
)
def test_answers_that_are_final(client: Client, answer: Answer, status: int | None, message: str) -> None:
    """They are not asked for again."""
    say(ASSIGN, answer)
    with pytest.raises(ServiceError, match=message) as caught:
        client.assign(PAIR, "grid:2")
    assert (caught.value.status, len(Script.heard)) == (status, 1)


def test_nobody_answers() -> None:
    """It is said within the time for it, with what the system says."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    patience = Patience(asking_s=0.1, first_s=0.02)
    with (
        Client(f"http://127.0.0.1:{port}", patience=patience) as alone,
        pytest.raises(ServiceError, match="refused") as caught,
    ):
        alone.assign(PAIR, "grid:2")
    assert caught.value.status is None


def test_importing_the_client_is_cheap() -> None:
    """What reads graphs, circuits and models is imported by the first request."""
    heavy = {"dimod", "fastapi", "networkx", "numba", "numpy", "qiskit", "scipy", "uvicorn"}
    code = f"import sys, tiger.client; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_there_is_nothing_else_in_the_module() -> None:
    """A misspelt name is told as usual."""
    with pytest.raises(AttributeError, match="has no attribute 'Cleint'"):
        tiger.client.Cleint  # type: ignore[attr-defined]  # noqa: B018


STATE = {"cuts": [0, 1], "devices": ["a"], "lost": [], "microbatches": 1, "forward_s": [1.0], "backward_s": [2.0]}
STEPS = "POST /rebalancers/r1/steps"
KEPT = {
    "action": "keep",
    "why": "so",
    "cuts": [0, 1],
    "devices": ["a"],
    "iteration_s": 1,
    "kept_s": 1,
    "best_s": 1,
    "lower_bound_s": 1,
    "moves": [],
    "moved_layers": 0,
    "moved_bytes": 0,
    "moving_s": 0,
    "break_even": None,
    "freed": [],
    "seconds": 0.1,
}


def test_a_step_that_must_be_sent_again_has_the_same_key(client: Client) -> None:
    """So that the service takes it once; the next step has another."""
    Script.answers["GET /rebalancers/r1"] = [(200, {"id": "r1", **STATE}, {})]
    Script.answers[STEPS] = [BROKEN, (503, {}, {"Retry-After": "0"}), (200, KEPT, {})]
    rebalancer = client.find_rebalancer("r1")
    assert rebalancer.step([1.0]).action == rebalancer.step([2.0]).action == "keep"
    keys = [headers["idempotency-key"] for route, headers, _ in Script.heard if route == STEPS]
    assert (keys[0], keys[1]) == (keys[2], keys[2])
    assert keys[3] != keys[2]


@pytest.mark.parametrize("document", [{"id": "r1"}, {"id": "r1", **STATE, "cuts": 3}])
def test_what_is_no_rebalancer_is_an_error_of_the_service(client: Client, document: Any) -> None:
    """Rather than one of this client."""
    Script.answers["GET /rebalancers/r1"] = [(200, document, {})]
    with pytest.raises(ServiceError, match="expected"):
        client.find_rebalancer("r1")
