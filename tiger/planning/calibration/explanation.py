"""Explain a calibration."""

from collections.abc import Iterator

from tiger.planning.calibration.report import CalibrationReport, off_text
from tiger.planning.calibration.summary import WORDS
from tiger.run.explanation import Explanation, count

# A factor of which the runs tell less than half is mostly what it was before them.
HALF = 0.5


def explain_calibration(report: CalibrationReport) -> Explanation:
    """Explain a calibration from its figures."""
    return Explanation(
        found=tuple(_say_factors(report)),
        quality=tuple(_say_errors(report)),
        limits=tuple(_say_untold(report)),
        advice=tuple(_advise(report)),
    )


def _say_factors(report: CalibrationReport) -> Iterator[str]:
    """Yield what times are multiplied by, and warnings."""
    words = [f"{WORDS.get(each.name, each.name)} {each.factor:.2f}" for each in report.fitted if each.told >= HALF]
    what = f"Times are multiplied by: {', '.join(words)}" if words else "The runs tell no factor well"
    yield f"{what}, by {count(len(report.runs), 'measured run')}."
    yield from (f"Beware: {warning}." for warning in report.warnings)


def _say_errors(report: CalibrationReport) -> Iterator[str]:
    """Yield what predictions are off by."""
    yield (
        f"Predictions of these runs are off by {off_text(report.error_before)} without the factors, and by "
        f"{off_text(report.error_after)} with them."
    )
    if report.error_left_out is not None:
        yield f"A run that the others predict is off by {off_text(report.error_left_out)}: expect that of other plans."


def _say_untold(report: CalibrationReport) -> Iterator[str]:
    """Yield which factors are mostly what they were before."""
    words = [WORDS.get(each.name, each.name) for each in report.fitted if each.told < HALF]
    if words:
        yield f"The runs tell less than half of what is to know of: {', '.join(words)}."


def _advise(report: CalibrationReport) -> Iterator[str]:
    """Yield what to do with the factors, and which runs would tell more."""
    yield "Write them with --json FILE.json, and give that file as --costs to `tiger place` and `tiger plan`."
    if report.error_left_out is None or any(each.told < HALF for each in report.fitted):
        yield (
            "Measure plans whose degrees differ: long sequences tell attention, tensor parallelism links inside "
            "machines, replicas and pipelines over several machines those between."
        )
