"""The arguments of `tiger.plan`, and of the client of a service that answers the same."""

from dataclasses import dataclass

from tiger.pipeline.entry.arguments import Hardware
from tiger.pipeline.hardware.composition import HostArguments
from tiger.pipeline.planning.model import Source
from tiger.pipeline.planning.params import PlanOptions
from tiger.run.options import WatchOptions


@dataclass(frozen=True, eq=False)
class PlanArguments(PlanOptions, HostArguments):
    """Hold a model, a cluster, and options."""

    model: Source
    cluster: Hardware


@dataclass(frozen=True, eq=False)
class PlanCall(WatchOptions, PlanArguments):
    """Hold the arguments of `tiger.plan`."""
