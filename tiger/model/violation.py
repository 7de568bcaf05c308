"""What a caller asked for and cannot have, or does not get."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Name a constraint that is broken or cannot be met: its `kind`, and a sentence that names tasks and nodes."""

    kind: str
    message: str

    def to_dict(self) -> dict[str, str]:
        """Return the two strings by name."""
        return asdict(self)
