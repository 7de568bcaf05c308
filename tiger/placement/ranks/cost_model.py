"""The costs of grids of ranks between fixed cuts, for many grids at once."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.costs.groups import ClosingRings, GroupPasses
from tiger.training.costs.stages import Workload, exposed_s, reduction_kind
from tiger.training.costs.sums import state_bytes, working_bytes
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.collectives import RingTable
from tiger.training.hardware.messages import MessageTable, pair_shares
from tiger.training.hardware.ring_links import RingLinks, nic_shares
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
class GridCosts:
    """Hold the costs of N grids in seconds: passes `[N, S, d]`, messages `[N, S - 1, d]`, closing `[N, p]`."""

    forward_s: FloatArray
    backward_s: FloatArray
    weight_s: FloatArray
    transfer_s: FloatArray
    closing_s: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridCostModel:
    """Hold the costs of S stages between cuts, and what their ranks send on a cluster.

    `passes_s[3, S]` are the seconds of forward, backward and weight passes on one rank of speed 1, `calls[S, U]` how
    often a pass all-reduces each of U sizes, `repeated_calls[S, U]` how often a backward pass does again, and
    `hiding_s[U]` the seconds of products on one rank of speed 1 behind which a call goes. `reduced` are the sums of
    tensor-parallel ranks, by size, `sent` messages to the next stage, by stage, `closing` what follows an iteration,
    and `groups` what replicas send each other in passes, None for nothing. A rank holds `state_bytes[p]` and, for every
    microbatch, `held_bytes[S]`, and `working_bytes[p]` for the layer at work.
    """

    layers: Layers
    cluster: Cluster
    degrees: ParallelDegrees
    passes_s: FloatArray
    calls: FloatArray
    repeated_calls: FloatArray
    hiding_s: FloatArray
    reduced: RingTable
    sent: MessageTable
    closing: ClosingRings
    groups: GroupPasses | None
    state_bytes: FloatArray
    held_bytes: FloatArray
    working_bytes: FloatArray

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, cuts: tuple[int, ...], degrees: ParallelDegrees) -> Self:
        """Return the costs of a model on a cluster between cuts."""
        p, d, t = degrees.shape
        layers, begins = layers.between(cuts), np.array(cuts[:-1])
        times = np.array([layers.forward_s, layers.backward_s, layers.weight_s])
        calls = np.maximum(layers.reductions, 1)
        pairs = np.stack([layers.reduced_bytes, layers.hiding_s / t]) / calls
        (sizes, hiding_s), which = np.unique(pairs, axis=1, return_inverse=True)
        often = np.where(which.reshape(-1, 1) == np.arange(len(sizes)), calls[:, None], 0.0)
        traffic = layers.traffic
        return cls(
            layers=layers,
            cluster=cluster,
            degrees=degrees,
            passes_s=np.add.reduceat(times, begins, axis=1) / t,
            calls=np.add.reduceat(often, begins, axis=0),
            repeated_calls=np.add.reduceat(often * traffic.repeats[:, None], begins, axis=0),
            hiding_s=hiding_s,
            reduced=RingTable(cluster=cluster, size_bytes=sizes, ranks=t, collective=reduction_kind(layers)),
            sent=MessageTable(cluster=cluster, size_bytes=layers.crossing_bytes[list(cuts[1:-1])] / t),
            closing=ClosingRings.of(layers, cluster, cuts, degrees.shape),
            groups=GroupPasses.of(layers, cluster, (d, t), begins) if traffic.in_passes else None,
            state_bytes=state_bytes(layers, cuts) / t,
            held_bytes=np.add.reduceat(layers.held_bytes, begins) / t,
            working_bytes=working_bytes(layers, cuts, p) / t,
        )

    def costs(self, grids: IntArray) -> GridCosts:
        """Return the costs of `grids[N, p, d, t]`; O(N S d t U)."""
        cluster, stages = self.cluster, np.arange(self.passes_s.shape[1]) % self.degrees.pipeline
        slowdown = 1 / cluster.speed[grids].min(axis=3)[:, stages]
        forward, backward, weight = (each[:, None] * slowdown for each in self.passes_s)
        if self.reduced.sends:
            links = RingLinks.of(cluster, grids, nic_shares(cluster, grids))
            hiding_s = slowdown[..., None] * self.hiding_s
            reduced = exposed_s(self.layers, self.reduced.seconds(links)[:, stages], hiding_s)
            reducing_s, repeated_s = (_add_calls(reduced, calls) for calls in (self.calls, self.repeated_calls))
            forward, backward = forward + reducing_s, backward + reducing_s + repeated_s
        ends = grids[:, stages[:-1]], grids[:, stages[1:]]
        sent = self.sent.seconds(ends, pair_shares(cluster, ends), np.arange(len(stages) - 1)[:, None, None])
        if self.groups is not None:
            ahead, back = self.groups.seconds(grids[:, stages], np.arange(len(stages)))
            forward, backward = forward + ahead, backward + back
        return GridCosts(
            forward_s=forward,
            backward_s=backward,
            weight_s=weight,
            transfer_s=sent.max(axis=3),
            closing_s=self.closing.seconds(grids),
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
        room = np.maximum(self.cluster.memory_bytes[grids].min(axis=(2, 3)), 1.0)
        return np.asarray(slow * (1 + OVERFULL * np.maximum(held / room - 1, 0.0).sum(axis=1)))

    def workloads(self, grid: IntArray) -> tuple[Workload, ...]:
        """Return the costs of the stages of every replica.

        Those of `tiger.training.costs.stages.workloads`, but that of links of unlike latency the slowest counts for a
        stage, and there for each layer.
        """
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


def _add_calls(reduced_s: FloatArray, calls: FloatArray) -> FloatArray:
    """Return the seconds [N, S, d] of calls [S, U] of all-reduces that take `reduced_s[N, S, d, U]`."""
    often = np.broadcast_to(calls[:, None], reduced_s.shape)
    return np.asarray(np.multiply(reduced_s, often, out=np.zeros(reduced_s.shape), where=often > 0).sum(axis=3))
