"""The Python entry of calibrations: measured iterations in, factors on the times of operations and messages out."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tiger.errors import InputError
from tiger.model.checking import check_values
from tiger.model.options import from_fields, narrow
from tiger.planning.calibration.arguments import CalibrationCall
from tiger.planning.calibration.fit import Fit, fit_factors
from tiger.planning.calibration.predict import PlannedRun, plan_runs
from tiger.planning.calibration.report import FEWEST, CalibratedRun, CalibrationReport, FittedFactor
from tiger.planning.calibration.runs import read_runs
from tiger.training.costs.tolerances import MET
from tiger.training.options import TrainingOptions
from tiger.training.pairing import tables_of
from tiger.training.timings.costs import FIELD, NAMES, NO_FACTORS, PACKAGE, CostSource, read_source

# A run that tells less than this part of the variance of a factor leaves it as it was.
LEAST_TOLD = 0.1
# Times of another unit than seconds are off by more.
FAR = 10.0


@from_fields(CalibrationCall)
def calibrate(call: CalibrationCall) -> CalibrationReport:
    """Fit factors on the times of operations and of messages to measured iterations.

    Model and cluster are what `plan` takes; the model is a transformer by its shape. `measured` is a .csv with a run a
    row: `seconds` of an iteration, its plan by the keys of `given` of `plan`, of which the batch is not left open, and
    `model` and `cluster` where these are others. Plans have as many layers in every stage and devices in order. All
    runs are trained as the other options say. Times of operations are those of `costs`, a .csv or `aiconfigurator`, or
    of a roofline. There is a factor for products, attention, numbers moved in memory, and messages inside machines and
    between them; one that no run tells stays at 1. `costs` of `place` and `plan` takes what the report writes as JSON.
    Raises InputError that names the field at fault, for a row `measured` and its column, and TypeError for an argument
    of another type.
    """
    begun = time.perf_counter()
    check_values(narrow(TrainingOptions, call))
    source = _check_source(read_source(call.costs))
    runs = plan_runs(call, read_runs(call.measured), tables_of(source))
    fit = fit_factors(runs)
    report = CalibrationReport(
        factors=fit.factors,
        tables=None if source.tables is None else "aiconfigurator",
        csv=source.csv,
        fitted=tuple(_list_factors(fit)),
        runs=tuple(_list_runs(runs, fit)),
        seconds=time.perf_counter() - begun,
    )
    return replace(report, warnings=(*_warn_of_errors(report), *_list_warnings(runs, fit)))


def _check_source(source: CostSource) -> CostSource:
    """Return where times come from; raise InputError for what a report cannot state, or has been fitted already."""
    if source.factors != NO_FACTORS:
        raise InputError(FIELD, "expected times of operations alone, as factors are fitted, got some with factors")
    if source.tables not in (None, PACKAGE):
        raise InputError(FIELD, f"expected a .csv or {PACKAGE}, as a report names no folder, got a folder")
    return source


def _list_factors(fit: Fit) -> Iterator[FittedFactor]:
    """Yield the factors, with what is known of each."""
    for name, deviation, told in zip(NAMES, fit.deviation.tolist(), fit.evidence.tolist(), strict=True):
        yield FittedFactor(name=name, factor=getattr(fit.factors, name), deviation=deviation, told=told)


def _list_runs(runs: Sequence[PlannedRun], fit: Fit) -> Iterator[CalibratedRun]:
    """Yield the runs, with what predictions come to."""
    for number, each in enumerate(runs):
        yield CalibratedRun(
            line=each.run.line,
            plan=each.label,
            measured_s=each.run.seconds,
            before_s=each.predict_s(NO_FACTORS),
            after_s=each.predict_s(fit.factors),
            left_out_s=each.predict_s(fit.leave_out(number)) if len(runs) >= FEWEST else None,
        )


def _warn_of_errors(report: CalibrationReport) -> Iterator[str]:
    """Yield that other plans are predicted no better than before, where runs that are left out are not."""
    if report.error_left_out is not None and report.error_left_out >= report.error_before > MET:
        yield "runs that are left out are predicted no better than without factors: expect no gain for other plans"


def _list_warnings(runs: Sequence[PlannedRun], fit: Fit) -> Iterator[str]:
    """Yield which factors no run tells, and which runs our model cannot have run, or in seconds of another unit."""
    untold = [name for name, told in zip(NAMES, fit.evidence.tolist(), strict=True) if told < LEAST_TOLD]
    if untold:
        yield f"no run tells {', '.join(untold)}, which stay near 1: measure plans that spend more on them"
    for each in runs:
        yield from each.list_faults()
        ratio = each.predict_s(NO_FACTORS) / each.run.seconds
        if not 1 / FAR <= ratio <= FAR:
            yield f"line {each.run.line}: predicted is {ratio:.3g} times what was measured; are these seconds?"
