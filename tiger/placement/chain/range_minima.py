"""Minima over windows of an array, each from behind one index to another: range minimum queries."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Windows:
    """Hold, for each of L + 1 starts i, the window i + 1 .. `last[i]`, empty where `last[i]` is i.

    `spans` cover each window by two runs of 2^k indices: (k, the starts, where the two runs begin); none where every
    window reaches the end.
    """

    last: IntArray
    spans: tuple[tuple[int, IntArray, IntArray, IntArray], ...]

    @classmethod
    def of(cls, last: IntArray) -> Self:
        """Return the windows that end at `last`; O(L)."""
        size = len(last) - 1
        if (last[:-1] == size).all():
            return cls(last=last, spans=())
        starts = np.flatnonzero(last > np.arange(size + 1))
        # Two runs of the largest power of two that is not longer than the window overlap, which a minimum may.
        power = np.frexp(last[starts] - starts)[1] - 1
        spans = []
        for k in range(int(power.max(initial=0)) + 1):
            chosen = starts[power == k]
            spans.append((k, chosen, chosen + 1, last[chosen] + 1 - 2**k))
        return cls(last=last, spans=tuple(spans))

    def minima(self, values: FloatArray) -> FloatArray:
        """Return the minimum of each row of `values[n, L + 1]` over each window, infinite if empty; O(n L log L).

        A sparse table: minima of runs of 2^k values from those of 2^(k - 1). Source: Bender and Farach-Colton, LATIN
        2000, doi:10.1007/10719839_9.
        """
        least = np.full(values.shape, np.inf)
        # Windows that all reach the end are suffixes: one pass of running minima.
        if not self.spans:
            least[:, :-1] = np.minimum.accumulate(values[:, :0:-1], axis=1)[:, ::-1]
            return least
        runs = values
        for k, starts, early, late in self.spans:
            # Two runs of half the length make one; runs are asked for by rising length.
            if k:
                runs = np.minimum(runs[:, : -(2 ** (k - 1))], runs[:, 2 ** (k - 1) :])
            least[:, starts] = np.minimum(runs[:, early], runs[:, late])
        return least
