"""The rows of a table of layers in text (`.csv`)."""

import csv
from io import StringIO

from tiger.errors import InputError
from tiger.formats.text import is_number
from tiger.formats.values import shown
from tiger.pipeline.models.columns import COLUMNS, COSTS, REQUIRED, Row
from tiger.pipeline.models.limits import check_size

SEPARATORS = ",;\t"


def rows_of_csv(text: str, max_layers: int) -> list[Row]:
    """Return the rows below the header, without their empty cells; lines without any text do not count.

    Cells are separated by commas, semicolons or tabulators. Raises InputError with row k as `model/layers/k`.
    """
    # No name of a column holds a separator, so the first one found in the header is the one in use.
    header = text.lstrip().split("\n", 1)[0]
    separator = next((mark for mark in SEPARATORS if mark in header), ",")
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    rows: list[Row] = []
    columns: list[str] = []
    try:
        for cells in reader:
            words = [cell.strip() for cell in cells]
            if columns and any(words):
                rows.append(_row(len(rows), columns, words))
                check_size("model/layers", len(rows), max_layers)
            elif any(words):
                columns = _columns(words)
    except csv.Error as error:
        raise InputError("model/layers", f"expected CSV, got a fault at line {reader.line_num}: {error}") from None
    return rows


def _columns(words: list[str]) -> list[str]:
    """Return the names of the columns, which a header states once each."""
    for k, word in enumerate(words):
        if word not in COLUMNS or word in words[:k]:
            raise InputError("model/columns", f"expected {', '.join(COLUMNS)} once each at most, got {shown(word)}")
    missing = next((column for column in REQUIRED if column not in words), None)
    if missing is not None:
        raise InputError("model/columns", f"expected a header with the columns {', '.join(REQUIRED)}, got no {missing}")
    return words


def _row(k: int, columns: list[str], words: list[str]) -> Row:
    """Return row k by column, what is a number as one."""
    if len(words) != len(columns):
        raise InputError(f"model/layers/{k}", f"expected {len(columns)} cells, got {len(words)}")
    # What is no number stays text, for the check of its column to name.
    stated = [(column, word) for column, word in zip(columns, words, strict=True) if word]
    return {column: float(word) if column in COSTS and is_number(word) else word for column, word in stated}
