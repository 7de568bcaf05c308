"""The arguments of `tiger.plan`, and of the client of a service that answers the same."""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Union

from tiger.planning.params import PlanOptions, SweepOptions
from tiger.run.options import WatchOptions
from tiger.training.arguments import CLUSTER, MODEL, Hardware
from tiger.training.hardware.options import HostArguments
from tiger.training.timings.costs import CostArguments

if TYPE_CHECKING:
    from tiger.training.models.layers import Layers

Source = Union["Layers", Path, str, Mapping[str, object], list[object]]


@dataclass(frozen=True, eq=False)
class PlanArguments(SweepOptions, PlanOptions, HostArguments, CostArguments):
    """Hold a model, a cluster, options, and who judges choices of several islands."""

    model: Source = field(metadata={"spelling": MODEL})
    cluster: Hardware = field(metadata={"spelling": CLUSTER})
    executor: Executor | str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class PlanCall(WatchOptions, PlanArguments):
    """Hold the arguments of `tiger.plan`."""
