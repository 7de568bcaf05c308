"""The arguments of `tiger.plan`, and of the client of a service that answers the same."""

from concurrent.futures import Executor
from dataclasses import dataclass, field

from tiger.planning.model import Source
from tiger.planning.params import PlanOptions
from tiger.run.options import WatchOptions
from tiger.training.hardware.composition import HostArguments
from tiger.training.sources import Hardware


@dataclass(frozen=True, eq=False)
class PlanArguments(PlanOptions, HostArguments):
    """Hold a model, a cluster, options, and who judges choices of several islands."""

    model: Source
    cluster: Hardware
    executor: Executor | str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class PlanCall(WatchOptions, PlanArguments):
    """Hold the arguments of `tiger.plan`."""
