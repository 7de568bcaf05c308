"""Which device qubits a routed circuit runs on: the best of its copies on a device whose error rates differ.

Every edge that the route uses has to lie on an edge. VF2PostLayout and mapomatic (doi:10.1103/PRXQuantum.4.010327)
score as many such relabellings as they can list; branch and bound need not list them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import Coupling, IndexArray
from tiger.circuits.noise.depth import ONE, PAIR, READ, SWAP, Clock, Costs, Watch, run
from tiger.circuits.route import Route
from tiger.model.arrays import BoolArray, FloatArray
from tiger.model.seams import Stop
from tiger.solvers.kernel import inner_kernel, kernel

SLICE = 100_000
GAIN, WORST = 1e-12, 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class RelabelParams:
    """Set the work: `visits` to candidates for all qubits, then `rounds` of `part_visits` for up to `part` of them."""

    visits: int = 300_000
    rounds: int = 100
    part: int = 8
    part_visits: int = 2_000


class Pattern(NamedTuple):
    """Hold what operations use of a device of N qubits.

    Qubit p meets `near[e]`, e from `first[p]` to `first[p + 1]`, in `there[e]` gates from p, `back[e]` gates to p and
    `swaps[e]` SWAPs; the other end lists them too. `ones[N]` one-qubit gates, `reads[N]` measurements, and the seconds
    `waits[N]`.
    """

    first: IndexArray
    near: IndexArray
    there: FloatArray
    back: FloatArray
    swaps: FloatArray
    ones: FloatArray
    reads: FloatArray
    waits: FloatArray


class Least(NamedTuple):
    """Hold what an edge, in its better direction, and a qubit cost, each in ascending order."""

    edge: FloatArray
    single: FloatArray
    readout: FloatArray
    decay: FloatArray


class Ground(NamedTuple):
    """Hold a device of N qubits: `neighbours[N, d]`, `degree[N]`, and costs, infinite on what is no edge.

    Losses by errors alone that exceed the `bound` count a hundredfold.
    """

    neighbours: IndexArray
    degree: IndexArray
    costs: Costs
    least: Least
    bound: float

    @classmethod
    def of(cls, coupling: Coupling, costs: Costs, bound: float = np.inf) -> "Ground":
        """Return the device of a coupling map, on which costs of other pairs do not count; O(N^2)."""
        degree = (coupling.neighbours >= 0).sum(axis=1, dtype=np.int32)
        pair = np.where(coupling.hops == 1, costs.pair, np.inf)
        p, q = coupling.edges.T
        each = np.minimum(pair[p, q], pair[q, p]), costs.single, costs.readout, costs.decay
        # Finite, since nothing times an infinite cost would be no number in a sum of bounds.
        least = Least(*[np.minimum(np.sort(column), WORST) for column in each])
        return cls(coupling.neighbours.copy(), degree, costs._replace(pair=pair), least, bound)


class Walk(NamedTuple):
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


def best_places(operations: IndexArray, ground: Ground, params: RelabelParams, seed: int, stop: Stop) -> IndexArray:
    """Return `place[N]`, a permutation, where every device qubit that operations use had best be; never a worse one.

    Optimal without waiting times if branch and bound ends within its visits. Else, or with waiting times, parts are
    placed anew in rounds, by a cost that is linear in the waits measured before, and kept where all is better.
    """
    search = _Search(operations, ground, params, stop)
    ended = search.whole()
    if not ended or search.clock.idle > 0:
        search.parts(np.random.default_rng(seed))
    return search.place


def pattern_of(operations: IndexArray, waits: FloatArray) -> Pattern:
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
    return Pattern(first, pairs[:, 1].copy(), there, back, swaps, ones, reads, waits.copy())


class _Search:
    """Hold the best places so far, and what the operations use and wait for there."""

    def __init__(self, operations: IndexArray, ground: Ground, params: RelabelParams, stop: Stop) -> None:
        self.operations, self.ground, self.params, self.stop = operations, ground, params, stop
        self.place = np.arange(len(ground.degree), dtype=np.int32)
        self.clock, waits = self._measure(self.place)
        self.pattern = pattern_of(operations, waits)
        uses = np.diff(self.pattern.first) + self.pattern.ones + self.pattern.reads
        self.used = np.flatnonzero(uses > 0)

    def whole(self) -> bool:
        """Place all qubits anew; return whether their places are the best by the linear cost."""
        return self._branch(_search_order(self.pattern, self.used.tolist()), self.params.visits)

    def parts(self, rng: np.random.Generator) -> None:
        """Place small connected parts anew."""
        for _ in range(self.params.rounds if len(self.used) else 0):
            if self.stop():
                return
            part = _ball(self.pattern, int(rng.choice(self.used)), int(rng.integers(1, self.params.part + 1)))
            self._branch(_search_order(self.pattern, part), self.params.part_visits)

    def _branch(self, order: list[int], visits: int) -> bool:
        """Place the qubits of `order` anew, the others staying, if all of it is better; return whether that ended."""
        if not order:
            return True
        walk = self._walk(order)
        before = bound = evaluate(walk, self.pattern, self.ground, self.place)
        ended = False
        while visits > 0 and not ended:
            bound, spent, ended = branch(walk, self.pattern, self.ground, bound, min(visits, SLICE))
            visits -= spent
            if self.stop():
                break
        if bound < before:
            self._offer(walk)
        return ended

    def _walk(self, order: list[int]) -> Walk:
        """Return the memory for placing some qubits anew."""
        size, length = len(self.place), len(order)
        image, taken = np.full(size, -1, np.int32), np.zeros(size, np.bool_)
        # Qubits that no operation uses are nowhere, so that the others may take their places.
        fixed = np.setdiff1d(self.used, order)
        image[fixed] = self.place[fixed]
        taken[image[fixed]] = True
        return Walk(
            order=np.array(order, np.int32),
            rest=_rest(self.pattern, self.ground.least, order, image),
            image=image,
            taken=taken,
            ranked=np.zeros((length, size), np.int32),
            price=np.zeros((length, size)),
            width=np.zeros(length, np.int32),
            turn=np.full(length + 1, -1, np.int32),
            spent=np.zeros(length + 1),
            best=self.place[order],
        )

    def _offer(self, walk: Walk) -> None:
        """Take the images of a walk over if the whole circuit gains by them."""
        place = self.place.copy()
        place[walk.order] = walk.best
        spare = np.setdiff1d(np.arange(len(place)), self.used)
        place[spare] = np.setdiff1d(np.arange(len(place)), place[self.used])
        clock, waits = self._measure(place)
        if clock.total(self.ground.bound) < self.clock.total(self.ground.bound) - GAIN:
            self.place, self.clock = place, clock
            self.pattern = self.pattern._replace(waits=waits)

    def _measure(self, place: IndexArray) -> tuple[Clock, FloatArray]:
        """Return the losses with device qubit p at `place[p]`, and how long every p waits."""
        watch = Watch.of(len(place))
        return Clock(*run(self.operations, place, self.ground.costs, watch)), watch.waited


def _ball(pattern: Pattern, centre: int, size: int) -> list[int]:
    """Return up to so many qubits around one, breadth first."""
    found = [centre]
    for v in found:
        near = pattern.near[pattern.first[v] : pattern.first[v + 1]].tolist()
        found += [u for u in near if u not in found]
        if len(found) >= size:
            break
    return found[:size]


def _search_order(pattern: Pattern, qubits: Iterable[int]) -> list[int]:
    """Return qubits so that each, where possible, meets those before it, the most tied and most used first."""
    use = pattern.there + pattern.back + 3 * pattern.swaps
    total = np.add.reduceat(np.append(use, 0), pattern.first[:-1]) * (np.diff(pattern.first) > 0)
    ties = dict.fromkeys(qubits, 0)
    queue = [(0, -float(total[v]), v) for v in ties]
    heapify(queue)
    order = []
    while ties:
        v = heappop(queue)[2]
        if ties.pop(v, None) is None:
            continue
        order.append(v)
        for u in pattern.near[pattern.first[v] : pattern.first[v + 1]].tolist():
            if u in ties:
                ties[u] += 1
                heappush(queue, (-ties[u], -float(total[u]), u))
    return order


def _rest(pattern: Pattern, least: Least, order: list[int], image: IndexArray) -> FloatArray:
    """Return what the qubits of `order` from each on cost at least, the most used pairs on the best edges."""
    placed, closed = image >= 0, []
    for v in order:
        span = slice(pattern.first[v], pattern.first[v + 1])
        use = pattern.there[span] + pattern.back[span] + 3 * pattern.swaps[span]
        closed.append(use[placed[pattern.near[span]]])
        placed[v] = True
    rest = np.zeros(len(order) + 1)
    for depth in range(len(order)):
        later = order[depth:]
        pairs = np.sort(np.concatenate(closed[depth:]))[::-1]
        count = min(len(pairs), len(least.edge))
        rest[depth] = pairs[:count] @ least.edge[:count]
        for use, costs in ((pattern.ones, least.single), (pattern.reads, least.readout), (pattern.waits, least.decay)):
            rest[depth] += np.sort(use[later])[::-1] @ costs[: len(later)]
    return rest


@kernel
def evaluate(walk: Walk, pattern: Pattern, ground: Ground, place: IndexArray) -> float:
    """Return what the qubits of a walk cost at their `place[N]`."""
    total = 0.0
    for v in walk.order:
        total += cost_at(walk, pattern, ground, v, place[v])
        walk.image[v] = place[v]
    for v in walk.order:
        walk.image[v] = -1
    return total


@kernel
def branch(walk: Walk, pattern: Pattern, ground: Ground, bound: float, limit: int) -> tuple[float, int, bool]:
    """Search depth first for images cheaper than `bound`, cheapest first; return (bound, visits, ended).

    A later call goes on where this one stopped.
    """
    length, visits = len(walk.order), 0
    depth = walk.turn[length]
    if depth < 0:
        depth = 0
        visits += rank(walk, pattern, ground, 0, bound)
    while depth >= 0 and visits < limit:
        v, turn = walk.order[depth], walk.turn[depth]
        q = walk.image[v]
        if q >= 0:
            walk.taken[q] = False
            walk.image[v] = -1
        if turn == walk.width[depth] or not is_hopeful(walk, depth, turn, bound):
            depth -= 1
            continue
        q = walk.ranked[depth, turn]
        walk.turn[depth] += 1
        walk.image[v] = q
        walk.taken[q] = True
        walk.spent[depth + 1] = walk.spent[depth] + walk.price[depth, turn]
        if depth < length - 1:
            depth += 1
            visits += rank(walk, pattern, ground, depth, bound)
            continue
        bound = walk.spent[length]
        for k in range(length):
            walk.best[k] = walk.image[walk.order[k]]
    walk.turn[length] = depth
    return bound, visits, depth < 0


@inner_kernel
def is_hopeful(walk: Walk, depth: int, turn: int, bound: float) -> bool:
    """Return whether a candidate may still lead below the bound."""
    least = walk.spent[depth] + walk.price[depth, turn] + walk.rest[depth + 1]
    return bool(least < bound - GAIN)


@kernel
def rank(walk: Walk, pattern: Pattern, ground: Ground, depth: int, bound: float) -> int:
    """List the candidates of the qubit at `depth`, cheapest first; return how many were looked at."""
    v, anchor = walk.order[depth], -1
    walk.width[depth] = walk.turn[depth] = 0
    for e in range(pattern.first[v], pattern.first[v + 1]):
        if walk.image[pattern.near[e]] >= 0:
            anchor = walk.image[pattern.near[e]]
            break
    # Next to a placed partner there are only its neighbours, elsewhere all of the device.
    many = len(walk.taken) if anchor < 0 else ground.neighbours.shape[1]
    for k in range(many):
        q = k if anchor < 0 else ground.neighbours[anchor, k]
        if q < 0:
            break
        if not walk.taken[q] and ground.degree[q] >= pattern.first[v + 1] - pattern.first[v]:
            enter(walk, depth, q, cost_at(walk, pattern, ground, v, q), bound)
    return int(many)


@inner_kernel
def enter(walk: Walk, depth: int, q: int, cost: float, bound: float) -> None:
    """Insert a candidate behind those that cost no more, unless it cannot lead below the bound."""
    if not walk.spent[depth] + cost + walk.rest[depth + 1] < bound - GAIN:
        return
    k = walk.width[depth]
    while k > 0 and walk.price[depth, k - 1] > cost:
        walk.price[depth, k] = walk.price[depth, k - 1]
        walk.ranked[depth, k] = walk.ranked[depth, k - 1]
        k -= 1
    walk.price[depth, k] = cost
    walk.ranked[depth, k] = q
    walk.width[depth] += 1


@inner_kernel
def cost_at(walk: Walk, pattern: Pattern, ground: Ground, v: int, q: int) -> float:
    """Return what qubit v costs at device qubit q, with its gates to qubits that are placed."""
    costs = ground.costs
    total = pattern.waits[v] * costs.decay[q]
    if pattern.ones[v] > 0:
        total += pattern.ones[v] * costs.single[q]
    if pattern.reads[v] > 0:
        total += pattern.reads[v] * costs.readout[q]
    for e in range(pattern.first[v], pattern.first[v + 1]):
        r = walk.image[pattern.near[e]]
        if r >= 0:
            there, back = costs.pair[q, r], costs.pair[r, q]
            if pattern.there[e] > 0:
                total += pattern.there[e] * there
            if pattern.back[e] > 0:
                total += pattern.back[e] * back
            if pattern.swaps[e] > 0:
                total += pattern.swaps[e] * (there + back + min(there, back))
    return float(total)
