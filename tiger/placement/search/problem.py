"""The problem of placing a chain of layers, with the sizes of the pipeline that follow from it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.chain.baselines import uniform_cuts
from tiger.placement.chain.params import LineParams
from tiger.placement.params import PlaceParams
from tiger.placement.search.evaluator import Evaluator
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.schedules.memory import chunks_in_flight, in_flight
from tiger.training.schedules.pass_orders import pipelines_of, stages_each, style_of, wanted_microbatches

# Documented defaults: microbatches for each position, and stages at a position of an interleaved pipeline.
MICROBATCHES, VIRTUAL = 4, 2


def virtual_stages(params: PlaceParams) -> int:
    """Return how many stages a position has."""
    return params.virtual or stages_each(params.schedule) or VIRTUAL


def most_positions(layers: Layers, cluster: Cluster, params: PlaceParams) -> int:
    """Return the most positions that a pipeline may have, 0 if there are too few layers or devices."""
    count = params.microbatches
    most = min(cluster.size // (params.tensor * params.copies), layers.size // virtual_stages(params))
    if params.pipeline is not None:
        return params.pipeline if params.pipeline <= most else 0
    runs = (p for p in range(most, 0, -1) if not wanted_microbatches(params.schedule, p, count or MICROBATCHES * p))
    return next(runs, 0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChainProblem:
    """Hold a model, a cluster and parameters, and the sizes and limits that follow from them.

    `layers` have the costs that they have in as many stages of as many layers, which searches for cuts add up, `least`
    those of bounds, and `evaluator` those of any cuts: all the same but where the first layers of a stage alone are
    recomputed. A pipeline has at most `positions` positions of `virtual` stages each, and runs `microbatches`. `line`
    are the limits of a line of single devices.
    """

    layers: Layers
    least: Layers
    cluster: Cluster
    params: PlaceParams
    positions: int
    virtual: int
    microbatches: int
    line: LineParams
    evaluator: Evaluator

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, params: PlaceParams) -> Self:
        """Return the problem of a model whose layers are enough for one position at least."""
        positions, virtual = most_positions(layers, cluster, params), virtual_stages(params)
        microbatches = params.microbatches or MICROBATCHES * positions
        device = {name: k for k, name in enumerate(cluster.names)}
        layer = {name: k for k, name in enumerate(layers.names)}
        pinned = {layer[name]: device[host] for name, host in params.pinned.items()}
        return cls(
            layers=layers.between(uniform_cuts(layers, positions * virtual)),
            least=layers.least,
            cluster=cluster,
            params=params,
            positions=positions,
            virtual=virtual,
            microbatches=microbatches,
            line=LineParams(
                stages=positions if virtual > 1 or style_of(params.schedule) == "mirror" else params.pipeline,
                in_flight=_in_flight(params, positions, microbatches),
                pinned=pinned,
                style=style_of(params.schedule),
            ),
            evaluator=Evaluator(
                layers=layers,
                cluster=cluster,
                schedule=params.schedule,
                objective=params.objective,
                microbatches=microbatches,
                pinned=pinned,
            ),
        )

    @property
    def line_cluster(self) -> Cluster:
        """Return the cluster with the memory that devices of a line have beside the most that a layer at work holds."""
        working = float(self.layers.working_bytes.max())
        if not working:
            return self.cluster
        return replace(self.cluster, memory_bytes=np.maximum(self.cluster.memory_bytes - working, 0.0))

    @property
    def is_line(self) -> bool:
        """Return whether every position has one stage, and every stage one position."""
        return self.virtual == 1 and self.line.style == "loop"

    @property
    def has_groups(self) -> bool:
        """Return whether a position has several ranks, of tensor- or data-parallel groups."""
        return self.params.tensor * self.params.copies > 1

    @property
    def uniform_plan(self) -> Plan:
        """Return as many layers in every stage, on the devices in the order of the cluster."""
        grid = rank_order((self.positions, self.params.copies, self.params.tensor))
        return self.make_plan(uniform_cuts(self.layers, self.positions * self.virtual), grid)

    def make_plan(self, cuts: tuple[int, ...], grid: IntArray) -> Plan:
        """Return a plan whose stages are dealt to positions as the schedule does."""
        return Plan(cuts=cuts, grid=grid, style=self.line.style)

    def is_run_by(self, positions: int) -> bool:
        """Return whether a pipeline of p positions can run the microbatches."""
        return wanted_microbatches(self.params.schedule, positions, self.microbatches) is None


def _in_flight(params: PlaceParams, positions: int, microbatches: int) -> Callable[[int], float]:
    """Return how many microbatches a stage holds, by the number of stages behind it."""
    virtual = virtual_stages(params)
    each = virtual * pipelines_of(params.schedule)
    if params.schedule is None or each == 1:
        return in_flight(params.schedule, microbatches)
    return chunks_in_flight(params.schedule, positions, each, microbatches)
