"""One stage of a solve: what it reached, how long it took, and what it says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tiger.model.document import INFINITE, INLINE, Document

Detail = str | int | float | bool | None | tuple["Detail", ...] | Mapping[str, "Detail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Document):
    """Record one stage: its wall seconds, figures of its own in `detail`, and the cost of the best mapping at its end.

    The cost is infinite, null in JSON, before anything feasible is known; the figures stand beside it there. Stages
    towards another objective have its value as `value`; the cost may rise from one to the next.
    """

    name: str
    cost: float = field(metadata=INFINITE)
    seconds: float
    detail: Mapping[str, Detail] = field(default_factory=dict, metadata=INLINE)
