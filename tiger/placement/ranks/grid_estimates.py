"""Estimates of many grids of ranks by their parts, each different one of which is evaluated once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.ranks.cost_model import GridCostModel
from tiger.placement.ranks.grid_moves import Grids
from tiger.placement.ranks.known_costs import KnownCosts
from tiger.placement.ranks.position_keys import PositionKeys, draw_factors, mix_keys, row_batches


class Parts(NamedTuple):
    """Hold the `row[N, c]` of the costs of c parts of each grid, and a `label[N]` that is equal for equal rows."""

    row: IntArray
    label: IntArray


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
        places = self._find(self.places, keys, partial(self._position_costs, grids))
        pairs = self._find(self.pairs, mix_keys(ends), partial(self._messages_s, grids))
        ties = [
            self._find(known, mix_keys(keys[:, at].T)[:, None], partial(self._tied_s, grids, number))
            for number, (known, (at, _)) in enumerate(zip(self.ties, cost_model.closing.ties, strict=True))
        ]
        sums = mix_keys([parts.label for parts in (places, pairs, *ties)])
        _, first, which = np.unique(sums, return_index=True, return_inverse=True)
        batches = (first[part] for part in row_batches(len(first), keys.shape[1] * self.places.values.shape[1]))
        found = [self._join(places.row[at], pairs.row[at], [tie.row[at, 0] for tie in ties]) for at in batches]
        return np.concatenate(found)[which]

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

    def _find(self, known: KnownCosts, keys: IntArray, evaluate: Callable[[IntArray, IntArray], FloatArray]) -> Parts:
        """Return where the costs of parts are by their `keys[1 + N, c]`, of which the first are the base's.

        `evaluate` returns the costs of parts by the numbers of their grid, -1 for the base, and of their column.
        """
        base, others = keys[0], keys[1:]
        grid, column = np.nonzero(others != base)
        distinct, first, which = np.unique(others[grid, column], return_index=True, return_inverse=True)
        every = np.arange(len(base))
        grids, columns = np.append(np.full(len(base), -1), grid[first]), np.append(every, column[first])

        def evaluate_parts(unknown: IntArray) -> FloatArray:
            parts = (unknown[part] for part in row_batches(len(unknown), self.keys.shape[1] * self.keys.shape[2]))
            return np.concatenate([evaluate(grids[part], columns[part]) for part in parts])

        row = known.rows(np.append(base, distinct), evaluate_parts)
        own, other = row[: len(base)], row[len(base) :][which]
        found, factors = np.tile(own, (len(others), 1)), draw_factors(len(base))
        found[grid, column] = other
        label = np.full(len(others), (known.label[own] * factors).sum())
        # Of most grids few parts differ from those of the base.
        np.add.at(label, grid, (known.label[other] - known.label[own[column]]) * factors[column])
        return Parts(found, label)

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
