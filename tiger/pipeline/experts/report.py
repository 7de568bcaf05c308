"""The report of a placement of experts: which are on which device, and how often tokens then change it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from tiger.model.answer import Answer
from tiger.model.document import HIDDEN, Document
from tiger.model.violation import Violation
from tiger.pipeline.costs.tolerances import meets
from tiger.run.stage import Stage

if TYPE_CHECKING:
    from tiger.pipeline.experts.costs import ExpertProblem

SCHEMA: Final = "tiger.experts/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertStage(Document):
    """Hold a device and its experts `LAYER:EXPERT`, both numbers counted from 0."""

    device: str
    ops: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingCost(Document):
    """Hold what a placement makes of a transition from layer to layer, on average, on both parts of the tokens.

    `crossing` is the share of transitions that change device, `hops` their mean weight: 0 within a device, 1 over the
    widest links, more over others. `held_out_..` are of tokens that the placement was not made for, None without any.
    """

    crossing: float
    hops: float
    held_out_crossing: float | None
    held_out_hops: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertReport(Answer):
    """Answer where the experts of each layer go so that tokens seldom change their device.

    `place[layer][expert]` is a number in `devices`, and `stages` say the same by device. `placed` is what is reached,
    `contiguous` what the order of numbers comes to, `greedy` one layer after another, and `flat`, where hops differ,
    sweeps that take them for equal. `lower_bound_hops` is a lower bound on `placed.hops` of all placements with as many
    experts of each layer on every device, and `optimal` says that they meet. A token with `top_k` experts in a layer
    makes `top_k` x `top_k` transitions. `progress` has the sum of hop weights that each step of the search reached,
    `seconds` is wall time. `problem` holds the counts and is not serialised.
    """

    schema: Literal["tiger.experts/1"] = field(default=SCHEMA, init=False, repr=False)
    layers: int
    experts: int
    top_k: int
    tokens: int
    held_out_tokens: int
    devices: tuple[str, ...]
    place: tuple[tuple[int, ...], ...]
    stages: tuple[ExpertStage, ...]
    placed: RoutingCost
    contiguous: RoutingCost
    greedy: RoutingCost
    flat: RoutingCost | None
    lower_bound_hops: float
    optimal: bool = field(init=False)
    feasible: bool = True
    violations: tuple[Violation, ...] = ()
    seed: int
    progress: tuple[Stage, ...]
    warnings: tuple[str, ...]
    seconds: float
    problem: "ExpertProblem | None" = field(default=None, repr=False, compare=False, metadata=HIDDEN)

    def __post_init__(self) -> None:
        """Work out whether the hops meet their lower bound."""
        object.__setattr__(self, "optimal", meets(self.placed.hops, self.lower_bound_hops))

    @property
    def headline(self) -> str:
        """Return one sentence on how often tokens change device, held-out ones where there are some, and by default."""
        made, usual, where = self.placed.crossing, self.contiguous.crossing, "all tokens"
        if self.placed.held_out_crossing is not None and self.contiguous.held_out_crossing is not None:
            made, usual = self.placed.held_out_crossing, self.contiguous.held_out_crossing
            where = "held-out tokens"
        less = f", {1 - made / usual:.1%} less" if usual > made else ""
        return f"solved: {made:.1%} of transitions change device ({where}), {usual:.1%} in the order of numbers{less}"

    @property
    def rows(self) -> tuple[ExpertStage, ...]:
        """Return the devices with their experts."""
        return self.stages
