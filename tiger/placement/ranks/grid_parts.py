"""Estimates of many grids of ranks by their different parts, each of which is evaluated once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.ranks.cost_model import GridCostModel
from tiger.placement.ranks.grid_moves import Grids
from tiger.training.hardware.cluster import NO_LINK, Cluster

# Numbers of a table at a time: 128 kB, which stay in the cache of a core.
BATCH_CELLS = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PositionKeys:
    """Hold numbers of 64 bits for each rank and label of a device, `number[R, c]`, and the `label[n]` of devices.

    Devices of one label make no difference to the costs of a grid. The sum of the numbers of a position is its key:
    equal for ranks that cost the same, and for others as good as never. Source of the keys: Zobrist, A new hashing
    method with application for game playing, 1970, reprinted in ICCA Journal 13 (1990) 69.
    """

    number: IntArray
    label: IntArray
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, cluster: Cluster, shape: tuple[int, int, int]) -> Self:
        """Return the keys of positions of grids `[p, d, t]` of a shape."""
        label = exchange_labels(cluster)
        size = int(np.prod(shape)), int(label.max()) + 1
        return cls(number=np.random.default_rng(0).integers(2**63, size=size), label=label, shape=shape)

    def keys(self, grids: Grids) -> IntArray:
        """Return the keys `[1 + N, p]` of the positions of the base of grids, and of all grids, modulo 2^64."""
        swaps, beside = 1 + len(grids.low), self.shape[1] * self.shape[2]
        keys = np.empty((1 + len(grids), self.shape[0]), np.int64)
        for part in _parts(len(grids.whole), grids.base.size):
            keys[swaps:][part] = self._sum(grids.whole[part])
        keys[:swaps] = self._sum(grids.base[None])
        label = self.label[grids.order]
        for here, other in ((grids.low, grids.high), (grids.high, grids.low)):
            used = np.flatnonzero(here < grids.base.size)
            at, new, old = here[used], label[other[used]], label[here[used]]
            keys[1 + used, at // beside] += self.number[at, new] - self.number[at, old]
        return keys

    def _sum(self, grids: IntArray) -> IntArray:
        """Return the keys `[N, p]` of `grids[N, p, d, t]`."""
        ranks, labels = self.number.shape
        cells = self.label[grids.reshape(-1, ranks)] + np.arange(0, ranks * labels, labels)
        return np.asarray(self.number.ravel()[cells].reshape(len(grids), self.shape[0], -1).sum(axis=2))


def exchange_labels(cluster: Cluster) -> IntArray:
    """Return a label for each device [n]: exchanging two of one label changes no cost of any grid.

    They are of one type and on one machine. Where a ring depends on the order in which links are tried, every device
    has a label of its own.
    """
    if min(cluster.only_links) < NO_LINK and not cluster.ring_orders.alike:
        return np.arange(cluster.size)
    pairs = np.stack([cluster.device_types(), cluster.machine])
    return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _nothing() -> IntArray:
    """Return no numbers."""
    return np.zeros(0, np.int64)


@dataclass(slots=True, eq=False)
class KnownCosts:
    """Hold the costs of parts by their rising `keys[k]`: the `row[k]` of `values[m, w]` of each, equal ones the same.

    `label[m]` is the key of the first part of each row, and `same` the row of values by their bytes.
    """

    values: FloatArray
    keys: IntArray = field(default_factory=_nothing)
    row: IntArray = field(default_factory=_nothing)
    label: IntArray = field(default_factory=_nothing)
    same: dict[bytes, int] = field(default_factory=dict)

    def rows(self, keys: IntArray, evaluate: Callable[[IntArray], FloatArray]) -> IntArray:
        """Return the row of each key, of which `evaluate` returns the costs `[m, w]` by their numbers if unknown."""
        at = np.searchsorted(self.keys, keys)
        unknown = np.flatnonzero(np.append(self.keys, 0)[at] != keys if len(self.keys) else np.ones(len(keys)))
        if len(unknown):
            unknown = unknown[np.unique(keys[unknown], return_index=True)[1]]
            self._add(keys[unknown], evaluate(unknown))
            at = np.searchsorted(self.keys, keys)
        return self.row[at]

    def _add(self, keys: IntArray, values: FloatArray) -> None:
        """Add the costs of parts with rising keys."""
        row, fresh = np.empty(len(keys), np.int64), []
        for number, cells in enumerate(map(bytes, values)):
            if cells not in self.same:
                self.same[cells] = len(self.same)
                fresh.append(number)
            row[number] = self.same[cells]
        at = np.searchsorted(self.keys, keys)
        self.keys, self.row = np.insert(self.keys, at, keys), np.insert(self.row, at, row)
        self.values = np.concatenate([self.values, values[fresh]])
        self.label = np.concatenate([self.label, keys[fresh]])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridEstimates:
    """Estimate grids by their parts, each different one of which is evaluated once, and so is each sum of them.

    Parts are `places` of the ranks of a position, `pairs` of positions that send each other messages, and `ties` of
    positions that hold the same parameters. Costs are those of `cost_model`: exact but for keys that agree by chance.
    """

    cost_model: GridCostModel
    keys: PositionKeys
    places: KnownCosts
    pairs: KnownCosts
    ties: tuple[KnownCosts, ...]

    @classmethod
    def of(cls, cost_model: GridCostModel, keys: PositionKeys) -> Self:
        """Return the estimates of a cost model, of which no part is known yet."""
        width = len(cost_model.rounds) * cost_model.degrees.data
        return cls(
            cost_model=cost_model,
            keys=keys,
            places=KnownCosts(np.empty((0, width + 2))),
            pairs=KnownCosts(np.empty((0, width))),
            ties=tuple(KnownCosts(np.empty((0, 1))) for _ in cost_model.closing.ties),
        )

    def seconds(self, grids: Grids, count: int) -> FloatArray:
        """Return what `cost_model.estimates` does of the first so many grids."""
        cost_model, keys = self.cost_model, self.keys.keys(grids)[: 1 + count]
        hops = np.arange(cost_model.hops)
        ends = keys[:, hops], keys[:, (hops + 1) % keys.shape[1]]
        places = self._rows_of(self.places, keys, partial(self._position_costs, grids))
        pairs = self._rows_of(self.pairs, _mix(ends), partial(self._messages_s, grids))
        ties = [
            self._rows_of(known, _mix(keys[:, at].T)[:, None], partial(self._tied_s, grids, number))[:, 0]
            for number, (known, (at, _)) in enumerate(zip(self.ties, cost_model.closing.ties, strict=True))
        ]
        labels = [self.places.label[places], self.pairs.label[pairs]]
        labels += [known.label[tie][:, None] for known, tie in zip(self.ties, ties, strict=True)]
        _, first, which = np.unique(_mix(np.concatenate(labels, axis=1).T), return_index=True, return_inverse=True)
        parts = (first[part] for part in _parts(len(first), keys.shape[1] * self.places.values.shape[1]))
        return np.concatenate([self._join(places[at], pairs[at], [tie[at] for tie in ties]) for at in parts])[which]

    def _join(self, places: IntArray, pairs: IntArray, ties: Sequence[IntArray]) -> FloatArray:
        """Return the estimates of grids by the rows of their places `[N, p]`, pairs `[N, hops]` and ties `[N]`."""
        shape = len(self.cost_model.rounds), self.keys.shape[1]
        at, sent_s = self.places.values[places], self.pairs.values[pairs]
        tied_s = [known.values[tie, 0] for known, tie in zip(self.ties, ties, strict=True)]
        return self.cost_model.estimate(
            at[..., :-2].reshape(*places.shape, *shape),
            sent_s.reshape(*pairs.shape, *shape),
            self.cost_model.close(at[..., -2], tied_s),
            at[..., -1],
        )

    def _rows_of(self, known: KnownCosts, keys: IntArray, evaluate: Callable[[IntArray, IntArray], FloatArray]) -> IntArray:
        """Return the rows `[N, c]` of parts in a table by their `keys[1 + N, c]`, of which the first are the base's.

        `evaluate` returns the costs of parts by the numbers of their grid, -1 for the base, and of their column.
        """
        base, others = keys[0], keys[1:]
        grid, column = np.nonzero(others != base)
        distinct, first, which = np.unique(others[grid, column], return_index=True, return_inverse=True)
        every = np.arange(len(base))
        grids, columns = np.append(np.full(len(base), -1), grid[first]), np.append(every, column[first])

        def evaluate_parts(unknown: IntArray) -> FloatArray:
            parts = (unknown[part] for part in _parts(len(unknown), self.keys.shape[1] * self.keys.shape[2]))
            return np.concatenate([evaluate(grids[part], columns[part]) for part in parts])

        row = known.rows(np.append(base, distinct), evaluate_parts)
        found = np.tile(row[: len(base)], (len(others), 1))
        found[grid, column] = row[len(base) :][which]
        return found

    def _position_costs(self, grids: Grids, grid: IntArray, position: IntArray) -> FloatArray:
        """Return the seconds of both passes of stages and replicas, of what follows, and the memory of positions."""
        costs = self.cost_model.position_costs(grids.rows(grid, position), position)
        passes_s = (costs.forward_s + costs.backward_s).reshape(len(grid), -1)
        return np.concatenate([passes_s, np.stack([costs.closing_s, costs.memory_bytes], axis=1)], axis=1)

    def _messages_s(self, grids: Grids, grid: IntArray, hop: IntArray) -> FloatArray:
        """Return the seconds of messages of stages and replicas from positions to the next."""
        ends = grids.rows(grid, hop), grids.rows(grid, (hop + 1) % len(grids.base))
        return self.cost_model.messages_s(ends, hop).reshape(len(grid), -1)

    def _tied_s(self, grids: Grids, number: int, grid: IntArray, _: IntArray) -> FloatArray:
        """Return the seconds of a tie."""
        places, _ = self.cost_model.closing.ties[number]
        return self.cost_model.closing.tied_s(number, grids.rows(grid[:, None], places))[:, None]


def _mix(keys: Sequence[IntArray] | IntArray) -> IntArray:
    """Return one key of 64 bits for several of parts in turn."""
    factors = np.random.default_rng(1).integers(2**63, size=len(keys)) | 1
    return np.asarray(sum(key * factor for key, factor in zip(keys, factors, strict=True)))


def _parts(count: int, cells: int) -> Iterator[slice]:
    """Yield parts of rows of so many cells each, so that tables of a part stay in the cache."""
    batch = max(BATCH_CELLS // cells, 1)
    yield from (slice(begin, begin + batch) for begin in range(0, count, batch))
