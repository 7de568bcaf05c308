"""The bytes that an iteration sends over every link."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from tiger.model.arrays import IntArray
from tiger.training.costs.plan import Plan
from tiger.training.costs.sums import position_sums
from tiger.training.hardware.ring_orders import RingOrders
from tiger.training.models.layers import Layers

Link = tuple[int, int]


def link_traffic(
    layers: Layers, plan: Plan, microbatches: int, orders: RingOrders | None = None
) -> Mapping[Link, float]:
    """Return the bytes between devices (a, b), a < b, in both directions together; the links that carry any.

    Every replica runs `microbatches`, whatever the schedule: activations forward and gradients back between stages,
    all-reduces among tensor-parallel ranks in both passes, what ranks with the same layers send each other in them, and
    once, at the end, all-reduces of gradients among replicas and among the holders of tied layers. Rings are those
    whose seconds `tiger.training.costs.stages` counts, in the `orders` of a cluster, by default as they are given. O(S
    d t), with experts O(S d t e).
    """
    sent, layers = LinkBytes(orders), layers.between(plan.cuts)
    for each in plan.directions:
        count = microbatches // len(plan.directions)
        _add_messages(sent, layers, each, count)
        _add_reductions(sent, layers, each, count)
        if layers.traffic.in_passes:
            _add_groups(sent, layers, each, count)
    _add_gradients(sent, layers, plan)
    return {link: sent.known[link] for link in sorted(sent.known)}


@dataclass(slots=True)
class LinkBytes:
    """Add up the bytes over links, of rings in the orders of a cluster."""

    orders: RingOrders | None
    known: dict[Link, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, ends: Link, size: float) -> None:
        """Add a message between two devices, if there is any."""
        if size and ends[0] != ends[1]:
            self.known[min(ends), max(ends)] += size

    def add_ring(self, given: Sequence[int], size: float) -> None:
        """Add an all-reduce of r ranks: 2 (r - 1) times each sends a part of 1 / r to the next.

        Rings over several machines leave them by all their ranks in turn, each with its share.
        """
        rings = [tuple(given)] if self.orders is None else self.orders.rotate(tuple(given))
        # A ring of one has a link to itself, over which nothing goes.
        for ring in rings:
            for k in range(len(ring)):
                self.add((ring[k - 1], ring[k]), 2 * (len(ring) - 1) * size / (len(ring) * len(rings)))

    def add_gathers(self, ranks: IntArray, size: tuple[float, float], expert: int) -> None:
        """Add the gathering of dense layers and of experts among ranks with the same ones: half of an all-reduce."""
        dense, experts = size
        for ring in ranks.T.tolist():
            self.add_ring(ring, dense / 2)
            for first in range(expert if experts else 0):
                self.add_ring(ring[first::expert], experts / 2)


def _add_messages(sent: LinkBytes, layers: Layers, plan: Plan, microbatches: int) -> None:
    """Add messages over the boundaries between stages, forward and back, a share for each tensor-parallel rank."""
    share = layers.crossing_bytes / (layers.setup.overlap_pipeline or 1.0) / plan.grid.shape[2]
    at = plan.stage_positions
    for stage in range(plan.stages - 1):
        here, there = plan.grid[at[stage]], plan.grid[at[stage + 1]]
        for a, b in zip(here.ravel().tolist(), there.ravel().tolist(), strict=True):
            sent.add((a, b), 2 * microbatches * float(share[plan.cuts[stage + 1]]))


def _add_reductions(sent: LinkBytes, layers: Layers, plan: Plan, microbatches: int) -> None:
    """Add the all-reduces of tensor-parallel ranks in forward and backward passes."""
    # A backward pass repeats those of the layers that it recomputes.
    stages = np.add.reduceat((2 + layers.traffic.repeats) * layers.reduced_bytes, np.array(plan.cuts[:-1]))
    for stage, size in enumerate(stages.tolist()):
        for ring in plan.grid[plan.stage_positions[stage]].tolist():
            sent.add_ring(ring, microbatches * size)


def _add_groups(sent: LinkBytes, layers: Layers, plan: Plan, microbatches: int) -> None:
    """Add what ranks with the same layers send each other in passes."""
    traffic, begins, tensor = layers.traffic, np.array(plan.cuts[:-1]), plan.grid.shape[2]
    gathered = 2 * traffic.pass_gathered_bytes + traffic.pass_scattered_bytes
    passed, exchanged = (3 + traffic.repeats) * traffic.context_bytes, (2 + traffic.repeats) * traffic.exchanged_bytes
    sums = np.add.reduceat([*gathered, passed, exchanged], begins, axis=1).T * microbatches / tensor
    for stage, (dense, experts, keys, tokens) in enumerate(sums.tolist()):
        ranks = plan.grid[plan.stage_positions[stage]]
        sent.add_gathers(ranks, (dense, experts), traffic.expert)
        for first in range(0, len(ranks), traffic.context):
            for ring in ranks[first : first + traffic.context].T.tolist():
                sent.add_ring(ring, keys / 2)
        for first in range(0, len(ranks), traffic.expert):
            for group in ranks[first : first + traffic.expert].T.tolist():
                for a, b in permutations(group, 2):
                    sent.add((a, b), tokens / len(group))


def _add_gradients(sent: LinkBytes, layers: Layers, plan: Plan) -> None:
    """Add the all-reduces of gradients among replicas, and among the stages that hold tied layers."""
    cuts, grid, traffic = np.array(plan.cuts), plan.holders, layers.traffic
    replicas, tensor = grid.shape[1:]
    both = traffic.scattered_bytes + traffic.gathered_bytes
    dense, experts = (position_sums(layers, row, plan.cuts, plan.positions, plan.style) / tensor for row in both)
    for position, size in enumerate(zip(dense.tolist(), experts.tolist(), strict=True)):
        sent.add_gathers(grid[position], size, traffic.expert)
    for group in layers.tied:
        places = np.unique(plan.stage_positions[np.searchsorted(cuts, group, side="right") - 1])
        for d in range(replicas):
            for t in range(tensor):
                sent.add_ring(grid[places, d, t].tolist(), float(layers.gradient_bytes[group[0]]) / tensor)
