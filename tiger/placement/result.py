"""The result of placing a chain, before it becomes a report."""

from dataclasses import dataclass

from tiger.model.violation import Violation
from tiger.run.samples import SamplingReport
from tiger.run.stage import Stage
from tiger.training.costs.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedExperts:
    """Hold the layers whose experts are on a CPU, its number, and the bytes and seconds that these take there."""

    layers: tuple[int, ...]
    host: int
    memory_bytes: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaceResult:
    """Hold the best plan, None where nothing fits, and how good it is.

    `bottleneck_s` is the largest load of a position for one microbatch, `lower_bound_s` a lower bound on that of all
    plans of this order of layers, `iteration_s` and `bubble` are those of the simulated schedule, `iteration_bound_s` a
    lower bound on the iteration of all plans, and `uniform_..` are the figures of as many layers in every stage,
    devices in the order of the cluster, whether or not that fits; `start_..` are those of the plan started from.
    `latency_s` is the time of a microbatch alone, forward through all stages, and `latency_bound_s` a lower bound on
    that of all plans, where that was minimized. `sequences` fit at once, None without a cache, and `most_sequences` is
    an upper bound on those of all plans, where as many as can be were asked for. `split` has the figures of layers cut
    in proportion to memory, `hosted` are layers whose experts are on a CPU, `given` has the figures of the plan of a
    layout. `memory_bytes[p]` is the most that a device of each position holds, and `sampling` is what a sampler drew
    that orders devices.
    """

    plan: Plan | None
    microbatches: int | None = None
    bottleneck_s: float | None = None
    lower_bound_s: float | None = None
    iteration_s: float | None = None
    iteration_bound_s: float | None = None
    bubble: float | None = None
    uniform_bottleneck_s: float | None = None
    uniform_iteration_s: float | None = None
    uniform_feasible: bool | None = None
    latency_s: float | None = None
    latency_bound_s: float | None = None
    sequences: int | None = None
    most_sequences: int | None = None
    split: "PlaceResult | None" = None
    hosted: HostedExperts | None = None
    start_bottleneck_s: float | None = None
    start_iteration_s: float | None = None
    start_latency_s: float | None = None
    memory_bytes: tuple[float, ...] = ()
    stages: tuple[Stage, ...] = ()
    violations: tuple[Violation, ...] = ()
    warnings: tuple[str, ...] = ()
    sampling: SamplingReport | None = None
    given: "PlaceResult | None" = None
