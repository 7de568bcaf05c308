"""Which servers are silent, found out without a clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Heartbeats:
    """Count for every server how many heartbeats of this one its own has not changed; `most` of them are a silence.

    Heartbeats are compared and never subtracted, as the clock of the database may be set, and then all servers would
    seem dead at once, or none for hours. A server that is halted itself or without its database does not count either.
    """

    most: int
    _seen: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    def note(self, beats: Mapping[str, float]) -> None:
        """Count one more heartbeat of this server, with the last ones of all as they are now."""
        before = self._seen
        self._seen = {
            name: (beat, before[name][1] + 1 if name in before and before[name][0] == beat else 0)
            for name, beat in beats.items()
        }

    def list_silent(self) -> Mapping[str, float]:
        """Return the servers that are silent, with their last heartbeats."""
        return {name: beat for name, (beat, count) in self._seen.items() if count >= self.most}
