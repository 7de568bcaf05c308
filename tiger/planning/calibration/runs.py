"""Tables of measured runs: the plan of each, and the seconds that an iteration took."""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from tiger.errors import InputError
from tiger.model.csvtext import Cells, CsvTable
from tiger.model.text import is_number, read_text
from tiger.model.wording import describe
from tiger.planning.given import KEYS

FIELD = "measured"
# What a row states beside its plan.
SECONDS, SOURCES = "seconds", ("model", "cluster")
# The batch of an iteration by its short and by its long name: seconds mean nothing without it.
BATCH = ("gbs", "batch")
TABLE = CsvTable(field=FIELD, columns=(SECONDS, *SOURCES, *KEYS), required=(SECONDS,))
# More runs than anybody measures for this; each is simulated some hundred times, and once more without it.
MOST_RUNS = 200
# Iterations are no shorter than a cycle of a clock, and no longer than thirty years.
SECONDS_LIMITS = (1e-9, 1e9)


class MeasuredIteration(NamedTuple):
    """Hold the line of a run in its table, its plan by keys of `--given`, its seconds, and its model and cluster.

    `sources` are those that the row states.
    """

    line: int
    plan: Mapping[str, str]
    seconds: float
    sources: Mapping[str, str]


def read_runs(source: Path | str) -> list[MeasuredIteration]:
    """Return the runs of a file; raise InputError of `measured` or a column below it, with the line."""
    if not isinstance(source, str | Path):
        raise TypeError(f"{FIELD}: expected a path, got {type(source).__name__}")
    runs = [_run_of(line, cells) for line, cells in TABLE.read(read_text(Path(source), FIELD))]
    if not 1 <= len(runs) <= MOST_RUNS:
        raise InputError(FIELD, f"expected 1 to {MOST_RUNS} rows below the header, got {len(runs)}")
    return runs


def _run_of(line: int, cells: Cells) -> MeasuredIteration:
    """Return the run of a row."""
    word = cells.get(SECONDS, "")
    seconds = float(word) if is_number(word) else 0.0
    if not (isfinite(seconds) and seconds > 0):
        raise InputError(f"{FIELD}/{SECONDS}", f"line {line}: expected a finite number > 0, got {describe(word)}")
    if not SECONDS_LIMITS[0] <= seconds <= SECONDS_LIMITS[1]:
        limits = f"from {SECONDS_LIMITS[0]:g} to {SECONDS_LIMITS[1]:g}"
        raise InputError(f"{FIELD}/{SECONDS}", f"line {line}: expected a number {limits}, got {describe(word)}")
    if not any(key in cells for key in BATCH):
        raise InputError(f"{FIELD}/{BATCH[0]}", f"line {line}: expected the sequences of an iteration, got none")
    plan = {key: word for key, word in cells.items() if key in KEYS}
    return MeasuredIteration(line, plan, seconds, {key: word for key, word in cells.items() if key in SOURCES})
