"""The costs of layers at the positions of a pipeline, and of the stages of a plan."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from tiger.model.arrays import FloatArray, IntArray, unset_array
from tiger.training.costs.groups import closing_rings_s, group_passes_s
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.collectives import all_reduce_s
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
    """Hold the costs of the S stages of one replica of a pipeline of p positions; stage j runs at position j mod p.

    `forward_s[S]`, `backward_s[S]` and, within the latter, `weight_s[S]` are seconds of one microbatch,
    `transfer_s[S - 1]` those of a message to the next stage, or back from it. `held_bytes[S]` is held for every
    microbatch in flight, `state_bytes[S]` all the time, and each position `working_bytes[p]` for the layer at work, on
    each of the ranks.
    `closing_s[p]` are the seconds
    of a position after its last backward pass, to all-reduce its gradients; `room_bytes[p]` (default: no limit) is the
    memory of its smallest device.
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
    def loads_s(self) -> FloatArray:
        """Return the seconds of each position for one microbatch: passes, and all messages at both of their ends."""
        crossing = np.concatenate([[0.0], self.transfer_s, [0.0]])
        load_s = self.forward_s + self.backward_s + 2 * (crossing[:-1] + crossing[1:])
        return np.asarray(load_s.reshape(-1, self.positions).sum(axis=0))


def position_of(layers: Layers, cluster: Cluster, ranks: IntArray) -> Position:
    """Return the costs of layers on devices `ranks[d, t]`: of d replicas the slowest, each cut among t devices."""
    replicas = passes_s(layers, cluster, ranks)
    forward, backward, weight = np.max(replicas, axis=0)
    return Position(
        forward_s=forward,
        backward_s=backward,
        weight_s=np.minimum(weight, backward),
        memory_bytes=max(float(cluster.memory_bytes[ranks].min() - layers.working_bytes.max() / ranks.shape[1]), 0.0),
        ranks=ranks.shape[1],
    )


def transfers_s(layers: Layers, cluster: Cluster, sender: IntArray, receiver: IntArray) -> FloatArray:
    """Return the seconds of a message over each of L + 1 boundaries from `sender[d, t]` to `receiver[d, t]`.

    Every rank sends its share to its counterpart; the slowest pair counts.
    """
    return _slowest_s(cluster, layers.crossing_bytes / sender.shape[1], sender, receiver)


def workloads(layers: Layers, cluster: Cluster, plan: Plan) -> tuple[Workload, ...]:
    """Return the costs of the stages of every replica."""
    cuts, grid = np.array(plan.cuts), plan.grid
    tensor, closing = grid.shape[2], closing_s(layers, cluster, plan)
    activation_bytes = np.add.reduceat(layers.held_bytes, cuts[:-1]) / tensor
    spent_s = [passes_s(layers, cluster, ranks) for ranks in grid]
    loads = []
    for replica in range(grid.shape[1]):
        passes = [replicas[replica] for replicas in spent_s]
        sums = np.array(
            [np.add.reduceat(passes[j % plan.positions], cuts[:-1], axis=1)[:, j] for j in range(plan.stages)]
        )
        ends = [
            (grid[j % plan.positions, [replica]], grid[(j + 1) % plan.positions, [replica]]) for j in range(plan.stages)
        ]
        share = layers.crossing_bytes[cuts[1:-1]] / tensor
        sent = [float(_slowest_s(cluster, share[j], *ends[j])) for j in range(plan.stages - 1)]
        loads.append(
            Workload(
                forward_s=sums[:, 0],
                backward_s=sums[:, 1],
                weight_s=sums[:, 2],
                transfer_s=np.array(sent, np.float64),
                held_bytes=activation_bytes,
                state_bytes=state_bytes(layers, plan.cuts) / tensor,
                closing_s=closing,
                room_bytes=cluster.memory_bytes[grid].min(axis=(1, 2)),
                working_bytes=working_bytes(layers, plan.cuts, plan.positions) / tensor,
            )
        )
    return tuple(loads)


def state_bytes(layers: Layers, cuts: tuple[int, ...]) -> FloatArray:
    """Return the bytes that stages hold all the time; of tied layers in one stage the first alone counts."""
    sums = np.add.reduceat(layers.state_bytes, np.array(cuts[:-1]))
    for group in layers.tied:
        stages = np.searchsorted(cuts, group, side="right") - 1
        for member, stage in list(zip(group, stages, strict=True))[1:]:
            if (stages[: group.index(member)] == stage).any():
                sums[stage] -= layers.state_bytes[member]
    return sums


def working_bytes(layers: Layers, cuts: tuple[int, ...], positions: int) -> FloatArray:
    """Return the most that each position holds for one of its layers while it is at work."""
    stages = np.maximum.reduceat(layers.working_bytes, np.array(cuts[:-1]))
    return np.asarray(stages.reshape(-1, positions).max(axis=0))


def position_sums(layers: Layers, size_bytes: FloatArray, cuts: tuple[int, ...], positions: int) -> FloatArray:
    """Return the bytes of each position's layers; of tied layers at one position the first alone counts."""
    sums = np.add.reduceat(size_bytes, np.array(cuts[:-1])).reshape(-1, positions).sum(axis=0)
    for group in layers.tied:
        places = (np.searchsorted(cuts, group, side="right") - 1) % positions
        for k, member in enumerate(group):
            if (places[:k] == places[k]).any():
                sums[places[k]] -= size_bytes[member]
    return np.asarray(np.maximum(sums, 0.0))


def closing_s(layers: Layers, cluster: Cluster, plan: Plan) -> FloatArray:
    """Return the seconds of reducing gradients at each position: among replicas, then of tied layers."""
    cuts, grid, traffic = np.array(plan.cuts), plan.grid, layers.traffic
    tensor = grid.shape[2]
    sent = [
        [position_sums(layers, row, plan.cuts, plan.positions) / tensor for row in part]
        for part in (traffic.scattered_bytes, traffic.gathered_bytes)
    ]
    closing = closing_rings_s(cluster, grid, np.array(sent), traffic.expert)
    for group in layers.tied:
        places = sorted({int(j) % plan.positions for j in np.searchsorted(cuts, group, side="right") - 1})
        size = layers.gradient_bytes[group[0]] / tensor
        rings = [grid[places, d, t].tolist() for d in range(grid.shape[1]) for t in range(tensor)]
        closing[places] += max(float(all_reduce_s(cluster, ring, size)) for ring in rings)
    return closing


def _slowest_s(cluster: Cluster, size_bytes: ArrayLike, sender: IntArray, receiver: IntArray) -> FloatArray:
    """Return the seconds of messages from each sender to its counterpart, of which the slowest pair counts."""
    ends = zip(sender.ravel().tolist(), receiver.ravel().tolist(), strict=True)
    # Links of one curve take equally long: one of each is enough, and one within a device.
    pairs = {(a == b, int(cluster.link[a, b])): (a, b) for a, b in ends}
    slowest: FloatArray = np.max([cluster.seconds(a, b, size_bytes) for a, b in pairs.values()], axis=0)
    return slowest


def passes_s(layers: Layers, cluster: Cluster, ranks: IntArray) -> FloatArray:
    """Return forward, backward and weight seconds [d, 3, L] of the replicas on `ranks[d, t]`.

    Each pass all-reduces as much among tensor-parallel devices, a backward pass of recomputed layers twice that.
    """
    traffic, calls = layers.traffic, np.maximum(layers.reductions, 1)
    passes = []
    known: dict[frozenset[int], FloatArray] = {}
    ordered = cluster.ring_orders.arrange(ranks, 1)
    for row, links in zip(ranks, cluster.link[ordered, np.roll(ordered, 1, axis=1)].tolist(), strict=True):
        slowdown = 1 / (len(row) * cluster.speed[row].min())
        # Rings over links of the same curves take equally long.
        ring = frozenset(links)
        if ring not in known:
            known[ring] = calls * all_reduce_s(cluster, row.tolist(), layers.reduced_bytes / calls)
        reduce_s = known[ring]
        backward_s = layers.backward_s * slowdown + (1 + traffic.repeats) * reduce_s
        passes.append([layers.forward_s * slowdown + reduce_s, backward_s, layers.weight_s * slowdown])
    times = np.array(passes)
    if traffic.in_passes:
        times[:, :2] += group_passes_s(traffic, cluster, ranks)
    return times
