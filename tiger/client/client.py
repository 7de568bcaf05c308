"""The client of the REST service: `Client(url)` has the local entries, and jobs.

    with Client("http://localhost:8000") as client:
        report = client.assign(graph, "torus:4x4x4", seed=1)           # as tiger.assign
        job = client.submit(assignment(graph, "torus:4x4x4", seed=1))  # answered later
        report = job.wait(print)

Reports are those of local runs, except for what JSON does not carry (`tiger.client.reports`).
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from tiger.circuits.entry.arguments import LayoutCall
from tiger.client.connection import Call, Connection, Patience, check_header
from tiger.client.errors import KEY_VARIABLE, Document, ServiceError
from tiger.client.job import RemoteJob
from tiger.errors import InputError
from tiger.expert_maps.arguments import ExpertCall
from tiger.mapping.options import AssignCall
from tiger.model.options import method_from_fields
from tiger.placement.entry.arguments import PlaceCall
from tiger.planning.arguments import PlanCall
from tiger.rebalancing.params import RebalanceOptions
from tiger.run.progress import Progress

if TYPE_CHECKING:
    from tiger.circuits.entry.report import CircuitReport
    from tiger.client.comparison import Compared, RemoteComparison
    from tiger.client.rebalancer import RemoteRebalancer
    from tiger.client.reports import AnyReport
    from tiger.client.requests import Asked
    from tiger.client.uploads import RemoteUpload
    from tiger.client.usage import KeyUsage
    from tiger.expert_maps.report import ExpertReport
    from tiger.placement.entry.report import PlacementReport
    from tiger.planning.report import PlanReport
    from tiger.run.report import Report
    from tiger.training.arguments import Hardware, Model
    from tiger.training.costs.plan import Plan

Result = TypeVar("Result")
Watch = Callable[[Progress], None]
# Seconds that a service may take to answer with a report before it answers with a job, less where progress is watched.
WAIT_S, WATCHED_WAIT_S = 10, 1
ACCEPTED = 202
DEFAULTS = RebalanceOptions()


class Client:
    """Ask a service for what the local entries do; a context manager, to be used by one thread at a time.

    `key` is the service's API key, that of TIGER_API_KEY where it is None; "" sends none. `timeout_s` is how long the
    service may be silent beyond the time that it is given to answer. Requests for work become jobs with the `tags` and
    the `priority`, 0 to 9, of which 9 goes first. Raises InputError for a URL or key that is none; every request raises
    ServiceError where the service cannot be reached, within `patience`, or refuses.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        timeout_s: float = 30.0,
        patience: Patience | None = None,
        *,
        tags: str | Sequence[str] = (),
        priority: int = 0,
    ) -> None:
        self._terms = _Terms((), 0).replace(tags, priority)
        used = os.environ.get(KEY_VARIABLE, "").strip() if key is None else key
        self._connection = Connection(url, used, timeout_s, patience or Patience())

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close its connections."""
        self.close()

    def close(self) -> None:
        """Close what is open; jobs go on."""
        self._connection.close()

    @method_from_fields(AssignCall)
    def assign(self, call: AssignCall) -> "Report":
        """Map tasks onto a topology, as `tiger.assign` does for the same arguments.

        Files are read here. Raises as `tiger.assign` does, InputError also for what no service takes (`assignment`).
        """
        report: Report = self._ask("assign", call, call.progress)
        return report

    @method_from_fields(LayoutCall)
    def layout(self, call: LayoutCall) -> "CircuitReport":
        """Lay a circuit out on a device and route it, as `tiger.layout` does for the same arguments.

        The report has the routed circuit as `qasm` alone. Raises as `tiger.layout` does, InputError also for what no
        service takes (`circuit_layout`).
        """
        report: CircuitReport = self._ask("layout", call, call.progress)
        return report

    @method_from_fields(PlaceCall)
    def place(self, call: PlaceCall) -> "PlacementReport":
        """Place a model on a cluster, as `tiger.place` does for the same arguments; raise as it does."""
        report: PlacementReport = self._ask("place", call, call.progress)
        return report

    @method_from_fields(PlanCall)
    def plan(self, call: PlanCall) -> "PlanReport":
        """Plan how a cluster trains a model, as `tiger.plan` does for the same arguments; raise as it does."""
        report: PlanReport = self._ask("plan", call, call.progress)
        return report

    def rebalancer(
        self,
        model: "Model",
        cluster: "Hardware",
        *,
        plan: "Plan | None" = None,
        options: RebalanceOptions = DEFAULTS,
    ) -> "RemoteRebalancer":
        """Begin a rebalancer, as `tiger.Rebalancer` of the same arguments; raise as it does."""
        from tiger.client.rebalancer import begin_rebalancer

        return begin_rebalancer(self._connection, model, cluster, plan, options)

    def find_rebalancer(self, rebalancer_id: str) -> "RemoteRebalancer":
        """Return a rebalancer by its id, where it has got to."""
        from tiger.client.rebalancer import find_rebalancer

        return find_rebalancer(self._connection, rebalancer_id)

    @method_from_fields(ExpertCall)
    def experts(self, call: ExpertCall) -> "ExpertReport":
        """Place the experts of a mixture, as `tiger.experts` does for the same arguments; raise as it does.

        The report has no transitions to draw.
        """
        report: ExpertReport = self._ask("experts", call, call.progress)
        return report

    def submit(
        self,
        asked: "Asked[Result]",
        *,
        tags: str | Sequence[str] | None = None,
        priority: int | None = None,
        webhook_url: str | None = None,
    ) -> RemoteJob[Result]:
        """Have a request answered later, and return the job; one request is one job, however often it must be sent.

        Requests are made by `assignment`, `circuit_layout`, `placement`, `planning` and
        `expert_placement`. Tags and priority are those of the client where they are None. `webhook_url` is told of the
        end of the job; InputError says why where it is not.
        """
        terms = self._terms.replace(tags, priority)
        headers = {"Prefer": "respond-async", "Idempotency-Key": uuid4().hex}
        headers |= {} if webhook_url is None else {"Webhook-URL": check_header("webhook_url", webhook_url)}
        status, document = self._connection.document(
            Call(method="POST", path=asked.path + terms.query, headers=headers, body=asked.body)
        )
        return RemoteJob(self._connection, document if status == ACCEPTED else _finished_job(document), asked.read)

    def compare(
        self,
        compared: "Mapping[str, Compared] | Sequence[Compared]",
        *,
        tags: str | Sequence[str] | None = None,
        priority: int | None = None,
    ) -> "RemoteComparison":
        """Have two to ten jobs of one kind set side by side, and return the comparison, whose `rows` fill as they end.

        They are requests as `submit` takes them, which become jobs, all or none of them, with tags and priority as
        there, and jobs that there are or their ids; by their labels, or as a list. Raises InputError that names the
        entry: `entries/1/request/seed`.
        """
        from tiger.client.comparison import begin_comparison

        return begin_comparison(self._connection, compared, self._terms.replace(tags, priority).query)

    def find_comparison(self, comparison_id: str) -> "RemoteComparison":
        """Return a comparison by its id; raise ServiceError for one that there is not."""
        from tiger.client.comparison import find_comparison

        return find_comparison(self._connection, comparison_id)

    def upload(self, path: Path | str) -> "RemoteUpload":
        """Have the service keep a file of text for several requests, and return what stands in place of its path.

        Requests for mappings, placements and plans refer to it then, so that it may be larger than a body; the same
        file is kept once. Raises InputError of `path` for a file that cannot be read, and `InputError` or ServiceError
        for one that the service does not take.
        """
        from tiger.client.uploads import upload_file

        return upload_file(self._connection, Path(path))

    def uploads(self) -> "Iterator[Document]":
        """Yield what the service says of each upload of this key, the newest first: `id`, `name`, `bytes`, .."""
        from tiger.client.uploads import list_uploads

        return list_uploads(self._connection)

    def delete_upload(self, upload_id: str) -> None:
        """Have the service forget an upload; raise ServiceError (409) where a job that uses it has not ended."""
        from tiger.client.uploads import delete_upload

        delete_upload(self._connection, upload_id)

    def job(self, job_id: str) -> "RemoteJob[AnyReport]":
        """Return a job by its id; its report is emitted by the service (`RemoteJob.emit`), as the request is there."""
        from tiger.client.reports import read_report

        call = Call(method="GET", path=f"jobs/{quote(job_id, safe='')}")
        return RemoteJob(self._connection, self._connection.document(call)[1], read_report)

    def jobs(
        self,
        *,
        status: str | Sequence[str] = (),
        kind: str | Sequence[str] = (),
        tag: str | Sequence[str] = (),
        created_after: datetime | None = None,
        created_before: datetime | None = None,
    ) -> "Iterator[RemoteJob[AnyReport]]":
        """Yield the jobs of this key, the newest first, without reports; pages are requested as they are needed.

        All, or those in one of some states (`queued`, `running`, `done`, `failed`, `cancelled`), of one of some kinds
        (`assign`, `place`, `plan`, `experts`), with all of some tags, and created at a time or later, or before one.
        Raises InputError for a state or a kind that the service does not know, and for a time without its zone.
        """
        from tiger.client.reports import read_report

        stated = {"status": _listed(status), "kind": _listed(kind), "tag": _listed(tag)}
        times = {"created_after": created_after, "created_before": created_before}
        stated |= {name: [_time(name, time)] for name, time in times.items() if time is not None}
        query = urlencode(stated, doseq=True)
        for document in self._list("jobs", query):
            yield RemoteJob(self._connection, document, read_report)

    def webhooks(self, *, status: str | Sequence[str] = ()) -> Iterator[Document]:
        """Yield what webhooks the jobs of this key have led to, the newest first, as documents of the service.

        All, or those in one of some states: `pending`, `delivered`, `dead`. Raises InputError for another one.
        """
        yield from self._list("webhooks", urlencode({"status": _listed(status)}, doseq=True))

    def redeliver(self, webhook_id: str) -> Document:
        """Have a webhook sent again, and return it; raise ServiceError (404) where there is none."""
        path = f"webhooks/{quote(webhook_id, safe='')}/redeliver"
        return self._connection.document(Call(method="POST", path=path))[1]

    def _list(self, name: str, query: str) -> Iterator[Document]:
        """Yield what a route lists, on all its pages."""
        path: str | None = f"{name}?{query}" if query else name
        while path is not None:
            page = self._connection.document(Call(method="GET", path=path))[1]
            listed, following = page.get(name), page.get("next")
            yield from listed if isinstance(listed, Sequence) else ()
            # The query alone, so that nothing but this service ever sees the key.
            path = f"{name}?{urlsplit(following).query}" if isinstance(following, str) else None

    def usage(self, days: int = 7) -> "KeyUsage":
        """Return what this key uses, what is left of its quotas, and its processor seconds of some days up to today.

        Raises InputError of `days` for none, and for more than 366.
        """
        from tiger.client.usage import read_usage

        return read_usage(self._connection.document(Call(method="GET", path=f"usage?{urlencode({'days': days})}"))[1])

    def _ask(self, name: str, call: object, progress: Watch | None) -> Any:
        """Return the report of a use; where that becomes a job, it is cancelled if the wait ends early."""
        from tiger.client.requests import ask

        request = ask(name, call)
        wait_s = WAIT_S if progress is None else WATCHED_WAIT_S
        headers = {"Prefer": f"wait={wait_s}"}
        path = request.path + self._terms.query
        sent = Call(method="POST", path=path, headers=headers, body=request.body, wait_s=wait_s)
        status, document = self._connection.document(sent)
        if status != ACCEPTED:
            return request.read(document)
        job = RemoteJob(self._connection, document, request.read)
        try:
            return job.wait(progress)
        except BaseException:
            with suppress(ServiceError, InputError):
                job.cancel()
            raise


class _Terms(NamedTuple):
    """Hold what jobs are submitted with."""

    tags: tuple[str, ...]
    priority: int

    def replace(self, tags: str | Sequence[str] | None, priority: int | None) -> "_Terms":
        """Return terms with some replaced, where they are not None."""
        chosen = self.tags if tags is None else tuple(_listed(tags))
        return _Terms(chosen, self.priority if priority is None else priority)

    @property
    def query(self) -> str:
        """Return them as the query of a path, "" for usual ones, with which little work needs no job."""
        stated = {"tag": self.tags, **({"priority": self.priority} if self.priority else {})}
        query = urlencode(stated, doseq=True)
        return f"?{query}" if query else ""


def _listed(names: str | Sequence[str]) -> list[str]:
    """Return one name, or several, as a list."""
    return [names] if isinstance(names, str) else list(names)


def _time(field: str, time: datetime) -> str:
    """Return a time by RFC 3339; raise InputError of a field for one without its zone."""
    if time.utcoffset() is None:
        raise InputError(field, "expected a time with its zone, such as datetime.now(UTC), got one without")
    return time.isoformat(timespec="microseconds")


def _finished_job(report: Document) -> Document:
    """Return a job that has ended with a report, of a service that answers at once and keeps none."""
    return {"id": "", "status": "done", "report": report}
