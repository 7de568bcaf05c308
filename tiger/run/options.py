"""The options of searches, and how a caller follows their progress."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tiger.model.options import about
from tiger.model.spelling import Spelling
from tiger.run.limits import EFFORT_LIMIT, MOST_ISLANDS, SEED_LIMIT, THREAD_LIMIT, TIME_LIMIT_S
from tiger.run.progress import Progress

SOLVER = Spelling("One of `tiger solvers`.", panel="Search", metavar="NAME", complete="solvers")
SEED = about(
    "The same request with the same seed has the same answer.",
    Spelling("The same seed and effort give the same answer.", panel="Search", metavar="N"),
    ge=0,
    lt=SEED_LIMIT,
)
ISLANDS = about(
    "Searches side by side, each with the effort, that exchange their best; the answer depends on how many there are.",
    Spelling(
        "Searches side by side, each with the effort, which exchange their best; the answer depends on K.",
        panel="Search",
        metavar="K",
        ranged=True,
    ),
    ge=1,
    le=MOST_ISLANDS,
)
EFFORT = about("Multiplies the iterations of the search.", Spelling(panel="Search", metavar="N"), ge=1, lt=EFFORT_LIMIT)
TIME_LIMIT = about(
    "Seconds after which the search ends early.",
    Spelling("Stop after this many seconds.", panel="Search", name="time_limit", metavar="S"),
    gt=0,
    most=TIME_LIMIT_S,
    allow_inf_nan=False,
    expected=f"a finite number of seconds > 0, at most {TIME_LIMIT_S:g}",
)
THREADS = about(
    "Threads that run it, which never change the answer.",
    Spelling(
        "Threads for independent parts; the mapping does not depend on N.",
        panel="Where it runs",
        metavar="N",
        ranged=True,
    ),
    ge=1,
    le=THREAD_LIMIT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Say who searches, and how hard: the same seed and effort give the same answer, unless a time limit ends it."""

    solver: str = field(default="auto", metadata=about("Name of a solver, see `GET /solvers`.", SOLVER))
    seed: int = field(default=0, metadata=SEED)
    effort: int = field(default=1, metadata=EFFORT)
    time_limit_s: float | None = field(default=None, metadata=TIME_LIMIT)


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """Hold the callback that follows the progress of a search."""

    progress: Callable[[Progress], None] | None = None
