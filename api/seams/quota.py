"""What owners may use and what they have used, and the error of one who asks for more."""

from collections.abc import Callable
from dataclasses import dataclass

# Seconds until asking again makes sense where nobody knows when there is room, as when a job has to begin first.
AGAIN_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """Bound what one owner may use at once, in a day (UTC), and keep; None is no bound of its own."""

    running_jobs: int | None = None
    queued_jobs: int | None = None
    processor_s_per_day: float | None = None
    kept_bytes: int | None = None


NO_QUOTAS = Quotas()
# The quotas of an owner.
QuotasOf = Callable[[str], Quotas]


def allow_all(_: str) -> Quotas:
    """Return no quotas, for whoever asks."""
    return NO_QUOTAS


class QuotaExceededError(Exception):
    """Say that an owner has used a quota up (429): its name, what is used of which limit, and when there is more."""

    def __init__(self, quota: str, used: float, limit: float, resets_s: float = AGAIN_S) -> None:
        super().__init__(f"{quota}: {used:g} of {limit:g} used")
        self.quota, self.used, self.limit, self.resets_s = quota, used, limit, resets_s


class QueueFullError(QuotaExceededError):
    """Say that too many jobs wait, of all owners or of this one (429)."""


class RebalancersFullError(QuotaExceededError):
    """Say that too many rebalancers are kept (429)."""


@dataclass(frozen=True, slots=True)
class Charge:
    """Hold the processor seconds that work of an owner has used."""

    owner: str
    processor_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerUsage:
    """Hold what an owner uses now, what the quotas are, and the processor seconds of the last days.

    `days` are the seconds of each day (UTC) by its number since 1970, the last one first; `resets_s` is how many
    seconds the day has left.
    """

    running_jobs: int
    queued_jobs: int
    kept_bytes: int
    processor_s_per_day: float
    quotas: Quotas
    days: tuple[tuple[int, float], ...]
    resets_s: float
