"""Which device qubits a routed circuit runs on: the best of its copies on a device whose error rates differ.

Every edge that the route uses has to lie on an edge. VF2PostLayout and mapomatic (doi:10.1103/PRXQuantum.4.010327)
score as many such relabellings as they can list, by errors alone; branch and bound need not list them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from tiger.model.seams import Stop
from tiger.routing.coupling import IndexArray
from tiger.routing.noise.branching import BranchState, DeviceCosts, DeviceUsage, branch, prepare
from tiger.routing.noise.depth import ONE, PAIR, READ, SWAP, QubitTimes, run_operations, time_operations
from tiger.routing.route import Route

# Visits to candidates between two calls of `stop`.
SLICE = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RelabelParams:
    """Set the work: `visits` to candidates for all qubits, then `rounds` of `part_visits` for up to `part` of them."""

    visits: int = 300_000
    rounds: int = 100
    part: int = 8
    part_visits: int = 2_000


def relabel(route: Route, place: IndexArray) -> Route:
    """Return a route with device qubit p at `place[p]`, a permutation that keeps the edges it uses."""
    steps = route.steps.copy()
    swaps, moved = steps[:, 0] < 0, (steps[:, 0] < 0) | (steps[:, 1] >= 0)
    steps[swaps, 0] = -1 - place[-1 - steps[swaps, 0]]
    steps[moved, 1] = place[steps[moved, 1]]
    return Route(start=place[route.start].astype(np.int32), steps=steps)


def find_best_places(
    operations: IndexArray, device_costs: DeviceCosts, params: RelabelParams, seed: int, stop: Stop
) -> IndexArray:
    """Return `place[N]`, a permutation, where every device qubit that operations use had best be; never a worse one.

    Optimal if branch and bound ends within its visits: losses by errors, a sum over pairs and qubits, bound from below
    what a partial placement leads to, and whole ones are timed. Otherwise all of them are placed again with the losses
    by waiting that were measured at the best places, which bound nothing, and then parts in rounds.
    """
    search = _RelabelSearch(operations, device_costs, params, stop)
    if not search.place_all() and not stop():
        search.count_waits()
        search.place_all()
        search.place_parts(np.random.default_rng(seed))
    return search.place


def count_usage(operations: IndexArray, size: int) -> DeviceUsage:
    """Count what operations use of every pair and qubit of N, that do not wait; O(k log k)."""
    kind, p, q = operations.T.astype(np.int64)
    uses: dict[tuple[int, int], list[float]] = {}
    meets = kind == PAIR, kind == SWAP
    for column, chosen in enumerate(meets):
        pairs, times = np.unique(p[chosen] * size + q[chosen], return_counts=True)
        for pair, count in zip(pairs.tolist(), times.tolist(), strict=True):
            a, b = divmod(pair, size)
            uses.setdefault((a, b), [0.0, 0.0, 0.0])[2 * column] += count
            uses.setdefault((b, a), [0.0, 0.0, 0.0])[1 + column] += count
    ends = sorted(uses)
    table = np.array([uses[end] for end in ends]).reshape(-1, 3)
    pairs = np.array(ends, np.int32).reshape(-1, 2)
    first = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=size))]).astype(np.int32)
    ones = np.bincount(p[kind == ONE], q[kind == ONE], size).astype(np.float64)
    reads = np.bincount(p[kind == READ], minlength=size).astype(np.float64)
    there, back, swaps = (column.copy() for column in table.T)
    return DeviceUsage(first, pairs[:, 1].copy(), there, back, swaps, ones, reads, np.zeros(size))


class _RelabelSearch:
    """Hold the best places so far, and what the operations use and lose there."""

    def __init__(self, operations: IndexArray, device_costs: DeviceCosts, params: RelabelParams, stop: Stop) -> None:
        self.operations, self.device_costs, self.params, self.stop = operations, device_costs, params, stop
        self.place = np.arange(len(device_costs.degree), dtype=np.int32)
        self.loss = time_operations(operations, self.place, device_costs.costs).total
        self.usage = count_usage(operations, len(self.place))
        self.is_used = np.diff(self.usage.first) + self.usage.ones + self.usage.reads > 0
        self.used = np.flatnonzero(self.is_used)
        self.counts_waits = False

    def place_all(self) -> bool:
        """Place all qubits again; return whether that ended, and places are the best where no waits are counted."""
        return self._place_again(_order_qubits(self.usage, self.used.tolist()), self.params.visits)

    def count_waits(self) -> None:
        """Count how long every qubit waits at the best places, now and after every gain."""
        times = QubitTimes.of(len(self.place))
        run_operations(self.operations, self.place, self.device_costs.costs, times)
        self.counts_waits = True
        self.usage = self.usage._replace(waits=times.waited)

    def place_parts(self, rng: np.random.Generator) -> None:
        """Place small connected parts again."""
        for _ in range(self.params.rounds if len(self.used) else 0):
            if self.stop():
                return
            part = _find_neighbourhood(
                self.usage, int(rng.choice(self.used)), int(rng.integers(1, self.params.part + 1))
            )
            self._place_again(_order_qubits(self.usage, part), self.params.part_visits)

    def _place_again(self, order: list[int], visits: int) -> bool:
        """Place the qubits of `order` again, the others staying, if that is better; return whether that ended."""
        if not order:
            return True
        state = self._start_branching(order)
        bound, ended = self.loss, False
        # In slices, between which `stop` is called; the search goes on where it was.
        while visits > 0 and not ended:
            bound, spent, ended = branch(state, self.usage, self.device_costs, bound, min(visits, SLICE))
            visits -= spent
            if self.stop():
                break
        if bound < self.loss:
            self.loss = bound
            self.place[state.order] = state.best
            self.place[~self.is_used] = np.setdiff1d(np.arange(len(self.place)), self.place[self.used])
            if self.counts_waits:
                self.count_waits()
        return ended

    def _start_branching(self, order: list[int]) -> BranchState:
        """Return the memory for placing some qubits again."""
        size, length = len(self.place), len(order)
        state = BranchState(
            operations=self.operations,
            order=np.array(order, np.int32),
            rest=np.zeros(length + 1),
            image=np.full(size, -1, np.int32),
            taken=np.zeros(size, np.bool_),
            ranked=np.zeros((length, size), np.int32),
            price=np.zeros((length, size)),
            width=np.zeros(length, np.int32),
            turn=np.full(length + 1, -1, np.int32),
            spent=np.zeros(length + 1),
            best=self.place[order],
            times=QubitTimes.of(size),
        )
        # Qubits that no operation uses are nowhere, so that the others may take their places.
        stays = self.is_used.copy()
        stays[order] = False
        prepare(state, self.usage, self.device_costs, self.place, stays)
        return state


def _find_neighbourhood(usage: DeviceUsage, centre: int, size: int) -> list[int]:
    """Return at most a number of qubits around one, breadth first."""
    found = [centre]
    for v in found:
        near = usage.near[usage.first[v] : usage.first[v + 1]].tolist()
        found += [u for u in near if u not in found]
        if len(found) >= size:
            break
    return found[:size]


def _order_qubits(usage: DeviceUsage, qubits: Iterable[int]) -> list[int]:
    """Return qubits so that each, where possible, meets those before it, the most tied and most used first."""
    use = usage.there + usage.back + 3 * usage.swaps
    total = np.add.reduceat(np.append(use, 0), usage.first[:-1]) * (np.diff(usage.first) > 0)
    ties = dict.fromkeys(qubits, 0)
    queue = [(0, -float(total[v]), v) for v in ties]
    heapify(queue)
    order = []
    while ties:
        # Most constrained first: the qubit with the most partners that have a place.
        v = heappop(queue)[2]
        if ties.pop(v, None) is None:
            continue
        order.append(v)
        for u in usage.near[usage.first[v] : usage.first[v + 1]].tolist():
            if u in ties:
                ties[u] += 1
                heappush(queue, (-ties[u], -float(total[u]), u))
    return order
