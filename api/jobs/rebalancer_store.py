"""Rebalancers as rows: the request that each came of, what it has come to, and the answers to its last steps."""

import hashlib
import math
import re
import uuid
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tiger.api.jobs.database import Database, read_clock
from tiger.api.jobs.ends import delete_bodies
from tiger.api.jobs.migrations import ANSWERS, BODIES, REBALANCERS
from tiger.api.jobs.usage import add_kept, delete_kept, require_quotas, set_kept
from tiger.api.seams.job import KeyReusedError
from tiger.api.seams.quota import QuotasOf, RebalancersFullError, allow_all
from tiger.api.seams.rebalancer import NewRebalancer, RebalancerStep, StoredRebalancer

ID = re.compile(r"[0-9a-f]{32}\Z")
# Steps with a key whose answers are kept: a client repeats the last one, or a few that it has sent at once.
KEPT_ANSWERS = 100
# Expired ones that are deleted at a time; SQLite takes at least 999 parameters in a statement.
BATCH = 500
COLUMNS = ("id", "owner", "state", "steps", "created_s", "used_s")


@dataclass(frozen=True, slots=True)
class RebalancerStore:
    """Read and write rebalancers, of which `most` are kept, half of one owner's, until `keep_s` after the last step.

    Every call may raise DatabaseDownError.
    """

    database: Database
    most: int
    keep_s: float
    quotas_of: QuotasOf = allow_all

    def insert(self, new: NewRebalancer) -> StoredRebalancer:
        """Keep a rebalancer and return it, or the one of the same key.

        Raises KeyReusedError, QuotaExceededError or DiskFullError.
        """
        return self.database.insert_once(
            lambda connection: self._insert(connection, new),
            lambda: None if new.key is None else self.find(new.owner, new.key, new.body),
        )

    def find(self, owner: str, key: str, body: bytes) -> StoredRebalancer | None:
        """Return the rebalancer that a request with a key has made; raise KeyReusedError for another body."""
        query = sa.select(REBALANCERS.c.id, REBALANCERS.c.hash)
        with self.database.read() as connection:
            mine = (REBALANCERS.c.owner == owner, REBALANCERS.c.key == key, self._is_live(connection))
            row = connection.execute(query.where(*mine)).one_or_none()
        if row is None:
            return None
        if row.hash != _digest(body):
            raise KeyReusedError(key)
        return self.get(row.id, owner)

    def get(self, rebalancer_id: str, owner: str) -> StoredRebalancer | None:
        """Return a rebalancer."""
        if not ID.match(rebalancer_id):
            return None
        columns = (*(REBALANCERS.c[name] for name in COLUMNS), BODIES.c.body)
        with self.database.read() as connection:
            mine = (*_of(rebalancer_id, owner), BODIES.c.id == REBALANCERS.c.id, self._is_live(connection))
            row = connection.execute(sa.select(*columns).where(*mine)).one_or_none()
        if row is None:
            return None
        return StoredRebalancer(
            id=row.id,
            owner=row.owner,
            body=bytes(row.body),
            state=bytes(row.state),
            steps=row.steps,
            created_s=row.created_s,
            expires_s=row.used_s + self.keep_s,
        )

    def find_answer(self, rebalancer_id: str, key: str, body: bytes) -> bytes | None:
        """Return the answer to a step that was taken with a key; raise KeyReusedError for another body."""
        query = sa.select(ANSWERS.c.hash, ANSWERS.c.answer)
        with self.database.read() as connection:
            same = (ANSWERS.c.id == rebalancer_id, ANSWERS.c.key == key)
            row = connection.execute(query.where(*same)).one_or_none()
        if row is not None and row.hash != _digest(body):
            raise KeyReusedError(key)
        return None if row is None else bytes(row.answer)

    def take_step(self, step: RebalancerStep) -> bool:
        """Keep a step, and return whether it was from the last state, as it is not where another came first.

        Raises DiskFullError.
        """
        before, number = step.before, step.before.steps + 1
        last = (*_of(before.id, before.owner), REBALANCERS.c.steps == before.steps)
        with self.database.begin() as connection:
            if self.database.disk is not None:
                self.database.disk.require(len(step.state) + len(step.answer))
            changed = {"state": step.state, "steps": number, "used_s": read_clock(connection)}
            if connection.execute(sa.update(REBALANCERS).where(*last).values(changed)).rowcount != 1:
                return False
            old = (ANSWERS.c.id == before.id, ANSWERS.c.number <= number - KEPT_ANSWERS)
            connection.execute(sa.delete(ANSWERS).where(*old))
            if step.key is not None:
                row = sa.insert(ANSWERS).values(id=before.id, number=number, key=step.key)
                connection.execute(row.values(hash=_digest(step.body), answer=step.answer))
            answers = sa.select(sa.func.coalesce(sa.func.sum(sa.func.length(ANSWERS.c.answer)), 0))
            answers = answers.where(ANSWERS.c.id == before.id)
            kept = len(before.body) + len(step.state) + answers.scalar_subquery()
            set_kept(connection, [before.id], kept)
        return True

    def delete(self, rebalancer_id: str, owner: str) -> bool:
        """Forget a rebalancer, and return whether there was one."""
        if not ID.match(rebalancer_id):
            return False
        with self.database.begin() as connection:
            return _forget(connection, *_of(rebalancer_id, owner), self._is_live(connection)) == 1

    def delete_expired(self) -> int:
        """Forget some of the rebalancers that have expired, and count them."""
        with self.database.begin() as connection:
            return self._delete_expired(connection)

    def _insert(self, connection: Connection, new: NewRebalancer) -> StoredRebalancer:
        """Add a row, unless there are too many."""
        # One that has expired holds its key and its place no longer.
        self._delete_expired(connection)
        # One key must not keep out all others.
        own = math.ceil(self.most / 2) if new.owner else self.most
        require_quotas(connection, new.owner, self.quotas_of(new.owner), self.keep_s)
        for most, where in ((self.most, ()), (own, (REBALANCERS.c.owner == new.owner,))):
            if (kept := _count(connection, *where)) >= most:
                raise RebalancersFullError("rebalancers", kept, most)
        if self.database.disk is not None:
            self.database.disk.require(len(new.body) + len(new.state))
        now_s, name = read_clock(connection), uuid.uuid4().hex
        row = sa.insert(REBALANCERS).values(id=name, owner=new.owner, key=new.key, hash=_digest(new.body))
        connection.execute(row.values(state=new.state, steps=0, created_s=now_s, used_s=now_s))
        connection.execute(sa.insert(BODIES).values(id=name, body=new.body))
        add_kept(connection, name, new.owner, len(new.body) + len(new.state))
        return StoredRebalancer(
            id=name,
            owner=new.owner,
            body=new.body,
            state=new.state,
            steps=0,
            created_s=now_s,
            expires_s=now_s + self.keep_s,
        )

    def _delete_expired(self, connection: Connection) -> int:
        """Forget rebalancers that have expired, and count them."""
        since_s = read_clock(connection) - self.keep_s
        query = sa.select(REBALANCERS.c.id).where(REBALANCERS.c.used_s < since_s).limit(BATCH)
        old = [row.id for row in connection.execute(query)]
        return _forget(connection, REBALANCERS.c.id.in_(old), REBALANCERS.c.used_s < since_s) if old else 0

    def _is_live(self, connection: Connection) -> sa.ColumnElement[bool]:
        """Return the condition for a rebalancer that has not expired."""
        return REBALANCERS.c.used_s >= read_clock(connection) - self.keep_s


def _forget(connection: Connection, *where: sa.ColumnElement[bool]) -> int:
    """Delete rebalancers with all that belongs to them, and count them."""
    # Not the rest first, as a step may be kept meanwhile.
    gone = connection.execute(sa.delete(REBALANCERS).where(*where).returning(REBALANCERS.c.id))
    ids = [row.id for row in gone]
    if ids:
        connection.execute(sa.delete(ANSWERS).where(ANSWERS.c.id.in_(ids)))
        delete_bodies(connection, ids)
        delete_kept(connection, ids)
    return len(ids)


def _count(connection: Connection, *where: sa.ColumnElement[bool]) -> int:
    """Count rebalancers."""
    query = sa.select(sa.func.count()).select_from(REBALANCERS).where(*where)
    return int(connection.execute(query).scalar_one())


def _of(rebalancer_id: str, owner: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions for a rebalancer of an owner."""
    return REBALANCERS.c.id == rebalancer_id, REBALANCERS.c.owner == owner


def _digest(body: bytes) -> str:
    """Return what tells bodies of one key apart."""
    return hashlib.sha256(body).hexdigest()
