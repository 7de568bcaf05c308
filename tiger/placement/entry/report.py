"""The report of a placement: stages and their devices, seconds, bytes, and lower bounds."""

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from tiger.errors import InputError
from tiger.model.answer import Answer
from tiger.model.document import HIDDEN, LATER
from tiger.model.figure import Figure, find_largest
from tiger.model.units import milliseconds_text
from tiger.model.violation import Violation, unmet_text
from tiger.placement.entry.given import GivenLayout
from tiger.placement.entry.remedies import Remedy
from tiger.placement.entry.serving import ServingFigures
from tiger.placement.entry.stage import Link, PlacedStage
from tiger.placement.operators.params import Objective
from tiger.placement.params import Mode
from tiger.run.samples import SamplingReport
from tiger.run.stage import Stage
from tiger.training.costs.tolerances import meets
from tiger.training.schedules.pass_orders import Schedule
from tiger.training.timings.timed import SourceShares

if TYPE_CHECKING:
    from tiger.placement.emission.deployment import Deployment
    from tiger.placement.entry.arrangement import Arrangement

SCHEMA: Final = "tiger.placement/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementReport(Answer):
    """Answer which layers or operators of a model run on which devices of a cluster, all times in seconds.

    In the mode chain, `stages` are in order; with v `virtual` stages a device, number j runs at position j mod p, under
    zb-v and dualpipe-v at j and, on the way back, at 2 p - 1 - j; under chimera stage j of p is also at p - 1 - j, and
    has the seconds and bytes of position j with both its stages, of which each runs half of the microbatches.
    `bottleneck_s` is the largest load of a position for one microbatch, messages not hidden behind passes, and
    `lower_bound_s` a lower bound on that of all plans of the same order of layers. With a `schedule`, `iteration_s` is
    its simulated time for all `microbatches`, `iteration_bound_s` a lower bound on those of all plans, and `bubble` the
    share of it in which devices wait. `uniform_..` are the figures of as many layers in every stage, on devices in the
    order of the cluster, None where they cannot send to each other; memory and pins play no part in it, and
    `uniform_feasible` says whether it keeps to them, None where that is not known. `start_..` are the figures of the
    plan started from, and `moved` how many of its layers or operators have other devices now, None without one. `given`
    is what the plan of a `layout` comes to, None without one. Without a schedule, memory is parameters alone.

    With the `objective` latency, `latency_s` is the time of a microbatch alone, forward through all stages, and
    `latency_bound_s` a lower bound on that of all plans; with cache, `serving` has the sequences that fit at once.
    `serving` also has what a model that serves comes to beside layers cut in proportion to memory, None of others.

    In the mode dag there is a stage for every device that holds operators, and `uniform_..` are the figures of as many
    colocation groups on every accelerator. Bounds are on all placements of the same kind: `lower_bound_s` on the
    bottleneck and `latency_bound_s` on `latency_s`, the makespan of one microbatch, both None for the `objective`
    throughput.

    `optimal` says that what was minimized, the iteration with a schedule, else the bottleneck or what the `objective`
    names, meets its bound. `progress` has the cost that each step of the search reached, `links` the bytes between
    devices in an iteration, `seconds` is wall time, `sampling` what a sampler drew, None for other solvers, and `times`
    are the shares of what layers compute by where their times come from, None where the model states them. Where no
    plan is possible, figures are None, stages empty, and `violations` say what cannot be met. `deployment` holds the
    plan itself, `arrangement` that of operators, and neither is serialised.
    """

    schema: Literal["tiger.placement/1"] = field(default=SCHEMA, init=False, repr=False)
    mode: Mode = "chain"
    objective: Objective | None = None
    stages: tuple[PlacedStage, ...] = ()
    bottleneck_s: float | None = None
    iteration_s: float | None = None
    bubble: float | None = None
    uniform_bottleneck_s: float | None = None
    uniform_iteration_s: float | None = None
    uniform_feasible: bool | None = None
    start_bottleneck_s: float | None = field(default=None, metadata=LATER)
    start_iteration_s: float | None = field(default=None, metadata=LATER)
    start_latency_s: float | None = field(default=None, metadata=LATER)
    moved: int | None = field(default=None, metadata=LATER)
    lower_bound_s: float | None = None
    iteration_bound_s: float | None = None
    latency_s: float | None = None
    latency_bound_s: float | None = None
    serving: ServingFigures | None = field(default=None, metadata=LATER)
    optimal: bool = field(init=False)
    feasible: bool
    violations: tuple[Violation, ...] = ()
    remedies: tuple[Remedy, ...] = field(default=(), metadata=LATER)
    given: GivenLayout | None = field(default=None, metadata=LATER)
    schedule: Schedule | None = None
    microbatches: int | None = None
    virtual: int = 1
    solver: str
    seed: int
    links: tuple[Link, ...] = ()
    progress: tuple[Stage, ...] = ()
    warnings: tuple[str, ...] = ()
    sampling: SamplingReport | None = field(default=None, metadata=LATER)
    times: SourceShares | None = field(default=None, metadata=LATER)
    seconds: float
    deployment: "Deployment | None" = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    arrangement: "Arrangement | None" = field(default=None, repr=False, compare=False, metadata=HIDDEN)

    def __post_init__(self) -> None:
        """Work out whether what was minimized meets its lower bound."""
        object.__setattr__(self, "optimal", self._meets_bounds())

    def _meets_bounds(self) -> bool:
        """Return whether what was minimized meets its lower bound, or the sequences their upper one."""
        if self.objective == "cache":
            served = self.serving
            return served is not None and bool(served.sequences) and served.sequences == served.most_sequences
        figures = {
            "bottleneck": (self.bottleneck_s, self.lower_bound_s),
            "iteration": (self.iteration_s, self.iteration_bound_s),
            "latency": (self.latency_s, self.latency_bound_s),
        }
        usual = "bottleneck" if self.schedule is None else "iteration"
        goals = {"latency": ("latency",), "both": ("bottleneck", "latency")}.get(self.objective or "", (usual,))
        return all(_is_met(*figures[goal]) for goal in goals)

    @property
    def headline(self) -> str:
        """Return one sentence on what was minimized and on what the uniform split comes to, or that there is none."""
        if not self.stages:
            return unmet_text(self.violations, "placement")
        name, made, uniform = "bottleneck", self.bottleneck_s, self.uniform_bottleneck_s
        if self.schedule is not None:
            name, made, uniform = "iteration", self.iteration_s, self.uniform_iteration_s
        start = f"solved: {name}" if self.feasible else name
        if self.mode == "chain" and self.objective is not None and self.serving is not None:
            return _say_sequences("solved: " if self.feasible else "", self.objective, self.serving)
        if self.objective == "latency":
            least = milliseconds_text(self.latency_bound_s)
            return f"solved: latency {milliseconds_text(self.latency_s)}, and no placement below {least}"
        if uniform is None or made is None or not math.isfinite(uniform):
            what = "layers in every stage" if self.mode == "chain" else "operators on every device"
            return f"{start} {milliseconds_text(made)}; as many {what} do not run here"
        start, usual = f"{start} {milliseconds_text(made)}", milliseconds_text(uniform)
        if made == uniform and self.uniform_feasible is not False:
            return f"{start}, as with the uniform split"
        if made > uniform or self.uniform_feasible is False:
            return f"{start}; the uniform split of {usual} does not meet what is asked"
        return f"{start}, {uniform / made:.2f}x as fast as the {usual} of the uniform split"

    @property
    def given_report(self) -> "PlacementReport | None":
        """Return the plan of a layout as a placement that can be emitted and drawn, None without one."""
        plan = self.given
        if plan is None:
            return None
        return replace(
            self,
            given=None,
            stages=plan.stages,
            bottleneck_s=plan.bottleneck_s,
            iteration_s=plan.iteration_s,
            bubble=plan.bubble,
            links=plan.links,
            feasible=plan.feasible,
            violations=plan.violations,
            deployment=plan.deployment,
        )

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return the times with their bounds, the share of waiting, and what the fullest device holds."""
        times = ("iteration_s", "latency_s", "bottleneck_s")
        bounds = ("iteration_bound_s", "latency_bound_s", "lower_bound_s")
        return (
            *(Figure(name, getattr(self, name), unit="s") for name in times),
            *(Figure(name, getattr(self, name), None, "s") for name in bounds),
            Figure("bubble", self.bubble),
            Figure("sequences", None if self.serving is None else self.serving.sequences, "more"),
            Figure("memory_bytes", find_largest(stage.memory_bytes for stage in self.stages), unit="bytes"),
            Figure("moved", self.moved),
            Figure("seconds", self.seconds, unit="s"),
        )

    @property
    def rows(self) -> tuple[PlacedStage, ...]:
        """Return the stages of the pipeline, or the devices that hold operators."""
        return self.stages

    def emit(self, system: str) -> str:
        """Return the plan as text for one of its WRITERS; raise InputError of `emit` if that cannot be.

        Nothing can be emitted where no plan is possible, nor in the mode dag.
        """
        from tiger.placement.emission.formats import find_writer

        write = find_writer(system)
        if self.mode != "chain":
            raise InputError("emit", f"expected the mode chain beside it, got the mode {self.mode}")
        if self.deployment is None:
            raise InputError("emit", "expected a plan that is possible, got a report without one")
        return write(self.deployment)


def _say_sequences(solved: str, objective: Objective, figures: ServingFigures) -> str:
    """Return one sentence on what was asked for, and on what the split in proportion to memory comes to."""
    split, usual = figures.split, "the split by memory"
    if objective == "cache":
        beside = f"{split.sequences or 0:,} with {usual}"
        return f"{solved}room for {figures.sequences or 0:,} sequences at once, {beside}"
    made = f"{solved}latency {milliseconds_text(figures.latency_s)}"
    if not split.feasible or split.latency_s is None:
        return f"{made}; {usual} does not meet what is asked"
    if split.latency_s <= figures.latency_s:
        return f"{made}, as with {usual}"
    faster = f"{split.latency_s / figures.latency_s:.2f}x as fast as"
    return f"{made}, {faster} the {milliseconds_text(split.latency_s)} of {usual}"


def _is_met(value: float | None, bound: float | None) -> bool:
    """Return whether a figure is no more than its bound."""
    return value is not None and bound is not None and meets(value, bound)
