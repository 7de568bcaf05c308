"""One stage of a solve: what it reached, how long it took, and what it says of itself."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

Detail = str | int | float | bool | None | tuple["Detail", ...] | Mapping[str, "Detail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Record one stage: its wall seconds, figures of its own in `detail`, and the cost of the best mapping at its end.

    Stages towards another objective have its value as `value`; the cost may rise from one to the next there.
    """

    name: str
    cost: float
    seconds: float
    detail: Mapping[str, Detail] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return name, cost and seconds and the stage's own figures; one that is not finite becomes None."""
        own = {name: _plain(value) for name, value in self.detail.items()}
        return {"name": self.name, "cost": _plain(self.cost), "seconds": self.seconds, **own}


def _plain(value: Detail) -> object:
    """Return a figure as JSON knows it: dict, list, None for a number that is not finite."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
