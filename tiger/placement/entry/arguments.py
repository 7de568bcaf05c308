"""The arguments of `tiger.place`, and of the client of a service that answers the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tiger.placement.params import PlaceOptions
from tiger.run.options import WatchOptions
from tiger.training.hardware.composition import HostArguments
from tiger.training.sources import Hardware, Model


@dataclass(frozen=True, eq=False)
class PlaceArguments(PlaceOptions, HostArguments):
    """Hold a model, a cluster, and options; `pinned` gives the device of layers or operators, by name."""

    model: Model
    cluster: Hardware | None = None
    pinned: Mapping[str, str] | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class PlaceCall(WatchOptions, PlaceArguments):
    """Hold the arguments of `tiger.place`."""
