"""The options of a rebalancer."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from tiger.model.checking import check_values
from tiger.model.options import about
from tiger.model.spelling import Spelling, spelled
from tiger.placement.params import MICROBATCHES, PIPELINE
from tiger.training.arguments import CLUSTER, MODEL, Hardware, Model

# Schedules whose order of passes is fixed and that have one stage a device.
LineSchedule = Literal["1f1b", "gpipe"]
Balancer = Literal["exact", "diffusion"]
# Numbers of iterations, microbatches and devices that products of three stay exact for.
INTERVAL_LIMIT = 2**17
IN_INTERVAL = {"ge": 1, "le": INTERVAL_LIMIT}
# Layers and stages of a model that is decided on in milliseconds to seconds.
MOST_LAYERS, MOST_STAGES = 4096, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceOptions:
    """Set how plans follow times of layers.

    Under a `schedule` of `microbatches` (default: 4 a stage) on `pipeline` devices (default: as many as pay), a plan
    moves where that saves more than the share `threshold` of the time until the next measurement, `iterations` later,
    seconds of moves included.
    """

    schedule: LineSchedule = field(default="1f1b", metadata=about("The schedule that is simulated.", Spelling()))
    microbatches: int | None = field(
        default=None, metadata=about("Microbatches in an iteration; 4 a stage.", MICROBATCHES, **IN_INTERVAL)
    )
    pipeline: int | None = field(
        default=None, metadata=about("Devices in a row; as many as pay without it.", PIPELINE, **IN_INTERVAL)
    )
    iterations: int = field(
        default=1000,
        metadata=about(
            "Iterations between two measurements.", Spelling("Iterations in an interval.", metavar="N"), **IN_INTERVAL
        ),
    )
    threshold: float = field(
        default=0.02,
        metadata=about(
            "The least share of time that moves have to save.",
            Spelling("The least share of an interval's time that moves have to save.", metavar="SHARE"),
            ge=0,
            lt=1,
        ),
    )
    balancer: Balancer = field(
        default="exact",
        metadata=about(
            "`exact` by dynamic programming, or `diffusion` among neighbours.",
            Spelling(
                "By dynamic programming and simulation, or by layers that stages hand to neighbours.",
                panel="Search",
            ),
        ),
    )

    def __post_init__(self) -> None:
        """Check every bound; raise InputError that names the option."""
        check_values(self)


@dataclass(frozen=True, eq=False)
class RebalanceCall(RebalanceOptions):
    """Add a model, a cluster, and the times of its layers: those of a file, or those of a simulated workload."""

    model: Model = field(metadata={"spelling": MODEL})
    cluster: Hardware = field(
        metadata={
            "spelling": replace(
                CLUSTER,
                help="Like dgx:1; or a file: JSON of devices and links, or what `nvidia-smi topo -m` prints.",
            )
        }
    )
    times: Path | str | None = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "Seconds of layers on a device of speed 1: .csv or .json, a row of them an interval.", metavar="FILE"
        ),
    )
    workload: str | None = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "Simulate them: pruning, freezing, early-exit, sparse-attention, moe or mod, as pruning:sparsity=0.9.",
            metavar="SPEC",
        ),
    )
