"""All choices: degrees of parallelism, a schedule, and microbatches of the batch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isqrt

from tiger.model.options import narrow
from tiger.placement.emission.schedules import SYSTEM_SCHEDULES
from tiger.placement.params import COUNT_LIMIT, PlaceParams
from tiger.planning.params import PlanParams
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.setup import CHOSEN, RECOMPUTES, SHARDINGS, Recompute, Sharding, TrainingSetup
from tiger.training.models.sizes import Model
from tiger.training.schedules.pass_orders import MOST_PASSES, Schedule, stages_each, wanted_microbatches

# Stages of a position that are tried with the interleaved schedule, and the most that are where layers divide evenly.
VIRTUAL, MOST_VIRTUAL = (2, 4), 8
# Schedules that are searched over: dualpipe-v, which holds more than zb-v and waits as long, only where asked for.
SCHEDULES: tuple[Schedule, ...] = ("1f1b", "zero-bubble", "zb-v", "interleaved", "gpipe")
# Microbatches of an iteration for each device where no batch is stated.
A_DEVICE = 4
# Tokens of a sequence on a device from which it is not cut further unless asked for: what models without context ranks
# are trained on.
CONTEXT_TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Family:
    """Say among how many devices a layer is cut, how many replicas there are, and what one runs in an iteration.

    `microbatch` is the number of sequences in a microbatch, 1 where a microbatch is all that is known. Of the ranks
    with the same layers, `context` share sequences and `expert` deal out experts; `sharding` and `recompute` say what
    these share out and what is computed again, full of the first `recompute_layers` of every stage, 0 for all of them.
    """

    tensor: int
    data: int
    microbatch: int
    microbatches: int
    context: int = 1
    expert: int = 1
    sharding: Sharding = "none"
    recompute: Recompute = "none"
    recompute_layers: int = 0

    @property
    def copies(self) -> int:
        """Return how many ranks hold the same part of a layer."""
        return self.data * self.context

    @property
    def degrees(self) -> "Family":
        """Return the family with nothing shared out and nothing computed again."""
        return replace(self, sharding="none", recompute="none", recompute_layers=0)

    def setup(self, params: PlanParams) -> TrainingSetup:
        """Return how ranks hold and train the layers."""
        own = {name: getattr(self, name) for name in CHOSEN}
        return narrow(TrainingSetup, params, **own | {"recompute_layers": self.recomputed})

    @property
    def recomputed(self) -> int | None:
        """Return how many layers of a stage are computed again in full, None for all."""
        return self.recompute_layers or None

    @property
    def weight(self) -> tuple[int, int]:
        """Return where the family stands among those of its degrees: what computes again least comes first."""
        return RECOMPUTES.index(self.recompute), SHARDINGS.index(self.sharding)

    def is_lighter(self, other: "Family") -> bool:
        """Return whether this differs from another by sharing out and computing again no more, and one of both less.

        Its plans are then no slower, as what is shared out from the first stage of ZeRO on is sent more and more often.
        To share nothing out sends gradients in full, and is quicker or slower than that.
        """
        no_more = all(own <= others for own, others in zip(self.weight, other.weight, strict=True))
        alike = (self.sharding == "none") == (other.sharding == "none")
        return alike and no_more and self != other and self.degrees == other.degrees

    def __str__(self) -> str:
        """Return the degrees in words, and what else is not as it is by default."""
        parts = [f"tensor {self.tensor} x data {self.data}"]
        parts += [f"{name} {size}" for name, size in (("context", self.context), ("expert", self.expert)) if size > 1]
        return " x ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Choice:
    """Add to a family how many positions a pipeline has, its schedule, and the stages of a position."""

    family: Family
    pipeline: int
    schedule: Schedule
    virtual: int = 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return the shape of the grid of ranks."""
        return self.pipeline, self.family.copies, self.family.tensor

    @property
    def runs(self) -> bool:
        """Return whether the schedule can run the microbatches, within the passes that are simulated."""
        count = self.family.microbatches
        return wanted_microbatches(self.schedule, self.pipeline, count) is None and self.passes <= MOST_PASSES

    @property
    def passes(self) -> int:
        """Return how many forward passes one replica runs."""
        return self.pipeline * self.virtual * self.family.microbatches

    def params(self, params: PlanParams) -> PlaceParams:
        """Return the parameters of a placement by this choice."""
        family = self.family
        return narrow(
            PlaceParams,
            params,
            objective="throughput",
            experts_on_cpu=False,
            schedule=self.schedule,
            microbatches=family.microbatches,
            virtual=self.virtual,
            pipeline=self.pipeline,
            tensor=family.tensor,
            data=family.data,
            context=family.context,
            expert=family.expert,
            sharding=family.sharding,
            recompute=family.recompute,
            recompute_layers=family.recomputed,
            time_limit_s=None,
            pinned={},
            start=None,
            layout=None,
        )

    def __str__(self) -> str:
        """Return the choice in words."""
        stages = f" with {self.virtual} stages a position" if self.virtual > 1 else ""
        count, size = self.family.microbatches, self.family.microbatch
        cut = f"{count} microbatches" + (f" of {size}" if size > 1 else "")
        held = hold_text(self.family.sharding, self.family.recompute, self.family.recomputed)
        return f"pipeline {self.pipeline} x {self.family}, {self.schedule}{stages}, {cut}{held}"


def hold_text(sharding: Sharding, recompute: Recompute, layers: int | None) -> str:
    """Return in words what is shared out and what is computed again, nothing for neither."""
    shared = "" if sharding == "none" else f", {sharding}"
    first = "" if layers is None else f" of {layers} layer{'s' * (layers > 1)} a stage"
    return shared + ("" if recompute == "none" else f", {recompute} recomputation{first}")


def batch_of(model: Model, cluster: Cluster, params: PlanParams) -> int:
    """Return the batch of an iteration: as asked for, else 4 microbatches a device or the next that can be cut."""
    if params.batch is not None:
        return params.batch
    part = (params.data or 1) * (params.microbatch or model.sizes[0])
    return -(-A_DEVICE * cluster.size * model.sizes[0] // part) * part


def families(model: Model, cluster: Cluster, params: PlanParams) -> Iterator[Family]:
    """Yield all ways to cut layers and the batch on a cluster and to hold them, as far as `params` leave them open.

    Those of the same degrees come one after another, the one that shares out and computes again least first.
    """
    batch = batch_of(model, cluster, params)
    sizes = model.sizes if params.microbatch is None else (params.microbatch,)
    for tensor in _tensor_degrees(model, cluster, params):
        for data in _divisors(batch) if params.data is None else [params.data]:
            for size in sizes:
                count, rest = divmod(batch, data * size)
                if rest or count > COUNT_LIMIT:
                    continue
                for context in _context_degrees(model, params):
                    if tensor * data * context <= cluster.size:
                        family = Family(tensor=tensor, data=data, microbatch=size, microbatches=count, context=context)
                        yield from _ways_to_hold(model, params, family)


def positions(model: Model, cluster: Cluster, params: PlanParams, family: Family) -> range:
    """Return how many positions pipelines of a family may have."""
    most = min(cluster.size // (family.tensor * family.copies), model.given.size)
    if params.pipeline is None:
        return range(1, most + 1)
    return range(params.pipeline, params.pipeline + 1 if params.pipeline <= most else params.pipeline)


def schedules_of(model: Model, params: PlanParams, family: Family, pipeline: int) -> Iterator[Choice]:
    """Yield the schedules of so many positions; of a single one 1F1B, as no other is quicker or holds less."""
    run = SCHEDULES if params.framework is None else SYSTEM_SCHEDULES[params.framework]
    searched = [each for each in SCHEDULES if each in run]
    for schedule in searched if params.schedule is None else [params.schedule]:
        if pipeline == 1 and params.schedule is None and schedule != "1f1b":
            continue
        for virtual in _virtual_stages(model, params, schedule, pipeline):
            choice = Choice(family=family, pipeline=pipeline, schedule=schedule, virtual=virtual)
            if choice.runs and pipeline * virtual <= model.given.size:
                yield choice


def resize(choice: Choice, batch: int) -> Choice | None:
    """Return the choice for another batch, by microbatches of the same size; None where there is none."""
    family = choice.family
    count, rest = divmod(batch, family.data * family.microbatch)
    resized = replace(choice, family=replace(family, microbatches=count))
    return resized if count and not rest and resized.runs and count <= COUNT_LIMIT else None


def _tensor_degrees(model: Model, cluster: Cluster, params: PlanParams) -> list[int]:
    """Return among how many devices layers may be cut: divisors of their slices, of the devices if any will do."""
    if params.tensor is not None:
        return [params.tensor]
    return [size for size in _divisors(model.given.slices or cluster.size) if size <= cluster.size]


def _context_degrees(model: Model, params: PlanParams) -> list[int]:
    """Return among how many devices sequences may be cut: powers of two that leave long parts of them."""
    if params.context is not None:
        return [params.context]
    sequence = 0 if model.shape is None or not model.resizable else params.sequence or model.shape.sequence
    halves = range(1, (sequence // CONTEXT_TOKENS).bit_length())
    return [1, *(1 << k for k in halves if sequence % (2 << k) == 0)]


def _ways_to_hold(model: Model, params: PlanParams, family: Family) -> Iterator[Family]:
    """Yield a family with its experts dealt out, and what may be shared out and computed again."""
    shape = model.shape if model.resizable else None
    experts = 1 if shape is None else shape.experts or 1
    dealt = [size for size in _divisors(experts) if family.copies % size == 0]
    # Nobody holds the same as a single one; where others do, shared states take less memory than whole ones, and less
    # time but where messages are so small that their number counts. Flash attention holds no scores to compute again.
    shardings: tuple[Sharding, ...] = SHARDINGS[1:] if shape is not None and family.copies > 1 else SHARDINGS[:1]
    recomputes: tuple[Recompute, ...] = RECOMPUTES if shape is not None else ("none",)
    if shape is not None and shape.attention == "flash":
        recomputes = ("none", "full")
    if params.recompute_layers is not None:
        family, recomputes = replace(family, recompute_layers=params.recompute_layers), ("full",)
    for expert in dealt if params.expert is None else [params.expert] * (family.copies % params.expert == 0):
        for sharding in shardings if params.sharding is None else [params.sharding]:
            for recompute in recomputes if params.recompute is None else [params.recompute]:
                yield replace(family, expert=expert, sharding=sharding, recompute=recompute)


def _virtual_stages(model: Model, params: PlanParams, schedule: Schedule, pipeline: int) -> list[int]:
    """Return how many stages a position may have: two, four, and up to 8 that cut the layers evenly."""
    if (each := stages_each(schedule)) is not None:
        return [each]
    if params.virtual is not None:
        return [params.virtual]
    body = model.given.kinds.count("layer")
    even = [count for count in range(2, MOST_VIRTUAL + 1) if body and body % (pipeline * count) == 0]
    return sorted({*VIRTUAL, *even})


def _divisors(number: int) -> list[int]:
    """Return the divisors of a number >= 1, the least first."""
    low = [k for k in range(1, isqrt(number) + 1) if number % k == 0]
    return sorted({*low, *(number // k for k in low)})
