"""The use of calibrating times by measured iterations: what it takes, how it is answered, and what is said of it."""

from tiger.planning.calibration.arguments import CalibrationCall
from tiger.run.use import Command, Late, Use
from tiger.training.timings.costs import CALIBRATION as SCHEMA

CALIBRATION = Use(
    answer=Late("tiger", "calibrate"),
    report=Late("tiger", "CalibrationReport"),
    schema=SCHEMA,
    summary=Late("tiger.planning.calibration.summary", "calibration_summary"),
    explanation=Late("tiger.planning.calibration.explanation", "explain_calibration"),
    pictures=Late("tiger.planning.calibration.pictures", "list_pictures"),
    commands=(
        Command(
            name="calibrate",
            call=CalibrationCall,
            help="""Fit times of operations and links to measured iterations, for --costs of `tiger place` and `plan`.

            Plans have as many layers in every stage and devices in order. What --json writes is what --costs reads.
            Exits with 0, or 2 on bad input. The summary goes to standard output.
            """,
            examples=(
                "tiger calibrate llama-3-8b --cluster dgx-h100:2,nics=2 \\\n"
                "  --measured examples/runs/llama-3-8b.csv --json factors.json\n"
                "tiger place llama-3-8b --cluster dgx-h100:2,nics=2 --schedule 1f1b \\\n"
                "  --pipeline-parallel 2 --tensor-parallel 8 --costs factors.json",
            ),
        ),
    ),
)
