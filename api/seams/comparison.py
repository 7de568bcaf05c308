"""A comparison of jobs that the service keeps, and the interface of what stores them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tiger.api.seams.job import JobOrder, Jobs, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """Hold a job to be compared, by its id or as what is to be done, and the fields of its request.

    A field is shown as it is, or as a digest where it is long; `request` is None where that is not known any more.
    """

    label: str
    job: str | JobOrder
    request: Mapping[str, object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComparison:
    """Hold the checked body of a request, the jobs it comes to, for whom, and the key of the request."""

    body: bytes
    kind: Kind
    entries: tuple[NewEntry, ...]
    owner: str = ""
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedJob:
    """Hold the id of a job that is compared, its label, and the fields of its request as `NewEntry` has them."""

    label: str
    job: str
    request: Mapping[str, object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredComparison:
    """Hold a comparison: jobs of one kind, some of which may have been purged since."""

    id: str
    owner: str
    kind: Kind
    created_s: float
    entries: tuple[ComparedJob, ...]


class Comparisons(Protocol):
    """Store comparisons. One of another owner is as unknown as one that never was, or that has expired.

    Every call may raise DatabaseDownError.
    """

    async def insert(self, new: NewComparison) -> StoredComparison:
        """Keep a comparison with all its new jobs and return it, or the one of the same key.

        Raises KeyReusedError, QuotaExceededError or DiskFullError, and keeps nothing then.
        """

    async def find(self, owner: str, key: str, body: bytes) -> StoredComparison | None:
        """Return the comparison that a request with a key has made; raise KeyReusedError for another body."""

    async def get(self, comparison_id: str, owner: str) -> StoredComparison | None:
        """Return a comparison."""

    async def page(self, owner: str, after: str | None, limit: int) -> tuple[tuple[StoredComparison, ...], str | None]:
        """Return comparisons, the newest first, those after a cursor, and the cursor of the next page.

        Raises InputError for what is no cursor.
        """

    async def delete(self, comparison_id: str, owner: str) -> bool:
        """Forget a comparison, but none of its jobs, and return whether there was one."""


class ComparableJobs(Jobs, Protocol):
    """Store jobs, and comparisons of them."""

    @property
    def comparisons(self) -> Comparisons:
        """Return what stores comparisons, once it has started."""
