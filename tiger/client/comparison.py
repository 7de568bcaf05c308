"""A comparison of jobs that a service keeps, seen from its client."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from tiger.client.connection import Call, Connection
from tiger.client.errors import Document, ServiceError
from tiger.client.job import PAUSE_S, POLL_S, RemoteJob
from tiger.client.requests import Asked, body_of
from tiger.errors import InputError

# What is compared: a request, a job, or the id of one.
Compared = Asked[Any] | RemoteJob[Any] | str
ONE = (Asked, RemoteJob, str)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRow:
    """Hold a row of a comparison: its label, the id of its job with its status, and its figures by name.

    `request` has the fields of its request that are not the same in all. `ratios` are figures divided by those of the
    first row, and `best` names the figures of which no other row has a better one. A status is that of a job, or `gone`
    where the job has been purged; `problem` is the problem document of one that failed. A figure is None where the
    report has none, or is not there yet.
    """

    label: str
    job: str
    status: str
    problem: Mapping[str, object] | None
    feasible: bool | None
    optimal: bool | None
    request: Mapping[str, object]
    figures: Mapping[str, float | None]
    ratios: Mapping[str, float | None]
    best: tuple[str, ...]


class RemoteComparison:
    """Follow a comparison, by its `id`; what is known of it is from the last time that the service was asked."""

    def __init__(self, connection: Connection, document: Document) -> None:
        self._connection = connection
        self._take(document)

    def __repr__(self) -> str:
        """Show the id and the labels."""
        return f"RemoteComparison(id={self.id!r}, labels={[row.label for row in self.rows]})"

    def refresh(self, wait_s: int = 0) -> bool:
        """Ask for the table, and return whether all jobs have ended, within some seconds; raise ServiceError."""
        call = Call(method="GET", path=f"{self._path}?wait={wait_s}", wait_s=wait_s, kept=True)
        self._take(self._connection.document(call)[1])
        return self.ended

    def wait(self, timeout_s: float | None = None) -> tuple[ComparedRow, ...]:
        """Wait until all jobs have ended and return the rows; raise TimeoutError after `timeout_s` seconds."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while not self.ended:
            left = POLL_S if end is None else end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"some jobs of the comparison {self.id} have not ended after {timeout_s:g} s")
            if not self.refresh(min(POLL_S, int(left))):
                # A proxy in between may answer at once, whatever wait is requested.
                time.sleep(min(left, PAUSE_S))
        return self.rows

    def table(self) -> str:
        """Return the rows as CSV; raise ServiceError."""
        return self._connection.send(Call(method="GET", path=f"{self._path}/table.csv", kept=True)).text

    def forget(self) -> None:
        """Have the service forget it; its jobs stay. Raises ServiceError."""
        self._connection.send(Call(method="DELETE", path=self._path, kept=True))

    @property
    def _path(self) -> str:
        """Return where it is."""
        return f"comparisons/{self.id}"

    def _take(self, document: Document) -> None:
        """Replace what is known by what the service says; raise ServiceError for what is no comparison."""
        try:
            names = ComparedRow.__dataclass_fields__
            rows: Any = document["rows"]
            taken = [{name: row[name] for name in names} for row in rows]
            self.rows = tuple(ComparedRow(**{**row, "best": tuple(row["best"])}) for row in taken)
            self.id, self.ended = str(document["id"]), bool(document["ended"])
            self.same_problem: bool | None = document["same_problem"]  # type: ignore[assignment]  # as its schema says
        except (KeyError, TypeError):
            raise ServiceError(None, "expected a comparison, got something else") from None


def begin_comparison(
    connection: Connection, compared: Mapping[str, Compared] | Sequence[Compared], query: str
) -> RemoteComparison:
    """Have a service compare jobs, and requests that become jobs with the terms of a query; raise InputError."""
    if isinstance(compared, ONE):
        raise InputError("compared", f"expected two to ten of these, got one {type(compared).__name__} alone")
    entries = (
        [_state(each) | {"label": label} for label, each in compared.items()]
        if isinstance(compared, Mapping)
        else [_state(each) for each in compared]
    )
    headers = {"Idempotency-Key": uuid4().hex}
    call = Call(method="POST", path=f"comparisons{query}", headers=headers, body=body_of({"entries": entries}))
    return RemoteComparison(connection, connection.document(call)[1])


def find_comparison(connection: Connection, comparison_id: str) -> RemoteComparison:
    """Return the comparison of an id; raise ServiceError for one that there is not."""
    call = Call(method="GET", path=f"comparisons/{quote(comparison_id, safe='')}")
    return RemoteComparison(connection, connection.document(call)[1])


def _state(compared: Compared) -> dict[str, object]:
    """Return what a service is told of a job or a request; raise InputError for anything else."""
    if not isinstance(compared, ONE):
        raise InputError("compared", f"expected requests, jobs and ids of jobs, got {type(compared).__name__}")
    if isinstance(compared, Asked):
        return {"kind": compared.path, "request": json.loads(compared.body)}
    return {"job": compared if isinstance(compared, str) else compared.id}
