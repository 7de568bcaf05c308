"""The seconds that ranks with the same layers spend on messages to each other, in passes and after an iteration.

Ranks with the same layers are `ranks[.., d, t]`: groups of context ranks and of expert ranks are runs of consecutive
rows, and experts are the same in every `expert`-th row.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self, TypeVar

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.costs.stage_positions import StageStyle, stage_positions
from tiger.training.costs.sums import position_sums
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.collectives import RingTable
from tiger.training.hardware.messages import MessageTable
from tiger.training.hardware.ring_links import RingLinks, nic_shares
from tiger.training.models.layers import Layers

# Axes of a grid `[p, d, t]`, and how many grids are kept of which something is known: searches for cuts ask for few.
GRID_AXES, KEPT_GRIDS = 3, 16

AnyArray = TypeVar("AnyArray", IntArray, FloatArray)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupPasses:
    """Hold the messages that d rows of t ranks with the same layers send in passes: the first of pairs goes forward.

    `dense` go among all rows, `experts` among every `expert`-th, keys and values (`context`) and tokens (`exchanged`)
    in runs of as many rows as their sizes say. Costs are those of L layers, or of stages that begin at some of them.
    """

    cluster: Cluster
    context_size: int
    expert_size: int
    dense: tuple[RingTable, RingTable]
    experts: tuple[RingTable, RingTable]
    context: tuple[RingTable, RingTable]
    exchanged: tuple[MessageTable, MessageTable]

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, shape: tuple[int, int], begins: IntArray | None = None) -> Self:
        """Return the messages of layers on ranks `[d, t]` of a shape."""
        traffic, (replicas, tensor) = layers.traffic, shape
        context, expert, again = traffic.context, traffic.expert, 1 + traffic.repeats

        def ring(size_bytes: FloatArray, ranks: int, times: FloatArray | None = None) -> RingTable:
            often = np.ones(layers.size) if times is None else times
            return RingTable(cluster=cluster, size_bytes=size_bytes / tensor, ranks=ranks, begins=begins, times=often)

        def gathers(kind: int, ranks: int) -> tuple[RingTable, RingTable]:
            # A layer that is recomputed is gathered once for both its passes.
            return ring(traffic.pass_gathered_bytes[kind], ranks), ring(traffic.pass_scattered_bytes[kind], ranks)

        def message(times: FloatArray) -> MessageTable:
            size = traffic.exchanged_bytes * (expert > 1) / (tensor * expert)
            return MessageTable(cluster=cluster, size_bytes=size, begins=begins, times=times)

        return cls(
            cluster=cluster,
            context_size=context,
            expert_size=expert,
            dense=gathers(0, replicas),
            experts=gathers(1, replicas // expert),
            context=(ring(traffic.context_bytes, context), ring(traffic.context_bytes, context, 1 + again)),
            exchanged=(message(np.ones(layers.size)), message(again)),
        )

    def seconds(self, ranks: IntArray, columns: IntArray | None = None) -> FloatArray:
        """Return the seconds `[2, .., d, x]` of forward and backward passes of each row of `ranks[.., d, t]`.

        With `columns[..]` of x those alone, `[2, .., d]`.
        """
        replicas = ranks.shape[-2]
        share = nic_shares(self.cluster, ranks)
        near, far = self.context_size, self.expert_size
        dense, experts, runs = (1, replicas, 1), (1, replicas // far, far), (replicas // near, near, 1)
        ahead, back = (
            self._rings(self.dense[0], ranks, share, columns, dense)
            + self._rings(self.experts[0], ranks, share, columns, experts)
            + self._rings(self.context[k], ranks, share, columns, runs)
            + self._exchange(self.exchanged[k], ranks, share, columns)
            for k in range(2)
        )
        for table, split in ((self.dense[1], dense), (self.experts[1], experts)):
            back = back + self._rings(table, ranks, share, columns, split)
        return np.array(np.broadcast_arrays(ahead, back))

    def _rings(
        self,
        table: RingTable,
        ranks: IntArray,
        share: FloatArray,
        columns: IntArray | None,
        split: tuple[int, int, int],
    ) -> FloatArray:
        """Return the seconds that rows spend in rings, the slowest of each group counting.

        Rows are split into groups, the ranks of a ring in them, and rings side by side.
        """
        if not table.sends:
            return np.zeros(())
        links = _find_links(self.cluster, ranks, share, split)
        spent = table.seconds(links, columns if columns is None else columns[..., None, None])
        # Axes are groups and rings of each, and x unless there are columns.
        slowest = spent.max(axis=-1 if columns is not None else -2)
        return np.repeat(slowest, split[1] * split[2], axis=-1 if columns is not None else -2)

    def _exchange(
        self, table: MessageTable, ranks: IntArray, share: FloatArray, columns: IntArray | None
    ) -> FloatArray:
        """Return the seconds that rows spend on sending tokens from all to all in runs of them."""
        if not table.size_bytes.any():
            return np.zeros(())
        split = (ranks.shape[-2] // self.expert_size, self.expert_size, 1)
        at = columns if columns is None else columns[..., None, None]
        spent = table.all_to_all_s(_group(ranks, split), _group(share, split), at)
        slowest = spent.max(axis=-1 if columns is not None else -2)
        return np.repeat(slowest, self.expert_size, axis=-1 if columns is not None else -2)


def _find_links(cluster: Cluster, ranks: IntArray, share: FloatArray, split: tuple[int, int, int]) -> RingLinks:
    """Return the links of the rings of `ranks[.., d, t]`; those of the last few single grids are kept."""
    if ranks.ndim == GRID_AXES:
        return _links_of_grid(cluster, ranks.tobytes(), ranks.shape, split)
    return RingLinks.of(cluster, _group(ranks, split), _group(share, split))


@lru_cache(maxsize=KEPT_GRIDS)
def _links_of_grid(cluster: Cluster, content: bytes, shape: tuple[int, ...], split: tuple[int, int, int]) -> RingLinks:
    """Return the links of the rings of a grid."""
    ranks = np.frombuffer(content, np.int64).reshape(shape)
    return RingLinks.of(cluster, _group(ranks, split), _group(nic_shares(cluster, ranks), split))


def _join(ranks: AnyArray) -> AnyArray:
    """Return values of ranks `[.., r, d, t]` of r positions as rings `[.., d, t, r]`; one number for all as it is."""
    return np.moveaxis(ranks, -3, -1) if ranks.shape else ranks


def _group(ranks: AnyArray, split: tuple[int, int, int]) -> AnyArray:
    """Return `[.., d, t]` as rings `[.., groups, rings, r]`: d is groups x r x rings side by side, by rows.

    One number for all as it is.
    """
    if not ranks.shape:
        return ranks
    groups, size, beside = split
    apart = ranks.reshape(*ranks.shape[:-2], groups, size, beside * ranks.shape[-1])
    return np.swapaxes(apart, -1, -2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClosingRings:
    """Hold the messages of p positions after an iteration: gradients of `dense` layers and `experts`, and of `ties`.

    Each tie is the positions that hold some of the same parameters.
    """

    cluster: Cluster
    expert: int
    dense: tuple[RingTable, ...]
    experts: tuple[RingTable, ...]
    ties: tuple[tuple[IntArray, RingTable], ...]

    @classmethod
    def of(
        cls,
        layers: Layers,
        cluster: Cluster,
        cuts: tuple[int, ...],
        shape: tuple[int, int, int],
        style: StageStyle = "loop",
    ) -> Self:
        """Return the messages of layers between cuts on a grid `[p, d, t]` of a shape."""
        traffic, (positions, replicas, tensor) = layers.traffic, shape
        halves = [
            [position_sums(layers, row, cuts, positions, style) / tensor for row in part]
            for part in (traffic.scattered_bytes, traffic.gathered_bytes)
        ]

        def rings(kind: int, ranks: int) -> tuple[RingTable, ...]:
            if layers.setup.sharding == "none":
                size = halves[0][kind]
                return (RingTable(cluster=cluster, size_bytes=size, ranks=ranks, collective="all-reduce"),)
            return tuple(RingTable(cluster=cluster, size_bytes=half[kind], ranks=ranks) for half in halves)

        ties, at = [], stage_positions(style, positions, len(cuts) - 1)
        for group in layers.tied:
            places = np.unique(at[np.searchsorted(cuts, group, side="right") - 1])
            size = np.array([layers.gradient_bytes[group[0]] / tensor])
            table = RingTable(cluster=cluster, size_bytes=size, ranks=len(places), collective="all-reduce")
            ties.append((places, table))
        return cls(
            cluster=cluster,
            expert=traffic.expert,
            dense=rings(0, replicas),
            experts=rings(1, replicas // traffic.expert),
            ties=tuple(ties),
        )

    def seconds(self, grids: IntArray) -> FloatArray:
        """Return the seconds `[.., p]` of `grids[.., p, d, t]`: among replicas, then of tied layers."""
        closing = self.replicas_s(grids, np.arange(grids.shape[-3]))
        for number, (places, _) in enumerate(self.ties):
            closing[..., places] += self.tied_s(number, grids[..., places, :, :])[..., None]
        return closing

    def replicas_s(self, ranks: IntArray, position: IntArray) -> FloatArray:
        """Return the seconds `[..]` that `ranks[.., d, t]` at each `position[..]` spend on gradients among replicas."""
        replicas = ranks.shape[-2]
        closing, share = np.zeros(ranks.shape[:-2]), nic_shares(self.cluster, ranks)
        columns = position[..., None, None]
        splits = ((self.dense, (1, replicas, 1)), (self.experts, (1, replicas // self.expert, self.expert)))
        for tables, split in splits:
            if any(table.sends for table in tables):
                links = _find_links(self.cluster, ranks, share, split)
                for table in tables:
                    closing = closing + table.seconds(links, columns).max(axis=(-1, -2))
        return closing

    def tied_s(self, number: int, ranks: IntArray) -> FloatArray:
        """Return the seconds `[..]` of a tie whose positions have `ranks[.., r, d, t]`, in its order."""
        table = self.ties[number][1]
        if not table.sends:
            return np.zeros(ranks.shape[:-3])
        share = nic_shares(self.cluster, ranks)
        links = RingLinks.of(self.cluster, _join(ranks), _join(share))
        return np.asarray(table.seconds(links, np.zeros((1, 1), np.int64)).max(axis=(-1, -2)))
