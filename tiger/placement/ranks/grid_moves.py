"""Grids of ranks one move away from a grid: ranks, groups, stages, rank indices or machines change places."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tiger.model.arrays import IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grids:
    """Hold N grids `[p, d, t]` of R ranks: first those of which only `base` and an exchange are kept, then others.

    `order[n]` are the devices of `base`, then those that it leaves unused. Each of the first k grids has the devices at
    `low[k]` < R and `high[k]` exchanged; `whole[N - k, p, d, t]` are the others.
    """

    base: IntArray
    order: IntArray
    low: IntArray
    high: IntArray
    whole: IntArray

    @classmethod
    def of(cls, grids: IntArray) -> Self:
        """Return grids `[N, p, d, t]`, N >= 1, as they are."""
        none = np.zeros(0, np.int64)
        return cls(base=grids[0], order=grids[0].ravel(), low=none, high=none, whole=grids)

    def __len__(self) -> int:
        """Return N."""
        return len(self.low) + len(self.whole)

    def first(self, count: int) -> "Grids":
        """Return the first so many grids."""
        exchanged = min(count, len(self.low))
        return replace(
            self, low=self.low[:exchanged], high=self.high[:exchanged], whole=self.whole[: count - exchanged]
        )

    def take(self, index: IntArray) -> IntArray:
        """Return the grids of some numbers `[..]`, `[.., p, d, t]`."""
        return self.rows(index[..., None], np.arange(len(self.base)))

    def rows(self, index: IntArray, position: IntArray) -> IntArray:
        """Return the ranks `[.., d, t]` that grids of some numbers `[..]` have at each `position[..]`; -1 is `base`."""
        index, position = np.broadcast_arrays(index, position)
        rows = np.empty((*index.shape, *self.base.shape[1:]), np.int64)
        plain, whole = index < 0, index >= len(self.low)
        rows[plain] = self.base[position[plain]]
        rows[whole] = self.whole[index[whole] - len(self.low), position[whole]]
        exchanged = ~plain & ~whole
        rows[exchanged] = self._exchange_devices(index[exchanged], position[exchanged])
        return rows

    def _exchange_devices(self, index: IntArray, position: IntArray) -> IntArray:
        """Return the ranks `[m, d, t]` at positions `[m]` of grids with an exchange."""
        beside = int(np.prod(self.base.shape[1:]))
        ranks = self.base[position].reshape(len(position), beside)
        begin, (low, high) = position * beside, (self.low[index], self.high[index])
        for here, other in ((low, high), (high, low)):
            inside = np.flatnonzero((begin <= here) & (here < begin + beside))
            ranks[inside, here[inside] - begin[inside]] = self.order[other[inside]]
        return ranks.reshape(-1, *self.base.shape[1:])


def neighbour_grids(grid: IntArray, machine: IntArray) -> Grids:
    """Return the grids one move away from `grid[p, d, t]`; `machine[n]` says whose devices they are.

    Two ranks, or a rank and an unused device, change places; so do two tensor-parallel groups, two stages, the
    contents of two machines; and along an axis, two indices of all ranks, or of those of one group.
    """
    low, high = np.triu_indices(len(machine), 1)
    used = low < grid.size
    return Grids(
        base=grid,
        order=np.append(grid.ravel(), np.setdiff1d(np.arange(len(machine)), grid)),
        low=low[used],
        high=high[used],
        whole=np.concatenate([*_swap_groups(grid), *_swap_indices(grid), _swap_machines(grid, machine)]),
    )


def draw_grids(grid: IntArray, machine: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Return grids further away, `[count, p, d, t]`: half with the devices of every machine in one new order.

    The other half has two to four random pairs of devices exchanged, of which one at least is used.
    """
    order = np.append(grid.ravel(), np.setdiff1d(np.arange(len(machine)), grid))
    shuffled = _shuffle(machine, count // 2, rng)[:, order]
    swapped = np.tile(order, (count - len(shuffled), 1))
    rows, pairs = np.arange(len(swapped)), rng.integers(2, 5, len(swapped))
    for number in range(4):
        low, high = rng.integers(grid.size, size=len(rows)), rng.integers(len(order), size=len(rows))
        high = np.where(number < pairs, high, low)
        swapped[rows, low], swapped[rows, high] = swapped[rows, high], swapped[rows, low]
    return np.concatenate([shuffled, swapped])[:, : grid.size].reshape(-1, *grid.shape)


def _shuffle(machine: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Return permutations of the devices, `[count, n]`, in which machines of one size get one random order inside."""
    members = [np.flatnonzero(machine == one) for one in np.unique(machine)]
    orders = {len(inside): rng.permuted(np.tile(np.arange(len(inside)), (count, 1)), axis=1) for inside in members}
    permuted = np.empty((count, len(machine)), np.int64)
    for inside in members:
        permuted[:, inside] = inside[orders[len(inside)]]
    return permuted


def _swap_groups(grid: IntArray) -> Iterator[IntArray]:
    """Yield the grids with two tensor-parallel groups, or two stages, exchanged, or a run of stages reversed."""
    p, d, t = grid.shape
    if t > 1 and d > 1:
        yield _exchange(grid.reshape(p * d, t)).reshape(-1, *grid.shape)
    if p > 1 and d * t > 1:
        yield _exchange(grid)
    for low in range(p):
        for high in range(low + 3, p + 1):
            reversed_run = grid.copy()
            reversed_run[low:high] = grid[low:high][::-1]
            yield reversed_run[None]


def _exchange(rows: IntArray) -> IntArray:
    """Return the rows with two of them exchanged, for every pair."""
    low, high = np.triu_indices(len(rows), 1)
    exchanged, number = np.repeat(rows[None], len(low), axis=0), np.arange(len(low))
    exchanged[number, low], exchanged[number, high] = rows[high], rows[low]
    return exchanged


def _swap_indices(grid: IntArray) -> Iterator[IntArray]:
    """Yield the grids with two indices of tensor-parallel ranks exchanged at all positions, in replicas, or in groups.

    Exchanging them everywhere keeps which ranks of a pipeline talk, and changes the order of the rings alone.
    """
    p, d, t = grid.shape
    every = np.ones((1, p, d), np.bool_)
    replicas = np.broadcast_to(np.eye(d, dtype=np.bool_)[:, None], (d, p, d))
    positions = np.broadcast_to(np.eye(p, dtype=np.bool_)[:, :, None], (p, p, d))
    chosen = np.concatenate([every, replicas, positions])
    for low, high in zip(*np.triu_indices(t, 1), strict=True):
        swap = np.arange(t)
        swap[[low, high]] = high, low
        yield np.where(chosen[..., None], grid[:, :, swap], grid)


def _swap_machines(grid: IntArray, machine: IntArray) -> IntArray:
    """Return the grids with the contents of two machines of one size exchanged."""
    members = [np.flatnonzero(machine == one) for one in np.unique(machine)]
    grids = [grid[:0]]
    for low, high in zip(*np.triu_indices(len(members), 1), strict=True):
        if len(members[low]) == len(members[high]):
            other = np.arange(len(machine))
            other[members[low]], other[members[high]] = members[high], members[low]
            grids.append(other[grid][None])
    return np.concatenate([rows.reshape(-1, *grid.shape) for rows in grids])
