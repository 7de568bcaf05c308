"""Seconds, and where they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, get_args

from tiger.model.document import Document

# Measured is a row of a table, interpolated between its rows, extrapolated beyond them; counted is a roofline.
Source = Literal["measured", "interpolated", "extrapolated", "counted"]
SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceShares(Document):
    """Hold the shares of the seconds that layers compute, by where these come from; they add up to 1.

    Those `measured` are rows of a table, `interpolated` between rows, `extrapolated` beyond them, `counted` by a
    roofline.
    """

    measured: float
    interpolated: float
    extrapolated: float
    counted: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self | None:
        """Return the shares of seconds by `SOURCES`, None where nobody knows them."""
        total = sum(seconds)
        return cls(**{name: spent / total for name, spent in zip(SOURCES, seconds, strict=True)}) if total else None

    def __str__(self) -> str:
        """Return the shares in words, the largest first, without those of nothing."""
        shares = sorted(((getattr(self, name), name) for name in SOURCES), key=lambda pair: -pair[0])
        return ", ".join(f"{share:.0%} {name}" if share < 1 else name for share, name in shares if share)


class Timed(NamedTuple):
    """Hold the seconds of an operation, and their source."""

    seconds: float
    source: Source
