"""The numbers in the SPEC of a pattern: whole ones, grids of them, and volumes."""

import re

from tiger.errors import InputError
from tiger.formats.patterns.messages import AXIS_LIMIT, RANK_LIMIT
from tiger.model.wording import describe

# No product or sum of volumes leaves the range of float64.
VOLUME_LIMIT = 1e100
_DIGITS = re.compile(r"[0-9]+")
# Without a + in the exponent, which adds patterns.
_VOLUME = re.compile(r"(?=.{1,32}$)[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?")


def read_extents(text: str) -> tuple[int, ...]:
    """Read whole numbers separated by `x`."""
    parts = text.split("x", AXIS_LIMIT)
    if len(parts) > AXIS_LIMIT:
        raise InputError("tasks", f"expected 1 to {AXIS_LIMIT} extents, got more")
    return tuple(read_number(part) for part in parts)


def read_number(text: str) -> int:
    """Read a whole number >= 1; one longer than the limit of ranks is refused by its digits, not by its value."""
    if not _DIGITS.fullmatch(text):
        raise InputError("tasks", f"expected a whole number, got {describe(text)}")
    if len(text) > len(str(RANK_LIMIT)):
        raise InputError("tasks", f"expected a whole number up to {RANK_LIMIT}, got {len(text)} digits")
    if int(text) < 1:
        raise InputError("tasks", f"expected a whole number >= 1, got {text}")
    return int(text)


def read_volume(text: str) -> float:
    """Read a decimal number."""
    if not _VOLUME.fullmatch(text):
        raise InputError("tasks", f"expected a number such as 10 or 2.5, got {describe(text)}")
    if float(text) > VOLUME_LIMIT:
        raise InputError("tasks", f"expected a number up to {VOLUME_LIMIT:g}, got {describe(text)}")
    return float(text)
