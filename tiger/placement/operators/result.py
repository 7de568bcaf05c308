"""The result of a search for a placement of operators, before it becomes a report."""

from dataclasses import dataclass

from tiger.model.arrays import IntArray
from tiger.model.violation import Violation
from tiger.run.samples import SamplingReport
from tiger.run.stage import Stage


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OperatorPlacement:
    """Hold the device of every group `place[C]`, None where nothing fits, and how good it is, in seconds.

    `line` are the devices that hold a stage, in the order of the stages where those are contiguous. `bottleneck_s` is
    the largest load, `latency_s` the makespan of one microbatch, each with a lower bound on it for any placement
    of the same kind; `uniform_bottleneck_s` is that of as many groups on every device along a topological order,
    whether or not that fits, which `uniform_feasible` says; `start_..` are those of the placement started from.
    """

    place: IntArray | None
    line: tuple[int, ...] = ()
    bottleneck_s: float | None = None
    lower_bound_s: float | None = None
    latency_s: float | None = None
    latency_bound_s: float | None = None
    uniform_bottleneck_s: float | None = None
    uniform_feasible: bool | None = None
    start_bottleneck_s: float | None = None
    start_latency_s: float | None = None
    stages: tuple[Stage, ...] = ()
    violations: tuple[Violation, ...] = ()
    warnings: tuple[str, ...] = ()
    sampling: SamplingReport | None = None
