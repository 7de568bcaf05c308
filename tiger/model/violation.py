"""A constraint that is broken or cannot be met."""

from collections.abc import Sequence
from dataclasses import dataclass

from tiger.model.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation(Document):
    """Name a constraint that is broken or cannot be met: its `kind`, and a sentence that names tasks and nodes."""

    kind: str
    message: str


def unmet_text(violations: Sequence[Violation], wanted: str) -> str:
    """Return in a few words that what is wanted has no solution, or none that was found; violations say why."""
    undecided = bool(violations) and all(violation.kind == "undecided" for violation in violations)
    return f"no {wanted} found" if undecided else f"infeasible: no {wanted} meets"
