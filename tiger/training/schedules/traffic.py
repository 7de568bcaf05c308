"""The bytes that an iteration sends over every link."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import gradient_bytes
from tiger.training.models.layers import Layers

Link = tuple[int, int]


def link_traffic(layers: Layers, plan: Plan, microbatches: int) -> Mapping[Link, float]:
    """Return the bytes between devices (a, b), a < b, in both directions together; the links that carry any.

    Every replica runs `microbatches`, whatever the schedule: activations forward and gradients back between stages,
    all-reduces among tensor-parallel ranks in both passes, and once, at the end, those of gradients among replicas and
    among the holders of tied layers. Rings are those whose seconds `tiger.training.costs.stages` counts. O(S d t).
    """
    sent: dict[Link, float] = defaultdict(float)
    _add_messages(sent, layers, plan, microbatches)
    _add_reductions(sent, layers, plan, microbatches)
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
    stages = np.add.reduceat(layers.reduced_bytes, np.array(plan.cuts[:-1]))
    for stage, size in enumerate(stages.tolist()):
        for ring in plan.grid[stage % plan.positions].tolist():
            _add_ring(sent, ring, 2 * microbatches * size)


def _add_gradients(sent: dict[Link, float], layers: Layers, plan: Plan) -> None:
    """Add the all-reduces of gradients among replicas, and among the stages that hold tied layers."""
    cuts, grid = np.array(plan.cuts), plan.grid
    replicas, tensor = grid.shape[1:]
    parameters = gradient_bytes(layers, plan.cuts, plan.positions) / tensor
    for position, size in enumerate(parameters.tolist()):
        for t in range(tensor):
            _add_ring(sent, grid[position, :, t].tolist(), size)
    for group in layers.tied:
        places = sorted({int(stage) % plan.positions for stage in np.searchsorted(cuts, group, side="right") - 1})
        for d in range(replicas):
            for t in range(tensor):
                _add_ring(sent, grid[places, d, t].tolist(), float(layers.parameter_bytes[group[0]]) / tensor)


def _add_ring(sent: dict[Link, float], ring: Sequence[int], size: float) -> None:
    """Add an all-reduce of r ranks: 2 (r - 1) times each sends a part of 1 / r to the next."""
    # A ring of one has a link to itself, over which nothing goes.
    for k in range(len(ring)):
        _add(sent, (ring[k - 1], ring[k]), 2 * (len(ring) - 1) * size / len(ring))


def _add(sent: dict[Link, float], ends: Link, size: float) -> None:
    """Add a message between two devices, if there is any."""
    if size and ends[0] != ends[1]:
        sent[min(ends), max(ends)] += size
