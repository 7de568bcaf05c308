"""The costs of parts of grids by their keys, as far as they are known."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import FloatArray, IntArray

# Keys up to which costs are kept, 16 bytes each.
KEPT = 1 << 21


def _no_numbers() -> IntArray:
    """Return no numbers."""
    return np.zeros(0, np.int64)


@dataclass(slots=True, eq=False)
class KeyedRows:
    """Hold the `row[k]` of each of rising `keys[k]`."""

    keys: IntArray = field(default_factory=_no_numbers)
    row: IntArray = field(default_factory=_no_numbers)

    def find(self, keys: IntArray, find_rows: Callable[[IntArray], IntArray]) -> IntArray:
        """Return the row of each key; `find_rows` returns those of keys not known, by their numbers."""
        # In rising order, neighbours are found in the same part of memory.
        order = np.argsort(keys)
        at = np.empty_like(order)
        at[order] = np.searchsorted(self.keys, keys[order])
        known = np.append(self.keys, 0)[at] == keys
        known &= at < len(self.keys)
        unknown = np.flatnonzero(~known)
        if len(unknown):
            unknown = unknown[np.unique(keys[unknown], return_index=True)[1]]
            fresh, row = keys[unknown], find_rows(unknown)
            before = np.searchsorted(self.keys, fresh)
            self.keys, self.row = np.insert(self.keys, before, fresh), np.insert(self.row, before, row)
            at[order] = np.searchsorted(self.keys, keys[order])
        return self.row[at]


@dataclass(slots=True, eq=False)
class KnownCosts:
    """Hold the costs of parts by their keys: the row of `values[m, w]` of each, equal ones the same.

    Parts of one pattern cost the same as well, and are looked up by that where their key is not known. `label[m]` is
    the pattern of the first part of each row, and `same` the row of values by their bytes.
    """

    values: FloatArray
    by_key: KeyedRows = field(default_factory=KeyedRows)
    by_pattern: KeyedRows = field(default_factory=KeyedRows)
    label: IntArray = field(default_factory=_no_numbers)
    same: dict[bytes, int] = field(default_factory=dict)

    def rows(
        self,
        keys: IntArray,
        patterns: Callable[[IntArray], IntArray],
        evaluate: Callable[[IntArray], FloatArray],
    ) -> IntArray:
        """Return the row of each key; for some of them, by their numbers, there are `patterns` and costs `[k, w]`."""
        if len(self.by_key.keys) > KEPT:
            self.values, self.same, self.label = self.values[:0], {}, _no_numbers()
            self.by_key, self.by_pattern = KeyedRows(), KeyedRows()

        def find_rows(unknown: IntArray) -> IntArray:
            pattern = patterns(unknown)
            return self.by_pattern.find(pattern, lambda fresh: self._add(pattern[fresh], evaluate(unknown[fresh])))

        return self.by_key.find(keys, find_rows)

    def _add(self, pattern: IntArray, values: FloatArray) -> IntArray:
        """Return the rows of the costs of different patterns, which are added unless they are known."""
        first, which = _group_equal(values)
        row, fresh = np.empty(len(first), np.int64), []
        for number, cells in enumerate(map(bytes, values[first])):
            if cells not in self.same:
                self.same[cells] = len(self.same)
                fresh.append(number)
            row[number] = self.same[cells]
        self.values = np.concatenate([self.values, values[first[fresh]]])
        self.label = np.concatenate([self.label, pattern[first[fresh]]])
        return row[which]


def _group_equal(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of rows that differ, and of which of these each row is one, by sums of 64 bits."""
    factors = np.random.default_rng(4).integers(2**63, size=values.shape[1])
    key = (np.ascontiguousarray(values).view(np.int64) * factors).sum(axis=1)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first, which
