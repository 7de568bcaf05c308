"""Quantities with units, as documents state them: "80GB", "200Gb/s", "25 us"; plain numbers are in the base unit."""

import re
from fractions import Fraction
from typing import Literal

from tiger.errors import InputError
from tiger.model.wording import describe

Dimension = Literal["bytes", "bytes/s", "seconds"]
EXAMPLES: dict[Dimension, str] = {"bytes": "80GB or 80GiB", "bytes/s": "25GB/s or 200Gb/s", "seconds": "25us or 3ms"}
DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
PREFIXES = DECIMAL | BINARY
TIMES = {"s": Fraction(1), "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}
# Both signs for micro: that of Latin-1 and the Greek letter.
TIMES |= {f"{mu}s": TIMES["us"] for mu in "\u00b5\u03bc"}
_TEXT = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,3}))?\s*([A-Za-z\u00b5\u03bc/]*)")
_SIZE = re.compile(r"([kKMGTP]?|[KMGTP]i)(B|bytes?|b|bits?|bit)(/s|ps)?")


def convert_quantity(field: str, value: object, dimension: Dimension) -> object:
    """Return a quantity in bytes, bytes per second or seconds if it is text with a unit; anything else as it is.

    Prefixes k, M, G, T, P are decimal, Ki, Mi, .. binary; B are bytes and b bits. Raises InputError of the field for an
    unknown unit or one of another dimension.
    """
    if not isinstance(value, str):
        return value
    expected = f"expected a number or a quantity such as {EXAMPLES[dimension]}"
    match = _TEXT.fullmatch(value.strip())
    if match is None or not match[3]:
        raise InputError(field, f"{expected}, got {describe(value)}")
    factor, kind = _unit(match[3])
    if kind is None:
        raise InputError(field, f"{expected}, got the unknown unit {describe(match[3])}")
    if kind != dimension:
        raise InputError(field, f"{expected}, got {describe(value)}, which is in {kind}")
    number = Fraction(match[1]) * Fraction(10) ** int(match[2] or 0)
    try:
        return float(number * factor)
    except OverflowError:
        raise InputError(field, f"{expected}, got {describe(value)}, which is beyond any") from None


def _unit(text: str) -> tuple[Fraction, str | None]:
    """Return how many base units a unit is, and of what; None for an unknown one."""
    if text in TIMES:
        return TIMES[text], "seconds"
    match = _SIZE.fullmatch(text)
    if match is None:
        return Fraction(0), None
    bits = match[2] in ("b", "bit", "bits")
    factor = Fraction(PREFIXES[match[1]]) / (8 if bits else 1)
    if match[3]:
        return factor, "bytes/s"
    # Memory and messages are stated in bytes: 80Gb for 80GB is a slip, and would be an eighth of it.
    return factor, "bits" if bits else "bytes"
