"""What a caller asks of a plan."""

from dataclasses import dataclass, field, replace

from tiger.model.options import about
from tiger.model.spelling import Spelling
from tiger.placement.emission.schedules import System
from tiger.placement.params import COUNT, DATA, ORDERED, PIPELINE, TENSOR
from tiger.run.options import ISLANDS, SearchOptions
from tiger.training.models.setup import Recompute, Sharding
from tiger.training.options import CONTEXT, EXPERT, RECOMPUTE, RECOMPUTE_LAYERS, SHARDING, TrainingOptions
from tiger.training.schedules.pass_orders import Schedule

# Plans in a report: the default, and the most that may be asked for.
TOP, MOST_RANKED = 10, 1000
# Batches of a sweep, and processes that plan them, at the most.
MOST_BATCHES, MOST_WORKERS = 32, 32


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanParams(SearchOptions, TrainingOptions):
    """Set what is searched over, and how hard.

    `batch` is what all replicas run together in an iteration: sequences of a transformer that is stated by its shape,
    microbatches of any other model (default: 4 a device). Degrees, `schedule`, `virtual` stages and the sequences of a
    `microbatch` are searched over where they are None, and so is what is shared out (`sharding`) and computed again
    (`recompute`, of the first `recompute_layers` of a stage); of schedules, with a `framework`, those that it runs.
    `given` is a plan that there is, in short. `solver` orders devices as in a placement. `effort` counts iterations, of
    each of the `islands`, which judge as many choices side by side; same seed, effort and islands, same answer.
    `time_limit_s` only ends a search early.
    """

    solver: str = field(default="auto", metadata=about("Name of a solver, see `GET /solvers`.", ORDERED))
    islands: int = field(default=1, metadata=ISLANDS)
    batch: int | None = field(
        default=None,
        metadata=about(
            "Sequences of a transformer that is stated by its shape, else microbatches, that all replicas run together "
            "in an iteration; 4 a device without it.",
            Spelling("Sequences (of a transformer SPEC), else microbatches; by default 4 a device.", metavar="N"),
            **COUNT,
        ),
    )
    pipeline: int | None = field(
        default=None,
        metadata=about(
            "Devices in a row; searched over without it.",
            replace(PIPELINE, help="Devices in a row; open by default."),
            **COUNT,
        ),
    )
    tensor: int | None = field(
        default=None,
        metadata=about(
            "Devices among which each layer is cut; searched over without it.",
            replace(TENSOR, help="Devices a layer is cut among; open by default."),
            **COUNT,
        ),
    )
    data: int | None = field(
        default=None,
        metadata=about(
            "Replicas of the pipeline; searched over without it.",
            replace(DATA, help="Replicas of the pipeline; open by default."),
            **COUNT,
        ),
    )
    context: int | None = field(
        default=None,
        metadata=about(
            "Devices that share the tokens of every sequence; searched over without it, with 4,096 tokens a device or "
            "more.",
            replace(CONTEXT, help="Devices that share the tokens of a sequence; open by default."),
            **COUNT,
        ),
    )
    expert: int | None = field(
        default=None,
        metadata=about(
            "Devices, of all replicas, among which the experts of a layer are dealt out; searched over without it.",
            replace(EXPERT, help="Devices among which experts are dealt out; open by default."),
            **COUNT,
        ),
    )
    sharding: Sharding | None = field(
        default=None,
        metadata=about(
            "What devices with the same layers share out: optimizer states (zero-1), gradients too (zero-2), weights "
            "too (zero-3); searched over without it.",
            SHARDING,
        ),
    )
    recompute: Recompute | None = field(
        default=None,
        metadata=about(
            "What backward passes compute again: scores of attention (selective), or all of a layer but its input "
            "(full); searched over without it.",
            RECOMPUTE,
        ),
    )
    recompute_layers: int | None = field(
        default=None,
        metadata=about(
            "Decoder layers of every stage, the first of each, that backward passes compute again with `recompute` "
            "full, which it states as well; all of them without it.",
            replace(
                RECOMPUTE_LAYERS,
                help="Recompute the first layers of every stage in full; all where full is chosen without it.",
            ),
            **COUNT,
        ),
    )
    schedule: Schedule | None = field(
        default=None,
        metadata=about("The schedule; searched over without it.", Spelling("The schedule; open by default.")),
    )
    framework: System | None = field(
        default=None,
        metadata=about(
            "Search only over schedules that this framework runs; over all without it.",
            Spelling("Search only over schedules that this framework runs, as --emit does."),
        ),
    )
    virtual: int | None = field(
        default=None,
        metadata=about(
            "Stages a device where they are interleaved; searched over without it.",
            Spelling("Stages a device where the schedule interleaves them.", metavar="V"),
            **COUNT,
        ),
    )
    microbatch: int | None = field(
        default=None,
        metadata=about(
            "Sequences in a microbatch; searched over without it.",
            Spelling("Sequences in a microbatch; open by default.", flags=("--microbatch-size",), metavar="B"),
            **COUNT,
        ),
    )
    given: str | None = field(
        default=None,
        metadata=about(
            "The plan that you have, such as `tp=4,pp=8,vp=5,dp=2,cp=1,ep=1,mbs=1,gbs=128,sharding=zero-1,"
            "recompute=full,schedule=interleaved`, to be reported beside the plans found: as many layers in every "
            "stage, devices in the order of the cluster, and what it leaves out as frameworks have it.",
            Spelling(
                "The plan that you have, as tp=4,pp=8,vp=5,mbs=1,gbs=128, to be told what it costs and whether to keep "
                "it.",
                metavar="KEY=N,..",
            ),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions(PlanParams):
    """Add how many of the best plans are reported."""

    top: int = field(
        default=TOP,
        metadata=about(
            "How many of the best plans are reported.", Spelling(panel="Output", metavar="N"), ge=1, le=MOST_RANKED
        ),
    )


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """Say for which batches to plan rather than for one, and in how many processes, which never change the answer."""

    sweep: str | None = field(
        default=None,
        metadata=about(
            "Several batches to plan for: `batch=64..1024` for the powers of two between, or `batch=64,96,128`; at "
            "most 32.",
            Spelling(
                "Plan for several batches: batch=64..1024 (powers of two) or batch=64,96,128.", metavar="batch=.."
            ),
        ),
    )
    workers: int = field(
        default=1,
        metadata=about(
            "Processes that plan the batches of a sweep, which never change the answer.",
            Spelling(
                "Processes for the batches of a sweep; the answer does not depend on N.",
                panel="Where it runs",
                metavar="N",
                ranged=True,
            ),
            ge=1,
            le=MOST_WORKERS,
        ),
    )
