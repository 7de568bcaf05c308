"""Seconds, and where they come from."""

from typing import Literal, NamedTuple, get_args

# Measured is a row of a table, interpolated between its rows, extrapolated beyond them; counted is a roofline.
Source = Literal["measured", "interpolated", "extrapolated", "counted"]
SOURCES: tuple[Source, ...] = get_args(Source)


class Timed(NamedTuple):
    """Hold the seconds of an operation, and their source."""

    seconds: float
    source: Source
