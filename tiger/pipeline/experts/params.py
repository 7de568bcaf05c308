"""The options of a placement of experts."""

from dataclasses import dataclass, field

from tiger.model.options import about
from tiger.run.limits import EFFORT_LIMIT
from tiger.run.options import SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertOptions:
    """Set how many experts a layer has, which tokens a placement is tested on, and how hard to search.

    `effort` counts iterations; same seed and effort, same answer. `time_limit_s` only ends a search early.
    """

    experts: int = field(metadata=about("Experts of a layer; each accelerator gets as many of every layer.", ge=1))
    held_out: float = field(
        default=0.1,
        metadata=about("Share of the tokens, the last ones, on which the placement is tested alone.", ge=0, lt=1),
    )
    seed: int = field(default=0, metadata=SEED)
    effort: int = field(default=1, metadata=about("Multiplies the iterations of the search.", ge=1, lt=EFFORT_LIMIT))
    time_limit_s: float | None = field(
        default=None, metadata=about("Seconds after which the search ends early.", gt=0, allow_inf_nan=False)
    )
