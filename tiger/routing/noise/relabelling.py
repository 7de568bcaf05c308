"""Which device qubits a routed circuit runs on: the best of its copies on a device whose error rates differ.

Every edge that the route uses has to lie on an edge. VF2PostLayout and mapomatic (doi:10.1103/PRXQuantum.4.010327)
score as many such relabellings as they can list; branch and bound need not list them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray
from tiger.model.seams import Stop
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.noise.depth import ONE, PAIR, READ, SWAP, Duration, ErrorCosts, QubitTimes, run_operations
from tiger.routing.route import Route
from tiger.solvers.kernel import inner_kernel, kernel

# Visits to candidates between two calls of `stop`.
SLICE = 100_000
# What is less of a gain is rounding, and what stands for an infinite cost where a sum has to stay a number.
GAIN, WORST = 1e-12, 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class RelabelParams:
    """Set the work: `visits` to candidates for all qubits, then `rounds` of `part_visits` for up to `part` of them."""

    visits: int = 300_000
    rounds: int = 100
    part: int = 8
    part_visits: int = 2_000


class DeviceUsage(NamedTuple):
    """Hold what operations use of a device of N qubits.

    Qubit p meets `near[e]`, e from `first[p]` to `first[p + 1]`, in `there[e]` gates from p, `back[e]` gates to p and
    `swaps[e]` SWAPs, listed at both ends. `ones[N]` one-qubit gates, `reads[N]` measurements, `waits[N]` seconds.
    """

    first: IndexArray
    near: IndexArray
    there: FloatArray
    back: FloatArray
    swaps: FloatArray
    ones: FloatArray
    reads: FloatArray
    waits: FloatArray


class LeastCosts(NamedTuple):
    """Hold what an edge, in its better direction, and a qubit cost, each in ascending order."""

    edge: FloatArray
    single: FloatArray
    readout: FloatArray
    decay: FloatArray


class DeviceCosts(NamedTuple):
    """Hold a device of N qubits: `neighbours[N, d]`, `degree[N]`, and costs, infinite on what is no edge.

    Losses by errors alone that exceed the `bound` count a hundredfold.
    """

    neighbours: IndexArray
    degree: IndexArray
    costs: ErrorCosts
    least: LeastCosts
    bound: float

    @classmethod
    def of(cls, coupling: Coupling, costs: ErrorCosts, bound: float = np.inf) -> "DeviceCosts":
        """Return the device of a coupling map, on which costs of other pairs do not count; O(N^2)."""
        degree = (coupling.neighbours >= 0).sum(axis=1, dtype=np.int32)
        pair = np.where(coupling.hops == 1, costs.pair, np.inf)
        p, q = coupling.edges.T
        each = np.minimum(pair[p, q], pair[q, p]), costs.single, costs.readout, costs.decay
        # Finite, since nothing times an infinite cost would be no number in a sum of bounds.
        least = LeastCosts(*[np.minimum(np.sort(column), WORST) for column in each])
        return cls(coupling.neighbours.copy(), degree, costs._replace(pair=pair), least, bound)


class BranchState(NamedTuple):
    """Hold the memory of a branch and bound over h qubits, so that it can go on later.

    `order[h]`: qubits in the order they are placed; `rest[h + 1]`: least cost of what comes after; `image[N]`: where a
    qubit is, or -1; `taken[N]`; `ranked[h, N]`, `price[h, N]`: candidates and their costs, `width[h]` of them;
    `turn[h + 1]`: the next of them, and the depth; `spent[h + 1]`; `best[h]`: the best images in order.
    """

    order: IndexArray
    rest: FloatArray
    image: IndexArray
    taken: BoolArray
    ranked: IndexArray
    price: FloatArray
    width: IndexArray
    turn: IndexArray
    spent: FloatArray
    best: IndexArray


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

    Optimal without waiting times if branch and bound ends within its visits. Otherwise, or with waiting times, parts
    are placed again in rounds, by a cost that is linear in the waits measured before, and kept where all is better.
    """
    search = _RelabelSearch(operations, device_costs, params, stop)
    ended = search.place_all()
    if not ended or search.duration.idle > 0:
        search.place_parts(np.random.default_rng(seed))
    return search.place


def count_usage(operations: IndexArray, waits: FloatArray) -> DeviceUsage:
    """Count what operations use of every pair and qubit; O(k log k)."""
    size = len(waits)
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
    return DeviceUsage(first, pairs[:, 1].copy(), there, back, swaps, ones, reads, waits.copy())


class _RelabelSearch:
    """Hold the best places so far, and what the operations use and wait for there."""

    def __init__(self, operations: IndexArray, device_costs: DeviceCosts, params: RelabelParams, stop: Stop) -> None:
        self.operations, self.device_costs, self.params, self.stop = operations, device_costs, params, stop
        self.place = np.arange(len(device_costs.degree), dtype=np.int32)
        self.duration, waits = self._measure(self.place)
        self.usage = count_usage(operations, waits)
        uses = np.diff(self.usage.first) + self.usage.ones + self.usage.reads
        self.used = np.flatnonzero(uses > 0)

    def place_all(self) -> bool:
        """Place all qubits again; return whether their places are the best by the linear cost."""
        return self._place_again(_order_qubits(self.usage, self.used.tolist()), self.params.visits)

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
        """Place the qubits of `order` again, the others staying, if all of it is better; return whether that ended."""
        if not order:
            return True
        state = self._start_branching(order)
        before = bound = evaluate(state, self.usage, self.device_costs, self.place)
        ended = False
        # In slices, between which `stop` is called; the search goes on where it was.
        while visits > 0 and not ended:
            bound, spent, ended = branch(state, self.usage, self.device_costs, bound, min(visits, SLICE))
            visits -= spent
            if self.stop():
                break
        if bound < before:
            self._take_if_better(state)
        return ended

    def _start_branching(self, order: list[int]) -> BranchState:
        """Return the memory for placing some qubits again."""
        size, length = len(self.place), len(order)
        image, taken = np.full(size, -1, np.int32), np.zeros(size, np.bool_)
        # Qubits that no operation uses are nowhere, so that the others may take their places.
        fixed = np.setdiff1d(self.used, order)
        image[fixed] = self.place[fixed]
        taken[image[fixed]] = True
        return BranchState(
            order=np.array(order, np.int32),
            rest=_bound_rest(self.usage, self.device_costs.least, order, image),
            image=image,
            taken=taken,
            ranked=np.zeros((length, size), np.int32),
            price=np.zeros((length, size)),
            width=np.zeros(length, np.int32),
            turn=np.full(length + 1, -1, np.int32),
            spent=np.zeros(length + 1),
            best=self.place[order],
        )

    def _take_if_better(self, state: BranchState) -> None:
        """Take the best images over if the whole circuit gains by them."""
        place = self.place.copy()
        place[state.order] = state.best
        spare = np.setdiff1d(np.arange(len(place)), self.used)
        place[spare] = np.setdiff1d(np.arange(len(place)), place[self.used])
        duration, waits = self._measure(place)
        if duration.total(self.device_costs.bound) < self.duration.total(self.device_costs.bound) - GAIN:
            self.place, self.duration = place, duration
            self.usage = self.usage._replace(waits=waits)

    def _measure(self, place: IndexArray) -> tuple[Duration, FloatArray]:
        """Return the losses with device qubit p at `place[p]`, and how long every p waits."""
        times = QubitTimes.of(len(place))
        return Duration(*run_operations(self.operations, place, self.device_costs.costs, times)), times.waited


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


def _bound_rest(usage: DeviceUsage, least: LeastCosts, order: list[int], image: IndexArray) -> FloatArray:
    """Return the least cost of the qubits of `order` from each on, the most used pairs on the best edges."""
    # The most used pair meets the cheapest edge, and so on: the rearrangement inequality makes that a lower bound.
    placed, closed = image >= 0, []
    for v in order:
        span = slice(usage.first[v], usage.first[v + 1])
        use = usage.there[span] + usage.back[span] + 3 * usage.swaps[span]
        closed.append(use[placed[usage.near[span]]])
        placed[v] = True
    rest = np.zeros(len(order) + 1)
    for depth in range(len(order)):
        later = order[depth:]
        pairs = np.sort(np.concatenate(closed[depth:]))[::-1]
        count = min(len(pairs), len(least.edge))
        rest[depth] = pairs[:count] @ least.edge[:count]
        for use, costs in ((usage.ones, least.single), (usage.reads, least.readout), (usage.waits, least.decay)):
            rest[depth] += np.sort(use[later])[::-1] @ costs[: len(later)]
    return rest


@kernel
def evaluate(state: BranchState, usage: DeviceUsage, device_costs: DeviceCosts, place: IndexArray) -> float:
    """Return the cost of the qubits to be placed at their `place[N]`."""
    total = 0.0
    for v in state.order:
        total += compute_cost_at(state, usage, device_costs, v, place[v])
        state.image[v] = place[v]
    for v in state.order:
        state.image[v] = -1
    return total


@kernel
def branch(
    state: BranchState, usage: DeviceUsage, device_costs: DeviceCosts, bound: float, limit: int
) -> tuple[float, int, bool]:
    """Search depth first for images cheaper than `bound`, cheapest first; return (bound, visits, ended).

    A later call goes on where this one stopped.
    """
    # Depth-first branch and bound (Land, Doig 1960): `rest` bounds from below what the qubits still to be placed cost.
    length, visits = len(state.order), 0
    depth = state.turn[length]
    if depth < 0:
        depth = 0
        visits += rank_candidates(state, usage, device_costs, 0, bound)
    while depth >= 0 and visits < limit:
        v, turn = state.order[depth], state.turn[depth]
        q = state.image[v]
        if q >= 0:
            state.taken[q] = False
            state.image[v] = -1
        # Candidates come cheapest first: once one cannot lead below the bound, no later one can.
        if turn == state.width[depth] or not is_hopeful(state, depth, turn, bound):
            depth -= 1
            continue
        q = state.ranked[depth, turn]
        state.turn[depth] += 1
        state.image[v] = q
        state.taken[q] = True
        state.spent[depth + 1] = state.spent[depth] + state.price[depth, turn]
        if depth < length - 1:
            depth += 1
            visits += rank_candidates(state, usage, device_costs, depth, bound)
            continue
        bound = state.spent[length]
        for k in range(length):
            state.best[k] = state.image[state.order[k]]
    state.turn[length] = depth
    return bound, visits, depth < 0


@inner_kernel
def is_hopeful(state: BranchState, depth: int, turn: int, bound: float) -> bool:
    """Return whether a candidate may still lead below the bound."""
    least = state.spent[depth] + state.price[depth, turn] + state.rest[depth + 1]
    return bool(least < bound - GAIN)


@inner_kernel
def rank_candidates(state: BranchState, usage: DeviceUsage, device_costs: DeviceCosts, depth: int, bound: float) -> int:
    """List the candidates of the qubit at `depth`, cheapest first; return how many were looked at."""
    v, anchor = state.order[depth], -1
    state.width[depth] = state.turn[depth] = 0
    for e in range(usage.first[v], usage.first[v + 1]):
        if state.image[usage.near[e]] >= 0:
            anchor = state.image[usage.near[e]]
            break
    # Next to a placed partner there are only its neighbours, elsewhere all of the device.
    many = len(state.taken) if anchor < 0 else device_costs.neighbours.shape[1]
    for k in range(many):
        q = k if anchor < 0 else device_costs.neighbours[anchor, k]
        if q < 0:
            break
        if not state.taken[q] and device_costs.degree[q] >= usage.first[v + 1] - usage.first[v]:
            insert_candidate(state, depth, q, compute_cost_at(state, usage, device_costs, v, q), bound)
    return int(many)


@inner_kernel
def insert_candidate(state: BranchState, depth: int, q: int, cost: float, bound: float) -> None:
    """Insert a candidate behind those that cost no more, unless it cannot lead below the bound."""
    if not state.spent[depth] + cost + state.rest[depth + 1] < bound - GAIN:
        return
    k = state.width[depth]
    while k > 0 and state.price[depth, k - 1] > cost:
        state.price[depth, k] = state.price[depth, k - 1]
        state.ranked[depth, k] = state.ranked[depth, k - 1]
        k -= 1
    state.price[depth, k] = cost
    state.ranked[depth, k] = q
    state.width[depth] += 1


@inner_kernel
def compute_cost_at(state: BranchState, usage: DeviceUsage, device_costs: DeviceCosts, v: int, q: int) -> float:
    """Return the cost of qubit v at device qubit q, with its gates to qubits that are placed."""
    costs = device_costs.costs
    total = usage.waits[v] * costs.decay[q]
    # What is not used adds nothing: zero times an infinite cost is no number.
    if usage.ones[v] > 0:
        total += usage.ones[v] * costs.single[q]
    if usage.reads[v] > 0:
        total += usage.reads[v] * costs.readout[q]
    for e in range(usage.first[v], usage.first[v + 1]):
        r = state.image[usage.near[e]]
        if r >= 0:
            there, back = costs.pair[q, r], costs.pair[r, q]
            if usage.there[e] > 0:
                total += usage.there[e] * there
            if usage.back[e] > 0:
                total += usage.back[e] * back
            # A SWAP is three CX, the outer two in the better direction.
            if usage.swaps[e] > 0:
                total += usage.swaps[e] * (there + back + min(there, back))
    return float(total)
