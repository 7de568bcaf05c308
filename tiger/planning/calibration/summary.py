"""What the command line says of a calibration."""

from typing import TYPE_CHECKING

from tiger.model.units import seconds_text
from tiger.run.summary import table, warnings

if TYPE_CHECKING:
    from tiger.planning.calibration.report import CalibratedRun, CalibrationReport

FACTORS = ("times of", "factor", "within", "told by the runs")
RUNS = ("line", "plan", "measured", "before", "after", "left out")
WORDS = {
    "products": "products",
    "attention": "attention",
    "memory": "numbers moved",
    "inside": "messages inside machines",
    "between": "messages between machines",
}


def calibration_summary(report: "CalibrationReport") -> str:
    """Return the factors, how much the runs tell of each, and predicted over measured seconds of every run."""
    factors = (
        (
            WORDS.get(each.name, each.name),
            f"{each.factor:.3f}",
            f"{each.least:.3f} to {each.most:.3f}",
            f"{each.told:.0%}",
        )
        for each in report.fitted
    )
    parts = [
        f"{report.headline}\n\n",
        warnings(report.warnings),
        table(FACTORS, factors),
        "\npredicted over measured:\n\n",
        table(RUNS, map(_row, report.runs)),
    ]
    return "".join(parts)


def _row(run: "CalibratedRun") -> tuple[str, ...]:
    """Return a run as a row."""
    ways = (run.before_s, run.after_s, run.left_out_s)
    ratios = ("-" if seconds is None else f"{seconds / run.measured_s:.3f}" for seconds in ways)
    return (str(run.line), run.plan, seconds_text(run.measured_s), *ratios)
