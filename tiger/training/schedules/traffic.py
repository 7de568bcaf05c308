"""The bytes that an iteration sends over every link."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from tiger.model.arrays import IntArray
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import position_sums
from tiger.training.models.layers import Layers

Link = tuple[int, int]


def link_traffic(layers: Layers, plan: Plan, microbatches: int) -> Mapping[Link, float]:
    """Return the bytes between devices (a, b), a < b, in both directions together; the links that carry any.

    Every replica runs `microbatches`, whatever the schedule: activations forward and gradients back between stages,
    all-reduces among tensor-parallel ranks in both passes, what ranks with the same layers send each other in them, and
    once, at the end, all-reduces of gradients among replicas and among the holders of tied layers. Rings are those
    whose seconds `tiger.training.costs.stages` counts. O(S d t), with experts O(S d t e).
    """
    sent: dict[Link, float] = defaultdict(float)
    _add_messages(sent, layers, plan, microbatches)
    _add_reductions(sent, layers, plan, microbatches)
    if layers.traffic.in_passes:
        _add_groups(sent, layers, plan, microbatches)
    _add_gradients(sent, layers, plan)
    return {link: sent[link] for link in sorted(sent)}


def _add_messages(sent: dict[Link, float], layers: Layers, plan: Plan, microbatches: int) -> None:
    """Add messages over the boundaries between stages, forward and back, a share for each tensor-parallel rank."""
    share = layers.crossing_bytes / plan.grid.shape[2]
    for stage in range(plan.stages - 1):
        here, there = plan.grid[stage % plan.positions], plan.grid[(stage + 1) % plan.positions]
        for a, b in zip(here.ravel().tolist(), there.ravel().tolist(), strict=True):
            _add(sent, (a, b), 2 * microbatches * float(share[plan.cuts[stage + 1]]))


def _add_reductions(sent: dict[Link, float], layers: Layers, plan: Plan, microbatches: int) -> None:
    """Add the all-reduces of tensor-parallel ranks in forward and backward passes."""
    # A backward pass repeats those of the layers that it recomputes.
    stages = np.add.reduceat((2 + layers.traffic.repeats) * layers.reduced_bytes, np.array(plan.cuts[:-1]))
    for stage, size in enumerate(stages.tolist()):
        for ring in plan.grid[stage % plan.positions].tolist():
            _add_ring(sent, ring, microbatches * size)


def _add_groups(sent: dict[Link, float], layers: Layers, plan: Plan, microbatches: int) -> None:
    """Add what ranks with the same layers send each other in passes."""
    traffic, begins, tensor = layers.traffic, np.array(plan.cuts[:-1]), plan.grid.shape[2]
    gathered = 2 * traffic.pass_gathered_bytes + traffic.pass_scattered_bytes
    passed, exchanged = (3 + traffic.repeats) * traffic.context_bytes, (2 + traffic.repeats) * traffic.exchanged_bytes
    sums = np.add.reduceat([*gathered, passed, exchanged], begins, axis=1).T * microbatches / tensor
    for stage, (dense, experts, keys, tokens) in enumerate(sums.tolist()):
        ranks = plan.grid[stage % plan.positions]
        _add_gathers(sent, ranks, (dense, experts), traffic.expert)
        for first in range(0, len(ranks), traffic.context):
            for ring in ranks[first : first + traffic.context].T.tolist():
                _add_ring(sent, ring, keys / 2)
        for first in range(0, len(ranks), traffic.expert):
            for group in ranks[first : first + traffic.expert].T.tolist():
                for a, b in permutations(group, 2):
                    _add(sent, (a, b), tokens / len(group))


def _add_gathers(sent: dict[Link, float], ranks: IntArray, size: tuple[float, float], expert: int) -> None:
    """Add the gathering of dense layers and of experts among ranks with the same ones: half of an all-reduce."""
    dense, experts = size
    for ring in ranks.T.tolist():
        _add_ring(sent, ring, dense / 2)
        for first in range(expert if experts else 0):
            _add_ring(sent, ring[first::expert], experts / 2)


def _add_gradients(sent: dict[Link, float], layers: Layers, plan: Plan) -> None:
    """Add the all-reduces of gradients among replicas, and among the stages that hold tied layers."""
    cuts, grid, traffic = np.array(plan.cuts), plan.grid, layers.traffic
    replicas, tensor = grid.shape[1:]
    both = traffic.scattered_bytes + traffic.gathered_bytes
    dense, experts = (position_sums(layers, row, plan.cuts, plan.positions) / tensor for row in both)
    for position, size in enumerate(zip(dense.tolist(), experts.tolist(), strict=True)):
        _add_gathers(sent, grid[position], size, traffic.expert)
    for group in layers.tied:
        places = sorted({int(stage) % plan.positions for stage in np.searchsorted(cuts, group, side="right") - 1})
        for d in range(replicas):
            for t in range(tensor):
                _add_ring(sent, grid[places, d, t].tolist(), float(layers.gradient_bytes[group[0]]) / tensor)


def _add_ring(sent: dict[Link, float], ring: Sequence[int], size: float) -> None:
    """Add an all-reduce of r ranks: 2 (r - 1) times each sends a part of 1 / r to the next."""
    # A ring of one has a link to itself, over which nothing goes.
    for k in range(len(ring)):
        _add(sent, (ring[k - 1], ring[k]), 2 * (len(ring) - 1) * size / len(ring))


def _add(sent: dict[Link, float], ends: Link, size: float) -> None:
    """Add a message between two devices, if there is any."""
    if size and ends[0] != ends[1]:
        sent[min(ends), max(ends)] += size
