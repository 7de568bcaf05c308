"""Files of times of layers: a row an interval, as CSV or JSON."""

import csv
from io import StringIO
from pathlib import Path

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.model.jsontext import read_json
from tiger.model.text import is_number, read_text
from tiger.model.wording import describe
from tiger.rebalancing.layer_times import check_loads
from tiger.rebalancing.workloads.trajectory import MOST_INTERVALS
from tiger.training.models.layers import Layers

FIELD = "times"
# Numbers in a file: some hundred megabytes as arrays.
MOST_NUMBERS = 2**24


def read_times(source: Path | str, layers: Layers) -> list[FloatArray]:
    """Return the seconds [1 or 2, L] of layers on a device of speed 1 of each interval of a file.

    A `.csv` has a row of L numbers an interval, forward and backward together, under a header of the layers' names or
    without one. A `.json` has a list of intervals, each a list of L numbers, or two lists, forward and backward. Raises
    InputError of `times`, with the interval and the layer.
    """
    path = Path(source)
    reader = {".csv": times_of_csv, ".json": times_of_json}.get(path.suffix.lower())
    if reader is None:
        raise InputError(FIELD, f"expected a file ending in .csv or .json, got {describe(str(source), 300)}")
    return reader(read_text(path, FIELD), layers)


def times_of_json(text: str, layers: Layers) -> list[FloatArray]:
    """Return the seconds of each interval of a document, as `read_times` does."""
    document = read_json(text, FIELD)
    if not isinstance(document, list):
        raise InputError(FIELD, f"expected a list of intervals, got {describe(document)}")
    _check_count(len(document), layers.size)
    for number, row in enumerate(document):
        parts = row if isinstance(row, list) else []
        flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
        others = [each for each in flat if isinstance(each, bool) or not isinstance(each, int | float)]
        if others or not isinstance(row, list):
            got = describe(others[0] if others else row)
            raise InputError(f"{FIELD}/{number}", f"expected {layers.size} numbers, got {got}")
    return [check_loads(row, layers.size, layers.size, f"{FIELD}/{number}") for number, row in enumerate(document)]


def times_of_csv(text: str, layers: Layers) -> list[FloatArray]:
    """Return the seconds of each interval of a table, as `read_times` does."""
    rows = StringIO(text, newline="")
    reader = csv.reader(rows, skipinitialspace=True, strict=True)
    times: list[FloatArray] = []
    try:
        for cells in reader:
            words = [cell.strip() for cell in cells]
            line = f"line {reader.line_num}"
            if not any(words) or (not times and _is_header(words, layers, line)):
                continue
            times.append(_row(words, layers, line, len(times)))
            _check_count(len(times), layers.size)
    except csv.Error as error:
        raise InputError(FIELD, f"expected CSV, got a fault at line {reader.line_num}: {error}") from None
    _check_count(len(times), layers.size)
    return times


def _is_header(words: list[str], layers: Layers, line: str) -> bool:
    """Return whether a row states the names of all layers in order, or raise InputError for one that half does."""
    # Names first, as layers may be called by numbers.
    if tuple(words) == layers.names:
        return True
    if not all(is_number(word) for word in words):
        others = [word for word, name in zip(words, layers.names, strict=False) if word != name]
        unlike = next((word for word in others if not is_number(word)), others[0] if others else len(words))
        raise InputError(
            FIELD, f"expected numbers, or the {layers.size} names of layers in order, got {describe(unlike)} in {line}"
        )
    return False


def _row(words: list[str], layers: Layers, line: str, number: int) -> FloatArray:
    """Return the numbers [1, L] of a row."""
    if len(words) != layers.size:
        raise InputError(FIELD, f"expected {layers.size} cells, got {len(words)} in {line}")
    other = next((word for word in words if not is_number(word)), None)
    if other is not None:
        raise InputError(FIELD, f"expected numbers, got {describe(other)} in {line}")
    return check_loads(np.array([float(word) for word in words]), layers.size, layers.size, f"{FIELD}/{number}")


def _check_count(intervals: int, layers: int) -> None:
    """Raise InputError unless there are intervals, and not too many."""
    most = min(MOST_INTERVALS, MOST_NUMBERS // layers)
    if not 1 <= intervals <= most:
        raise InputError(FIELD, f"expected 1 to {most} intervals, got {intervals}")
