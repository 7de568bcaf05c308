"""The job whose answer a search starts from, as a field of requests."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from tiger.model.options import about

FIELD = "start_job"
JobName = Annotated[str, Field(min_length=1, max_length=128)]


@dataclass(frozen=True, kw_only=True)
class StartJob:
    """Name a job to start from, in place of what it has found."""

    start_job: JobName | None = field(
        default=None,
        metadata=about(
            "Id of a job that has ended, whose mapping, placement or initial layout is taken in place of `start` or "
            "`initial_layout`. The request is kept with what it stands for."
        ),
    )
