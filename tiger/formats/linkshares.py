"""Parts of the bandwidth of links that other jobs use, as tables of text."""

import csv
from io import StringIO
from pathlib import Path

from tiger.errors import InputError
from tiger.model.text import is_number, read_text
from tiger.model.topology import LinkShare
from tiger.model.wording import describe

FIELD = "running"
HEADER = ["a", "b", "share"]


def read_link_shares(path: Path) -> list[LinkShare]:
    """Return the rows of a file of comma-separated values: the two ends of a link, and the part of it in use.

    A header `a,b,share` may come first, names that hold commas stand in quotes, and lines that begin with `#` say
    nothing. Raises InputError of `running` that names the line.
    """
    reader = csv.reader(StringIO(read_text(path, FIELD), newline=""), skipinitialspace=True, strict=True)
    shares = list[LinkShare]()
    try:
        for cells in reader:
            row = [cell.strip() for cell in cells]
            if any(row) and not row[0].startswith("#") and (shares or row != HEADER):
                shares.append(_read_row(row, f"line {reader.line_num}"))
    except csv.Error as error:
        raise InputError(FIELD, f"line {reader.line_num}: expected comma-separated values, got {error}") from None
    return shares


def _read_row(row: list[str], where: str) -> LinkShare:
    """Return the share of a link."""
    if len(row) != len(HEADER):
        raise InputError(FIELD, f"{where}: expected {','.join(HEADER)}, got {len(row)} cells")
    if not is_number(row[2]):
        raise InputError(FIELD, f"{where}: expected a number for the share, got {describe(row[2])}")
    return LinkShare(row[0], row[1], float(row[2]))
