"""The options of searches, and how a caller follows their progress."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tiger.model.options import about
from tiger.run.limits import EFFORT_LIMIT, MOST_ISLANDS, SEED_LIMIT
from tiger.run.progress import Progress

SEED = about("The same request with the same seed has the same answer.", ge=0, lt=SEED_LIMIT)
ISLANDS = about(
    "Searches side by side, each with the effort, that exchange their best; the answer depends on how many there are.",
    ge=1,
    le=MOST_ISLANDS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Say who searches, and how hard: the same seed and effort give the same answer, unless a time limit ends it."""

    solver: str = field(default="auto", metadata=about("Name of a solver, see `GET /solvers`."))
    seed: int = field(default=0, metadata=SEED)
    effort: int = field(default=1, metadata=about("Multiplies the iterations of the search.", ge=1, lt=EFFORT_LIMIT))
    time_limit_s: float | None = field(
        default=None, metadata=about("Seconds after which the search ends early.", gt=0, allow_inf_nan=False)
    )


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """Hold the callback that follows the progress of a search."""

    progress: Callable[[Progress], None] | None = None
