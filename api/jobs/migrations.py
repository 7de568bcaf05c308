"""The tables of the jobs, and how they came to be: each step is applied once, in order, and never changed."""

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tiger.errors import InputError

LOCK = 7_433_702_113  # any number that no other program locks
WAIT_MIN = 10  # minutes for a change of the tables, this server's or another's

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE tiger_jobs (
            id VARCHAR(32) PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, body {bytes} NOT NULL,
            hash VARCHAR(64) NOT NULL, key TEXT, priority INTEGER NOT NULL, status TEXT NOT NULL,
            created_s DOUBLE PRECISION NOT NULL, started_s DOUBLE PRECISION, ended_s DOUBLE PRECISION,
            progress TEXT, report {bytes}, problem TEXT, token INTEGER NOT NULL, attempts INTEGER NOT NULL,
            server TEXT, enqueued_s DOUBLE PRECISION, cancelled INTEGER NOT NULL, UNIQUE (owner, key))""",
        "CREATE INDEX tiger_jobs_page ON tiger_jobs (owner, created_s, id)",
        "CREATE INDEX tiger_jobs_open ON tiger_jobs (status, created_s) WHERE status IN ('queued', 'running')",
        "CREATE INDEX tiger_jobs_ended ON tiger_jobs (ended_s)",
        "CREATE TABLE tiger_servers (id VARCHAR(200) PRIMARY KEY, beat_s DOUBLE PRECISION NOT NULL)",
    ),
    ("ALTER TABLE tiger_jobs ADD COLUMN request_id TEXT",),
    # SQLite does not use an index of some rows where a statement names one of their states.
    ("DROP INDEX tiger_jobs_open", "CREATE INDEX tiger_jobs_open ON tiger_jobs (status, created_s)"),
    # SQLite writes all of a row when a little of it changes.
    (
        "CREATE TABLE tiger_bodies (id VARCHAR(32) PRIMARY KEY, body {bytes} NOT NULL)",
        "INSERT INTO tiger_bodies SELECT id, body FROM tiger_jobs WHERE status IN ('queued', 'running')",
        "ALTER TABLE tiger_jobs DROP COLUMN body",
    ),
    # The next job is found without a look at the others that wait, of 10,000 in a tenth of the time. The column
    # `enqueued_s` stays, unused: SQLite would write every report again to drop it, and need room for all of them.
    ("DROP INDEX tiger_jobs_open", "CREATE INDEX tiger_jobs_open ON tiger_jobs (status, priority, created_s)"),
    # Beside the jobs, as what lists and watches these reads none of it.
    (
        """CREATE TABLE tiger_files (
            id VARCHAR(32) NOT NULL, name VARCHAR(200) NOT NULL, description TEXT NOT NULL, media_type TEXT NOT NULL,
            size INTEGER NOT NULL, packed {bytes} NOT NULL, PRIMARY KEY (id, name))""",
    ),
    # What each request asks for is a body beside the others, as it never changes and every step changes the state.
    (
        """CREATE TABLE tiger_rebalancers (
            id VARCHAR(32) PRIMARY KEY, owner TEXT NOT NULL, key TEXT, hash VARCHAR(64) NOT NULL,
            state {bytes} NOT NULL, steps INTEGER NOT NULL, created_s DOUBLE PRECISION NOT NULL,
            used_s DOUBLE PRECISION NOT NULL, UNIQUE (owner, key))""",
        "CREATE INDEX tiger_rebalancers_used ON tiger_rebalancers (used_s)",
        """CREATE TABLE tiger_answers (
            id VARCHAR(32) NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL, hash VARCHAR(64) NOT NULL,
            answer {bytes} NOT NULL, PRIMARY KEY (id, number), UNIQUE (id, key))""",
    ),
    # A page of some states or kinds is read in its order and without a look at the rows of others.
    ("DROP INDEX tiger_jobs_page", "CREATE INDEX tiger_jobs_page ON tiger_jobs (owner, created_s, id, status, kind)"),
    # What owners say of jobs; `priority` was the rank that small work has before other work, and remains it.
    (
        "ALTER TABLE tiger_jobs ADD COLUMN urgency INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE tiger_jobs ADD COLUMN tags TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE tiger_jobs ADD COLUMN webhook_url TEXT",
    ),
    # The next job of each owner is found without a look at the others that wait. What is kept of jobs and rebalancers
    # is counted beside them: SQLite would write every report again to have a column more filled.
    (
        "ALTER TABLE tiger_jobs ADD COLUMN turn_s DOUBLE PRECISION NOT NULL DEFAULT 0",
        """UPDATE tiger_jobs SET turn_s = created_s + 60 * priority - 600 * urgency
            WHERE status IN ('queued', 'running')""",
        "DROP INDEX tiger_jobs_open",
        "CREATE INDEX tiger_jobs_open ON tiger_jobs (status, owner, turn_s, urgency)",
        """CREATE TABLE tiger_usage (
            owner TEXT NOT NULL, day INTEGER NOT NULL, processor_s DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (owner, day))""",
        """CREATE TABLE tiger_shares (
            owner TEXT PRIMARY KEY, recent_s DOUBLE PRECISION NOT NULL, at_s DOUBLE PRECISION NOT NULL)""",
        "CREATE TABLE tiger_kept (id VARCHAR(32) PRIMARY KEY, owner TEXT NOT NULL, bytes INTEGER NOT NULL)",
        """INSERT INTO tiger_kept SELECT id, owner, coalesce(length(report), 0)
            + coalesce((SELECT length(body) FROM tiger_bodies WHERE tiger_bodies.id = tiger_jobs.id), 0)
            + coalesce((SELECT sum(length(packed)) FROM tiger_files WHERE tiger_files.id = tiger_jobs.id), 0)
            FROM tiger_jobs""",
        """INSERT INTO tiger_kept SELECT id, owner, length(state)
            + coalesce((SELECT length(body) FROM tiger_bodies WHERE tiger_bodies.id = tiger_rebalancers.id), 0)
            + coalesce((SELECT sum(length(answer)) FROM tiger_answers
                WHERE tiger_answers.id = tiger_rebalancers.id), 0)
            FROM tiger_rebalancers""",
        "CREATE INDEX tiger_kept_owner ON tiger_kept (owner, bytes)",
    ),
    # What is sent is in the row, as a job may be purged before its owner is told of it.
    (
        """CREATE TABLE tiger_webhooks (
            id VARCHAR(32) PRIMARY KEY, owner TEXT NOT NULL, job_id VARCHAR(32) NOT NULL, event TEXT NOT NULL,
            url TEXT NOT NULL, host TEXT NOT NULL, body TEXT NOT NULL, created_s DOUBLE PRECISION NOT NULL,
            status TEXT NOT NULL, attempts INTEGER NOT NULL, next_s DOUBLE PRECISION NOT NULL,
            claimed INTEGER NOT NULL, last_status INTEGER, last_error TEXT, settled_s DOUBLE PRECISION)""",
        "CREATE INDEX tiger_webhooks_due ON tiger_webhooks (status, next_s, host)",
        "CREATE INDEX tiger_webhooks_page ON tiger_webhooks (owner, created_s, id, status)",
        "CREATE INDEX tiger_webhooks_settled ON tiger_webhooks (settled_s)",
    ),
    # With tags in the index of pages, one of a rare tag among 10,000 jobs of 30 kB takes 3 ms on SQLite instead of 40,
    # which reads past every report; a table of tags takes 1 ms, and as many rows more as jobs have tags.
    (
        "DROP INDEX tiger_jobs_page",
        "CREATE INDEX tiger_jobs_page ON tiger_jobs (owner, created_s, id, status, kind, tags)",
        """CREATE TABLE tiger_comparisons (
            id VARCHAR(32) PRIMARY KEY, owner TEXT NOT NULL, key TEXT, hash VARCHAR(64) NOT NULL, kind TEXT NOT NULL,
            created_s DOUBLE PRECISION NOT NULL, entries TEXT NOT NULL, UNIQUE (owner, key))""",
        "CREATE INDEX tiger_comparisons_page ON tiger_comparisons (owner, created_s, id)",
        "CREATE INDEX tiger_comparisons_created ON tiger_comparisons (created_s)",
    ),
    # Texts stand beside what is known of uploads, as their times of use change.
    (
        """CREATE TABLE tiger_uploads (
            owner TEXT NOT NULL, id VARCHAR(64) NOT NULL, name TEXT NOT NULL, size BIGINT NOT NULL,
            kept BIGINT NOT NULL, created_s DOUBLE PRECISION NOT NULL, used_s DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (owner, id))""",
        "CREATE INDEX tiger_uploads_page ON tiger_uploads (owner, created_s, id)",
        "CREATE INDEX tiger_uploads_used ON tiger_uploads (used_s)",
        """CREATE TABLE tiger_upload_texts (
            owner TEXT NOT NULL, id VARCHAR(64) NOT NULL, packed {bytes} NOT NULL, PRIMARY KEY (owner, id))""",
        """CREATE TABLE tiger_job_uploads (
            job_id VARCHAR(32) NOT NULL, owner TEXT NOT NULL, upload_id VARCHAR(64) NOT NULL,
            PRIMARY KEY (job_id, upload_id))""",
        "CREATE INDEX tiger_job_uploads_used ON tiger_job_uploads (owner, upload_id)",
    ),
)

# Columns as they are now, after the last step.
JOBS = sa.table(
    "tiger_jobs",
    *map(sa.column, ("id", "owner", "kind", "hash", "key", "status", "progress", "problem", "server", "request_id")),
    *map(sa.column, ("tags", "webhook_url")),
    *(sa.column(name, sa.Integer) for name in ("priority", "urgency", "token", "attempts", "cancelled")),
    sa.column("report", sa.LargeBinary),
    *(sa.column(name, sa.Double) for name in ("created_s", "started_s", "ended_s", "turn_s")),
)
# The requests of rebalancers, and of jobs that have not ended. Later only the hashes of those are needed, to compare
# requests with one key: a few hundred of them would else fill the disk until jobs are deleted.
BODIES = sa.table("tiger_bodies", sa.column("id"), sa.column("body", sa.LargeBinary))
# What ended jobs leave beside their reports, by the id of the job.
FILES = sa.table(
    "tiger_files",
    *map(sa.column, ("id", "name", "description", "media_type")),
    sa.column("size", sa.Integer),
    sa.column("packed", sa.LargeBinary),
)
# Rebalancers, which go on from their state after so many steps, and the answers to their last steps by key.
REBALANCERS = sa.table(
    "tiger_rebalancers",
    *map(sa.column, ("id", "owner", "key", "hash")),
    sa.column("state", sa.LargeBinary),
    sa.column("steps", sa.Integer),
    *(sa.column(name, sa.Double) for name in ("created_s", "used_s")),
)
ANSWERS = sa.table(
    "tiger_answers",
    *map(sa.column, ("id", "key", "hash")),
    sa.column("number", sa.Integer),
    sa.column("answer", sa.LargeBinary),
)
# The bytes that are kept of each job, rebalancer and comparison: bodies, reports, files, states, answers and entries.
KEPT = sa.table("tiger_kept", *map(sa.column, ("id", "owner")), sa.column("bytes", sa.Integer))
# Processor seconds of owners by the day (UTC) since 1970.
USAGE = sa.table("tiger_usage", sa.column("owner"), sa.column("day", sa.Integer), sa.column("processor_s", sa.Double))
# Events of jobs that have ended: what is sent where, by whom it is claimed and until when (`next_s`), what came of it.
WEBHOOKS = sa.table(
    "tiger_webhooks",
    *map(sa.column, ("id", "owner", "job_id", "event", "url", "host", "body", "status", "last_error")),
    *(sa.column(name, sa.Integer) for name in ("attempts", "claimed", "last_status")),
    *(sa.column(name, sa.Double) for name in ("created_s", "next_s", "settled_s")),
)
# Comparisons of jobs, with their entries as JSON.
COMPARISONS = sa.table(
    "tiger_comparisons",
    *map(sa.column, ("id", "owner", "key", "hash", "kind", "entries")),
    sa.column("created_s", sa.Double),
)
# Uploads by their owners and the SHA-256 of their texts, these texts, and which jobs use which of them.
UPLOADS = sa.table(
    "tiger_uploads",
    *map(sa.column, ("owner", "id", "name")),
    *(sa.column(name, sa.BigInteger) for name in ("size", "kept")),
    *(sa.column(name, sa.Double) for name in ("created_s", "used_s")),
)
UPLOAD_TEXTS = sa.table("tiger_upload_texts", *map(sa.column, ("owner", "id")), sa.column("packed", sa.LargeBinary))
JOB_UPLOADS = sa.table("tiger_job_uploads", *map(sa.column, ("job_id", "owner", "upload_id")))
SERVERS = sa.table("tiger_servers", sa.column("id"), sa.column("beat_s", sa.Double))


def migrate(connection: Connection) -> None:
    """Apply the steps that a database has not seen, while other servers that start wait.

    Raises InputError for a database that has seen steps which are not known here.
    """
    postgres = connection.dialect.name == "postgresql"
    if postgres:
        # Longer than a session waits otherwise, as another server may have a large table to change.
        connection.execute(sa.text(f"SET LOCAL lock_timeout = '{WAIT_MIN}min'"))
        connection.execute(sa.text(f"SET LOCAL statement_timeout = '{WAIT_MIN}min'"))
    connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({LOCK})" if postgres else "BEGIN IMMEDIATE"))
    connection.execute(sa.text("CREATE TABLE IF NOT EXISTS tiger_version (version INTEGER NOT NULL)"))
    done = connection.execute(sa.text("SELECT coalesce(max(version), 0) FROM tiger_version")).scalar_one()
    if done > len(MIGRATIONS):
        reason = f"expected tables of version {len(MIGRATIONS)} or older, got version {done}: a newer TIGER made them"
        raise InputError("database", reason)
    if postgres and 0 < done < len(MIGRATIONS):
        # What servers of an older version are at is to end before, and nothing to begin.
        connection.execute(sa.text("LOCK TABLE tiger_jobs IN ACCESS EXCLUSIVE MODE"))
    for version, statements in enumerate(MIGRATIONS[done:], start=done + 1):
        for statement in statements:
            connection.execute(sa.text(statement.format(bytes="BYTEA" if postgres else "BLOB")))
        connection.execute(sa.text("INSERT INTO tiger_version VALUES (:version)"), {"version": version})
