"""The report of a calibration: the factors, what the runs tell of each, and what predictions are off by."""

from dataclasses import dataclass, field
from math import exp, log, sqrt
from typing import Literal

from tiger.model.answer import Answer
from tiger.model.document import Document
from tiger.model.violation import Violation
from tiger.training.timings.costs import CALIBRATION, Factors

# Runs from which each is also predicted by the others.
FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedFactor(Document):
    """Hold a factor, from `least` to `most` within one standard deviation of its logarithm, `deviation`.

    `told` is how much of the variance that the logarithm had before the runs have taken away, from 0 to 1.
    """

    name: str
    factor: float
    least: float = field(init=False)
    most: float = field(init=False)
    deviation: float
    told: float

    def __post_init__(self) -> None:
        """Work out the limits."""
        object.__setattr__(self, "least", self.factor * exp(-self.deviation))
        object.__setattr__(self, "most", self.factor * exp(self.deviation))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedRun(Document):
    """Hold a measured run, by its line and its plan: its seconds, and those predicted before and after the fit.

    `left_out_s` are predicted by a fit to all other runs, None with fewer than three runs.
    """

    line: int
    plan: str
    measured_s: float
    before_s: float
    after_s: float
    left_out_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport(Answer):
    """Answer by what to multiply times of operations and messages, so that predictions follow measured iterations.

    `factors`, with `tables` or `csv` where times were looked up in measured ones, is what the option `costs` reads. Of
    all runs `error_before`, `error_after` and `error_left_out` are the root mean square of the logarithms of predicted
    over measured seconds, as a share; the last is None with fewer than three runs.
    """

    schema: Literal["tiger.calibration/1"] = field(default=CALIBRATION, init=False, repr=False)
    factors: Factors
    tables: Literal["aiconfigurator"] | None = None
    csv: str | None = field(default=None, repr=False)
    fitted: tuple[FittedFactor, ...]
    runs: tuple[CalibratedRun, ...]
    error_before: float = field(init=False)
    error_after: float = field(init=False)
    error_left_out: float | None = field(init=False)
    feasible: bool = True
    violations: tuple[Violation, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float

    def __post_init__(self) -> None:
        """Work out by how much predictions are off."""
        ways: dict[str, list[tuple[float, float]]] = {
            "before": [(run.before_s, run.measured_s) for run in self.runs],
            "after": [(run.after_s, run.measured_s) for run in self.runs],
            "left_out": [(run.left_out_s, run.measured_s) for run in self.runs if run.left_out_s is not None],
        }
        for name, pairs in ways.items():
            object.__setattr__(self, f"error_{name}", _error_of(pairs) if pairs else None)

    @property
    def headline(self) -> str:
        """Return one sentence on what predictions are off by before and after."""
        count = "1 run" if len(self.runs) == 1 else f"{len(self.runs)} runs"
        start = f"calibrated by {count}: predictions are off by {off_text(self.error_before)} before"
        others = (
            "" if self.error_left_out is None else f", by {off_text(self.error_left_out)} for a run that is left out"
        )
        return f"{start} and by {off_text(self.error_after)} after{others}"

    @property
    def rows(self) -> tuple[CalibratedRun, ...]:
        """Return the runs."""
        return self.runs


def off_text(error: float) -> str:
    """Return what predictions are off by in words, from twice on by a factor."""
    return f"{error:.1%}" if error < 1 else f"a factor of {1 + error:,.3g}"


def _error_of(pairs: list[tuple[float, float]]) -> float:
    """Return what predicted seconds are off by from measured ones."""
    return exp(sqrt(sum(log(predicted / measured) ** 2 for predicted, measured in pairs) / len(pairs))) - 1
