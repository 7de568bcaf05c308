"""What an owner uses, as JSON."""

from datetime import date, timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tiger.api.seams.quota import OwnerUsage

EPOCH = date(1970, 1, 1)


class QuotaBody(BaseModel):
    """Say how many are used of a quota, and how many are left; both bounds are null where there is no quota."""

    model_config = ConfigDict(extra="forbid", title="Quota")

    used: int
    limit: int | None
    left: int | None


class ProcessorQuotaBody(BaseModel):
    """Say how many processor seconds are used of a quota, and how many are left; null where there is no quota."""

    model_config = ConfigDict(extra="forbid", title="ProcessorQuota")

    used: float
    limit: float | None
    left: float | None


class DayBody(BaseModel):
    """Say what was used on a day."""

    model_config = ConfigDict(extra="forbid", title="Day")

    day: date = Field(description="The day (UTC).")
    processor_s: float


class UsageBody(BaseModel):
    """Say what whoever asks uses now, and used on the last days."""

    model_config = ConfigDict(extra="forbid", title="Usage")

    owner: str = Field(description="The account, or the first digits of the key's digest; empty without keys.")
    running_jobs: QuotaBody
    queued_jobs: QuotaBody
    kept_bytes: QuotaBody = Field(description="Bytes of bodies, reports, files, rebalancers and comparisons.")
    processor_s_per_day: ProcessorQuotaBody = Field(description="Processor seconds of workers today (UTC).")
    resets_s: float = Field(description="Seconds until the next day, at which the processor seconds begin from zero.")
    days: list[DayBody] = Field(description="The processor seconds of each day, today first.")


def describe_usage(owner: str, usage: OwnerUsage) -> UsageBody:
    """Return what an owner uses as a document."""
    counts = {name: QuotaBody(**_describe(usage, name)) for name in ("running_jobs", "queued_jobs", "kept_bytes")}
    processor = ProcessorQuotaBody(**_describe(usage, "processor_s_per_day"))
    days = [DayBody(day=EPOCH + timedelta(days=day), processor_s=seconds) for day, seconds in usage.days]
    return UsageBody(owner=owner, processor_s_per_day=processor, resets_s=usage.resets_s, days=days, **counts)


def _describe(usage: OwnerUsage, name: str) -> dict[str, Any]:
    """Return what is used and left of the quota of a name."""
    used, limit = getattr(usage, name), getattr(usage.quotas, name)
    return {"used": used, "limit": limit, "left": None if limit is None else max(0, limit - used)}
