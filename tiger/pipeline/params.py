"""What a caller asks of a placement."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tiger.pipeline.schedules.orders import Schedule

Mode = Literal["chain", "dag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceParams:
    """Set what is placed how, and how hard to search.

    Without a `schedule` the bottleneck of a steady pipeline is made small and memory is parameters alone; with one, the
    simulated time of an iteration of `microbatches` (default: 4 for each stage there may be), with `virtual` stages a
    device (interleaved: default 2; otherwise 1). `pipeline` is the number of stages (default: as many as pay, at most a
    device each); `tensor` and `data` are the sizes of the other groups. `pinned` gives the device of a layer, both by
    name. `solver` orders devices where the order cannot be enumerated; "auto" is the native search. `effort` counts
    iterations; same seed and effort, same answer. `time_limit_s` only ends a search early.
    """

    schedule: Schedule | None = None
    microbatches: int | None = None
    virtual: int | None = None
    pipeline: int | None = None
    tensor: int = 1
    data: int = 1
    pinned: Mapping[str, str] = field(default_factory=dict)
    solver: str = "auto"
    seed: int = 0
    effort: int = 1
    time_limit_s: float | None = None
