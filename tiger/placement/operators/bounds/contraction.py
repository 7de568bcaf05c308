"""Contraction of edges that no placement below a target cuts, because their messages would take too long."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts
from tiger.placement.operators.terms import Terms


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contraction:
    """Hold the vertex `vertex[C]` that every group is contracted into, and costs and memory of the vertices.

    A vertex is allowed where all of its groups are, fits and takes less than the target.
    """

    vertex: IntArray
    costs: DeviceTypeCosts
    memory: FloatArray

    @property
    def possible(self) -> bool:
        """Return whether every vertex may go somewhere; if not, no placement is below the target."""
        return bool(self.costs.allowed.any(axis=0).all())

    @classmethod
    def of(cls, terms: Terms, costs: DeviceTypeCosts, target_s: float) -> Self:
        r"""Return the vertices of groups that share a device in every placement with all loads below a target.

        An edge from operator u to v is contracted if :math:`\min_d (w_d + s_{d u}) \ge T` over the devices of one end,
        w being the work of its vertex: that device would reach the target. This is repeated until no edge is left.
        O(g e) a round.
        """
        contraction = cls(vertex=np.arange(terms.groups), costs=costs, memory=terms.memory)._forbid_overloads(target_s)
        while contraction.possible:
            uncut = contraction._uncut_edges(terms, target_s)
            if not uncut.any():
                break
            contraction = contraction._contract_edges(terms, uncut)._forbid_overloads(target_s)
        return contraction

    def _forbid_overloads(self, target_s: float) -> Self:
        """Return the vertices without the devices that they alone would load up to the target."""
        costs = self.costs
        return replace(self, costs=replace(costs, allowed=costs.allowed & (costs.work < target_s)))

    def _uncut_edges(self, terms: Terms, target_s: float) -> BoolArray:
        """Return which edges must stay within a device [e]."""
        producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
        vertex = self.vertex[terms.group_of]
        least = np.zeros(len(producer))
        # Both ends would pay for the message: the producer to send it, the consumer to receive it.
        for end in (producer, terms.consumer):
            best = np.full(len(producer), np.inf)
            for work, paid, allowed in zip(self.costs.work, self.costs.paid, self.costs.allowed, strict=True):
                at = vertex[end]
                best = np.minimum(best, np.where(allowed[at], work[at] + paid[producer], np.inf))
            least = np.maximum(least, best)
        uncut: BoolArray = (least >= target_s) & (vertex[producer] != vertex[terms.consumer])
        return uncut

    def _contract_edges(self, terms: Terms, uncut: BoolArray) -> Self:
        """Return the vertices with those joined that the edges connect."""
        producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))[uncut]
        ends = self.vertex[terms.group_of[producer]], self.vertex[terms.group_of[terms.consumer[uncut]]]
        size = len(self.memory)
        # Components of contracted edges become one vertex: work and memory add up, forbidden devices unite.
        count, label = connected_components(sp.coo_array((np.ones(len(producer)), ends), (size, size)), directed=False)
        members = sp.csr_array((np.ones(size), (label, np.arange(size))), shape=(count, size))
        costs, memory = self.costs, members @ self.memory
        barred = (members @ (~costs.allowed).T.astype(np.float64)).T > 0
        joined = replace(
            costs,
            work=np.ascontiguousarray((members @ costs.work.T).T),
            allowed=~barred & (memory <= costs.capacity[:, None]),
        )
        return replace(self, vertex=label[self.vertex].astype(np.int64), costs=joined, memory=memory)
