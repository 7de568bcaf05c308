"""The report of a placement: which stage runs where, what it costs and holds, and how good that is."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tiger.errors import InputError
from tiger.model.violation import Violation
from tiger.pipeline.operators.params import Objective
from tiger.pipeline.params import Mode, Schedule
from tiger.pipeline.tolerances import MET
from tiger.run.stage import Stage

if TYPE_CHECKING:
    from tiger.pipeline.emission.deployment import Deployment
    from tiger.pipeline.entry.arrangement import Arrangement

SCHEMA = "tiger.placement/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedStage:
    """Hold a stage: its layers or operators, the devices of its position, and its seconds for one microbatch.

    `devices[d][t]` are the ranks of d replicas cut t ways, `device` is the first of them. `compute_s` are forward and
    backward pass, `communication_s` all messages at both ends of the stage, of the slowest replica. `memory_bytes` is
    the most that a device of the position holds, with all of its stages, `capacity_bytes` what the smallest of them
    has, None without an end.
    """

    device: str
    devices: tuple[tuple[str, ...], ...]
    ops: tuple[str, ...]
    compute_s: float
    communication_s: float
    memory_bytes: float
    capacity_bytes: float | None

    def to_dict(self) -> dict[str, object]:
        """Return the fields by name."""
        return {
            "device": self.device,
            "ops": list(self.ops),
            "compute_s": _finite(self.compute_s),
            "communication_s": _finite(self.communication_s),
            "memory_bytes": _finite(self.memory_bytes),
            "capacity_bytes": self.capacity_bytes,
            "devices": [list(row) for row in self.devices],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Hold what an iteration sends between two devices, both directions together."""

    a: str
    b: str
    sent_bytes: float

    def to_dict(self) -> dict[str, object]:
        """Return the fields by name."""
        return {"a": self.a, "b": self.b, "bytes": _finite(self.sent_bytes)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementReport:
    """Answer which layers or operators of a model run on which devices of a cluster, all times in seconds.

    In the mode chain, `stages` are in order; with v `virtual` stages a device, number j runs at position j mod p.
    `bottleneck_s` is the largest load of a position for one microbatch, messages not hidden behind passes, and
    `lower_bound_s` what no plan of the same order of layers goes below. With a `schedule`, `iteration_s` is its
    simulated time for all `microbatches`, `iteration_bound_s` below those of all plans, and `bubble` the share of it
    in which devices wait. `uniform_..` is what as many layers in every stage come to, on devices in the order of the
    cluster, None where they cannot send to each other; memory and pins play no part in it, and `uniform_feasible` says
    whether it keeps to them, None where that is not known. Without a schedule, memory is parameters alone.

    In the mode dag there is a stage for every device that holds operators, and `uniform_..` is what as many classes of
    them on every accelerator come to. Bounds are on all placements of the same kind: `lower_bound_s` on the bottleneck
    and `latency_bound_s` on `latency_s`, the makespan of one microbatch, both None for the `objective` throughput.

    `optimal` says that what was made small, the iteration with a schedule, else the bottleneck or what the `objective`
    names, meets its bound. `progress` has what each step of the search reached as cost, `links` what devices send each
    other in an iteration, `seconds` is wall time. Where no plan is possible, figures are None, stages empty, and
    `violations` say what cannot be met. `deployment` holds the plan itself, `arrangement` that of operators, and
    neither is serialised.
    """

    feasible: bool
    solver: str
    seed: int
    seconds: float
    schedule: Schedule | None = None
    microbatches: int | None = None
    virtual: int = 1
    stages: tuple[PlacedStage, ...] = ()
    bottleneck_s: float | None = None
    iteration_s: float | None = None
    bubble: float | None = None
    uniform_bottleneck_s: float | None = None
    uniform_iteration_s: float | None = None
    uniform_feasible: bool | None = None
    lower_bound_s: float | None = None
    iteration_bound_s: float | None = None
    mode: Mode = "chain"
    objective: Objective | None = None
    latency_s: float | None = None
    latency_bound_s: float | None = None
    violations: tuple[Violation, ...] = ()
    progress: tuple[Stage, ...] = ()
    links: tuple[Link, ...] = ()
    warnings: tuple[str, ...] = ()
    deployment: "Deployment | None" = field(default=None, repr=False, compare=False)
    arrangement: "Arrangement | None" = field(default=None, repr=False, compare=False)

    @property
    def optimal(self) -> bool:
        """Tell whether what was made small meets its lower bound."""
        made = {
            "bottleneck": (self.bottleneck_s, self.lower_bound_s),
            "iteration": (self.iteration_s, self.iteration_bound_s),
            "latency": (self.latency_s, self.latency_bound_s),
        }
        usual = "bottleneck" if self.schedule is None else "iteration"
        goals = {"latency": ("latency",), "both": ("bottleneck", "latency")}.get(self.objective or "", (usual,))
        return all(_met(*made[goal]) for goal in goals)

    def emit(self, system: str) -> str:
        """Return the plan as text for megatron, deepspeed, vllm or torch; raise InputError of `emit` if that cannot be.

        Nothing can be emitted where no plan is possible, nor in the mode dag.
        """
        from tiger.pipeline.emission.formats import writer

        write = writer(system)
        if self.mode != "chain":
            raise InputError("emit", f"expected the mode chain beside it, got the mode {self.mode}")
        if self.deployment is None:
            raise InputError("emit", "expected a plan that is possible, got a report without one")
        return write(self.deployment)

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values that serialise to strict JSON (schema `tiger.placement/1`)."""
        return {
            "schema": SCHEMA,
            "mode": self.mode,
            "objective": self.objective,
            "stages": [stage.to_dict() for stage in self.stages],
            "bottleneck_s": _finite(self.bottleneck_s),
            "iteration_s": _finite(self.iteration_s),
            "bubble": _finite(self.bubble),
            "uniform_bottleneck_s": _finite(self.uniform_bottleneck_s),
            "uniform_iteration_s": _finite(self.uniform_iteration_s),
            "uniform_feasible": self.uniform_feasible,
            "lower_bound_s": _finite(self.lower_bound_s),
            "iteration_bound_s": _finite(self.iteration_bound_s),
            "latency_s": _finite(self.latency_s),
            "latency_bound_s": _finite(self.latency_bound_s),
            "optimal": self.optimal,
            "feasible": self.feasible,
            "violations": [violation.to_dict() for violation in self.violations],
            "schedule": self.schedule,
            "microbatches": self.microbatches,
            "virtual": self.virtual,
            "solver": self.solver,
            "seed": self.seed,
            "links": [link.to_dict() for link in self.links],
            "progress": [step.to_dict() for step in self.progress],
            "warnings": list(self.warnings),
            "seconds": self.seconds,
        }


def _met(value: float | None, bound: float | None) -> bool:
    """Tell whether a figure is no more than its bound."""
    return value is not None and bound is not None and value <= bound * (1 + MET)


def _finite(value: float | None) -> float | None:
    """Return a number as JSON knows it, None for one that is not finite."""
    return value if value is not None and math.isfinite(value) else None
