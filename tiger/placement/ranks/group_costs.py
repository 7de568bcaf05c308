"""The costs of messages among ranks with the same layers, for many grids at once."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.link_rows import link_rows
from tiger.training.hardware.ring_orders import RingOrders
from tiger.training.models.layers import Layers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupCosts:
    """Hold the seconds of S stages in passes, forward and backward, over each type of link: `[2, c + 2, S]` each.

    `dense_s` of gathering dense layers among all ranks of a position, `expert_s` of experts among each `expert`-th of
    them, `context_s` of keys and values in runs of `context`, and `exchanged_s` of what a rank of a run of
    `expert` sends one other.
    """

    context: int
    expert: int
    dense_s: FloatArray
    expert_s: FloatArray
    context_s: FloatArray
    exchanged_s: FloatArray

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, begins: IntArray, shape: tuple[int, int, int]) -> Self | None:
        """Return the costs of stages that begin at some layers, on grids of a shape; None where nothing is sent."""
        traffic = layers.traffic
        if not traffic.in_passes:
            return None
        _, replicas, tensor = shape
        again = 1 + traffic.repeats
        context, expert = traffic.context, traffic.expert

        def rows(size_bytes: FloatArray, ranks: int, rounds: int) -> FloatArray:
            # Without rounds no link is needed, be there one or not.
            return rounds * link_rows(cluster, size_bytes * (rounds > 0) / (tensor * ranks))

        def both(forward_s: FloatArray, backward_s: FloatArray) -> FloatArray:
            return np.add.reduceat([forward_s, backward_s], begins, axis=2)

        def gathers(kind: int, ranks: int) -> FloatArray:
            parts = (traffic.pass_gathered_bytes[kind], traffic.pass_scattered_bytes[kind])
            gathered, scattered = (rows(part, ranks, ranks - 1) for part in parts)
            return both(gathered, gathered + scattered)

        passed, exchanged = rows(traffic.context_bytes, context, context - 1), rows(traffic.exchanged_bytes, expert, 1)
        return cls(
            context=context,
            expert=expert,
            dense_s=gathers(0, replicas),
            expert_s=gathers(1, replicas // expert),
            context_s=both(passed, passed * (1 + again)),
            exchanged_s=both(exchanged, exchanged * again),
        )

    def spent_s(self, grids: IntArray, link_type: IntArray, orders: RingOrders, stages: IntArray) -> FloatArray:
        """Return the seconds `[2, N, S, d]` of forward and backward passes on `grids[N, p, d, t]`."""
        count, p, replicas, tensor = grids.shape
        spent = np.zeros((2, count, len(stages), replicas))
        # Experts are the same in every `expert`-th replica.
        same = grids.reshape(count, p, 1, replicas // self.expert, self.expert * tensor)
        rings = (
            (self.dense_s, grids[:, :, None]),
            (self.expert_s, same),
            (self.context_s, grids.reshape(count, p, -1, self.context, tensor)),
        )
        at = np.arange(len(stages))[:, None, None, None]
        for table_s, groups in rings:
            if table_s.any():
                ordered = orders.arrange(groups, 3)
                links = link_type[ordered, np.roll(ordered, 1, axis=3)][:, stages]
                spent += _repeat(np.array([row[links, at].max(axis=(3, 4)) for row in table_s]), replicas)
        if self.exchanged_s.any():
            groups = grids.reshape(count, p, -1, self.expert, tensor)
            sent = np.zeros((2, *groups[:, stages].shape))
            for step in range(1, self.expert):
                links = link_type[groups, np.roll(groups, step, axis=3)][:, stages]
                sent += np.array([row[links, at] for row in self.exchanged_s])
            spent += _repeat(sent.max(axis=(4, 5)), replicas)
        return spent


def _repeat(group_s: FloatArray, replicas: int) -> FloatArray:
    """Return the seconds `[2, N, S, d]` of replicas, of which as many as there are groups spend the same."""
    return np.repeat(group_s, replicas // group_s.shape[3], axis=3)
