"""The arguments of `tiger.place`, and of the client of a service that answers the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from tiger.model.arguments import parse_pins
from tiger.model.spelling import change_help, spelled
from tiger.placement.params import PlaceOptions
from tiger.run.options import WatchOptions
from tiger.training.arguments import CLUSTER, MODEL, Hardware, Model
from tiger.training.hardware.options import HostArguments
from tiger.training.timings.costs import CostArguments

if TYPE_CHECKING:
    from tiger.placement.entry.start import Start


@dataclass(frozen=True, eq=False)
class PlaceArguments(PlaceOptions, HostArguments, CostArguments):
    """Hold a model, a cluster, and options; `pinned` gives the device of layers or operators, by name."""

    model: Model = field(
        metadata=change_help(
            {"spelling": MODEL},
            "A PipeDream graph .txt, a table of layers .csv or .json, or a SPEC of a transformer; with --mode dag a "
            "table of operators, or the nodes and edges of dnn-partitioning.",
        )
    )
    cluster: Hardware | None = field(
        default=None,
        metadata=change_help(
            {"spelling": CLUSTER}, f"{CLUSTER.help} Only a graph of operators that states its devices goes without."
        ),
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
    start: "Start | None" = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "The placement to improve, never to end above: a report, or a CSV file name,device.",
            panel="Search",
            metavar="FILE",
        ),
    )


@dataclass(frozen=True, eq=False)
class PlaceCall(WatchOptions, PlaceArguments):
    """Hold the arguments of `tiger.place`."""
