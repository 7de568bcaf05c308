"""The report of a placement of experts: which are on which device, what a step then costs, and whether to move."""

from dataclasses import dataclass, field
from operator import truediv
from typing import Final, Literal

import numpy as np

from tiger.errors import InputError
from tiger.expert_maps.maps.expert_map import ExpertMap
from tiger.expert_maps.maps.formats import write_map
from tiger.expert_maps.slots.advice import Advice
from tiger.expert_maps.slots.objective import ExpertCost
from tiger.model.answer import Answer
from tiger.model.arrays import FloatArray
from tiger.model.document import HIDDEN, LATER, Document
from tiger.model.figure import Figure
from tiger.model.units import number_text, seconds_text
from tiger.model.violation import Violation, unmet_text
from tiger.run.stage import Stage
from tiger.training.costs.tolerances import meets

SCHEMA: Final = "tiger.experts/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertStage(Document):
    """Hold a device, its experts `LAYER:EXPERT`, both numbers counted from 0, and its tokens of a step in all layers.

    `load_before` is of the map in use, or of experts in order. Tokens are shared among an expert's replicas, which take
    `memory_bytes` of the `capacity_bytes` for experts, None for any; both are None where no bytes are known.
    """

    device: str
    ops: tuple[str, ...]
    load: float
    load_before: float
    memory_bytes: float | None = None
    capacity_bytes: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingCost(Document):
    """Hold what a placement makes of a transition from layer to layer, on average, on both parts of the tokens.

    `crossing` is the share of transitions that change device, `hops` their mean weight: 0 within a device, 1 over the
    widest links, more over others; means over replicas, which get tokens alike. `held_out_..` are of tokens that the
    placement was not made for, None without any.
    """

    crossing: float
    hops: float
    held_out_crossing: float | None
    held_out_hops: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertObjective(Document):
    """Hold what was made small: seconds of a step (`s`), hops of a transition, or tokens of largest loads.

    `before` is the map in use, or experts in order, `after` the map to use from now on, and `bound` what all maps under
    the same rule cost at least.
    """

    unit: Literal["s", "hops", "tokens"]
    before: ExpertCost
    after: ExpertCost
    bound: ExpertCost


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceLoads(Document):
    """Hold the tokens of a step for each device, by layers, before and after, and lower bounds on the largest.

    `bound` is None where loads have no price. `speed` are those of devices over that of the fastest, None where all are
    the same: the largest load is that over the speed, as many tokens as the fastest device has in the same time.
    """

    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]
    bound: tuple[float, ...] | None
    speed: tuple[float, ...] | None = None

    @property
    def mean(self) -> float:
        """Return the sum over layers of the load divided by speed, below which no sum of largest loads is."""
        return sum(sum(row) / (len(row) if self.speed is None else sum(self.speed)) for row in self.after if row)

    @property
    def largest_before(self) -> float:
        """Return the sum over layers of the largest load before."""
        return self._add_largest(self.before)

    @property
    def largest_after(self) -> float:
        """Return the sum over layers of the largest load after."""
        return self._add_largest(self.after)

    def _add_largest(self, rows: tuple[tuple[float, ...], ...]) -> float:
        """Return the sum over layers of the largest load over speed."""
        if self.speed is None:
            return sum(max(row, default=0.0) for row in rows)
        return sum(max(map(truediv, row, self.speed), default=0.0) for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLoads(Document):
    """Hold sums over layers of the largest load over speed, means over some batches, by how replicas share tokens.

    With `equal` shares, with the shares `fixed` that the report has, with shares `solved` for each batch, and the
    `mean` of devices, which none is below.
    """

    equal: float
    fixed: float
    solved: float
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenShares(Document):
    """Hold how the replicas of a map share tokens, and what that makes of its largest loads.

    `slots[layer]` is the share of its expert's tokens that each slot gets at best for mean loads, in the order of the
    report's `slots`. `given` are loads on the `batches` that were given, `drawn` on those drawn around them, on which
    the map is judged and was not made.
    """

    batches: int
    slots: tuple[tuple[float, ...], ...]
    given: SharedLoads
    drawn: SharedLoads


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertReport(Answer):
    """Answer where the experts of each layer go so that a step costs little.

    `slots[layer]` are the experts of all slots, of which each of the `devices` has as many in order, or as many as
    `slots_of_devices[layer]` says, and `stages` say the same by device. Where memory does not hold them, both are
    empty, `violations` say why, and costs are those of what comes before. `objective` says what a step costs and at
    least costs, `optimal` that these meet, and `verdict` whether to leave the map in use, None without one. Of a trace,
    `placed` is how often tokens change device, `contiguous` what the order of numbers comes to; without replicas
    `greedy` is one layer after another, and `flat`, where hops differ and nothing else has a price, sweeps that take
    them for equal. A token with `top_k` experts in a layer makes `top_k` x `top_k` transitions. `progress` has what
    each step of the search reached, in the objective's unit, `seconds` is wall time. `shares` are those of tokens where
    they are balanced for each batch: `objective` then has means over drawn batches, else over those given, and `loads`
    are those of mean loads, with the best shares. `flows` are transitions from device to device before and after, not
    serialised.
    """

    schema: Literal["tiger.experts/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Literal["trace", "loads"]
    layers: int
    experts: int
    replicas: int
    top_k: int | None
    tokens: int
    held_out_tokens: int
    devices: tuple[str, ...]
    slots: tuple[tuple[int, ...], ...]
    slots_of_devices: tuple[tuple[int, ...], ...] | None = None
    stages: tuple[ExpertStage, ...]
    objective: ExpertObjective
    loads: DeviceLoads
    shares: TokenShares | None = field(default=None, metadata=LATER)
    verdict: Advice | None
    placed: RoutingCost | None
    contiguous: RoutingCost | None
    greedy: RoutingCost | None
    flat: RoutingCost | None
    optimal: bool = field(init=False)
    feasible: bool = True
    violations: tuple[Violation, ...] = ()
    seed: int
    progress: tuple[Stage, ...]
    warnings: tuple[str, ...]
    seconds: float
    flows: tuple[FloatArray, ...] | None = field(default=None, repr=False, compare=False, metadata=HIDDEN)

    def __post_init__(self) -> None:
        """Work out whether the price meets its lower bound."""
        met = self.feasible and meets(self.objective.after.total, self.objective.bound.total)
        object.__setattr__(self, "optimal", met)

    @property
    def headline(self) -> str:
        """Return one sentence on the verdict, or on what the placement makes of a step beside the order of numbers."""
        if not self.feasible:
            return unmet_text(self.violations, "map of experts")
        if self.verdict is not None:
            return f"{self.verdict.advice}: {self.verdict.reason}"
        if self.objective.unit == "hops":
            return self._tell_crossing()
        made, usual = self.objective.after.total, self.objective.before.total
        text = seconds_text if self.objective.unit == "s" else _tokens_text
        less = f", {1 - made / usual:.1%} less" if usual > made else ""
        return f"solved: {text(made)} a step, {text(usual)} in the order of numbers{less}"

    @property
    def usual(self) -> str:
        """Return the words for what comes before."""
        return "order of numbers" if self.verdict is None else "map in use"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return what a step costs with its bound, the largest loads beside the mean, and what changes device."""
        made, placed = self.objective, self.placed
        return (
            Figure(f"cost_{made.unit}", made.after.total, unit=made.unit),
            Figure(f"lower_bound_{made.unit}", made.bound.total, None, made.unit),
            Figure("largest_load", self.loads.largest_after, unit="tokens"),
            Figure("mean_load", self.loads.mean, None, "tokens"),
            Figure("crossing", None if placed is None else placed.crossing),
            Figure("hops", None if placed is None else placed.hops),
            Figure("seconds", self.seconds, unit="s"),
        )

    @property
    def rows(self) -> tuple[ExpertStage, ...]:
        """Return the devices with their experts and loads."""
        return self.stages

    def emit(self, system: str) -> bytes:
        """Return the file of the map for eplb, vllm, sglang, vllm-ascend or exflow.

        Raises InputError of `emit`, also for a map with more slots on some devices, which none of these states.
        """
        if not self.feasible:
            raise InputError("emit", "expected a map that fits into memory, got a report without one")
        if self.slots_of_devices is not None:
            few, most = (pick(map(pick, self.slots_of_devices)) for pick in (min, max))
            what = f"expected as many slots on every device for {system}, got from {few} to {most} in a layer"
            raise InputError("emit", what)
        return write_map(ExpertMap(np.array(self.slots), len(self.devices)), system)

    def _tell_crossing(self) -> str:
        """Return how often tokens change device, held-out ones where there are some, and by default."""
        if self.placed is None or self.contiguous is None:
            return "solved"
        made, usual, where = self.placed.crossing, self.contiguous.crossing, "all tokens"
        if self.placed.held_out_crossing is not None and self.contiguous.held_out_crossing is not None:
            made, usual = self.placed.held_out_crossing, self.contiguous.held_out_crossing
            where = "held-out tokens"
        less = f", {1 - made / usual:.1%} less" if usual > made else ""
        return f"solved: {made:.1%} of transitions change device ({where}), {usual:.1%} in the order of numbers{less}"


def _tokens_text(tokens: float) -> str:
    """Return a sum of largest loads."""
    return f"{number_text(tokens)} tokens of largest loads"
