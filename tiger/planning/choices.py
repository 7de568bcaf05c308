"""All choices: degrees of parallelism, a schedule, and microbatches of the batch."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

from tiger.placement.params import COUNT_LIMIT, PlaceParams
from tiger.planning.params import PlanParams
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model
from tiger.training.schedules.pass_orders import MOST_PASSES, Schedule

# Stages of a position that are tried with the interleaved schedule, and the most that are where layers divide evenly.
VIRTUAL, MOST_VIRTUAL = (2, 4), 8
SCHEDULES: tuple[Schedule, ...] = ("1f1b", "zero-bubble", "interleaved", "gpipe")
# Microbatches of an iteration for each device where no batch is stated.
A_DEVICE = 4


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Family:
    """Say among how many devices a layer is cut, how many replicas there are, and what one runs in an iteration.

    `microbatch` is the number of sequences in a microbatch, 1 where a microbatch is all that is known.
    """

    tensor: int
    data: int
    microbatch: int
    microbatches: int


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
        return self.pipeline, self.family.data, self.family.tensor

    @property
    def passes(self) -> int:
        """Return how many forward passes one replica runs."""
        return self.pipeline * self.virtual * self.family.microbatches

    def params(self, params: PlanParams) -> PlaceParams:
        """Return the parameters of a placement by this choice."""
        return PlaceParams(
            schedule=self.schedule,
            microbatches=self.family.microbatches,
            virtual=self.virtual,
            pipeline=self.pipeline,
            tensor=self.family.tensor,
            data=self.family.data,
            solver=params.solver,
            seed=params.seed,
            effort=params.effort,
        )

    def __str__(self) -> str:
        """Return the choice in words."""
        parts = [f"pipeline {self.pipeline} x tensor {self.family.tensor} x data {self.family.data}", self.schedule]
        stages = f" with {self.virtual} stages a position" if self.virtual > 1 else ""
        count, size = self.family.microbatches, self.family.microbatch
        return ", ".join(parts) + f"{stages}, {count} microbatches" + (f" of {size}" if size > 1 else "")


def batch_of(model: Model, cluster: Cluster, params: PlanParams) -> int:
    """Return the batch of an iteration: as asked for, else 4 microbatches a device or the next that can be cut."""
    if params.batch is not None:
        return params.batch
    part = (params.data or 1) * (params.microbatch or model.sizes[0])
    return -(-A_DEVICE * cluster.size * model.sizes[0] // part) * part


def families(model: Model, cluster: Cluster, params: PlanParams) -> Iterator[Family]:
    """Yield all ways to cut layers and the batch on a cluster, as far as `params` leave them open."""
    batch = batch_of(model, cluster, params)
    sizes = model.sizes if params.microbatch is None else (params.microbatch,)
    for tensor in _tensor_degrees(model, cluster, params):
        for data in _divisors(batch) if params.data is None else [params.data]:
            for size in sizes:
                count, rest = divmod(batch, data * size)
                if not rest and tensor * data <= cluster.size and count <= COUNT_LIMIT:
                    yield Family(tensor=tensor, data=data, microbatch=size, microbatches=count)


def positions(model: Model, cluster: Cluster, params: PlanParams, family: Family) -> range:
    """Return how many positions pipelines of a family may have."""
    most = min(cluster.size // (family.tensor * family.data), model.given.size)
    if params.pipeline is None:
        return range(1, most + 1)
    return range(params.pipeline, params.pipeline + 1 if params.pipeline <= most else params.pipeline)


def schedules_of(model: Model, params: PlanParams, family: Family, pipeline: int) -> Iterator[Choice]:
    """Yield the schedules of so many positions; of a single one 1F1B, as no other is quicker or holds less."""
    for schedule in SCHEDULES if params.schedule is None else [params.schedule]:
        if pipeline == 1 and params.schedule is None and schedule != "1f1b":
            continue
        for virtual in _virtual_stages(model, params, schedule, pipeline):
            choice = Choice(family=family, pipeline=pipeline, schedule=schedule, virtual=virtual)
            whole = schedule != "interleaved" or family.microbatches % pipeline == 0
            if whole and choice.passes <= MOST_PASSES and pipeline * virtual <= model.given.size:
                yield choice


def _tensor_degrees(model: Model, cluster: Cluster, params: PlanParams) -> list[int]:
    """Return among how many devices layers may be cut: divisors of their slices, of the devices if any will do."""
    if params.tensor is not None:
        return [params.tensor]
    return [size for size in _divisors(model.given.slices or cluster.size) if size <= cluster.size]


def _virtual_stages(model: Model, params: PlanParams, schedule: Schedule, pipeline: int) -> list[int]:
    """Return how many stages a position may have: two, four, and up to 8 that cut the layers evenly."""
    if schedule != "interleaved":
        return [1]
    if params.virtual is not None:
        return [params.virtual]
    body = sum(kind == "layer" for kind in model.given.kinds)
    even = [count for count in range(2, MOST_VIRTUAL + 1) if body and body % (pipeline * count) == 0]
    return sorted({*VIRTUAL, *even})


def _divisors(number: int) -> list[int]:
    """Return the divisors of a number >= 1, the least first."""
    low = [k for k in range(1, isqrt(number) + 1) if number % k == 0]
    return sorted({*low, *(number // k for k in low)})
