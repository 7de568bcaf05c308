"""What a caller asks of a circuit's mapping."""

from dataclasses import dataclass
from typing import Literal

CircuitObjective = Literal["cx", "depth", "success"]
LEVELS = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutParams:
    """Set how hard and for what a circuit is mapped.

    `level` 0 to 3 is Qiskit's optimisation level and scales the iterations, which `effort` multiplies; `objective` is
    the extra CX gates, the depth in layers, or the estimated probability of success, which needs error rates. `solver`
    samples the Ising proposals; "auto" is the native search. `threads` never changes the result. `time_limit_s` only
    ends the search early.
    """

    level: int = 3
    effort: int = 1
    objective: CircuitObjective = "cx"
    solver: str = "auto"
    seed: int = 0
    time_limit_s: float | None = None
    threads: int = 1
    commute: bool = True
