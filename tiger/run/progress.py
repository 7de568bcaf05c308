"""How far a solve has come."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """Tell which stage runs, the fraction of it that is done, in [0, 1], and the best cost so far.

    `fraction` is None where the end cannot be foreseen, `cost` is None before anything feasible is known, `bound`
    is None as long as nothing bounds the cost from below, and `message` adds what the figures do not say.
    """

    stage: str
    fraction: float | None
    cost: float | None
    bound: float | None = None
    message: str = ""


def ignore(progress: Progress) -> None:
    """Drop a message."""
