"""Estimates of many grids of ranks by their different parts, each of which is evaluated once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
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


class Cells(NamedTuple):
    """Hold the row and the column where each different cell of a table is first, and the `number[N, c]` of each."""

    row: IntArray
    column: IntArray
    number: IntArray


def estimate_grids(cost_model: GridCostModel, grids: Grids, keys: IntArray) -> FloatArray:
    """Return what `cost_model.estimates` does of the first N grids, whose positions and base's have `keys[1 + N, p]`.

    Of equal positions, messages between equal positions, and ties of equal positions each is evaluated once: exact but
    for keys that agree by chance. Of most grids few positions differ from those of the base.
    """
    hops, differs = np.arange(cost_model.hops), keys[1:] != keys[0]
    following = (hops + 1) % keys.shape[1]
    places = _number_cells(keys[1:], differs)
    passes_s, closing_s, memory_bytes = _position_costs(cost_model, grids, places)
    before, behind = places.number[:, hops], places.number[:, following]
    pairs = _number_cells(before * len(places.row) + behind, differs[:, hops] | differs[:, following])
    sent_s, ties_s = _messages_s(cost_model, grids, pairs), _ties_s(cost_model, grids, places.number)
    found = np.empty(len(places.number))
    for part in _parts(len(found), int(np.prod(cost_model.degrees.shape[:2])) * passes_s.shape[1]):
        at, closing = places.number[part], [spent[part] for spent in ties_s]
        closed_s = cost_model.close(closing_s[at], closing)
        found[part] = cost_model.estimate(passes_s[at], sent_s[pairs.number[part]], closed_s, memory_bytes[at])
    return found


def _position_costs(
    cost_model: GridCostModel, grids: Grids, places: Cells
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the seconds of both passes `[k, v, d]`, those after an iteration `[k]`, and the memory `[k]` of places."""
    costs = []
    for part in _parts(len(places.row), int(np.prod(grids.base.shape[1:]))):
        at = places.column[part]
        each = cost_model.position_costs(grids.rows(places.row[part], at), at)
        costs.append((each.forward_s + each.backward_s, each.closing_s, each.memory_bytes))
    passes_s, closing_s, memory_bytes = (np.concatenate(values) for values in zip(*costs, strict=True))
    return passes_s, closing_s, memory_bytes


def _messages_s(cost_model: GridCostModel, grids: Grids, pairs: Cells) -> FloatArray:
    """Return the seconds `[k, v, d]` of messages from each position of pairs to the next."""
    found = [np.zeros((0, len(cost_model.rounds), cost_model.degrees.data))]
    for part in _parts(len(pairs.row), int(np.prod(grids.base.shape[1:]))):
        row, hop = pairs.row[part], pairs.column[part]
        ends = grids.rows(row, hop), grids.rows(row, (hop + 1) % len(grids.base))
        found.append(cost_model.messages_s(ends, hop))
    return np.concatenate(found)


def _ties_s(cost_model: GridCostModel, grids: Grids, number: IntArray) -> list[FloatArray]:
    """Return the seconds `[N]` of each tie by the `number[N, p]` of positions."""
    ties = []
    for tie, (places, _) in enumerate(cost_model.closing.ties):
        first, which = _number_rows(number[:, places])
        ties.append(cost_model.closing.tied_s(tie, grids.rows(first[:, None], places))[which])
    return ties


def _parts(count: int, cells: int) -> Iterator[slice]:
    """Yield parts of rows of so many cells each, so that tables of a part stay in the cache."""
    batch = max(BATCH_CELLS // cells, 1)
    yield from (slice(begin, begin + batch) for begin in range(0, count, batch))


def _number_cells(values: IntArray, differs: BoolArray) -> Cells:
    """Return the different cells of `values[N, c]`, of which no two in different columns are equal.

    Those that do not differ from the base are its c cells, of row -1, which come first.
    """
    row, column = np.nonzero(differs)
    _, first, which = np.unique(values[row, column], return_index=True, return_inverse=True)
    every = np.arange(values.shape[1])
    number = np.tile(every, (len(values), 1))
    number[row, column] = len(every) + which
    return Cells(np.append(np.full(len(every), -1), row[first]), np.append(every, column[first]), number)


def _number_rows(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return where each different row of `values[N, c]`, numbers >= 0, is first, and the number of each row."""
    number = values[:, 0]
    for column in values[:, 1:].T:
        number = np.unique(number, return_inverse=True)[1] * (column.max(initial=0) + 1) + column
    _, first, which = np.unique(number, return_index=True, return_inverse=True)
    return first, which
