"""The rows of a table in text (`.csv`)."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from tiger.errors import InputError
from tiger.model.text import is_number
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.training.models.columns import COLUMNS, COSTS, REQUIRED
from tiger.training.models.limits import check_size

SEPARATORS = ",;\t"


@dataclass(frozen=True, slots=True)
class TableColumns:
    """Hold the noun for the rows of a table, its columns, those it must have, and those of numbers."""

    rows: str
    known: Sequence[str]
    required: Sequence[str]
    numbers: Sequence[str]


LAYERS = TableColumns("layers", COLUMNS, REQUIRED, COSTS)


def rows_of_csv(text: str, max_rows: int, columns: TableColumns = LAYERS) -> list[dict[str, object]]:
    """Return the rows below the header, without their empty cells; lines without any text do not count.

    Cells are separated by commas, semicolons or tabulators. Raises InputError with row k of layers as `model/layers/k`.
    """
    # No name of a column holds a separator, so the first one found in the header is the one in use.
    header = text.lstrip().split("\n", 1)[0]
    separator = next((mark for mark in SEPARATORS if mark in header), ",")
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    field = f"model/{columns.rows}"
    rows: list[dict[str, object]] = []
    names: list[str] = []
    try:
        for cells in reader:
            words = [cell.strip() for cell in cells]
            if names and any(words):
                rows.append(_row(f"{field}/{len(rows)}", names, words, columns.numbers))
                check_size(field, len(rows), max_rows, columns.rows)
            elif any(words):
                names = _names(words, columns)
    except csv.Error as error:
        raise InputError(field, f"expected CSV, got a fault at line {reader.line_num}: {error}") from None
    return rows


def _names(words: list[str], columns: TableColumns) -> list[str]:
    """Return the names of the columns, which a header states once each."""
    for k, word in enumerate(words):
        if word not in columns.known or word in words[:k]:
            known = ", ".join(columns.known)
            hint = "" if word in columns.known else suggest_name(word, columns.known)
            raise InputError("model/columns", f"expected {known} once each at most, got {describe(word)}{hint}")
    missing = next((column for column in columns.required if column not in words), None)
    if missing is not None:
        required = ", ".join(columns.required)
        raise InputError("model/columns", f"expected a header with the columns {required}, got no {missing}")
    return words


def _row(field: str, names: list[str], words: list[str], numbers: Sequence[str]) -> dict[str, object]:
    """Return a row by column, numbers as such."""
    if len(words) != len(names):
        raise InputError(field, f"expected {len(names)} cells, got {len(words)}")
    # Other words stay text, which the check of their column names.
    given = [(column, word) for column, word in zip(names, words, strict=True) if word]
    return {column: float(word) if column in numbers and is_number(word) else word for column, word in given}
