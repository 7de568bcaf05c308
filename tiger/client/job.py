"""A job that a service keeps, seen from its client."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx

from tiger.client.connection import Call, Connection
from tiger.client.errors import Document, JobCancelledError, ServiceError, error_of
from tiger.run.progress import Progress

if TYPE_CHECKING:
    from tiger.client.reports import AnyReport

Result = TypeVar("Result")
Watch = Callable[[Progress], None]
UNKNOWN = 404
ENDED = ("done", "failed", "cancelled")
# Seconds that one request waits for the end, less where progress is watched, and between two requests.
POLL_S, WATCHED_POLL_S, PAUSE_S = 30, 1, 0.1


class RemoteJob(Generic[Result]):
    """Follow a job, by its `id`; what is known of it is from the last time that the service was asked.

    A job that a service has answered at once, without keeping it, has ended and no id.
    """

    def __init__(self, connection: Connection, document: Document, read: Callable[[Document], Result]) -> None:
        self._connection, self._read = connection, read
        self._take(document)

    def __repr__(self) -> str:
        """Show id and status."""
        return f"RemoteJob(id={self.id!r}, status={self.status!r})"

    @property
    def ended(self) -> bool:
        """Return whether nothing more will happen to it."""
        return self.status in ENDED

    @property
    def tags(self) -> tuple[str, ...]:
        """Return its tags."""
        tags = self._document.get("tags")
        return tuple(map(str, tags)) if isinstance(tags, Sequence) else ()

    @property
    def priority(self) -> int:
        """Return how urgent it is, from 0 to 9, which goes first."""
        priority = self._document.get("priority")
        return priority if isinstance(priority, int) else 0

    @property
    def progress(self) -> Progress | None:
        """Return how far it has come, None where that is not known."""
        return _progress(self._document.get("progress"), self.status)

    @property
    def report(self) -> Result | None:
        """Return the report of a job that is done, or what one that was cancelled had found; None without any.

        Lists of jobs come without reports: `refresh` gets them.
        """
        report = self._document.get("report")
        return self._read(report) if isinstance(report, Mapping) else None

    def refresh(self, wait_s: int = 0) -> str:
        """Ask for its status and return it, where it has not ended after up to so many seconds; raise ServiceError."""
        query = f"?wait={wait_s}" if wait_s else ""
        call = Call(method="GET", path=f"jobs/{self.id}{query}", wait_s=wait_s, kept=True)
        self._take(self._connection.document(call)[1])
        return self.status

    def wait(self, progress: Watch | None = None, timeout_s: float | None = None) -> Result:
        """Wait until it ends and return its report; `progress` is called with how far it has come.

        The wait outlives a restart of the service. Raises TimeoutError after `timeout_s` seconds, while the job goes
        on, JobCancelledError for one that was cancelled, and for one that failed what its request would have raised:
        InputError or ServiceError.
        """
        end = None if timeout_s is None else time.monotonic() + timeout_s
        if progress is not None and not self.ended:
            self._follow(progress, end)
        most = POLL_S if progress is None else WATCHED_POLL_S
        while not self._has_settled:
            left = most if end is None else end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"the job {self.id} has not ended after {timeout_s:g} s")
            self.refresh(min(most, int(left)))
            if progress is not None and self.progress is not None:
                progress(self.progress)
            if not self.ended:
                # A proxy in between may answer at once, whatever wait is requested.
                time.sleep(min(left, PAUSE_S))
        return self._outcome()

    def view(self) -> Document:
        """Return what the pictures of its answer show, by the schema `tiger.view/1`; raise ServiceError without any."""
        return self._connection.document(self._get("view"))[1]

    def files(self) -> dict[str, str]:
        """Return what it has left beside its report: what each file holds, or the command that takes it, by name.

        Raises ServiceError.
        """
        return self._list("files", "description")

    def file(self, name: str) -> str:
        """Return the text of a file that it has left; raise ServiceError for one that there is not."""
        return self._connection.send(self._get(f"files/{quote(name, safe='')}")).text

    def formats(self) -> dict[str, str]:
        """Return what its answer can be written for, once it has ended: the name of each file, by that of its reader.

        Raises ServiceError.
        """
        return self._list("emit", "file")

    def emit(self, name: str) -> str:
        """Return its answer as a launcher, a training system or a server of experts reads it, such as slurm or vllm.

        The service writes it, of any job that has ended. Raises InputError of `emit` where this answer cannot be
        written so, and ServiceError for a name that is not among its `formats`, a job that goes on (409), and a file
        that is no text, that of eplb, which `emit_bytes` returns.
        """
        answer = self._connection.send(self._get(f"emit/{quote(name, safe='')}"))
        if answer.headers.get("content-type", "").startswith("application/octet-stream"):
            raise ServiceError(answer.status_code, f"expected a text, got the bytes of {name}: use emit_bytes")
        return answer.text

    def emit_bytes(self, name: str) -> bytes:
        """Return the bytes of what `emit` writes, also of what is no text; raise as it does."""
        return self._connection.send(self._get(f"emit/{quote(name, safe='')}")).content

    def replan(self, **change: object) -> "RemoteJob[AnyReport]":
        """Have its tasks mapped anew after a change, with few moves, by a job of its own, and return that job.

        A change is what `POST /jobs/{id}/replan` takes: `lost_nodes`, `added_nodes`, `topology` as a SPEC, a document
        or an upload, `lost_tasks`, `added_tasks` as {"nodes": [..], "edges": [..]}, `traffic` as edges with other
        weights, `rule`, `max_moves`, `move_cost`, `effort`, `seed` and `time_limit_s`. Raises InputError for a field at
        fault, also of `job` for one that mapped no tasks, and ServiceError, with 409 for one that goes on.
        """
        from tiger.client.reports import read_report
        from tiger.client.requests import body_of
        from tiger.client.uploads import RemoteUpload

        change = {name: each.reference if isinstance(each, RemoteUpload) else each for name, each in change.items()}
        headers = {"Prefer": "respond-async", "Idempotency-Key": uuid4().hex}
        call = Call(method="POST", path=f"jobs/{self.id}/replan", headers=headers, body=body_of(change))
        return RemoteJob(self._connection, self._connection.document(call)[1], read_report)

    def cancel(self) -> None:
        """Cancel it where it has not ended; raise ServiceError."""
        if not self.ended:
            with suppress(_NoDocumentError):
                self._take(_read_document(self._connection.send(Call(method="DELETE", path=f"jobs/{self.id}"))))

    def purge(self) -> None:
        """Delete it, which has to have ended, with its report and its files; raise ServiceError (409) where it goes on.

        One that is gone already is no error.
        """
        try:
            self._connection.send(Call(method="DELETE", path=f"jobs/{self.id}?purge=true"))
        except ServiceError as error:
            if error.status != UNKNOWN:
                raise

    @property
    def _has_settled(self) -> bool:
        """Return whether it has ended, with the report that belongs to it."""
        return self.ended and (self.status != "done" or self._document.get("report") is not None)

    def _get(self, path: str) -> Call:
        """Return the request for something below the job."""
        return Call(method="GET", path=f"jobs/{self.id}/{path}", kept=True)

    def _list(self, path: str, member: str) -> dict[str, str]:
        """Return one member of everything in a list below the job, by name; raise ServiceError."""
        answer = self._connection.send(self._get(path))
        try:
            return {each["name"]: each[member] for each in json.loads(answer.content)}
        except (ValueError, TypeError, KeyError):
            raise ServiceError(answer.status_code, f"expected a list of {path}, got something else") from None

    def _take(self, document: Document) -> None:
        """Replace what is known by what the service says."""
        self._document = document
        self.id, self.status = str(document.get("id", "")), str(document.get("status", ""))

    def _follow(self, progress: Watch, end: float | None) -> None:
        """Call `progress` as the service reports it, until the job ends, or the stream, or the time."""
        silence_s = POLL_S if end is None else max(0.0, min(POLL_S, end - time.monotonic()))
        with (
            suppress(ServiceError, httpx.TransportError),
            self._connection.lines(f"jobs/{self.id}/events", silence_s) as lines,
        ):
            for name, data in events(lines):
                step = _progress(data.get("progress", data), self.status)
                if name == "done" and "status" in data:
                    self._take(data)
                if name != "progress" or (end is not None and time.monotonic() > end):
                    return
                if step is not None:
                    progress(step)

    def _outcome(self) -> Result:
        """Return the report, or raise what came instead."""
        problem, report = self._document.get("problem"), self.report
        if self.status == "cancelled":
            raise JobCancelledError(self.id)
        if self.status == "failed" or report is None:
            found = problem if isinstance(problem, Mapping) else None
            status = found.get("status") if found else None
            raise error_of(status if isinstance(status, int) else 500, found, "that the job failed")
        return report


def events(lines: Iterable[str]) -> Iterator[tuple[str, Document]]:
    """Yield name and JSON object of every server-sent event; comments and events of another kind are passed over."""
    name, data = "message", list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif not line:
            with suppress(ValueError):
                document = json.loads("\n".join(data))
                if isinstance(document, dict):
                    yield name, document
            name, data = "message", []


class _NoDocumentError(Exception):
    """Report an answer without a document."""


def _read_document(answer: httpx.Response) -> Document:
    """Return the document of an answer; raise _NoDocumentError without one."""
    with suppress(ValueError):
        document = json.loads(answer.content)
        if isinstance(document, dict) and "status" in document:
            return document
    raise _NoDocumentError


def _progress(stated: object, status: str) -> Progress | None:
    """Return the progress that a service states, None where it states none."""
    if not isinstance(stated, Mapping):
        return None
    fraction, cost, bound = (stated.get(name) for name in ("fraction", "cost", "bound"))
    return Progress(
        stage=str(stated.get("stage") or status),
        fraction=min(max(float(fraction), 0.0), 1.0) if isinstance(fraction, int | float) else None,
        cost=float(cost) if isinstance(cost, int | float) else None,
        bound=float(bound) if isinstance(bound, int | float) else None,
    )
