"""A constraint that is broken or cannot be met."""

from dataclasses import dataclass

from tiger.model.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation(Document):
    """Name a constraint that is broken or cannot be met: its `kind`, and a sentence that names tasks and nodes."""

    kind: str
    message: str
