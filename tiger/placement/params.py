"""The options and parameters of a placement."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tiger.model.options import about
from tiger.model.spelling import Spelling
from tiger.placement.operators.params import GivenPlacement, Objective
from tiger.run.options import SOLVER, SearchOptions
from tiger.training.layouts.source import open_layout
from tiger.training.models.setup import Recompute, Sharding
from tiger.training.options import CONTEXT, EXPERT, RECOMPUTE, RECOMPUTE_LAYERS, SHARDING, TrainingOptions
from tiger.training.schedules.pass_orders import Schedule

Mode = Literal["chain", "dag"]
# More ranks, stages or microbatches than any training run has.
COUNT_LIMIT = 65_536
COUNT = {"ge": 1, "most": COUNT_LIMIT}
MICROBATCHES = Spelling("Microbatches in an iteration, by default 4 for each stage there may be.", metavar="M")
LAYOUT = Spelling(
    "The stages that you run, to be told what they cost and whether to keep them: a layout of Megatron-LM, parts of "
    "DeepSpeed, decoder layers of vLLM, or a file that says so.",
    metavar="TEXT|FILE",
    parse=open_layout,
)
# The degrees of parallelism as commands spell them.
PIPELINE = Spelling("Devices in a row, by default as many as pay.", flags=("--pipeline-parallel",), metavar="P")
TENSOR = Spelling(flags=("--tensor-parallel",), metavar="T")
DATA = Spelling(flags=("--data-parallel",), metavar="D")
ORDERED = replace(SOLVER, help="One of `tiger solvers`, to order devices.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainOptions(SearchOptions, TrainingOptions):
    """Set how the layers of a chain become the stages of a pipeline, and how hard to search.

    Without a `schedule` the bottleneck of a steady pipeline is minimized and memory is parameters alone; with one, the
    simulated time of an iteration of `microbatches` (default: 4 for each stage there may be), with `virtual` stages a
    device (interleaved: default 2; zb-v and dualpipe-v: 2; otherwise 1). `pipeline` is the number of stages (default:
    as many as pay, at most a device each); `tensor`, `data`, `context` and `expert` are the sizes of the other groups.
    `sharding`, `recompute` and `recompute_layers` say what is shared out among replicas, what is computed again, and of
    how many layers of a stage. `layout` is a plan that there is, as a framework is told it. `solver` orders devices
    where the order cannot be enumerated; "auto" is the native search. `effort` counts iterations; same seed and effort,
    same answer. `time_limit_s` only ends a search early.
    """

    schedule: Schedule | None = field(
        default=None,
        metadata=about(
            "Makes the simulated time of an iteration small instead of the bottleneck, within the memory that this "
            "schedule takes; without one, memory is parameters alone.",
            Spelling("Simulate an iteration of this schedule; memory is parameters alone without one."),
        ),
    )
    microbatches: int | None = field(
        default=None,
        metadata=about(
            "Microbatches in an iteration. Without it 4 times the devices in a row: `pipeline`, or as many as there "
            "may be, those of the cluster divided by `tensor` and `data`, and no more than layers.",
            MICROBATCHES,
            **COUNT,
        ),
    )
    virtual: int | None = field(
        default=None,
        metadata=about(
            "Stages a device: 2 where they are interleaved or come back in a V, else 1.",
            Spelling("Stages a device where the schedule interleaves them, by default 2.", metavar="V"),
            **COUNT,
        ),
    )
    pipeline: int | None = field(
        default=None,
        metadata=about(
            "Devices in a row; as many as pay without it.",
            PIPELINE,
            **COUNT,
        ),
    )
    tensor: int = field(default=1, metadata=about("Devices among which each layer is cut.", TENSOR, **COUNT))
    data: int = field(default=1, metadata=about("Replicas of the pipeline.", DATA, **COUNT))
    context: int = field(
        default=1, metadata=about("Devices that share the tokens of every sequence.", CONTEXT, **COUNT)
    )
    expert: int = field(
        default=1,
        metadata=about("Devices, of all replicas, among which the experts of a layer are dealt out.", EXPERT, **COUNT),
    )
    sharding: Sharding = field(
        default="none",
        metadata=about(
            "What devices with the same layers share out: optimizer states (zero-1), gradients too (zero-2), weights "
            "too (zero-3).",
            SHARDING,
        ),
    )
    recompute: Recompute = field(
        default="none",
        metadata=about(
            "What backward passes compute again: scores of attention (selective), or all of a layer but its input "
            "(full).",
            RECOMPUTE,
        ),
    )
    recompute_layers: int | None = field(
        default=None,
        metadata=about(
            "Decoder layers of every stage, the first of each, that backward passes compute again with `recompute` "
            "full; all of them without it.",
            RECOMPUTE_LAYERS,
            **COUNT,
        ),
    )
    layout: str | None = field(
        default=None,
        metadata=about(
            "Layers of every stage as they run now, on devices in the order of the cluster, to be reported beside the "
            "plan found, which is never slower where this one fits: a layout of Megatron-LM (`Ettt|(tt|)*14,ttL`), "
            "`parts` of DeepSpeed (`[0, 4, 9]`), decoder layers as in `VLLM_PP_LAYER_PARTITION` (`8,8,9,7`), or the "
            "text of a script or of JSON that states one of them.",
            LAYOUT,
        ),
    )
    solver: str = field(
        default="auto", metadata=about("Orders devices or places operators, see `GET /solvers`.", ORDERED)
    )

    @property
    def copies(self) -> int:
        """Return how many devices hold the same part of a layer: those that share sequences, of all replicas."""
        return self.data * self.context


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceParams(ChainOptions):
    """Add to the options of a chain its objective, the device that a layer has to be on, and the plan to start from.

    `objective` is throughput, the bottleneck or with a schedule its iteration; latency, one forward pass of a
    microbatch through all stages; or cache, the sequences that fit at once. `experts_on_cpu` lets layers on GPUs have
    their experts on a CPU of the cluster.
    """

    objective: Objective = "throughput"
    experts_on_cpu: bool = False
    pinned: Mapping[str, str] = field(default_factory=dict)
    start: GivenPlacement | None = None


@dataclass(frozen=True, kw_only=True)
class Aim:
    """Say what is placed, layers of a chain or operators of a graph, and of the latter what for and how."""

    mode: str = field(
        default="chain",
        metadata=about(
            "What a device may hold: `chain`, a run of layers; `dag`, any operators of a graph.",
            Spelling(
                "What a device holds: chain, a run of layers; dag, operators of a graph; experts, those of a "
                "router's trace, [tokens, layers] in a .npy, .csv or .txt file.",
                metavar="MODE",
            ),
        ),
    )
    objective: Objective = field(
        default="throughput",
        metadata=about(
            "What is minimized: as `throughput` the largest load of a device, or the iteration of a schedule; as "
            "`latency` the time of a microbatch alone, forward through all stages of a chain, or the makespan of a "
            "graph; `both`, each divided by its bound, in the mode dag alone. `cache` has as many sequences at once as "
            "can be, of a chain that serves.",
            Spelling(
                "What to aim at: the largest load (throughput), the time of a microbatch alone (latency), of operators "
                "both, of a chain that serves the most sequences at once (cache)."
            ),
        ),
    )
    contiguous: bool = field(
        default=False,
        metadata=about(
            "In the mode dag, has no edge run backwards between the devices of a line.",
            Spelling("Keep operators together: no edge runs backwards."),
        ),
    )

    experts_on_cpu: bool = field(
        default=False,
        metadata=about(
            "Lets layers of a mixture that serves stay on a GPU but for their experts, whose weights and products are "
            "on the first CPU of the cluster, with the objective latency. Not by itself, as llama.cpp alone runs such "
            "plans.",
            Spelling("Let layers on GPUs have their experts on the CPU, as llama.cpp does with -ot."),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class PlaceOptions(ChainOptions, Aim):
    """Set what is placed and how, of a chain and of a graph of operators."""
