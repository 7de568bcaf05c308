"""The arguments of `tiger.place`, and of the client of a service that answers the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Union

from tiger.formats.arguments import parse_pins
from tiger.model.spelling import Spelling, spelled
from tiger.pipeline.hardware.options import HostArguments
from tiger.pipeline.params import PlaceOptions
from tiger.run.options import WatchOptions

if TYPE_CHECKING:
    from tiger.pipeline.hardware.cluster import Cluster
    from tiger.pipeline.models.layers import Layers
    from tiger.pipeline.models.operators import Operators

# Named here and loaded where they are read, so that help does not wait for arrays.
Model = Union["Layers", "Operators", Path, str, Mapping[str, object], list[object]]
Hardware = Union["Cluster", Path, str, Mapping[str, object]]
MODEL = Spelling(
    "A PipeDream graph .txt, a table of layers .csv or .json, or a SPEC of a transformer; with --mode dag a table "
    "of operators, or the nodes and edges of dnn-partitioning.",
    metavar="MODEL",
    complete="models",
    argument=True,
)
CLUSTER = Spelling(
    "Like dgx:2; or a file: JSON of devices and links, what `nvidia-smi topo -m` prints, or a network of hosts.",
    panel="Hardware",
    metavar="SPEC|FILE",
    complete="topologies",
)


@dataclass(frozen=True, eq=False)
class PlaceArguments(PlaceOptions, HostArguments):
    """Hold a model, a cluster, and options; `pinned` gives the device of layers or operators, by name."""

    model: Model = field(metadata={"spelling": MODEL})
    cluster: Hardware | None = field(
        default=None,
        metadata={
            "spelling": replace(
                CLUSTER, help=f"{CLUSTER.help} Only a graph of operators that states its devices goes without."
            )
        },
    )
    pinned: Mapping[str, str] | None = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "Fix a layer or operator to a device; split at the last '='.",
            name="pin",
            metavar="NAME=DEVICE",
            gather=partial(parse_pins, form="NAME=DEVICE"),
        ),
    )


@dataclass(frozen=True, eq=False)
class PlaceCall(WatchOptions, PlaceArguments):
    """Hold the arguments of `tiger.place`."""
