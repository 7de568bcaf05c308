"""What a key has used of a service, and what is left of its quotas."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from tiger.client.errors import Document, ServiceError

QUOTAS = ("running_jobs", "queued_jobs", "kept_bytes", "processor_s_per_day")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUse:
    """Hold what is used of a quota; `limit` and `left` are None where there is no quota."""

    used: float
    limit: float | None
    left: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUsage:
    """Hold the jobs that run and wait, the bytes that are kept, and the processor seconds of today, with their quotas.

    Days are those of UTC; today's processor seconds begin from zero in `resets_s` seconds, and `days` has those of the
    last days, today first.
    """

    owner: str
    running_jobs: QuotaUse
    queued_jobs: QuotaUse
    kept_bytes: QuotaUse
    processor_s_per_day: QuotaUse
    resets_s: float
    days: Mapping[date, float]


def read_usage(document: Document) -> KeyUsage:
    """Return what a document says of the usage of a key; raise ServiceError for one that says something else."""
    known = cast(dict[str, Any], document)
    try:
        uses = {name: QuotaUse(**known[name]) for name in QUOTAS}
        days = {date.fromisoformat(each["day"]): float(each["processor_s"]) for each in known["days"]}
        return KeyUsage(owner=known["owner"], resets_s=float(known["resets_s"]), days=days, **uses)
    except (KeyError, TypeError, ValueError):
        raise ServiceError(None, "expected what a service says of usage, got something else") from None
