"""Counters of the choices that are ruled out, by reason and bound."""

from dataclasses import dataclass, field
from typing import Literal

from tiger.planning.choices import Choice

Reason = Literal["links", "memory", "work", "cuts", "lighter", "budget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """Hold how many choices a reason ruled out, and the closest of them: seconds, or bytes of a device, at the least.

    "links": no rings can be so large. "memory": no cuts fit into the largest device. "work": the iteration would be too
    long if no device ever waited, "cuts": with the best of all cuts. "lighter": with the same degrees there is room for
    what shares out or computes again less. "budget": the search ended before, which proves nothing.
    """

    reason: Reason
    choices: int
    closest: Choice | None
    least: float


@dataclass(slots=True)
class PruningCounters:
    """Count the choices that are ruled out by reason, and hold the closest of each."""

    known: dict[Reason, Pruned] = field(default_factory=dict)

    def add(self, reason: Reason, closest: Choice | None, least: float, choices: int = 1) -> None:
        """Count choices, of which one has the least seconds or bytes."""
        before = self.known.get(reason)
        if before is not None:
            choices += before.choices
            if before.least <= least:
                closest, least = before.closest, before.least
        self.known[reason] = Pruned(reason=reason, choices=choices, closest=closest, least=least)

    def rows(self) -> tuple[Pruned, ...]:
        """Return all reasons."""
        return tuple(self.known.values())
