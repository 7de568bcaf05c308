"""The arguments of `tiger.place`, and of the client of a service that answers the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tiger.placement.params import PlaceOptions
from tiger.run.options import WatchOptions
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.composition import HostArguments
from tiger.training.models.layers import Layers
from tiger.training.models.operators import Operators

Model = Layers | Operators | Path | str | Mapping[str, object] | list[object]
Hardware = Cluster | Path | str | Mapping[str, object]


@dataclass(frozen=True, eq=False)
class PlaceArguments(PlaceOptions, HostArguments):
    """Hold a model, a cluster, and options; `pinned` gives the device of layers or operators, by name."""

    model: Model
    cluster: Hardware | None = None
    pinned: Mapping[str, str] | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class PlaceCall(WatchOptions, PlaceArguments):
    """Hold the arguments of `tiger.place`."""
