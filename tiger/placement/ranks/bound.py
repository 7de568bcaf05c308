"""A lower bound on the iteration time over all places of ranks: branch and bound on the machines of groups."""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.ranks.cases import Cases
from tiger.placement.ranks.cost_model import GridCostModel, ParallelDegrees
from tiger.placement.ranks.search import OrderSearch
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import Workload
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

# Cases that are branched on for each effort: the bound is valid wherever it ends.
CASES = 4000
# A bound this close to the target is the target up to rounding.
EQUAL = 1e-9

Key = tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofTarget:
    """Hold the seconds of an iteration of one replica, and the seconds that are to be proved optimal.

    `iteration_s` must not fall where a pass, a message or a closing time gets longer, as with a fixed order of passes.
    """

    iteration_s: Callable[[Workload], float]
    seconds: float = np.inf


def same_cuts_bound_s(layers: Layers, cluster: Cluster, plan: Plan, target: ProofTarget, search: OrderSearch) -> float:
    """Return a lower bound on the iteration time over all places of the ranks of a plan; its cuts stay.

    Best-first branch and bound over cases: the machine of each tensor-parallel group, or several, with every ring and
    link at its best there. Ends when all open cases reach the target, which is then returned: a plan that takes so long
    is proved optimal. Valid whenever it ends, after 4,000 cases for every effort at the latest.

    Source of the scheme: Lawler and Wood, Oper. Res. 14 (1966) 699, doi:10.1287/opre.14.4.699.
    """
    p, d, t = plan.grid.shape
    cost_model = GridCostModel.of(layers, cluster, plan.cuts, ParallelDegrees(pipeline=p, data=d, tensor=t))
    tree = MachineTree(cases=Cases.of(cost_model, cluster.machine), target=target)
    options = [np.full((p, d), tree.cases.free)]
    heap = [(tree.bound_s(options[0]), 0)]
    enough = target.seconds * (1 - EQUAL)
    while len(options) < CASES * search.effort:
        least, case = heap[0]
        if least >= enough or tree.is_complete(options[case]) or search.stop():
            break
        heapq.heappop(heap)
        for child in tree.children(options[case]):
            heapq.heappush(heap, (max(tree.bound_s(child), least), len(options)))
            options.append(child)
    return min(heap[0][0], target.seconds)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachineTree:
    """Branch groups over machines one after another, options `[p, d]` as in `Cases`; keep evaluated workloads."""

    cases: Cases
    target: ProofTarget
    known: dict[Key, float] = field(default_factory=dict)

    def is_complete(self, options: IntArray) -> bool:
        """Return whether every group has its option."""
        return not (options == self.cases.free).any()

    def bound_s(self, options: IntArray) -> float:
        """Return a lower bound on all grids of the options: the seconds of the slowest replica."""
        return max(self._iteration_s(workload) for workload in self.cases.workloads(options))

    def children(self, options: IntArray) -> Iterator[IntArray]:
        """Yield the cases of the next group that has no option.

        Symmetries are broken: of equal machines only the first that is still empty; of replicas, which are
        interchangeable, the first groups in the order of their options. No case without room.
        """
        position, replica = np.argwhere(options == self.cases.free)[0].tolist()
        room, tensor = self._room(options), self.cases.cost_model.degrees.tensor
        empty = room == self.cases.sizes
        for option in range(self.cases.split + (tensor > 1)):
            if option < self.cases.split and empty[option]:
                equal_machines = empty & (self.cases.alike == self.cases.alike[option])
                if option != np.argmax(equal_machines):
                    continue
            if position == 0 and replica > 0 and option < options[0, replica - 1]:
                continue
            child = options.copy()
            child[position, replica] = option
            if self._fits(child):
                yield child

    def _fits(self, options: IntArray) -> bool:
        """Return whether machines have room: a group on several takes less than all its ranks from each."""
        room, tensor = self._room(options), self.cases.cost_model.degrees.tensor
        split = int((options == self.cases.split).sum())
        return bool((room >= 0).all()) and int(np.minimum(room, split * (tensor - 1)).sum()) >= split * tensor

    def _room(self, options: IntArray) -> IntArray:
        """Return how many devices of each machine the groups inside leave."""
        inside = np.bincount(options[options < self.cases.split], minlength=len(self.cases.sizes))
        return np.asarray(self.cases.sizes - inside * self.cases.cost_model.degrees.tensor)

    def _iteration_s(self, workload: Workload) -> float:
        """Return the seconds of an iteration, each different workload evaluated once."""
        parts = (workload.forward_s, workload.backward_s, workload.weight_s, workload.transfer_s, workload.closing_s)
        key = tuple(part.tobytes() for part in parts)
        if key not in self.known:
            self.known[key] = self.target.iteration_s(workload)
        return self.known[key]
