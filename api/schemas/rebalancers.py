"""The requests about rebalancers, and a rebalancer as JSON."""

import json
import sys
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from tiger.api.schemas.closed import ONE_FIELD, Closed, Documented
from tiger.api.schemas.placement import CLUSTER, ModelBody, Needed
from tiger.api.schemas.reports import AsDocument
from tiger.api.seams.rebalancer import StoredRebalancer
from tiger.model.options import about
from tiger.rebalancing.decision import Decision
from tiger.rebalancing.params import RebalanceOptions

Seconds = list[Annotated[float, Field(ge=0)]]
Loads = Seconds | Annotated[list[Seconds], Field(min_length=1, max_length=2)]


def _check_loads(value: object) -> object:
    """Refuse other than numbers, or arrays of numbers, in a sentence of our own: a flood of them is one error."""
    if value is None:
        return value
    rows = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    for row in rows:
        if not isinstance(row, list) or not all(map(_is_number, row)):
            raise PydanticCustomError("loads", "expected an array of seconds, or two of them")
    return value


def _is_number(value: object) -> bool:
    """Return whether a value is a number that is no larger than others can be."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


@dataclass(frozen=True, kw_only=True)
class PlanStated(Closed):
    """Hold a plan: stage j has layers cuts[j] to cuts[j + 1] - 1, and runs on device j."""

    cuts: list[int] = field(metadata=about("Rising numbers of layers from 0 to how many there are."))
    devices: list[str] = field(metadata=about("Names of devices in a row, one a stage."))


@dataclass(frozen=True, kw_only=True)
class RebalancerRequest(RebalanceOptions, ModelBody, Closed):
    """Ask for a rebalancer of a pipeline, which keeps its plan or moves layers as their times change."""

    cluster: Needed = field(metadata=about(CLUSTER))
    plan: PlanStated | None = field(
        default=None, metadata=about("The plan in use; the best by the times of the model without it.")
    )


@dataclass(frozen=True, kw_only=True)
class StepRequest(Closed):
    """Tell a rebalancer one thing, which it decides upon."""

    __pydantic_config__ = ONE_FIELD

    loads: Annotated[list[float] | list[list[float]] | None, BeforeValidator(_check_loads), Documented(Loads)] = field(
        default=None,
        metadata=about(
            "Seconds that each layer, or each stage of the plan in use, took for one microbatch: of both passes "
            "together, or two arrays, of the forward and of the backward ones."
        ),
    )
    lost: str | None = field(default=None, metadata=about("A device that is gone for good: plan without it."))
    target_s: float | None = field(
        default=None,
        metadata=about("Seconds that an iteration may take: move to as few devices as that needs.", gt=0),
    )


class RebalancerBody(BaseModel):
    """Describe a rebalancer: the plan in use, and what `tiger.Rebalancer.restore` goes on from.

    Times of layers are those last measured, of one microbatch on a device of speed 1; before the first step they are
    those of the model. Moments are seconds since 1970.
    """

    model_config = ConfigDict(extra="forbid", title="Rebalancer")

    id: str
    steps: int = Field(description="How many steps it has taken.")
    created_s: float
    expires_s: float = Field(description="When it will be forgotten, unless there is another step before.")
    iteration_s: float | None = Field(description="Simulated seconds of an iteration; null without a plan.")
    lower_bound_s: float | None = Field(description="No cuts of layers on these devices are quicker.")
    cuts: list[int] = Field(description="Stage j has layers cuts[j] to cuts[j + 1] - 1.")
    devices: list[str] = Field(description="The device of each stage.")
    lost: list[str] = Field(description="Devices that are gone.")
    microbatches: int
    forward_s: list[float]
    backward_s: list[float]


DecisionBody = Annotated[Decision, AsDocument()]


def location(rebalancer: StoredRebalancer) -> str:
    """Return where a rebalancer is found."""
    return f"/rebalancers/{rebalancer.id}"


def encode_rebalancer(rebalancer: StoredRebalancer) -> bytes:
    """Return a rebalancer as strict JSON; the bytes of its state are not read again."""
    names = ("id", "steps", "created_s", "expires_s")
    head = json.dumps({name: getattr(rebalancer, name) for name in names}, allow_nan=False).encode()
    return head[:-1] + b", " + rebalancer.state[1:]
