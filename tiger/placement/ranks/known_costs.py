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
class KnownCosts:
    """Hold the costs of parts by their rising `keys[k]`: the `row[k]` of `values[m, w]` of each, equal ones the same.

    `label[m]` is the key of the first part of each row, and `same` the row of values by their bytes.
    """

    values: FloatArray
    keys: IntArray = field(default_factory=_no_numbers)
    row: IntArray = field(default_factory=_no_numbers)
    label: IntArray = field(default_factory=_no_numbers)
    same: dict[bytes, int] = field(default_factory=dict)

    def rows(self, keys: IntArray, evaluate: Callable[[IntArray], FloatArray]) -> IntArray:
        """Return the row of each key; `evaluate` returns the costs `[k, w]` of those not known, by their numbers."""
        if len(self.keys) > KEPT:
            self.values, self.same = self.values[:0], {}
            self.keys = self.row = self.label = _no_numbers()
        at, known = np.searchsorted(self.keys, keys), np.zeros(len(keys), np.bool_)
        inside = at < len(self.keys)
        known[inside] = self.keys[at[inside]] == keys[inside]
        unknown = np.flatnonzero(~known)
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
