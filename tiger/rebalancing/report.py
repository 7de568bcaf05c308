"""The report of a run of intervals: plans and moves, beside uniform cuts and the best cuts that never move."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal

from tiger.model.answer import Answer
from tiger.model.document import Document
from tiger.model.units import seconds_text
from tiger.model.violation import Violation
from tiger.rebalancing.decision import Action, Decision

SCHEMA: Final = "tiger.rebalancing/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalReport(Document):
    """Hold the decision for an interval, beside what an iteration takes otherwise, in simulated seconds.

    `uniform_s` is that of as many layers in each stage, `static_s` that of the best cuts found that never move, both
    None where these do not fit; `lower_bound_s` is m times the mean load, or the longest layer, whatever the cuts.
    `workers` is the smallest number of devices found to be as quick as uniform cuts on all, None where those do not
    fit.
    """

    uniform_s: float | None
    static_s: float | None
    lower_bound_s: float
    workers: int | None
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRow(Document):
    """Hold an interval as a row of a table: an iteration by each plan, what moves, and the layers of every stage."""

    interval: int
    action: Action
    uniform_s: float | None
    static_s: float | None
    iteration_s: float | None
    lower_bound_s: float
    moved_layers: int
    moved_bytes: float
    moving_s: float
    workers: int | None
    stages: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceReport(Answer):
    """Answer how the plan of a pipeline follows the times of its layers, all times in simulated seconds.

    `.._s` are sums over all intervals of `iterations` each: `rebalanced_s` with `moving_s`, the seconds of all moves
    one after another. `gain` is `uniform_s` over `rebalanced_s`, `static_gain` is `static_s` over it: what moving gains
    over the best cuts that are chosen once, with all times known. `largest_gain` is the largest of uniform over
    rebalanced iterations in an interval; whole layers can gain no more than `cap`, the layers of a uniform stage,
    embedding and head aside. Figures of cuts that do not fit are None, and `warnings` say so.
    """

    schema: Literal["tiger.rebalancing/1"] = field(default=SCHEMA, init=False, repr=False)
    layers: int
    stages: int
    schedule: str
    microbatches: int
    iterations: int
    threshold: float
    balancer: str
    uniform_cuts: tuple[int, ...]
    static_cuts: tuple[int, ...]
    uniform_s: float | None
    static_s: float | None
    rebalanced_s: float
    moving_s: float
    lower_bound_s: float
    gain: float | None
    static_gain: float | None
    largest_gain: float | None
    cap: int
    rebalances: int
    moved_layers: int
    moved_bytes: float
    intervals: tuple[IntervalReport, ...]
    feasible: bool = True
    violations: tuple[Violation, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float

    @property
    def headline(self) -> str:
        """Return one sentence on what rebalancing takes beside uniform cuts and the best that never move."""
        start = f"rebalanced: {seconds_text(self.rebalanced_s)} in all, moves included"
        beside = (("uniform cuts", self.gain), ("the best cuts that never move", self.static_gain))
        gains = [f"{gain:.2f}x as fast as {what}" for what, gain in beside if gain is not None]
        return ", ".join([start, " and ".join(gains)]) if gains else start

    @property
    def rows(self) -> tuple[IntervalRow, ...]:
        """Return the intervals."""
        return tuple(_row_of(number, one) for number, one in enumerate(self.intervals))


def _row_of(number: int, one: IntervalReport) -> IntervalRow:
    """Return the row of an interval."""
    decision = one.decision
    return IntervalRow(
        interval=number,
        action=decision.action,
        uniform_s=one.uniform_s,
        static_s=one.static_s,
        iteration_s=decision.iteration_s,
        lower_bound_s=one.lower_bound_s,
        moved_layers=decision.moved_layers,
        moved_bytes=decision.moved_bytes,
        moving_s=decision.moving_s,
        workers=one.workers,
        stages=tuple(end - start for start, end in pairwise(decision.cuts)),
    )
