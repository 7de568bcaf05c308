"""The costs of grids of ranks between fixed cuts, for many grids at once."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.ranks.group_costs import GroupCosts
from tiger.training.costs.stages import Workload, position_sums, state_bytes, working_bytes
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.link_rows import link_rows, link_types, ring_rows
from tiger.training.hardware.ring_orders import RingOrders
from tiger.training.models.layers import Layers

# The share of all seconds that orders grids of one bottleneck. The factor by which an estimate grows for each time that
# state exceeds memory: above any gain, and finite, so that a search moves towards grids that fit.
TIE_BREAK, OVERFULL = 1e-6, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelDegrees:
    """Hold the numbers of positions, of data-parallel replicas, of tensor-parallel ranks, and of microbatches."""

    pipeline: int
    data: int = 1
    tensor: int = 1
    microbatches: int = 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return the shape of the grid of ranks."""
        return self.pipeline, self.data, self.tensor

    @property
    def ranks(self) -> int:
        """Return how many ranks there are."""
        return self.pipeline * self.data * self.tensor


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tie:
    """Hold the positions that share parameters, and the seconds to all-reduce gradients over each type of link."""

    places: IntArray
    spent_s: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridCosts:
    """Hold the costs of N grids in seconds: passes `[N, S, d]`, messages `[N, S - 1, d]`, closing `[N, p]`."""

    forward_s: FloatArray
    backward_s: FloatArray
    weight_s: FloatArray
    transfer_s: FloatArray
    closing_s: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridCostModel:
    """Hold the costs of S stages between cuts, and the seconds of their messages over each of c types of links.

    `passes_s[3, S]` are the seconds of forward, backward and weight passes on one rank of speed 1, `calls[S, U]` how
    often a pass all-reduces each of U sizes, `repeated_calls[S, U]` how often a backward pass does again. `reduce_s[c +
    2, U]`, `sent_s[c + 2, S - 1]` and `gradient_s[c + 2, p]` are seconds of all-reducing in a tensor-parallel ring, of
    a message to the next stage and of all-reducing gradients, if all links are of one type; the last two rows are no
    link, and none needed within a device. `expert_s[c + 2, p]` are those of the gradients of experts, which every
    `expert`-th replica shares, and `groups` what replicas send each other in passes, None for nothing. `link_type[n,
    n]` is the row of a pair, `orders` those of rings, `speed[n]` and `memory_bytes[n]` are those of the devices; a rank
    holds `state_bytes[p]` and, for every microbatch, `held_bytes[S]`, and `working_bytes[p]` for the layer at work.
    """

    degrees: ParallelDegrees
    passes_s: FloatArray
    calls: FloatArray
    repeated_calls: FloatArray
    reduce_s: FloatArray
    sent_s: FloatArray
    gradient_s: FloatArray
    expert_s: FloatArray
    expert: int
    groups: GroupCosts | None
    ties: tuple[Tie, ...]
    link_type: IntArray
    orders: RingOrders
    speed: FloatArray
    memory_bytes: FloatArray
    state_bytes: FloatArray
    held_bytes: FloatArray
    working_bytes: FloatArray

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, cuts: tuple[int, ...], degrees: ParallelDegrees) -> Self:
        """Return the costs of a model on a cluster between cuts."""
        p, d, t = degrees.shape
        begins = np.array(cuts[:-1])
        times = np.array([layers.forward_s, layers.backward_s, layers.weight_s])
        calls = np.maximum(layers.reductions, 1)
        sizes, which = np.unique(layers.reduced_bytes / calls, return_inverse=True)
        often = np.where(which[:, None] == np.arange(len(sizes)), calls[:, None], 0.0)
        traffic = layers.traffic
        halves = [
            [position_sums(layers, row, cuts, p) / (2 * t) for row in part]
            for part in (traffic.scattered_bytes, traffic.gathered_bytes)
        ]
        rings = [
            np.sum([ring_rows(cluster, 2 * part[k], copies) / 2 for part in halves], axis=0)
            for k, copies in enumerate((d, d // traffic.expert))
        ]
        return cls(
            degrees=degrees,
            passes_s=np.add.reduceat(times, begins, axis=1) / t,
            calls=np.add.reduceat(often, begins, axis=0),
            repeated_calls=np.add.reduceat(often * traffic.repeats[:, None], begins, axis=0),
            reduce_s=ring_rows(cluster, sizes, t),
            sent_s=link_rows(cluster, layers.crossing_bytes[list(cuts[1:-1])] / t),
            gradient_s=rings[0],
            expert_s=rings[1],
            expert=traffic.expert,
            groups=GroupCosts.of(layers, cluster, begins, degrees.shape),
            ties=tuple(_tied_positions(layers, cluster, cuts, group, degrees) for group in layers.tied),
            link_type=link_types(cluster),
            orders=cluster.ring_orders,
            speed=cluster.speed,
            memory_bytes=cluster.memory_bytes,
            state_bytes=state_bytes(layers, cuts) / t,
            held_bytes=np.add.reduceat(layers.held_bytes, begins) / t,
            working_bytes=working_bytes(layers, cuts, p) / t,
        )

    def costs(self, grids: IntArray) -> GridCosts:
        """Return the costs of `grids[N, p, d, t]`; O(N S d t U)."""
        stages = np.arange(self.passes_s.shape[1]) % self.degrees.pipeline
        rings = self._rings(grids, 3)
        reduced = self.reduce_s[rings].max(axis=3)[:, stages]
        reducing_s, repeated_s = (_add_calls(reduced, calls) for calls in (self.calls, self.repeated_calls))
        slowdown = 1 / self.speed[grids].min(axis=3)[:, stages]
        forward, backward, weight = (each[:, None] * slowdown for each in self.passes_s)
        ends = self.link_type[grids[:, stages[:-1]], grids[:, stages[1:]]]
        sent = self.sent_s[ends, np.arange(len(stages) - 1)[:, None, None]].max(axis=3)
        forward, backward = forward + reducing_s, backward + reducing_s + repeated_s
        if self.groups is not None:
            ahead, back = self.groups.spent_s(grids, self.link_type, self.orders, stages)
            forward, backward = forward + ahead, backward + back
        return GridCosts(
            forward_s=forward,
            backward_s=backward,
            weight_s=weight,
            transfer_s=sent,
            closing_s=self._closing_s(grids),
        )

    def estimates(self, grids: IntArray) -> FloatArray:
        """Return estimates of the seconds of an iteration on `grids[N, p, d, t]`, infinite without links.

        The slowest replica counts: its bottleneck for every microbatch, and the other positions once. A millionth of
        all seconds is added, which orders grids of one bottleneck; where state does not fit the estimate is multiplied
        by how much it exceeds memory.
        """
        costs, p = self.costs(grids), self.degrees.pipeline
        around = np.pad(costs.transfer_s, ((0, 0), (1, 1), (0, 0)))
        stage_s = costs.forward_s + costs.backward_s + 2 * (around[:, :-1] + around[:, 1:])
        loads = stage_s.reshape(len(grids), -1, p, stage_s.shape[2]).sum(axis=1)
        busy = self.degrees.microbatches * loads + costs.closing_s[:, :, None]
        linked = np.where(np.isfinite(loads), loads, 0.0)
        idle = (linked.sum(axis=1, keepdims=True) - linked) * p / stage_s.shape[1]
        slow = (busy + idle).max(axis=(1, 2)) + TIE_BREAK * busy.mean(axis=(1, 2))
        held = self.state_bytes.reshape(-1, p).sum(axis=0) + self.working_bytes
        room = np.maximum(self.memory_bytes[grids].min(axis=(2, 3)), 1.0)
        return np.asarray(slow * (1 + OVERFULL * np.maximum(held / room - 1, 0.0).sum(axis=1)))

    def workloads(self, grid: IntArray) -> tuple[Workload, ...]:
        """Return the costs of the stages of every replica; the same as `tiger.training.costs.stages.workloads`."""
        costs = self.costs(grid[None])
        return tuple(
            Workload(
                forward_s=costs.forward_s[0, :, replica],
                backward_s=costs.backward_s[0, :, replica],
                weight_s=costs.weight_s[0, :, replica],
                transfer_s=costs.transfer_s[0, :, replica],
                held_bytes=self.held_bytes,
                state_bytes=self.state_bytes,
                closing_s=costs.closing_s[0],
                working_bytes=self.working_bytes,
            )
            for replica in range(grid.shape[1])
        )

    def _rings(self, grids: IntArray, axis: int) -> IntArray:
        """Return the types of the links of rings along an axis of grids."""
        ordered = self.orders.arrange(grids, axis)
        return self.link_type[ordered, np.roll(ordered, 1, axis=axis)]

    def _closing_s(self, grids: IntArray) -> FloatArray:
        """Return the seconds of all-reducing gradients at each position."""
        rings = self._rings(grids, 2)
        at = np.arange(grids.shape[1])[:, None, None]
        closing: FloatArray = self.gradient_s[rings, at].max(axis=(2, 3))
        if self.expert_s.any():
            count, p, d, t = grids.shape
            rings = self._rings(grids.reshape(count, p, d // self.expert, self.expert * t), 2)
            closing = closing + self.expert_s[rings, at].max(axis=(2, 3))
        for tie in self.ties:
            held = grids[:, tie.places]
            rings = self._rings(held, 1)
            closing[:, tie.places] += tie.spent_s[rings].max(axis=(1, 2, 3))[:, None]
        return closing


def _add_calls(reduced_s: FloatArray, calls: FloatArray) -> FloatArray:
    """Return the seconds [N, S, d] of calls [S, U] of all-reduces that take `reduced_s[N, S, d, U]`."""
    often = np.broadcast_to(calls[:, None], reduced_s.shape)
    return np.asarray(np.multiply(reduced_s, often, out=np.zeros(reduced_s.shape), where=often > 0).sum(axis=3))


def _tied_positions(
    layers: Layers, cluster: Cluster, cuts: tuple[int, ...], group: tuple[int, ...], degrees: ParallelDegrees
) -> Tie:
    """Return the positions of tied layers."""
    stages = np.searchsorted(cuts, group, side="right") - 1
    places = np.unique(stages % degrees.pipeline)
    size = np.array([layers.gradient_bytes[group[0]] / degrees.tensor])
    return Tie(places=places, spent_s=ring_rows(cluster, size, len(places))[:, 0])
