"""Which servers have gone silent, found out without a clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pulses:
    """Count for every server how often this one has beaten since the other's beat changed; `most` times make a silence.

    Beats are compared and never subtracted, as the clock of the database may be set, on which all servers would be dead
    at once, or none for hours. Nor does a server count while it is halted itself or without its database.
    """

    most: int
    _seen: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    def note(self, beats: Mapping[str, float]) -> None:
        """Count one more beat of this server, with the last beats of all as they are now."""
        before = self._seen
        self._seen = {
            name: (beat, before[name][1] + 1 if name in before and before[name][0] == beat else 0)
            for name, beat in beats.items()
        }

    def silent(self) -> Mapping[str, float]:
        """Return the servers that have gone silent, with their last beats."""
        return {name: beat for name, (beat, count) in self._seen.items() if count >= self.most}
