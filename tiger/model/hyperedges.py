"""Hyperedges: sets of tasks that all get the same message, which a node with several of them receives once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray, check_amounts, check_whole

# Tasks up to which a set is expanded to all its pairs, and links of each task of a larger set on either side.
CLIQUE, BESIDE = 17, 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hyperedges:
    """Hold h sets of tasks: those of set k are `pins[starts[k] : starts[k + 1]]`, and its volume is `volumes[k]`.

    A set has at least one task, and none twice; volumes are finite and >= 0. Raises InputError of `tasks/hyperedges`.
    """

    starts: IntArray
    pins: IntArray
    volumes: FloatArray

    def __post_init__(self) -> None:
        """Check every bound and make the arrays read-only."""
        field = "tasks/hyperedges"
        if not len(self.starts) or self.starts[0] != 0 or self.starts[-1] != len(self.pins):
            raise InputError(field, f"expected sets that begin at 0 and end at {len(self.pins)}, the number of pins")
        if not (np.diff(self.starts) > 0).all():
            raise InputError(field, "expected at least one task in every set, got none")
        object.__setattr__(self, "starts", check_whole(field, self.starts, len(self.starts)))
        object.__setattr__(self, "pins", check_whole(field, self.pins, len(self.pins)))
        object.__setattr__(self, "volumes", check_amounts(field, self.volumes, len(self.starts) - 1))
        if (twice := self.find_repeat()) is not None:
            raise InputError(f"{field}/{twice[0]}", f"expected different tasks, got one twice, number {twice[1]}")

    @classmethod
    def of_pairs(cls, u: IntArray, v: IntArray, volumes: FloatArray) -> "Hyperedges":
        """Return edges between tasks `u[h]` and `v[h]` as sets of two, those from a task to itself as sets of one."""
        alike = u == v
        keep = np.stack([np.ones(len(u), bool), ~alike], axis=1)
        starts = np.concatenate([[0], np.cumsum(2 - alike)])
        return cls(starts=starts, pins=np.stack([u, v], axis=1)[keep], volumes=volumes)

    def join(self, others: "Hyperedges") -> "Hyperedges":
        """Return these sets and then the others."""
        return Hyperedges(
            starts=np.concatenate([self.starts, others.starts[1:] + len(self.pins)]),
            pins=np.concatenate([self.pins, others.pins]),
            volumes=np.concatenate([self.volumes, others.volumes]),
        )

    @property
    def size(self) -> int:
        """Return h, the number of sets."""
        return len(self.volumes)

    @property
    def set_of(self) -> IntArray:
        """Return the set of every pin."""
        return np.repeat(np.arange(self.size), np.diff(self.starts))

    def find_repeat(self) -> tuple[int, int] | None:
        """Return the first set that has a task twice, and that task; None without one."""
        owner = self.set_of
        order = np.lexsort((self.pins, owner))
        again = np.flatnonzero((np.diff(owner[order]) == 0) & (np.diff(self.pins[order]) == 0))
        return (int(owner[order[again[0]]]), int(self.pins[order[again[0]]])) if again.size else None

    def expand(self, size: int) -> sp.csr_array:
        r"""Return the graph of n = `size` tasks that stands for the sets in searches for a low cost, as traffic [n, n].

        Every two tasks of a set e are linked by :math:`v_e / (|e| - 1)`, so that cutting one task off costs the volume.
        In a set of more than 17 each is linked to the 8 that follow, in a circle, for as much in all: linear, not
        quadratic. Source: the clique model, C. J. Alpert, A. B. Kahng, doi:10.1016/0167-9260(95)00008-4.
        """
        parts = list(self._pairs())
        source, target, volume = (np.concatenate(part) for part in zip(*parts, strict=True))
        low, high = np.minimum(source, target), np.maximum(source, target)
        return sp.csr_array((volume, (low, high)), shape=(size, size))

    def _pairs(self) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield ends and volumes of the links of all sets of one size."""
        yield np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        widths = np.diff(self.starts)
        for width in np.unique(widths[widths > 1]).tolist():
            chosen = np.flatnonzero(widths == width)
            tasks = self.pins[self.starts[chosen, None] + np.arange(width)]
            if width <= CLIQUE:
                first, second = np.triu_indices(width, 1)
                share = self.volumes[chosen] / (width - 1)
            else:
                first = np.repeat(np.arange(width), BESIDE)
                second = (first + np.tile(np.arange(1, BESIDE + 1), width)) % width
                share = self.volumes[chosen] / (2 * BESIDE)
            yield tasks[:, first].ravel(), tasks[:, second].ravel(), np.repeat(share, len(first))
