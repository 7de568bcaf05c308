"""The plan of a layout in a report: what it comes to beside the plan found, and whether to keep it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tiger.model.document import HIDDEN, Document
from tiger.model.violation import Violation
from tiger.placement.entry.stage import Link, PlacedStage

if TYPE_CHECKING:
    from tiger.placement.emission.deployment import Deployment


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLayout(Document):
    """Hold what the plan of a `layout` comes to, on devices in the order of the cluster.

    Figures are those of a placement, and `violations` say why it cannot run where it is not `feasible`. The plan found
    saves the share `saved` of its time and has `moved` layers on other devices, both None without such a plan or where
    the one given does not fit. `keep` says whether that is too little to change it, and `verdict` says so in words.
    `deployment` holds the plan itself, and is not serialised.
    """

    stages: tuple[PlacedStage, ...]
    bottleneck_s: float | None
    iteration_s: float | None
    bubble: float | None
    links: tuple[Link, ...]
    feasible: bool
    violations: tuple[Violation, ...]
    saved: float | None
    moved: int | None
    keep: bool
    verdict: str
    deployment: "Deployment | None" = field(default=None, repr=False, compare=False, metadata=HIDDEN)
