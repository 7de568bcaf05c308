"""The report of a plan: the best degrees with their placement, what else was looked at, and why it lost."""

from dataclasses import dataclass, field
from typing import Final, Literal

from tiger.errors import InputError
from tiger.model.answer import Answer
from tiger.model.document import INLINE, LATER, Document
from tiger.model.figure import Figure, find_largest
from tiger.model.units import seconds_text
from tiger.model.violation import Violation, unmet_text
from tiger.placement.entry.remedies import Remedy
from tiger.placement.entry.report import PlacementReport
from tiger.planning.breakdown import Breakdown
from tiger.planning.choices import hold_text
from tiger.run.samples import SamplingReport
from tiger.run.stage import Stage
from tiger.training.costs.tolerances import MET
from tiger.training.models.setup import Recompute, Sharding
from tiger.training.schedules.pass_orders import Schedule

SCHEMA: Final = "tiger.plan/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrees(Document):
    """Hold a choice: sizes of the groups, the schedule, and how a replica's part of the batch is cut.

    `microbatch` is the number of sequences in each of `microbatches`, None where a model says only what one costs.
    `context` devices share every sequence, experts are dealt out among `expert`, and `sharding` and `recompute` say
    what is shared out and what is computed again, of the first `recompute_layers` of a stage, None for all.
    """

    pipeline: int
    tensor: int
    data: int
    schedule: Schedule
    virtual: int
    microbatches: int
    microbatch: int | None
    context: int = field(default=1, metadata=LATER)
    expert: int = field(default=1, metadata=LATER)
    sharding: Sharding = field(default="none", metadata=LATER)
    recompute: Recompute = field(default="none", metadata=LATER)
    recompute_layers: int | None = field(default=None, metadata=LATER)

    def __str__(self) -> str:
        """Return the degrees and the schedule in words, with the stages of a position where those are not one."""
        virtual = f" x {self.virtual}" if self.virtual > 1 else ""
        held = hold_text(self.sharding, self.recompute, self.recompute_layers)
        return f"pipeline {self.pipeline} x tensor {self.tensor} x {self.copies}, {self.schedule}{virtual}{held}"

    @property
    def copies(self) -> str:
        """Return how many devices hold the same layers in words: replicas, and where not 1 context and expert ranks."""
        sizes = (("data", self.data), ("context", self.context), ("expert", self.expert))
        return " x ".join(f"{name} {size}" for name, size in sizes if size > 1 or name == "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPlan(Document):
    """Hold what the best plan by some degrees comes to, and `why` it is where it is.

    `memory_share` is the part of its memory that the fullest device holds, 0 where memory has no end, `bound_s` a
    lower bound for all plans by the same degrees. `searched` says that these degrees were searched as a placement is,
    and not only simulated with a few plans.
    """

    degrees: Degrees = field(metadata=INLINE)
    iteration_s: float
    memory_share: float
    bubble: float
    breakdown: Breakdown
    bound_s: float
    searched: bool
    tokens_per_s: float | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPlan(Document):
    """Hold what the plan that somebody has comes to, with as many layers in every stage and devices in order.

    `memory_bytes` is what the fullest device holds, `memory_share` that part of its memory, and `sent_bytes` goes
    between devices in an iteration. `violations` say why it cannot run where it is not `feasible`, `remedies` what
    would make it fit. Seconds are those without such limits, None where a link is missing. The best plan saves the
    share `saved` of them, None where one of both cannot run. `keep` says whether that is too little to change the plan,
    and `verdict` says so in words.
    """

    degrees: Degrees = field(metadata=INLINE)
    iteration_s: float | None
    memory_bytes: float
    memory_share: float
    bubble: float | None
    breakdown: Breakdown | None
    sent_bytes: float
    tokens_per_s: float | None
    feasible: bool
    violations: tuple[Violation, ...]
    remedies: tuple[Remedy, ...]
    saved: float | None
    keep: bool
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut(Document):
    """Hold how many choices a bound ruled out, the `closest` of them, and `why` in words.

    `bound_s` is what the closest takes at the least, None where memory or links are the reason, and `need_bytes` what
    it needs on some device, None where they are not.
    """

    reason: str
    choices: int
    closest: Degrees | None
    bound_s: float | None
    need_bytes: float | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptPlan(Document):
    """Hold the best plan of one batch of a sweep, None where none is `feasible`.

    `batch_per_s` is how much of the batch runs in a second: sequences, or microbatches of models without a shape.
    `seconds` is how long the search took.
    """

    batch: int
    feasible: bool
    degrees: Degrees | None
    iteration_s: float | None
    batch_per_s: float | None
    tokens_per_s: float | None
    bubble: float | None
    memory_share: float | None
    lower_bound_s: float | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport(Answer):
    """Answer by which degrees, microbatches and schedule a model runs on a cluster in the least simulated time.

    `ranked` are the best plans, the first of which `placement` reports in full; `heuristic` is the one that people
    write by hand, None where that does not fit, and `gain` how many times as long that takes. `given` is the
    plan that somebody has, None without one. `pruned` are the choices
    of which no plan was simulated, by reason, of `choices` in all. No plan by any choice is below `lower_bound_s`.
    `batch` is what an iteration runs, in sequences or in microbatches of the model. `sampling` is what a sampler drew
    to order devices in all plans, None for other solvers. Of a `sweep` it reports the batch with most throughput, and
    the best plan of every batch beside that.
    """

    schema: Literal["tiger.plan/1"] = field(default=SCHEMA, init=False, repr=False)
    degrees: Degrees | None = field(init=False)
    batch: int
    iteration_s: float | None = field(init=False)
    tokens_per_s: float | None = field(init=False)
    lower_bound_s: float | None = None
    optimal: bool = field(init=False)
    gain: float | None = field(init=False)
    heuristic: RankedPlan | None = None
    given: GivenPlan | None = field(default=None, metadata=LATER)
    feasible: bool
    violations: tuple[Violation, ...] = ()
    remedies: tuple[Remedy, ...] = field(default=(), metadata=LATER)
    ranked: tuple[RankedPlan, ...] = ()
    pruned: tuple[RuledOut, ...] = ()
    choices: int = 0
    placement: PlacementReport | None = None
    seed: int
    islands: int = field(default=1, metadata=LATER)
    sampling: SamplingReport | None = field(default=None, metadata=LATER)
    sweep: tuple[SweptPlan, ...] = field(default=(), metadata=LATER)
    progress: tuple[Stage, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float

    def __post_init__(self) -> None:
        """Work out what follows from the best plan."""
        best, bound, usual = self.best, self.lower_bound_s, self.heuristic
        derived: dict[str, object] = {
            "degrees": best and best.degrees,
            "iteration_s": best and best.iteration_s,
            "tokens_per_s": best and best.tokens_per_s,
            "optimal": best is not None and bound is not None and best.iteration_s <= bound * (1 + MET),
            "gain": usual.iteration_s / best.iteration_s if best and usual and best.iteration_s else None,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def best(self) -> RankedPlan | None:
        """Return the best plan."""
        return self.ranked[0] if self.ranked else None

    @property
    def headline(self) -> str:
        """Return one sentence on the best plan beside the usual one, or that there is none."""
        best, usual = self.best, self.heuristic
        if best is None:
            return unmet_text(self.violations, "plan")
        start = f"planned: {best.degrees}, iteration {seconds_text(best.iteration_s)}"
        given_s = None if self.given is None or not self.given.feasible else self.given.iteration_s
        if given_s is not None and best.iteration_s:
            return f"{start}, {given_s / best.iteration_s:.2f}x as fast as the {seconds_text(given_s)} of yours"
        if usual is None or self.gain is None:
            return start
        return f"{start}, {self.gain:.2f}x as fast as the {seconds_text(usual.iteration_s)} of the usual plan"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return the time with its bound, the throughput, the share of waiting, and what the fullest device holds."""
        best, placed = self.best, self.placement
        stages = () if placed is None else placed.stages
        return (
            Figure("iteration_s", self.iteration_s, unit="s"),
            Figure("lower_bound_s", self.lower_bound_s, None, "s"),
            Figure("tokens_per_s", self.tokens_per_s, "more", "1/s"),
            Figure("bubble", None if best is None else best.bubble),
            Figure("memory_share", None if best is None else best.memory_share),
            Figure("memory_bytes", find_largest(stage.memory_bytes for stage in stages), unit="bytes"),
            Figure("seconds", self.seconds, unit="s"),
        )

    @property
    def rows(self) -> tuple[RankedPlan, ...]:
        """Return the best plans."""
        return self.ranked

    def emit(self, system: str) -> str:
        """Return the best plan as text for a system, as a placement does; raise InputError of `emit`."""
        if self.placement is None:
            raise InputError("emit", "expected a plan that is possible, got a report without one")
        return self.placement.emit(system)
