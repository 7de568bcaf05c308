"""The report of a plan: the best degrees with their placement, what else was looked at, and why it lost."""

from dataclasses import dataclass

from tiger.errors import InputError
from tiger.model.violation import Violation
from tiger.pipeline.costs.tolerances import MET
from tiger.pipeline.entry.report import PlacementReport
from tiger.pipeline.planning.breakdown import Breakdown
from tiger.pipeline.schedules.orders import Schedule
from tiger.run.stage import Stage

SCHEMA = "tiger.plan/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrees:
    """Hold a choice: sizes of the groups, the schedule, and how a replica's part of the batch is cut.

    `microbatch` is the number of sequences in each of `microbatches`, None where a model says only what one costs.
    """

    pipeline: int
    tensor: int
    data: int
    schedule: Schedule
    virtual: int
    microbatches: int
    microbatch: int | None

    def to_dict(self) -> dict[str, object]:
        """Return the fields by name."""
        return {
            "pipeline": self.pipeline,
            "tensor": self.tensor,
            "data": self.data,
            "schedule": self.schedule,
            "virtual": self.virtual,
            "microbatches": self.microbatches,
            "microbatch": self.microbatch,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPlan:
    """Hold what the best plan by some degrees comes to, and `why` it is where it is.

    `memory_share` is the part of its memory that the fullest device holds, 0 where memory has no end, `bound_s` what
    no plan by the same degrees goes below. `searched` says that these degrees were searched as a placement is, and not
    only simulated with a few plans.
    """

    degrees: Degrees
    iteration_s: float
    memory_share: float
    bubble: float
    breakdown: Breakdown
    bound_s: float
    searched: bool
    tokens_per_s: float | None
    why: str

    def to_dict(self) -> dict[str, object]:
        """Return the fields by name."""
        return {
            **self.degrees.to_dict(),
            "iteration_s": self.iteration_s,
            "memory_share": self.memory_share,
            "bubble": self.bubble,
            "breakdown": self.breakdown.to_dict(),
            "bound_s": self.bound_s,
            "searched": self.searched,
            "tokens_per_s": self.tokens_per_s,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
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

    def to_dict(self) -> dict[str, object]:
        """Return the fields by name."""
        return {
            "reason": self.reason,
            "choices": self.choices,
            "closest": None if self.closest is None else self.closest.to_dict(),
            "bound_s": self.bound_s,
            "need_bytes": self.need_bytes,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """Answer by which degrees, microbatches and schedule a model runs on a cluster in the least simulated time.

    `ranked` are the best plans, the first of which `placement` reports in full; `heuristic` is the one that people
    write by hand, None where that does not fit, and `gain` how many times as long that takes. `pruned` are the choices
    of which no plan was simulated, by reason, of `choices` in all. No plan by any choice is below `lower_bound_s`.
    `batch` is what an iteration runs, in sequences or in microbatches of the model.
    """

    feasible: bool
    batch: int
    seed: int
    seconds: float
    placement: PlacementReport | None = None
    ranked: tuple[RankedPlan, ...] = ()
    heuristic: RankedPlan | None = None
    pruned: tuple[RuledOut, ...] = ()
    choices: int = 0
    lower_bound_s: float | None = None
    violations: tuple[Violation, ...] = ()
    progress: tuple[Stage, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def best(self) -> RankedPlan | None:
        """Return the best plan."""
        return self.ranked[0] if self.ranked else None

    @property
    def iteration_s(self) -> float | None:
        """Return the seconds of an iteration by the best plan."""
        return None if self.best is None else self.best.iteration_s

    @property
    def gain(self) -> float | None:
        """Return how many times as long the plan that people write by hand takes."""
        if self.best is None or self.heuristic is None or not self.best.iteration_s:
            return None
        return self.heuristic.iteration_s / self.best.iteration_s

    @property
    def optimal(self) -> bool:
        """Return whether the best plan meets the bound."""
        bound = self.lower_bound_s
        return self.best is not None and bound is not None and self.best.iteration_s <= bound * (1 + MET)

    def emit(self, system: str) -> str:
        """Return the best plan as text for a system, as a placement does; raise InputError of `emit`."""
        if self.placement is None:
            raise InputError("emit", "expected a plan that is possible, got a report without one")
        return self.placement.emit(system)

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values that serialise to strict JSON (schema `tiger.plan/1`)."""
        return {
            "schema": SCHEMA,
            "degrees": None if self.best is None else self.best.degrees.to_dict(),
            "batch": self.batch,
            "iteration_s": self.iteration_s,
            "tokens_per_s": None if self.best is None else self.best.tokens_per_s,
            "lower_bound_s": self.lower_bound_s,
            "optimal": self.optimal,
            "gain": self.gain,
            "heuristic": None if self.heuristic is None else self.heuristic.to_dict(),
            "feasible": self.feasible,
            "violations": [violation.to_dict() for violation in self.violations],
            "ranked": [plan.to_dict() for plan in self.ranked],
            "pruned": [pruned.to_dict() for pruned in self.pruned],
            "choices": self.choices,
            "placement": None if self.placement is None else self.placement.to_dict(),
            "seed": self.seed,
            "progress": [step.to_dict() for step in self.progress],
            "warnings": list(self.warnings),
            "seconds": self.seconds,
        }
