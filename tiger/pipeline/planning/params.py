"""What a caller asks of a plan."""

from dataclasses import dataclass

from tiger.pipeline.schedules.pass_orders import Schedule
from tiger.run.options import SearchOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanParams(SearchOptions):
    """Set what is searched over, and how hard.

    `batch` is what all replicas run together in an iteration: sequences of a transformer that is stated by its shape,
    microbatches of any other model (default: 4 a device). Degrees, `schedule`, `virtual` stages and the sequences of
    a `microbatch` are searched over where they are None. `solver` orders devices as in a placement. `effort` counts
    iterations; same seed and effort, same answer. `time_limit_s` only ends a search early.
    """

    batch: int | None = None
    pipeline: int | None = None
    tensor: int | None = None
    data: int | None = None
    schedule: Schedule | None = None
    virtual: int | None = None
    microbatch: int | None = None
