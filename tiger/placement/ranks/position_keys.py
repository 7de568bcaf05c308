"""Keys of 64 bits of the ranks of positions, equal for ranks that cost the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import IntArray
from tiger.training.hardware.cluster import NO_LINK, Cluster

# Numbers of a table at a time: 128 kB, which stay in the cache of a core.
BATCH_CELLS = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PositionKeys:
    """Hold a random number for each of R ranks and each label of its device, `number[R, c]`, and the `label[n]`.

    Devices of one label make no difference to costs. The sum of the numbers of a position is its key: equal for ranks
    that cost the same, and for others as good as never, as two sums of 64 bits seldom agree by chance. Source: Zobrist,
    A new hashing method with application for game playing, 1970, reprinted in ICCA Journal 13 (1990) 69,
    doi:10.3233/ICG-1990-13203.
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
        """Return the keys `[N, p]` of the positions of `grids[N, p, d, t]`, modulo 2^64."""
        keys, (ranks, labels) = np.empty((len(grids), self.shape[0]), np.int64), self.number.shape
        for part in row_batches(len(grids), ranks):
            cells = self.label[grids[part].reshape(-1, ranks)] + np.arange(0, ranks * labels, labels)
            keys[part] = self.number.ravel()[cells].reshape(len(cells), self.shape[0], -1).sum(axis=2)
        return keys


def exchange_labels(cluster: Cluster) -> IntArray:
    """Return a label for each device [n]: exchanging two of one label changes no cost of any grid.

    They are of one type and on one machine. Where a ring depends on the order in which links are tried, every device
    has a label of its own.
    """
    if min(cluster.only_links) < NO_LINK and not cluster.ring_orders.alike:
        return np.arange(cluster.size)
    pairs = np.stack([cluster.device_types(), cluster.machine])
    return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def mix_keys(keys: Sequence[IntArray] | IntArray) -> IntArray:
    """Return one key for several in turn, modulo 2^64."""
    return np.asarray(sum(key * factor for key, factor in zip(keys, draw_factors(len(keys)), strict=True)))


def draw_factors(count: int) -> IntArray:
    """Return odd random factors, by which keys are told apart whose order counts."""
    return np.random.default_rng(1).integers(2**63, size=count) | 1


def row_batches(count: int, cells: int) -> Iterator[slice]:
    """Yield parts of rows of so many cells each, so that tables of a part stay in the cache."""
    batch = max(BATCH_CELLS // cells, 1)
    yield from (slice(begin, begin + batch) for begin in range(0, count, batch))
