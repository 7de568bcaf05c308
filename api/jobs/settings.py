"""What the keeping of jobs is set to."""

from dataclasses import dataclass
from pathlib import Path

from tiger.api.jobs.disk import RESERVE_BYTES
from tiger.api.seams.quota import QuotasOf, allow_all
from tiger.api.webhooks.policy import WEBHOOKS_OFF, WebhookPolicy

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """Say where jobs are kept and how they are worked off.

    `data_dir` holds this server's name and, without a `database_url`, the jobs in an SQLite file. A solve is asked to
    end when it is cancelled or over its limit, `time_limit_s` of its body and at most `max_time_s`; it is killed
    `stop_grace_s` later, or `kill_grace_s`. At most `max_queued` jobs wait. A server that has not beaten for `dead_s`
    has lost its jobs. Jobs that ended `keep_days` ago are deleted, and so are rebalancers, of which at most
    `max_rebalancers` are kept, that many days after their last step. On the disk of an SQLite file, new jobs leave
    `reserve_bytes` for the end of those there are, or half of a small disk. A server with a free worker looks every
    `poll_s` for jobs that others were given. `quotas_of` says what an owner may use, and `webhooks` whom the server
    tells of the end of jobs.
    """

    data_dir: Path
    quotas_of: QuotasOf = allow_all
    database_url: str | None = None
    max_time_s: float = 60.0
    max_queued: int = 10_000
    max_rebalancers: int = 1000
    keep_days: float = 7.0
    reserve_bytes: int = RESERVE_BYTES
    poll_s: float = 0.1
    tick_s: float = 0.5
    beat_s: float = 3.0
    dead_s: float = 30.0
    reap_s: float = 8.0
    stop_grace_s: float = 1.0
    kill_grace_s: float = 1.25
    webhooks: WebhookPolicy = WEBHOOKS_OFF

    @property
    def url(self) -> str:
        """Return where the database is."""
        return self.database_url or f"sqlite:///{self.data_dir.absolute() / 'tiger.sqlite'}"
