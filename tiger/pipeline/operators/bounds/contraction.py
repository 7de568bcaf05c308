"""Classes that no placement below a target separates, made one: what they would send would take too long."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.operators.bounds.floors import Floors
from tiger.pipeline.operators.terms import Terms


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contraction:
    """Hold the number of the group `group[C]` of every class, and the groups as classes of the kinds of devices.

    A group is allowed where all of its classes are, fits and takes less than the target.
    """

    group: IntArray
    floors: Floors
    memory: FloatArray

    @property
    def possible(self) -> bool:
        """Return whether every group may go somewhere; if not, no placement is below the target."""
        return bool(self.floors.allowed.any(axis=0).all())

    @classmethod
    def of(cls, terms: Terms, floors: Floors, target_s: float) -> Self:
        r"""Return the groups of classes that share a device wherever every load is below a target.

        An edge from operator u to v is kept if :math:`\min_d (w_d + s_{d u}) \ge T` over the devices of one end, w
        being the work of its group: that device would reach the target. Groups grow until no edge is kept any more.
        O(g e) a round.
        """
        made = cls(group=np.arange(terms.classes), floors=floors, memory=terms.memory)._forbid_overloads(target_s)
        while made.possible:
            kept = made._kept_edges(terms, target_s)
            if not kept.any():
                break
            made = made._join_groups(terms, kept)._forbid_overloads(target_s)
        return made

    def _forbid_overloads(self, target_s: float) -> Self:
        """Return the groups with those devices forbidden that they alone would keep busy for too long."""
        floors = self.floors
        return replace(self, floors=replace(floors, allowed=floors.allowed & (floors.work < target_s)))

    def _kept_edges(self, terms: Terms, target_s: float) -> BoolArray:
        """Return which edges must stay within a device [e]."""
        producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
        group = self.group[terms.of]
        least = np.zeros(len(producer))
        for end in (producer, terms.consumer):
            best = np.full(len(producer), np.inf)
            for work, paid, allowed in zip(self.floors.work, self.floors.paid, self.floors.allowed, strict=True):
                at = group[end]
                best = np.minimum(best, np.where(allowed[at], work[at] + paid[producer], np.inf))
            least = np.maximum(least, best)
        kept: BoolArray = (least >= target_s) & (group[producer] != group[terms.consumer])
        return kept

    def _join_groups(self, terms: Terms, kept: BoolArray) -> Self:
        """Return the groups with those joined that the edges kept connect."""
        producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))[kept]
        ends = self.group[terms.of[producer]], self.group[terms.of[terms.consumer[kept]]]
        size = len(self.memory)
        count, label = connected_components(sp.coo_array((np.ones(len(producer)), ends), (size, size)), directed=False)
        members = sp.csr_array((np.ones(size), (label, np.arange(size))), shape=(count, size))
        floors, memory = self.floors, members @ self.memory
        barred = (members @ (~floors.allowed).T.astype(np.float64)).T > 0
        joined = replace(
            floors,
            work=np.ascontiguousarray((members @ floors.work.T).T),
            allowed=~barred & (memory <= floors.capacity[:, None]),
        )
        return replace(self, group=label[self.group].astype(np.int64), floors=joined, memory=memory)
