"""Amounts as a person reads them, in the unit that suits them."""

import math
from collections.abc import Sequence

Unit = tuple[str, float]
# In bytes and in seconds, for formats and messages that count in them.
GIGABYTE, MILLISECOND = 1e9, 1e-3
TIMES: tuple[Unit, ...] = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
SIZES: tuple[Unit, ...] = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))


def unit_of(value: float, units: Sequence[Unit]) -> Unit:
    """Return the largest unit that leaves at least 1 before the point, the smallest if none does."""
    return next(((unit, factor) for unit, factor in units if value >= factor), units[-1])


def bytes_text(size: float) -> str:
    """Return bytes with three digits, or more before the point, and a unit."""
    unit, factor = unit_of(size, SIZES)
    return f"{size / factor:.3g} {unit}" if size < 1e3 * factor else f"{size / factor:,.0f} {unit}"


def seconds_text(time: float) -> str:
    """Return seconds with four digits, or more before the point, and a unit."""
    unit, factor = unit_of(time, TIMES)
    return f"{time / factor:.4g} {unit}" if time < 1e4 * factor else f"{time / factor:,.0f} {unit}"


def number_text(value: str | float | None) -> str:
    """Return a figure with up to ten digits, a dash for none."""
    if value is None:
        return "-"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def milliseconds_text(seconds: float | None) -> str:
    """Return seconds as milliseconds with up to six digits, a dash where they are not finite."""
    return "-" if seconds is None or not math.isfinite(seconds) else f"{seconds / MILLISECOND:.6g} ms"
