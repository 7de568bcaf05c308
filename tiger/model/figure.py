"""Figures of reports that answers to the same question are compared by."""

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

Better = Literal["less", "more"]


class Figure(NamedTuple):
    """Hold a figure of a report by its name there, None where it has none, in a `unit`, "" for one of the problem's.

    `better` says whether less or more of it is, None where that depends, as of bounds.
    """

    name: str
    value: float | None
    better: Better | None = "less"
    unit: str = ""


def find_largest(values: Iterable[float]) -> float | None:
    """Return the largest of some values, None where there is none or no end to it."""
    largest = max(values, default=math.inf)
    return largest if math.isfinite(largest) else None
