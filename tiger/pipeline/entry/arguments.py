"""The arguments of `tiger.place`, and of the client of a service that answers the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.hardware.composition import HostArguments
from tiger.pipeline.models.layers import Layers
from tiger.pipeline.models.operators import Operators
from tiger.pipeline.params import PlaceOptions
from tiger.run.options import WatchOptions

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
