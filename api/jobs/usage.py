"""What owners use, as rows: processor seconds of days and of the last minutes, and the bytes that are kept of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tiger.api.jobs.database import Database, lock_owner, read_clock
from tiger.api.jobs.migrations import JOBS, KEPT, UPLOADS, USAGE
from tiger.api.jobs.settings import DAY_S
from tiger.api.seams.quota import AGAIN_S, NO_QUOTAS, Charge, OwnerUsage, QuotaExceededError, Quotas, QuotasOf

# Days whose processor seconds are kept, today among them.
KEPT_DAYS = 400
# Seconds in which what counts of processor seconds for the order of the queue falls to 1/e.
DECAY_S = 300.0
ADD_DAY = sa.text(
    "INSERT INTO tiger_usage (owner, day, processor_s) VALUES (:owner, :day, :spent_s) ON CONFLICT (owner, day) "
    "DO UPDATE SET processor_s = tiger_usage.processor_s + excluded.processor_s"
)
# A clock that is set back makes none of it grow, and PostgreSQL's exp refuses what has a result too small to be told.
ADD_SHARE = sa.text(
    """INSERT INTO tiger_shares (owner, recent_s, at_s) VALUES (:owner, :spent_s, :now_s) ON CONFLICT (owner)
    DO UPDATE SET at_s = excluded.at_s, recent_s = excluded.recent_s + tiger_shares.recent_s * CASE
        WHEN excluded.at_s > tiger_shares.at_s + 100 * :decay_s THEN 0
        WHEN excluded.at_s > tiger_shares.at_s THEN exp((tiger_shares.at_s - excluded.at_s) / :decay_s)
        ELSE 1 END"""
)
ADD_KEPT = sa.text("INSERT INTO tiger_kept (id, owner, bytes) VALUES (:id, :owner, :bytes)")


@dataclass(frozen=True, slots=True)
class UsageStore:
    """Read what owners use, and write what their requests have used; every call may raise DatabaseDownError."""

    database: Database
    quotas_of: QuotasOf

    def charge(self, charges: Sequence[Charge]) -> None:
        """Count processor seconds towards the days of their owners."""
        with self.database.begin_relaxed() as connection:
            # In one order on all servers, so that none waits for another in a circle.
            for spent in sorted(charges, key=lambda spent: spent.owner):
                charge(connection, spent, read_clock(connection))

    def check_processor(self, owner: str, unwritten_s: float) -> None:
        """Raise QuotaExceededError where an owner has used its day up, with seconds that are not written yet."""
        quotas = self.quotas_of(owner)
        if quotas.processor_s_per_day is not None:
            with self.database.read() as connection:
                check_processor(connection, owner, quotas, unwritten_s)

    def read(self, owner: str, days: int) -> OwnerUsage:
        """Return what an owner uses, and used in so many days up to today."""
        with self.database.read() as connection:
            now_s = read_clock(connection)
            today = int(now_s // DAY_S)
            query = sa.select(USAGE.c.day, USAGE.c.processor_s).where(USAGE.c.owner == owner)
            rows = connection.execute(query.where(USAGE.c.day > today - days)).all()
            used = {row.day: row.processor_s for row in rows}
            return OwnerUsage(
                running_jobs=count_jobs(connection, "running", owner),
                queued_jobs=count_jobs(connection, "queued", owner),
                kept_bytes=sum_kept(connection, owner),
                processor_s_per_day=used.get(today, 0.0),
                quotas=self.quotas_of(owner),
                days=tuple((today - k, used.get(today - k, 0.0)) for k in range(days)),
                resets_s=(today + 1) * DAY_S - now_s,
            )

    def delete_old(self) -> None:
        """Forget the processor seconds of days that are long gone."""
        with self.database.begin() as connection:
            oldest = int(read_clock(connection) // DAY_S) - KEPT_DAYS
            connection.execute(sa.delete(USAGE).where(USAGE.c.day <= oldest))


class UnwrittenCharges:
    """Collect the processor seconds of requests, which are written together: a solve takes less than a transaction."""

    def __init__(self) -> None:
        self._seconds, self._lock, self._writing = dict[str, float](), Lock(), Lock()

    def add(self, spent: Charge) -> None:
        """Add processor seconds of an owner."""
        if spent.processor_s > 0:
            with self._lock:
                self._seconds[spent.owner] = self.of(spent.owner) + spent.processor_s

    def of(self, owner: str) -> float:
        """Return the processor seconds of an owner that are not written yet."""
        return self._seconds.get(owner, 0.0)

    def write(self, store: UsageStore) -> None:
        """Write what there is; it stays where DatabaseDownError is raised."""
        # One thread at a time, as two would write the same.
        with self._writing:
            with self._lock:
                taken = dict(self._seconds)
            if not taken:
                return
            store.charge([Charge(*each) for each in taken.items()])
            with self._lock:
                left = {owner: self.of(owner) - taken.get(owner, 0.0) for owner in self._seconds}
                self._seconds = {owner: seconds for owner, seconds in left.items() if seconds > 0}


def charge(connection: Connection, spent: Charge, now_s: float) -> None:
    """Count processor seconds towards the day of their owner, and towards its share, at a time of `read_clock`."""
    if spent.processor_s > 0:
        row = {"owner": spent.owner, "spent_s": spent.processor_s, "now_s": now_s, "day": int(now_s // DAY_S)}
        connection.execute(ADD_DAY, row)
        connection.execute(ADD_SHARE, row | {"decay_s": DECAY_S})


def require_quotas(connection: Connection, owner: str, quotas: Quotas, keep_s: float) -> None:
    """Raise QuotaExceededError where an owner may have nothing more done or kept.

    Requests of the owner that ask at the same time, of any server, wait for the end of this transaction.
    """
    if quotas == NO_QUOTAS:
        return
    lock_owner(connection, owner)
    check_processor(connection, owner, quotas)
    require_kept(connection, owner, quotas, keep_s)


def require_kept(connection: Connection, owner: str, quotas: Quotas, keep_s: float) -> None:
    """Raise QuotaExceededError where an owner may have nothing more kept."""
    if quotas.kept_bytes is not None and (kept := sum_kept(connection, owner)) >= quotas.kept_bytes:
        raise QuotaExceededError("kept_bytes", kept, quotas.kept_bytes, _first_expiry_s(connection, owner, keep_s))


def check_processor(connection: Connection, owner: str, quotas: Quotas, unwritten_s: float = 0.0) -> None:
    """Raise QuotaExceededError where an owner has used the processor seconds of the day up."""
    limit_s = quotas.processor_s_per_day
    if limit_s is None:
        return
    now_s = read_clock(connection)
    today = int(now_s // DAY_S)
    query = sa.select(USAGE.c.processor_s).where(USAGE.c.owner == owner, USAGE.c.day == today)
    used_s = unwritten_s + (connection.execute(query).scalar_one_or_none() or 0.0)
    if used_s >= limit_s:
        raise QuotaExceededError("processor_s_per_day", used_s, limit_s, (today + 1) * DAY_S - now_s)


def count_jobs(connection: Connection, status: str, *owners: str) -> int:
    """Count the jobs in a state, of all owners where none is named."""
    query = sa.select(sa.func.count()).select_from(JOBS).where(JOBS.c.status == status)
    return int(connection.execute(query.where(*(JOBS.c.owner == owner for owner in owners))).scalar_one())


def add_kept(connection: Connection, name: str, owner: str, size: int) -> None:
    """Count the bytes of a new job, rebalancer or comparison."""
    connection.execute(ADD_KEPT, {"id": name, "owner": owner, "bytes": size})


def set_kept(connection: Connection, names: Sequence[object], size: int | sa.ColumnElement[int]) -> None:
    """Count the bytes that are now kept of jobs or rebalancers."""
    connection.execute(sa.update(KEPT).where(KEPT.c.id.in_(names)).values(bytes=size))


def delete_kept(connection: Connection, names: Sequence[object]) -> None:
    """Count nothing more of jobs, rebalancers or comparisons that are deleted."""
    connection.execute(sa.delete(KEPT).where(KEPT.c.id.in_(names)))


def sum_kept(connection: Connection, owner: str) -> int:
    """Return the bytes that are kept of an owner, uploads included."""
    columns = (KEPT.c.bytes, KEPT.c.owner), (UPLOADS.c.kept, UPLOADS.c.owner)
    sums = (sa.select(sa.func.coalesce(sa.func.sum(size), 0)).where(whose == owner) for size, whose in columns)
    return sum(int(connection.execute(query).scalar_one()) for query in sums)


def _first_expiry_s(connection: Connection, owner: str, keep_s: float) -> float:
    """Return the seconds until the first ended job of an owner is deleted for its age, or until something ends."""
    query = sa.select(JOBS.c.ended_s).where(JOBS.c.ended_s.is_not(None), JOBS.c.owner == owner)
    ended_s = connection.execute(query.order_by(JOBS.c.ended_s).limit(1)).scalar_one_or_none()
    return AGAIN_S if ended_s is None else max(AGAIN_S, ended_s + keep_s - read_clock(connection))
