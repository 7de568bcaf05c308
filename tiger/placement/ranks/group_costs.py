"""The costs of messages among ranks with the same layers, for many grids at once."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.ranks.link_rows import link_rows
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupCosts:
    """Hold the seconds of S stages in passes, forward and backward, over each type of link: `[2, c + 2, S]` each.

    `dense_s` of gathering dense layers among all ranks of a position, `expert_s` of experts among each `expert`-th of
    them, `context_s` of keys and values in runs of `context`, and `exchanged_s` of one of the rounds in which runs of
    `expert` exchange tokens.
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

    def spent_s(self, grids: IntArray, link_type: IntArray, stages: IntArray) -> FloatArray:
        """Return the seconds `[2, N, S, d]` of forward and backward passes on `grids[N, p, d, t]`."""
        replicas = grids.shape[2]
        spent = self._slowest_s(self.dense_s, link_type, grids, stages, (replicas, 1))
        spent = spent + self._slowest_s(self.expert_s, link_type, grids, stages, (replicas, self.expert))
        spent = spent + self._slowest_s(self.context_s, link_type, grids, stages, (self.context, 1))
        for step in range(1, self.expert):
            spent = spent + self._slowest_s(self.exchanged_s, link_type, grids, stages, (self.expert, step))
        return spent

    @staticmethod
    def _slowest_s(
        table_s: FloatArray, link_type: IntArray, grids: IntArray, stages: IntArray, run: tuple[int, int]
    ) -> FloatArray:
        """Return what runs of `run[0]` rows spend whose ranks send to the `run[1]`-th one behind them."""
        count, p, replicas, tensor = grids.shape
        size, step = run
        if not table_s.any():
            return np.zeros((2, count, len(stages), replicas))
        groups = grids.reshape(count, p, -1, size, tensor)
        links = link_type[groups, np.roll(groups, step, axis=3)][:, stages]
        at = np.arange(len(stages))[:, None, None, None]
        return np.array([np.repeat(row[links, at].max(axis=(3, 4)), size, axis=2) for row in table_s])
