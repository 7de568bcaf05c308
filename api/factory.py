"""How a service comes by its limits and its jobs."""

from collections.abc import Callable

from tiger.api.pool.processes import Workers
from tiger.api.routes.entries import Solve
from tiger.api.schemas.limits import Limits
from tiger.api.seams.comparison import ComparableJobs
from tiger.api.settings import Settings
from tiger.model.options import narrow

# Make jobs for workers that the caller starts and stops.
JobsFactory = Callable[[Settings, Workers], ComparableJobs]


def limits_of(settings: Settings) -> Limits:
    """Return the limits that an operator has set."""
    return narrow(Limits, settings, dwave=settings.enable_dwave)


def make_durable_jobs(settings: Settings, workers: Workers) -> ComparableJobs:
    """Return jobs that are kept in the database of the settings, from where any server takes them up again."""
    from tiger.api.jobs.engine import DurableJobs
    from tiger.api.jobs.settings import JobSettings

    stored = JobSettings(
        data_dir=settings.data_dir,
        quotas_of=settings.keys_file.quotas_of,
        database_url=settings.database_url,
        max_time_s=settings.max_time_s,
        max_queued=settings.max_jobs,
        max_rebalancers=settings.max_rebalancers,
        keep_days=settings.retention_days,
        webhooks=settings.webhooks,
    )
    return DurableJobs(stored, workers, Solve(limits_of(settings), settings.executor))
