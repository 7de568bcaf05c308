"""Where grids differ from the one that they are a move away from, each different part numbered once."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.ranks.grid_moves import Grids
from tiger.placement.ranks.machine_patterns import AlikeRanks
from tiger.placement.ranks.position_keys import PositionKeys, draw_factors, mix_keys

# Stands for no other position.
NOWHERE = -2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Changes:
    """Hold m changes: the part `part[m]`, of k, that is in a `column[m]` of `grid[m]` rather than the base's.

    `base[c]` are the keys of the base's parts. Each of the k parts has a `key[k]`, and `first[k]` is a change to it.
    """

    base: IntArray
    grid: IntArray
    column: IntArray
    part: IntArray
    key: IntArray
    first: IntArray

    @classmethod
    def by_keys(cls, base: IntArray, keys: IntArray) -> Self:
        """Return the changes of grids whose parts have `keys[N, c]`."""
        grid, column = np.nonzero(keys != base)
        key, first, part = np.unique(keys[grid, column], return_index=True, return_inverse=True)
        return cls(base=base, grid=grid, column=column, part=part, key=key, first=first)

    @classmethod
    def by_numbers(cls, base: IntArray, cells: tuple[IntArray, IntArray], number: IntArray, added: IntArray) -> Self:
        """Return changes in cells (grid and column) that add to keys of the base, the same where a `number` is."""
        grid, column = cells
        used = np.zeros(int(number.max(initial=-1)) + 1, np.bool_)
        used[number] = True
        part = (np.cumsum(used) - 1)[number]
        first = np.empty(int(used.sum()), np.int64)
        first[part] = np.arange(len(part))
        return cls(base=base, grid=grid, column=column, part=part, key=base[column[first]] + added[first], first=first)

    def behind(self, other: Self, grids: int) -> Self:
        """Return the changes of so many grids, and then those of others from the same base."""
        return type(self)(
            base=self.base,
            grid=np.concatenate([self.grid, other.grid + grids]),
            column=np.concatenate([self.column, other.column]),
            part=np.concatenate([self.part, other.part + len(self.key)]),
            key=np.concatenate([self.key, other.key]),
            first=np.concatenate([self.first, other.first + len(self.grid)]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaceChanges:
    """Hold m changes of positions by exchanges: a number is `added[m]` to the key of `column[m]` in `grid[m]`.

    The first `moved` bring a device of a `label[m]` to a `rank[m]`, the others exchange two ranks of one position. The
    `partner[m]` is the rank exchanged with, at the position `other[m]`, to whose key `other_added[m]` is added; it is
    at NOWHERE if that is no other position.
    """

    shape: tuple[int, int, int]
    labels: int
    moved: int
    grid: IntArray
    column: IntArray
    rank: IntArray
    label: IntArray
    added: IntArray
    partner: IntArray
    other: IntArray
    other_added: IntArray

    @classmethod
    def of(cls, grids: Grids, keys: PositionKeys) -> Self:
        """Return the changes of grids with an exchange; equal devices change nothing."""
        label, size, beside = keys.label[grids.order], grids.base.size, keys.shape[1] * keys.shape[2]
        grid = np.flatnonzero(label[grids.low] != label[grids.high])
        low, high = grids.low[grid], grids.high[grid]
        is_used, old, new = high < size, label[low], label[high]
        at, other, partner = low // beside, np.where(is_used, high // beside, NOWHERE), np.where(is_used, high, 0)
        added = keys.number[low, new] - keys.number[low, old]
        returned = np.where(is_used, keys.number[partner, old] - keys.number[partner, new], 0)
        one, back = np.flatnonzero(at != other), np.flatnonzero(is_used & (at != other))
        both = np.flatnonzero(at == other)
        return cls(
            shape=keys.shape,
            labels=keys.number.shape[1],
            moved=len(one) + len(back),
            grid=np.concatenate([grid[one], grid[back], grid[both]]),
            column=np.concatenate([at[one], other[back], at[both]]),
            rank=np.concatenate([low[one], high[back], low[both]]),
            label=np.concatenate([new[one], old[back], new[both]]),
            added=np.concatenate([added[one], returned[back], added[both] + returned[both]]),
            partner=np.concatenate([partner[one], low[back], high[both]]),
            other=np.concatenate([other[one], at[back], np.full(len(both), NOWHERE)]),
            other_added=np.concatenate([returned[one], added[back], np.zeros(len(both), np.int64)]),
        )

    def ties(self, base: IntArray, grids: int, at: IntArray) -> IntArray:
        """Return the keys [grids] of the positions `at` together, by those of the base's positions."""
        factor = np.zeros(len(base), np.int64)
        factor[at] = draw_factors(len(at))
        found, tied = np.full(grids, mix_keys(base[at][:, None])[0]), np.flatnonzero(np.isin(self.column, at))
        np.add.at(found, self.grid[tied], self.added[tied] * factor[self.column[tied]])
        return found

    def places(self, base: IntArray, alike: AlikeRanks | None) -> Changes:
        """Return the changes of positions, of which some are `alike`."""
        every = np.arange(len(self.grid))
        return Changes.by_numbers(base, (self.grid, self.column), self._number(every, self.column, alike), self.added)

    def pairs(self, base: IntArray, hops: int, alike: AlikeRanks | None) -> Changes:
        """Return the changes of `hops` pairs of a position and the next, some `alike`, by the keys of positions."""
        positions, (ahead, back) = len(base), draw_factors(2)[:, None]
        source, before, after = np.arange(hops), (self.column - 1) % positions, (self.column + 1) % positions
        mixed = mix_keys((base[source], base[(source + 1) % positions]))
        # A position that is alone sends to itself.
        ahead = ahead + back if positions == 1 else ahead
        # An exchange between neighbours changes both ends of their pair, which no other has: it is listed once.
        is_first, is_second = self.column < hops, (before < hops) & (positions > 1)
        first = np.flatnonzero(is_first & (self.other != after))
        second = np.flatnonzero(is_second & (self.other != before))
        double = np.flatnonzero(is_first & (self.other == after))
        columns = self.column[first], before[second], self.column[double]
        # One number for each kind of change, so that none are taken for one of another kind.
        numbers = (
            3 * self._number(first, columns[0], alike),
            3 * self._number(second, columns[1], alike) + 1,
            3 * self._number_exchanges(double, columns[2], alike) + 2,
        )
        added = (
            self.added[first] * ahead,
            self.added[second] * back,
            self.added[double] * ahead + self.other_added[double] * back,
        )
        cells = self.grid[np.concatenate([first, second, double])], np.concatenate(columns)
        return Changes.by_numbers(mixed, cells, np.concatenate(numbers), np.concatenate(added))

    def _number(self, some: IntArray, column: IntArray, alike: AlikeRanks | None) -> IntArray:
        """Return numbers of some changes, in rising order, that are equal for equal ones beside parts in a column."""
        moved = int(np.searchsorted(some, self.moved))
        rank, label = self.rank[some[:moved]], self.label[some[:moved]]
        if alike is not None and len(alike.label):
            rank, label = self._first_alike(rank, column[:moved], alike), alike.label[column[:moved], label]
        exchanges = self._number_exchanges(some[moved:], column[moved:], alike)
        return np.append(rank * self.labels + label, int(np.prod(self.shape)) * self.labels + exchanges)

    def _number_exchanges(self, some: IntArray, column: IntArray, alike: AlikeRanks | None) -> IntArray:
        """Return numbers of exchanges between two ranks of a part in a column, equal for equal ones."""
        (_, replicas, tensor), rank, partner = self.shape, self.rank[some], self.partner[some]
        same = (rank - partner) % tensor == 0
        if alike is not None and len(alike.label):
            rank, partner = (self._first_alike(each, column, alike) for each in (rank, partner))
        beside = replicas * tensor
        return np.asarray(2 * (rank * beside + partner % beside) + same)

    def _first_alike(self, rank: IntArray, column: IntArray, alike: AlikeRanks) -> IntArray:
        """Return the ranks beside given ones whose index is the first of those alike."""
        index = rank % self.shape[2]
        return np.asarray(rank - index + alike.first[column, index])
