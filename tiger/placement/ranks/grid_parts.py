"""Estimates of many grids of ranks by their different parts, each of which is evaluated once."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.ranks.cost_model import GridCostModel, PositionCosts
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

    def keys(self, grids: IntArray) -> IntArray:
        """Return the keys `[N, p]` of the positions of `grids[N, p, d, t]`."""
        ranks, labels = self.number.shape
        cells = self.label[grids.reshape(-1, ranks)] + np.arange(0, ranks * labels, labels)
        # Sums are taken modulo 2^64.
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


def estimate_grids(cost_model: GridCostModel, grids: IntArray, keys: IntArray) -> FloatArray:
    """Return what `cost_model.estimates` does of `grids[N, p, d, t]` whose positions have `keys[N, p]`.

    Of equal positions, messages between equal positions, and ties of equal positions each is evaluated once: exact but
    for keys that agree by chance.
    """
    (count, p), hops = keys.shape, np.arange(cost_model.hops)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    place = place.reshape(count, p)
    at = cost_model.position_costs(grids.reshape(-1, *grids.shape[2:])[first], first % p)
    first, pair = _number_rows(np.stack([place[:, hops], place[:, (hops + 1) % p]]).reshape(2, -1))
    grid, hop = np.divmod(first, max(len(hops), 1))
    sent_s = cost_model.messages_s((grids[grid, hop], grids[grid, (hop + 1) % p]), hop)
    pair, ties = pair.reshape(count, len(hops)), []
    for number, (places, _) in enumerate(cost_model.closing.ties):
        first, tie = _number_rows(place[:, places].T)
        ties.append(cost_model.closing.tied_s(number, grids[first[:, None], places])[tie])
    found, batch = np.empty(count), max(BATCH_CELLS // int(np.prod(at.passes_s.shape[1:])), 1)
    for begin in range(0, count, batch):
        part = slice(begin, begin + batch)
        own = PositionCosts(
            passes_s=at.passes_s[place[part]],
            closing_s=at.closing_s[place[part]],
            memory_bytes=at.memory_bytes[place[part]],
        )
        costs = cost_model.join_costs(own, sent_s[pair[part]], [spent[part] for spent in ties])
        found[part] = cost_model.estimate(costs)
    return found


def _number_rows(columns: IntArray) -> tuple[IntArray, IntArray]:
    """Return where each different row of columns `[c, N]` of numbers >= 0 is first, and the number of each row."""
    number = columns[0]
    for column in columns[1:]:
        number = np.unique(number, return_inverse=True)[1] * (column.max(initial=0) + 1) + column
    _, first, which = np.unique(number, return_index=True, return_inverse=True)
    return first, which
