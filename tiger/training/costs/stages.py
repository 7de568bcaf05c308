"""The costs of layers at the positions of a pipeline, and of the stages of a plan."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from tiger.model.arrays import FloatArray, IntArray, lock, unset_array
from tiger.training.costs.groups import KEPT_GRIDS, ClosingRings, GroupPasses
from tiger.training.costs.plan import Plan
from tiger.training.costs.stage_positions import StageStyle, stage_positions, stages_by_position
from tiger.training.costs.sums import state_bytes, working_bytes
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.collectives import Collective, RingTable
from tiger.training.hardware.messages import MessageTable, pair_shares
from tiger.training.hardware.ring_links import RingLinks, nic_shares
from tiger.training.models.layers import Layers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Position:
    """Hold the seconds of each of L layers at a position of the pipeline, and the memory of the position.

    Layers are cut among `ranks` tensor-parallel devices; `memory_bytes` is that of the smallest of them, without the
    most that is held for a layer at work.
    """

    forward_s: FloatArray
    backward_s: FloatArray
    weight_s: FloatArray
    memory_bytes: float
    ranks: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workload:
    """Hold the costs of the S stages of one replica of a pipeline of p positions, to which `style` deals them.

    `forward_s[S]`, `backward_s[S]` and, within the latter, `weight_s[S]` are seconds of one microbatch,
    `transfer_s[S - 1]` those of a message to the next stage, or back from it. `held_bytes[S]` is held for every
    microbatch in flight, `state_bytes[S]` all the time, and each position `working_bytes[p]` for the layer at work, on
    each of the ranks. Where `pipelines` run side by side, their stages come one after another, and each has an equal
    part of the microbatches. `closing_s[p]` are the seconds of a position after its last backward pass, to all-reduce
    its gradients; `room_bytes[p]` (default: no limit) is the memory of its smallest device.
    """

    forward_s: FloatArray
    backward_s: FloatArray
    weight_s: FloatArray
    transfer_s: FloatArray
    held_bytes: FloatArray
    state_bytes: FloatArray
    closing_s: FloatArray
    room_bytes: FloatArray = field(default_factory=unset_array)
    working_bytes: FloatArray = field(default_factory=unset_array)
    style: StageStyle = "loop"
    pipelines: int = 1

    def __post_init__(self) -> None:
        """Fill the defaults in."""
        if not len(self.working_bytes):
            object.__setattr__(self, "working_bytes", np.zeros(len(self.closing_s)))
        if not len(self.room_bytes):
            object.__setattr__(self, "room_bytes", np.full(len(self.closing_s), np.inf))

    @property
    def positions(self) -> int:
        """Return p."""
        return len(self.closing_s)

    @property
    def stage_positions(self) -> IntArray:
        """Return the position `[S]` of every stage."""
        return stage_positions(self.style, self.positions, len(self.forward_s))

    @property
    def loads_s(self) -> FloatArray:
        """Return the seconds of each position for one microbatch: passes, and all messages at both of their ends."""
        crossing = np.concatenate([[0.0], self.transfer_s, [0.0]])
        load_s = self.forward_s + self.backward_s + 2 * (crossing[:-1] + crossing[1:])
        return np.asarray(self.by_position(load_s).sum(axis=0)) / self.pipelines

    def by_position(self, values: FloatArray) -> FloatArray:
        """Return values `[S]` of stages as those `[v, p]` of positions with v stages each."""
        return values[stages_by_position(self.style, self.positions, len(values))]


def position_of(layers: Layers, cluster: Cluster, ranks: IntArray) -> Position:
    """Return the costs of layers on devices `ranks[d, t]`: of d replicas the slowest, each cut among t devices."""
    return positions_of(layers, cluster, ranks[None])[0]


def positions_of(layers: Layers, cluster: Cluster, grid: IntArray) -> list[Position]:
    """Return the costs of layers at each position of a grid `[p, d, t]`."""
    slowest, tensor = passes_s(layers, cluster, grid).max(axis=1), grid.shape[2]
    memory = cluster.memory_bytes[grid].min(axis=(1, 2)) - layers.working_bytes.max() / tensor
    return [
        Position(
            forward_s=forward,
            backward_s=backward,
            weight_s=np.minimum(weight, backward),
            memory_bytes=max(room, 0.0),
            ranks=tensor,
        )
        for (forward, backward, weight), room in zip(slowest, memory.tolist(), strict=True)
    ]


def transfers_s(layers: Layers, cluster: Cluster, sender: IntArray, receiver: IntArray) -> FloatArray:
    """Return the seconds `[.., L + 1]` of a message over each boundary from `sender[.., d, t]` to `receiver[.., d, t]`.

    Every rank sends its share to its counterpart; the slowest pair counts.
    """
    ends = sender, receiver
    size = layers.crossing_bytes / sender.shape[-1]
    spent = MessageTable(cluster=cluster, size_bytes=size).seconds(ends, pair_shares(cluster, ends))
    return np.asarray(spent.max(axis=(-3, -2)))


def workloads(layers: Layers, cluster: Cluster, plan: Plan) -> tuple[Workload, ...]:
    """Return the costs of the stages of every replica."""
    if plan.style == "mirror":
        ways = [workloads(layers, cluster, each) for each in plan.directions]
        closing = closing_s(layers.between(plan.cuts), cluster, plan)
        return tuple(_join_ways(one, other, closing) for one, other in zip(*ways, strict=True))
    layers, cuts, grid = layers.between(plan.cuts), np.array(plan.cuts), plan.grid
    tensor, closing, every = grid.shape[2], closing_s(layers, cluster, plan), np.arange(plan.stages)
    stages = plan.stage_positions
    sums = np.add.reduceat(_passes_on_grid(layers, cluster, grid.tobytes(), grid.shape), cuts[:-1], axis=-1)[
        stages, :, :, every
    ]
    ends = grid[stages[:-1]], grid[stages[1:]]
    crossing = MessageTable(cluster=cluster, size_bytes=layers.crossing_bytes[cuts[1:-1]] / tensor)
    sent_s = crossing.seconds(ends, pair_shares(cluster, ends), every[:-1, None, None]).max(axis=2)
    held = np.add.reduceat(layers.held_bytes, cuts[:-1]) / tensor
    state, room = state_bytes(layers, plan.cuts) / tensor, cluster.memory_bytes[grid].min(axis=(1, 2))
    working = working_bytes(layers, plan.cuts, plan.positions, plan.style) / tensor
    return tuple(
        Workload(
            forward_s=sums[:, replica, 0],
            backward_s=sums[:, replica, 1],
            weight_s=sums[:, replica, 2],
            transfer_s=sent_s[:, replica],
            held_bytes=held,
            state_bytes=state,
            closing_s=closing,
            room_bytes=room,
            working_bytes=working,
            style=plan.style,
        )
        for replica in range(grid.shape[1])
    )


def _join_ways(one: Workload, other: Workload, closing: FloatArray) -> Workload:
    """Return the costs of two pipelines in opposite directions, the stages of the second behind those of the first."""
    return Workload(
        forward_s=np.concatenate([one.forward_s, other.forward_s]),
        backward_s=np.concatenate([one.backward_s, other.backward_s]),
        weight_s=np.concatenate([one.weight_s, other.weight_s]),
        transfer_s=np.concatenate([one.transfer_s, [0.0], other.transfer_s]),
        held_bytes=np.tile(one.held_bytes, 2),
        state_bytes=np.tile(one.state_bytes, 2),
        closing_s=closing,
        room_bytes=one.room_bytes,
        working_bytes=np.maximum(one.working_bytes, one.working_bytes[::-1]),
        style="mirror",
        pipelines=2,
    )


@lru_cache(maxsize=KEPT_GRIDS)
def _passes_on_grid(layers: Layers, cluster: Cluster, content: bytes, shape: tuple[int, ...]) -> FloatArray:
    """Return `passes_s` of a grid, kept for the last few, as searches for cuts ask for one again and again."""
    return lock(passes_s(layers, cluster, np.frombuffer(content, np.int64).reshape(shape)))


def closing_s(layers: Layers, cluster: Cluster, plan: Plan) -> FloatArray:
    """Return the seconds of reducing gradients at each position: among replicas, then of tied layers."""
    holders = plan.holders
    p, d, t = holders.shape
    closing = ClosingRings.of(layers, cluster, plan.cuts, (p, d, t), plan.style).seconds(holders)
    # Both stages of a position of two pipelines are reduced, one after the other.
    return closing + closing[::-1] if plan.style == "mirror" else closing


def reduction_kind(layers: Layers) -> Collective:
    """Return what tensor-parallel ranks do with their sums: sequence parallelism scatters before it gathers."""
    return "both" if layers.scattered else "all-reduce"


def exposed_s(layers: Layers, sent_s: FloatArray, hiding_s: FloatArray) -> FloatArray:
    """Return what messages add to a pass whose products hide so many seconds: the rest, and what products lose."""
    hidden_s = np.minimum(sent_s, hiding_s)
    return np.asarray(np.maximum(sent_s - hiding_s, 0.0) + (layers.setup.overlap_tensor or 0.0) * hidden_s)


def passes_s(layers: Layers, cluster: Cluster, ranks: IntArray) -> FloatArray:
    """Return forward, backward and weight seconds `[.., d, 3, L]` of the replicas on `ranks[.., d, t]`.

    Each pass all-reduces as much among tensor-parallel devices, a backward pass of recomputed layers twice that.
    """
    traffic, calls, (replicas, tensor) = layers.traffic, np.maximum(layers.reductions, 1), ranks.shape[-2:]
    slowdown = 1 / (tensor * cluster.speed[ranks].min(axis=-1))
    forward, backward, weight = (
        each * slowdown[..., None] for each in (layers.forward_s, layers.backward_s, layers.weight_s)
    )
    size, kind = layers.reduced_bytes / calls, reduction_kind(layers)
    reducing = RingTable(cluster=cluster, size_bytes=size, ranks=tensor, collective=kind, times=calls)
    if reducing.sends:
        sent_s = reducing.seconds(RingLinks.of(cluster, ranks, nic_shares(cluster, ranks)))
        reduce_s = exposed_s(layers, sent_s, layers.hiding_s * slowdown[..., None])
        forward, backward = forward + reduce_s, backward + (1 + traffic.repeats) * reduce_s
    times = np.stack([forward, backward, weight], axis=-2)
    if traffic.in_passes:
        ahead, back = GroupPasses.of(layers, cluster, (replicas, tensor)).seconds(ranks)
        times[..., 0, :] += ahead
        times[..., 1, :] += back
    return times
