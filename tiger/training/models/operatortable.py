"""Plain tables of operators, as CSV or JSON."""

import re
from collections.abc import Mapping

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.training.models.csvrows import TableColumns, rows_of_csv
from tiger.training.models.limits import OPERATOR_LIMIT, check_size
from tiger.training.models.operators import Operators
from tiger.training.models.rows import Id, Rows

FIELD = "model/operators"
KEYS = ("operators", "edges")
REQUIRED = ("name", "seconds")
NUMBERS = ("cpu_seconds", "memory_bytes", "output_bytes", "output_seconds")
MARKS = ("backward", "accelerator")
OPTIONAL = (*NUMBERS, "colocate", *MARKS)
HEADER = TableColumns("operators", (*REQUIRED, *OPTIONAL, "inputs"), (*REQUIRED, "inputs"), ("seconds", *NUMBERS))
_WORDS = {"true": True, "false": False, "1": True, "0": False}
_BETWEEN = re.compile(r"[;\s]+")


def operators_of_csv(text: str, max_operators: int = OPERATOR_LIMIT) -> Operators:
    """Return the operators of a table with a header.

    Columns are `name`, `seconds` and `inputs`, the names of the operators whose output it takes, between semicolons or
    blanks, and where wanted `cpu_seconds` (default: those), `memory_bytes`, `output_bytes` (what it sends to another
    device), `output_seconds` (what that takes whatever the link), `colocate` (operators with the same word share a
    device), `backward` and `accelerator` (false: only a cpu runs it), which are true or false. O(operators + edges).
    Raises InputError, with row k below the header as `model/operators/k`.
    """
    records = rows_of_csv(text, max_operators, HEADER)
    listed = [str(record.pop("inputs", "")) for record in records]
    for record in records:
        record.update({mark: _WORDS.get(str(record[mark]).lower(), record[mark]) for mark in MARKS if mark in record})
    rows = Rows.check(FIELD, records, (REQUIRED, OPTIONAL))
    index, names = rows.ids("name")
    ends: list[tuple[int, int]] = []
    for k, cell in enumerate(listed):
        for name in filter(None, _BETWEEN.split(cell)):
            if name not in index:
                raise InputError(f"{FIELD}/{k}/inputs", f"expected names of operators, got {describe(name)}")
            ends.append((index[name], k))
    source, target = np.array(ends, np.int64).reshape(-1, 2).T
    return _operators(rows, names, source, target)


def operators_of_table(document: Mapping[str, object], max_operators: int = OPERATOR_LIMIT) -> Operators:
    """Return the operators of `{"operators": [..], "edges": [[name, name], ..]}`.

    An operator is an object with the columns of a CSV table as keys, except for its inputs. Raises InputError.
    """
    unknown = next((key for key in document if key not in KEYS), None)
    if unknown is not None:
        raise InputError("model", f"expected operators and edges, got {describe(unknown)}{suggest_name(unknown, KEYS)}")
    listed = document["operators"]
    check_size(FIELD, len(listed) if isinstance(listed, list) else 0, max_operators, "operators")
    rows = Rows.check(FIELD, listed, (REQUIRED, OPTIONAL))
    index, names = rows.ids("name")
    source, target = _edges(document.get("edges"), index)
    return _operators(rows, names, source, target)


def table_of_operators(operators: Operators) -> dict[str, object]:
    """Return operators as the document of a table."""
    columns: dict[str, list[object]] = {
        "name": list(operators.names),
        "seconds": operators.seconds.tolist(),
        "cpu_seconds": operators.cpu_s.tolist(),
        "memory_bytes": operators.memory_bytes.tolist(),
        "output_bytes": operators.sent_bytes.tolist(),
        "output_seconds": operators.sent_s.tolist(),
        "colocate": operators.colour.tolist(),
        "backward": operators.backward.tolist(),
        "accelerator": (~operators.cpu_only).tolist(),
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    ends = np.stack([operators.source, operators.target], axis=1).tolist()
    return {"operators": rows, "edges": [[operators.names[a], operators.names[b]] for a, b in ends]}


def _operators(rows: Rows, names: tuple[str, ...], source: IntArray, target: IntArray) -> Operators:
    """Return the operators of a table whose edges have been read."""
    if not names:
        raise InputError(FIELD, "expected at least one operator, got none")
    seconds = rows.numbers("seconds")
    return Operators(
        names=names,
        seconds=seconds,
        cpu_s=_fill_numbers(rows, "cpu_seconds", seconds),
        memory_bytes=rows.numbers("memory_bytes"),
        sent_bytes=rows.numbers("output_bytes"),
        sent_s=rows.numbers("output_seconds"),
        source=source,
        target=target,
        colour=rows.number_groups("colocate"),
        backward=rows.marks("backward", default=False),
        cpu_only=~rows.marks("accelerator", default=True),
    )


def _fill_numbers(rows: Rows, key: str, default: FloatArray) -> FloatArray:
    """Return the numbers under a key, those of `default` where a row leaves it out."""
    given = np.array([key in record for record in rows.records])
    return np.where(given, rows.numbers(key), default)


def _edges(value: object, rows: Mapping[Id, int]) -> tuple[IntArray, IntArray]:
    """Return the rows at both ends of stated edges."""
    if not isinstance(value, list):
        raise InputError("model/edges", f"expected a list, got {'nothing' if value is None else describe(value)}")
    found: list[int] = []
    for k, pair in enumerate(value):
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError(f"model/edges/{k}", f"expected two names, got {describe(pair)}")
        for name in pair:
            # Not isinstance: True is no name.
            row = rows.get(name) if type(name) is str or type(name) is int else None
            if row is None:
                raise InputError(f"model/edges/{k}", f"expected names of operators, got {describe(name)}")
            found.append(row)
    ends = np.array(found, np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]
