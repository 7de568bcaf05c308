"""Estimates of many grids of ranks by their parts, each different one of which is evaluated once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.ranks.cost_model import GridCostModel
from tiger.placement.ranks.grid_changes import Changes, PlaceChanges
from tiger.placement.ranks.grid_moves import Grids
from tiger.placement.ranks.known_costs import KnownCosts
from tiger.placement.ranks.machine_patterns import AlikeRanks, MachinePatterns
from tiger.placement.ranks.position_keys import PositionKeys, draw_factors, mix_keys, row_batches


class Parts(NamedTuple):
    """Hold the rows of the costs of parts: `own[c]` of the base's, `other[m]` of what changes of grids lead to.

    `label[N]` is equal for grids of equal rows.
    """

    changes: Changes
    own: IntArray
    other: IntArray
    label: IntArray

    def rows(self, grids: IntArray) -> IntArray:
        """Return the rows `[k, c]` of some different grids."""
        at = np.full(len(self.label), -1)
        at[grids] = np.arange(len(grids))
        row, some = np.tile(self.own, (len(grids), 1)), np.flatnonzero(at[self.changes.grid] >= 0)
        row[at[self.changes.grid[some]], self.changes.column[some]] = self.other[some]
        return row


# The ranks `[k, r, t]` of parts in columns `[k]` of grids, -1 for the base.
PartRanks = Callable[[IntArray, IntArray], IntArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridEstimates:
    """Estimate grids by their parts, each different one of which is evaluated once, and so is each sum of them.

    Parts are `places` of the ranks of a position, `pairs` of positions that send each other messages, and `ties` of
    positions that hold the same parameters. Costs are those of `cost_model`: exact but for keys that agree by chance.
    """

    cost_model: GridCostModel
    keys: PositionKeys
    patterns: MachinePatterns | None
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
            patterns=MachinePatterns.of(cost_model.cluster),
            places=KnownCosts(np.empty((0, width + 2))),
            pairs=KnownCosts(np.empty((0, width))),
            ties=tuple(KnownCosts(np.empty((0, 1))) for _ in cost_model.closing.ties),
        )

    def seconds(self, grids: Grids, count: int) -> FloatArray:
        """Return what `cost_model.estimates` does of the first so many grids."""
        grids = grids.first(count)
        parts = self._find_parts(grids)
        sums = mix_keys([each.label for each in parts])
        _, first, which = np.unique(sums, return_index=True, return_inverse=True)
        places, pairs, *ties = [each.rows(first) for each in parts]
        batches = row_batches(len(first), self.keys.shape[0] * self.places.values.shape[1])
        found = [self._join(places[at], pairs[at], [tie[at, 0] for tie in ties]) for at in batches]
        return np.concatenate(found)[which]

    def _find_parts(self, grids: Grids) -> list[Parts]:
        """Return where the costs of positions, of pairs of them and of ties are."""
        hops, exchanged, count = self.cost_model.hops, len(grids.low), len(grids)
        base, whole = self.keys.keys(grids.base[None])[0], self.keys.keys(grids.whole)
        moved, ahead = PlaceChanges.of(grids, self.keys), np.arange(1, hops + 1) % len(base)
        places = moved.places(base, self._compare(grids.base)).behind(Changes.by_keys(base, whole), exchanged)
        pairs = moved.pairs(base, hops, self._compare(np.stack([grids.base[:hops], grids.base[ahead]], axis=1)))
        pairs = pairs.behind(Changes.by_keys(pairs.base, mix_keys((whole[:, :hops], whole[:, ahead]))), exchanged)
        found = [
            self._find(self.places, places, count, partial(_place_ranks, grids), partial(self._position_costs, grids)),
            # Messages of a pair take no longer to evaluate than patterns to tell apart.
            self._find(self.pairs, pairs, count, None, partial(self._messages_s, grids)),
        ]
        for number, (known, (at, _)) in enumerate(zip(self.ties, self.cost_model.closing.ties, strict=True)):
            tied = np.append(moved.ties(base, exchanged, at), mix_keys(whole[:, at].T))[:, None]
            changes = Changes.by_keys(mix_keys(base[at][:, None]), tied)
            found.append(self._find(known, changes, count, None, partial(self._tied_s, grids, number)))
        return found

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

    def _compare(self, ranks: IntArray) -> AlikeRanks | None:
        """Return what is alike in parts with ranks `[c, .., t]`, None where that is not known."""
        if self.patterns is None:
            return None
        rows, tensor = int(np.prod(ranks.shape[1:-1])), ranks.shape[-1]
        return self.patterns.compare(ranks.reshape(len(ranks), rows, tensor), self.keys.label)

    def _find(
        self,
        known: KnownCosts,
        changes: Changes,
        count: int,
        ranks: PartRanks | None,
        evaluate: Callable[[IntArray, IntArray], FloatArray],
    ) -> Parts:
        """Return where the costs of the parts of so many grids are.

        `evaluate` returns the costs of parts by the numbers of their grid, -1 for the base, and of their column.
        """
        own = len(changes.base)
        grids = np.append(np.full(own, -1), changes.grid[changes.first])
        columns = np.append(np.arange(own), changes.column[changes.first])
        keys = np.append(changes.base, changes.key)

        def evaluate_parts(unknown: IntArray) -> FloatArray:
            parts = (unknown[part] for part in row_batches(len(unknown), self.keys.shape[1] * self.keys.shape[2]))
            return np.concatenate([evaluate(grids[part], columns[part]) for part in parts])

        def find_patterns(unknown: IntArray) -> IntArray:
            if self.patterns is None or ranks is None:
                return keys[unknown]
            parts = [unknown[part] for part in row_batches(len(unknown), self.keys.shape[1] * self.keys.shape[2])]
            found = [self.patterns.keys(ranks(grids[part], columns[part]), columns[part]) for part in parts]
            return np.concatenate(found)

        row = known.rows(keys, find_patterns, evaluate_parts)
        base, other = row[:own], row[own:][changes.part]
        factors = draw_factors(own)
        label = np.full(count, (known.label[base] * factors).sum())
        # Of most grids few parts differ from those of the base.
        added = (known.label[other] - known.label[base[changes.column]]) * factors[changes.column]
        np.add.at(label, changes.grid, added)
        return Parts(changes, base, other, label)

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
        places = self.cost_model.closing.ties[number][0]
        return self.cost_model.closing.tied_s(number, grids.rows(grid[:, None], places))[:, None]


def _place_ranks(grids: Grids, grid: IntArray, position: IntArray) -> IntArray:
    """Return the ranks of positions."""
    return grids.rows(grid, position)
