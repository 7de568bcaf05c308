"""The settings of the searches for an order of devices and for places of ranks."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tiger.model.arrays import IntArray
from tiger.placement.chain.params import never_stop
from tiger.run.answers import Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSearch:
    """Set the search for an order of devices, or for a place of every rank.

    `solver` is a name of `tiger.solvers.registry.list_solvers`; `seed` >= 0; `effort` >= 1 multiplies trials;
    same seed and effort, same answer. `stop` is called now and then, and only ends a search early.
    `answers` are those of a sampler so far. With a grid that is `near` the best a search descends from it alone.
    """

    solver: str = "auto"
    seed: int = 0
    effort: int = 1
    stop: Callable[[], bool] = never_stop
    answers: Answers = field(default_factory=Answers)
    near: IntArray | None = None
