"""What a sampler contributed to a mapping: how much it drew, and what its best read is worth beside coin flips."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Self

from tiger.model.document import Document

# Costs closer than this are sums in another order; the least share that is told as a number.
SAME, LEAST = 1e-9, 1e-3
# The figure of a sample set that has the microseconds on a quantum computer.
ACCESS_TIME = "qpu_access_time_us"


@dataclass(frozen=True, slots=True, kw_only=True)
class BestReads(Document):
    """Hold the least costs of some reads: as they came, after repair, and after polish; None where there were none."""

    raw: float | None = None
    repaired: float | None = None
    polished: float | None = None

    def least(self, other: Self) -> "BestReads":
        """Return the lesser costs of both."""
        known = {
            member.name: [cost for side in (self, other) if (cost := getattr(side, member.name)) is not None]
            for member in fields(self)
        }
        return BestReads(**{name: min(costs, default=None) for name, costs in known.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingReport(Document):
    """Say what a sampler drew, and what as many random reads come to by the same repair and polish.

    Of `reads` in `calls` the share `feasible_share` was feasible as it came (None without reads); `access_time_s` are
    the seconds on a quantum computer, None where the sampler says nothing of them. Of every tenth window, and of every
    eighth round on a whole problem, from the second on, the `compared_reads` are set beside as many bits from coin
    flips, which never become the answer: `cost_of_reads` and `cost_of_control`, of operators their largest load in
    seconds. None where nothing was compared, as of circuits and of orders of devices, whose QUBOs have units of their
    own. Where `estimated`, nothing was submitted: calls and times are those of simulated annealing in the machine's
    place.
    """

    calls: int = 0
    reads: int = 0
    feasible_share: float | None = None
    access_time_s: float | None = None
    compared_reads: int = 0
    cost_of_reads: BestReads | None = None
    cost_of_control: BestReads | None = None
    estimated: bool = False

    @property
    def verdict(self) -> str | None:
        """Return in words what the sampler added to coin flips, None where nothing was compared."""
        if self.cost_of_reads is None or self.cost_of_control is None:
            return None
        own, other = self.cost_of_reads.polished, self.cost_of_control.polished
        if own is None or other is None:
            return None
        if math.isclose(own, other, rel_tol=SAME, abs_tol=SAME):
            return "coin flips reach the same"
        share = abs(other / own - 1) if own > 0 else math.inf
        by = "" if math.isinf(share) else f"{share:.1%} " if share >= LEAST else f"less than {LEAST:.1%} "
        return f"coin flips cost {by}{'more' if other > own else 'less'}"


@dataclass(slots=True)
class SampleCount:
    """Add up what a sampler drew in a solve."""

    reads: int = 0
    feasible: float = 0.0
    access_s: float = math.nan
    compared: int = 0
    own: BestReads = field(default_factory=BestReads)
    control: BestReads = field(default_factory=BestReads)

    def add(self, reads: int, feasible_share: float, figures: Mapping[str, object]) -> None:
        """Add the reads of a call, of which the sampler says some figures."""
        self.reads += reads
        self.feasible += reads * feasible_share
        access_us = figures.get(ACCESS_TIME)
        if isinstance(access_us, int | float):
            access_s = access_us / 1e6
            self.access_s = access_s if math.isnan(self.access_s) else self.access_s + access_s

    def compare(self, reads: int, own: BestReads, control: BestReads) -> None:
        """Add reads of a call that are set beside as many random ones."""
        self.compared += reads
        self.own, self.control = self.own.least(own), self.control.least(control)

    def report(self, calls: int, *, estimated: bool) -> SamplingReport:
        """Return all of it; `estimated` where nothing was submitted."""
        return SamplingReport(
            estimated=estimated,
            calls=calls,
            reads=self.reads,
            feasible_share=self.feasible / self.reads if self.reads else None,
            access_time_s=None if math.isnan(self.access_s) else self.access_s,
            compared_reads=self.compared,
            cost_of_reads=self.own if self.compared else None,
            cost_of_control=self.control if self.compared else None,
        )
