"""Times of operations as comma-separated values."""

from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Literal, get_args

import numpy as np

from tiger.errors import InputError
from tiger.model.csvtext import Cells, CsvTable
from tiger.model.text import is_number
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.training.precision import Precision
from tiger.training.timings.axes import KINDS, TableKey, axes_of, key_of
from tiger.training.timings.operations import Operation
from tiger.training.timings.tables import MeasuredRows, TimeTable

FIELD = "costs"
Pass = Literal["forward", "backward"]
REQUIRED = ("device", "operation", "dtype", "seconds")
# What is no size, or the same in all rows: caches in 16 bits, blocks with a gate.
UNSTATED = ("dtype", "number_bytes", "matrices")
SIZES = {name: tuple(each.name for each in fields(kind) if each.name not in UNSTATED) for name, kind in KINDS.items()}
SIZE_COLUMNS = tuple(dict.fromkeys(size for sizes in SIZES.values() for size in sizes))
COLUMNS = (*REQUIRED, "pass", *SIZE_COLUMNS)
# Sizes that a cell may leave open, and the one they are then equal to, or none.
OPEN = {"kv_heads": "heads", "value_head": "head", "window": None}
# Sizes that are parts of another.
WHOLES = {"kv_heads": "heads", "active": "routed", "experts": "routed"}
# Work and times beyond rows stay inside float64.
SIZE_LIMIT, SECONDS_LIMIT = 10**12, 1e9
TABLE = CsvTable(field=FIELD, columns=COLUMNS, required=REQUIRED)
# Seconds by the sizes of operations, by kind.
Times = dict[TableKey, dict[tuple[float, ...], float]]


def tables_of_csv(text: str, known: Collection[str]) -> dict[str, TimeTable]:
    """Return the times of devices in a text with a header, by the names of these, all of them `known`.

    Columns are `device`, `operation` (product, attention, decoding or expert_blocks), `dtype`, `seconds`, the sizes of
    each operation (`operations.py`), and `pass` (forward, the default, or backward). Cells of sizes that an operation
    lacks are empty; so may be `kv_heads` (then `heads`), `value_head` (then `head`) and `window`. Lines that begin with
    `#` say nothing. Raises InputError of `costs/COLUMN`, with the line.
    """
    devices: dict[str, dict[str, Times]] = {}
    for line, cells in TABLE.read(text):
        _check_sizes(line, cells)
        device = _choose(line, cells, "device", known)
        times = devices.setdefault(device, {name: {} for name in get_args(Pass)})
        direction = _choose(line, {"pass": "forward", **cells}, "pass", get_args(Pass))
        operation, seconds = _operation(line, cells), _seconds(line, cells)
        # A window of all tokens is none, so that rows of two operations may be of the same sizes.
        before = times[direction].setdefault(key_of(operation), {}).setdefault(axes_of(operation), seconds)
        if before != seconds:
            raise InputError(f"{FIELD}/seconds", f"line {line}: expected {before:g}, as a row before, got {seconds:g}")
    if not devices:
        raise InputError(FIELD, "expected at least one row below the header, got none")
    return {
        device: TimeTable(_arrays(times["forward"]).get, _arrays(times["backward"]).get)
        for device, times in devices.items()
    }


def _check_sizes(line: int, cells: Cells) -> None:
    """Raise InputError for a size that the operation of a row lacks."""
    name = _choose(line, cells, "operation", tuple(KINDS))
    odd = next((column for column in cells if column in SIZE_COLUMNS and column not in SIZES[name]), None)
    if odd is not None:
        raise InputError(f"{FIELD}/{odd}", f"line {line}: expected no such size of {name}, got {describe(cells[odd])}")


def _choose(line: int, cells: Cells, column: str, known: Collection[str]) -> str:
    """Return the word of a column that has to be one of some."""
    word = cells.get(column, "")
    if word not in known:
        reason = f"expected {', '.join(known)}, got {describe(word)}{suggest_name(word, tuple(known))}"
        raise InputError(f"{FIELD}/{column}", f"line {line}: {reason}")
    return word


def _operation(line: int, cells: Cells) -> Operation:
    """Return the operation of a row."""
    name = cells["operation"]
    sizes = {column: _size(line, cells, column) for column in SIZES[name] if column in cells or column not in OPEN}
    filled = {column: sizes.get(other) for column, other in OPEN.items() if column in SIZES[name] and other}
    odd = next((part for part, whole in WHOLES.items() if sizes.get(part, 0) > sizes.get(whole, SIZE_LIMIT)), None)
    if odd is not None:
        whole = WHOLES[odd]
        reason = f"line {line}: expected at most {sizes[whole]} ({whole}), got {sizes[odd]}"
        raise InputError(f"{FIELD}/{odd}", reason)
    _choose(line, cells, "dtype", get_args(Precision))
    make: Callable[..., Operation] = KINDS[name]
    return make(dtype=cells["dtype"], **(filled | sizes))


def _size(line: int, cells: Cells, column: str) -> int:
    """Return a size of a row."""
    word = cells.get(column, "")
    if not (word.isascii() and word.isdigit() and len(word) <= len(str(SIZE_LIMIT)) and 1 <= int(word) <= SIZE_LIMIT):
        reason = f"expected a whole number from 1 to 1e12, got {describe(word)}"
        raise InputError(f"{FIELD}/{column}", f"line {line}: {reason}")
    return int(word)


def _seconds(line: int, cells: Cells) -> float:
    """Return the seconds of a row."""
    word = cells.get("seconds", "")
    seconds = float(word) if is_number(word) else 0.0
    if not 0 < seconds <= SECONDS_LIMIT:
        raise InputError(f"{FIELD}/seconds", f"line {line}: expected a number > 0 and <= 1e9, got {describe(word)}")
    return seconds


def _arrays(times: Times) -> dict[TableKey, MeasuredRows]:
    """Return sizes and seconds as arrays."""
    return {key: (np.array(list(rows), float), np.array(list(rows.values()))) for key, rows in times.items()}
