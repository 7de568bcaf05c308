"""The arguments of `tiger.calibrate`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Union

from tiger.model.spelling import spelled
from tiger.training.arguments import CLUSTER, MODEL, Hardware
from tiger.training.hardware.options import HostArguments
from tiger.training.options import TrainingOptions
from tiger.training.timings.costs import CostArguments

if TYPE_CHECKING:
    from tiger.training.models.layers import Layers

Source = Union["Layers", Path, str, Mapping[str, object], list[object]]


@dataclass(frozen=True, eq=False)
class CalibrationCall(TrainingOptions, HostArguments, CostArguments):
    """Hold a model, a cluster, the table of measured runs, and how all of these trained."""

    model: Source = field(metadata={"spelling": MODEL})
    cluster: Hardware = field(metadata={"spelling": CLUSTER})
    measured: Path | str = field(
        metadata=spelled(
            "A .csv of runs, one a row: seconds of an iteration, and the plan by the keys of `tiger plan --given`.",
            metavar="FILE",
        )
    )
