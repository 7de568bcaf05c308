"""The costs of grids of ranks between fixed cuts, for many grids at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.costs.groups import ClosingRings, GroupPasses
from tiger.training.costs.stages import Workload, exposed_s, reduction_kind
from tiger.training.costs.sums import state_bytes, working_bytes
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.collectives import RingTable
from tiger.training.hardware.messages import Ends, MessageTable, pair_shares
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
class PositionCosts:
    """Hold the costs of ranks at positions `[..]` of v stages each, in seconds, without those of tied layers.

    `forward_s[.., v, d]`, `backward_s` and `weight_s` are passes of each replica, `closing_s[..]` what follows an
    iteration, and `memory_bytes[..]` is that of the smallest device.
    """

    forward_s: FloatArray
    backward_s: FloatArray
    weight_s: FloatArray
    closing_s: FloatArray
    memory_bytes: FloatArray


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

    @property
    def rounds(self) -> IntArray:
        """Return the first stages [v] of the rounds of a pipeline, in each of which a position has one."""
        return np.arange(0, self.passes_s.shape[1], self.degrees.pipeline)

    @property
    def hops(self) -> int:
        """Return how many positions send messages to the next one, the last to the first where it has more stages."""
        return min(self.degrees.pipeline, int(self.passes_s.shape[1]) - 1)

    def costs(self, grids: IntArray) -> GridCosts:
        """Return the costs of `grids[N, p, d, t]`; O(N S d t U)."""
        at = self.position_costs(grids, np.arange(self.degrees.pipeline))
        return GridCosts(
            forward_s=_by_stage(at.forward_s),
            backward_s=_by_stage(at.backward_s),
            weight_s=_by_stage(at.weight_s),
            transfer_s=self._between_stages(self._messages_s(grids)),
            closing_s=self.close(at.closing_s, self._ties_s(grids)),
        )

    def estimates(self, grids: IntArray) -> FloatArray:
        """Return estimates [N] of the seconds of an iteration on `grids[N, p, d, t]`; see `estimate`."""
        at = self.position_costs(grids, np.arange(self.degrees.pipeline))
        closing_s = self.close(at.closing_s, self._ties_s(grids))
        return self.estimate(at.forward_s + at.backward_s, self._messages_s(grids), closing_s, at.memory_bytes)

    def position_costs(self, ranks: IntArray, position: IntArray) -> PositionCosts:
        """Return the costs of `ranks[.., d, t]` at each `position[..]`."""
        cluster, stages = self.cluster, position[..., None] + self.rounds
        slowdown = 1 / cluster.speed[ranks].min(axis=-1)[..., None, :]
        forward, backward, weight = (each[stages][..., None] * slowdown for each in self.passes_s)
        if self.reduced.sends:
            sent_s = self.reduced.seconds(RingLinks.of(cluster, ranks, nic_shares(cluster, ranks)))[..., None, :, :]
            reduced = exposed_s(self.layers, sent_s, slowdown[..., None] * self.hiding_s)
            reducing_s, repeated_s = (_add_calls(reduced, calls[stages]) for calls in (self.calls, self.repeated_calls))
            forward, backward = forward + reducing_s, backward + reducing_s + repeated_s
        if self.groups is not None:
            shape = (*ranks.shape[:-2], stages.shape[-1], *ranks.shape[-2:])
            ahead, back = self.groups.seconds(np.broadcast_to(ranks[..., None, :, :], shape), stages)
            forward, backward = forward + ahead, backward + back
        return PositionCosts(
            forward_s=forward,
            backward_s=backward,
            weight_s=weight,
            closing_s=self.closing.replicas_s(ranks, position),
            memory_bytes=cluster.memory_bytes[ranks].min(axis=(-1, -2)),
        )

    def messages_s(self, ends: Ends, position: IntArray) -> FloatArray:
        """Return the seconds `[.., v, d]` of messages from stages at each `position[..]` to the next, of `[.., d, t]`.

        The last stage sends none, and what is said of it is to be left out.
        """
        stages = np.minimum(position[..., None] + self.rounds, max(self.passes_s.shape[1] - 2, 0))
        pairs = ends[0][..., None, :, :], ends[1][..., None, :, :]
        share = pair_shares(self.cluster, ends)
        share = share[..., None, :, :] if share.shape else share
        if not stages.size:
            return np.zeros((*ends[0].shape[:-2], stages.shape[-1], self.degrees.data))
        return np.asarray(self.sent.seconds(pairs, share, stages[..., None, None]).max(axis=-1))

    def close(self, closing_s: FloatArray, ties_s: Sequence[FloatArray]) -> FloatArray:
        """Return what positions `[N, p]` spend after an iteration with the seconds `[N]` of each tie."""
        closed = closing_s.copy()
        for (places, _), spent in zip(self.closing.ties, ties_s, strict=True):
            closed[:, places] += spent[:, None]
        return closed

    def estimate(
        self, passes_s: FloatArray, sent_s: FloatArray, closing_s: FloatArray, memory_bytes: FloatArray
    ) -> FloatArray:
        """Return estimates [N] of the seconds of an iteration, infinite without links.

        Both passes of stages take `passes_s[N, p, v, d]`, messages `sent_s[N, hops, v, d]`, and what follows an
        iteration `closing_s[N, p]`. The slowest replica counts: its bottleneck for every microbatch, and the other
        positions once. A millionth of all seconds is added, which orders grids of one bottleneck; where state does not
        fit into `memory_bytes[N, p]` the estimate is multiplied by how much it exceeds that.
        """
        p = self.degrees.pipeline
        around = np.pad(self._between_stages(sent_s), ((0, 0), (1, 1), (0, 0)))
        stage_s = _by_stage(passes_s) + 2 * (around[:, :-1] + around[:, 1:])
        loads = stage_s.reshape(len(stage_s), -1, p, stage_s.shape[2]).sum(axis=1)
        busy = self.degrees.microbatches * loads + closing_s[:, :, None]
        linked = np.where(np.isfinite(loads), loads, 0.0)
        idle = (linked.sum(axis=1, keepdims=True) - linked) * p / stage_s.shape[1]
        slow = (busy + idle).max(axis=(1, 2)) + TIE_BREAK * busy.mean(axis=(1, 2))
        held = self.state_bytes.reshape(-1, p).sum(axis=0) + self.working_bytes
        room = np.maximum(memory_bytes, 1.0)
        return np.asarray(slow * (1 + OVERFULL * np.maximum(held / room - 1, 0.0).sum(axis=1)))

    def _messages_s(self, grids: IntArray) -> FloatArray:
        """Return the seconds `[N, hops, v, d]` of messages."""
        hops = np.arange(self.hops)
        return self.messages_s((grids[:, hops], grids[:, (hops + 1) % self.degrees.pipeline]), hops)

    def _ties_s(self, grids: IntArray) -> list[FloatArray]:
        """Return the seconds `[N]` of each tie."""
        return [self.closing.tied_s(k, grids[:, places]) for k, (places, _) in enumerate(self.closing.ties)]

    def _between_stages(self, sent_s: FloatArray) -> FloatArray:
        """Return seconds `[N, hops, v, d]` as those between stages `[N, S - 1, d]`."""
        return _by_stage(sent_s)[:, : self.passes_s.shape[1] - 1]

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
    """Return the seconds [.., v, d] of calls [.., v, U] of all-reduces that take `reduced_s[.., 1, d, U]`."""
    shape = np.broadcast_shapes(reduced_s.shape, calls[..., None, :].shape)
    often = np.broadcast_to(calls[..., None, :], shape)
    return np.asarray(np.multiply(reduced_s, often, out=np.zeros(shape), where=often > 0).sum(axis=-1))


def _by_stage(values: FloatArray) -> FloatArray:
    """Return values [N, p, v, ..] by position and round as [N, S, ..] by stage."""
    return np.swapaxes(values, 1, 2).reshape(len(values), values.shape[1] * values.shape[2], *values.shape[3:])
