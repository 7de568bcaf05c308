"""Cursors of pages: the time and the id of the last row, after which the next page goes on."""

import sqlalchemy as sa

from tiger.api.seams.job import CURSOR
from tiger.errors import InputError


def write_cursor(created_s: float, row_id: str) -> str:
    """Return the cursor of a page that ends with a row, whose time is rounded to microseconds."""
    return f"{created_s:.6f}-{row_id}"


def read_cursor(cursor: str) -> sa.Tuple:
    """Return the place in a list that a cursor states; raise InputError of `after`."""
    match = CURSOR.fullmatch(cursor)
    if match is None:
        raise InputError("after", "expected the cursor of a page")
    return sa.tuple_(sa.literal(float(match[1]), sa.Double), sa.literal(match[2]))
