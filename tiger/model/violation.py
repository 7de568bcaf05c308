"""What a caller asked for and cannot have, or does not get."""

from dataclasses import dataclass

from tiger.model.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation(Document):
    """Name a constraint that is broken or cannot be met: its `kind`, and a sentence that names tasks and nodes."""

    kind: str
    message: str
