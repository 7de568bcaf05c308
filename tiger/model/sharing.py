"""The options that say how tasks share the nodes."""

from dataclasses import dataclass, field, replace
from typing import Literal, Self

from tiger.model.options import about
from tiger.model.spelling import Spelling

Rule = Literal["one-to-one", "levels", "capacity"]


@dataclass(frozen=True, kw_only=True)
class SharingOptions:
    """Say how tasks share the nodes."""

    rule: Rule | None = field(
        default=None,
        metadata=about(
            "How tasks share a node; one-to-one where that fits.", Spelling("Which tasks may share a node.")
        ),
    )
    slots: int | None = field(
        default=None,
        metadata=about(
            "Tasks that fit on a node, under the capacity rule.",
            Spelling("Tasks per node; more than 1 implies --rule capacity.", metavar="N"),
            ge=1,
        ),
    )
    imbalance: float = field(
        default=0.0,
        metadata=about(
            "Scales the slots by 1 + this, rounded down.",
            Spelling("Scale slots by 1 + X, rounded down; implies --rule capacity.", metavar="X"),
            ge=0,
            allow_inf_nan=False,
        ),
    )

    pack: bool = field(
        default=False,
        metadata=about(
            "Fill hosts that are near each other, where stated slots leave that open; without it every host gets its "
            "even share of the tasks, and so does every part of it.",
            Spelling("Fill hosts near each other in place of spreading ranks evenly over hosts and their parts."),
        ),
    )

    def by_usual(self, usual: Rule | None) -> Self:
        """Return these options, with the usual rule of the tasks where nothing is said of sharing."""
        given = self.rule is not None or self.slots is not None or self.imbalance != 0
        return self if given else replace(self, rule=usual)
