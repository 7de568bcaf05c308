"""What a caller asks of a circuit's mapping."""

from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Literal

from tiger.model.options import about
from tiger.model.spelling import Spelling, change_help
from tiger.run.options import EFFORT, ISLANDS, SEED, SOLVER, THREADS, SearchOptions

CircuitObjective = Literal["cx", "depth", "success"]
LEVELS = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutOptions(SearchOptions):
    """Set how hard and for what a circuit is mapped.

    `level` 0 to 3 is Qiskit's optimisation level and scales the iterations, which `effort` multiplies; `objective` is
    the extra CX gates, the depth in layers, or the estimated probability of success, which needs error rates. `solver`
    samples the Ising proposals; "auto" is the native search. As many `islands` search from what these give, each with
    the work of one, and the best is kept. `time_limit_s` only ends the search early. `optimize` maps a circuit that is
    written anew where that ends with fewer gates.
    """

    seed: int = field(default=0, metadata=change_help(SEED, "The same seed, level and effort give the same circuit."))
    effort: int = field(default=1, metadata=change_help(EFFORT, "Multiplies the iterations of the level."))
    level: int = field(
        default=3,
        metadata=about(
            "How hard to search, as Qiskit's optimization levels.",
            Spelling("How hard, as Qiskit's optimization levels.", panel="Search", metavar="0..3"),
            expected=f"a level from 0 to {max(LEVELS)}",
            ge=0,
            le=max(LEVELS),
        ),
    )
    objective: CircuitObjective = field(
        default="cx",
        metadata=about(
            "What to make good: extra CX gates, depth, or the probability of success.",
            Spelling("What to make good; success needs error rates."),
        ),
    )
    solver: str = field(
        default="auto",
        metadata=about(
            "Samples the Ising proposals, see `GET /solvers`.",
            replace(SOLVER, help="One of `tiger solvers`, for the proposals."),
        ),
    )
    islands: int = field(default=1, metadata=ISLANDS)
    commute: bool = field(
        default=True, metadata=about("Whether gates may change places where that is the same circuit.")
    )
    optimize: bool = field(
        default=False,
        metadata=about(
            "Whether the circuit may be written anew, with other gates that do the same, where that is better.",
            Spelling("Write the circuit with other gates that do the same, where that is better.", panel="Search"),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadedOptions(LayoutOptions):
    """Add to the options of a mapping how many `threads` run it, which never changes the result."""

    threads: int = field(default=1, metadata=THREADS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutParams(ThreadedOptions):
    """Add an `executor`, which runs islands where there are several, each with so many threads."""

    executor: Executor | None = None

    @property
    def reports_bound(self) -> bool:
        """Return whether a lower bound is reported, and searched for even where it spares no other work."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class FusingParams(LayoutParams):
    """Name the two-qubit gates that a later optimization writes blocks in, which count instead of SWAPs.

    It fuses SWAPs with gates on the same pair. Without a `basis` SWAPs count.
    """

    basis: tuple[str, ...] = ()

    @property
    def reports_bound(self) -> bool:
        """Return that a transpilation reports none."""
        return False
