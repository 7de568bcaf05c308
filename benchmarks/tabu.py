"""Plain peers for quadratic assignment: robust tabu search, and a memetic search that improves children by it.

Sources: E. D. Taillard, doi:10.1016/S0167-8191(05)80147-4; U. Benlic and J.-K. Hao, doi:10.1016/j.eswa.2014.08.011.
"""

import time
from typing import NamedTuple

import numpy as np
from numba import njit

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem

# Members of the population, and iterations of tabu search a child, as published; but the first members have this share
# of the time at most.
MEMBERS, ITERATIONS, FIRST = 15, 5000, 0.3
# Children in a row that don't lower the best cost, before all others are shuffled in part.
STALE = 15
# Iterations between two looks at the clock.
CHUNK = 100


class Tabu(NamedTuple):
    """Hold a robust tabu search of n tasks on n nodes, under change.

    `flow[c, n, n]` are the symmetric part of the flows and, where needed, the antisymmetric one; `apart[c, n, n]` are
    those of the distances between the nodes of tasks, `place[n]`; diagonals are in `own[2, n]`. `price[n, n]` are cost
    changes of swaps, u < v; until the iteration `until[u, k]` task u does not return to node k; `early` and `late`,
    [n, n], are the earlier and the later of both for each swap. `moved` and `turned`, [c, n], are how flows and
    distances of the tasks swapped last differ. `cost[2]` are the present and the lowest cost, relative to the first,
    `lowest[n]` is the mapping of the lowest, and `clock[2]` the iteration and the state of a random generator.
    """

    flow: FloatArray
    distance: FloatArray
    apart: FloatArray
    own: FloatArray
    place: IntArray
    lowest: IntArray
    price: FloatArray
    until: FloatArray
    early: FloatArray
    late: FloatArray
    moved: FloatArray
    turned: FloatArray
    cost: FloatArray
    clock: IntArray


class Assignment:
    """Hold the matrices of a problem that fills its hardware, and search it."""

    def __init__(self, problem: Problem, seed: int, limit_s: float) -> None:
        nodes = np.arange(problem.tasks.size)
        flow, distance = problem.tasks.traffic.toarray(), problem.metric.between(nodes[:, None], nodes)
        self._rng, self._state = np.random.default_rng(seed), _new_state(flow, distance)
        self._flow, self._distance = flow, distance
        # Kernels are loaded before the clock runs.
        _begin(self._state)
        _search(self._state, 0)
        self._end_s, self._limit_s = time.process_time() + limit_s, limit_s

    def measure(self, place: IntArray) -> float:
        """Return the cost of a mapping."""
        return float((self._flow * self._distance[np.ix_(place, place)]).sum())

    def robust(self) -> float:
        """Return the lowest cost of one robust tabu search until the time is up."""
        return self.measure(self._improve(self._rng.permutation(len(self._flow)), 1 << 60))

    def memetic(self) -> float:
        """Return the lowest cost of a population of tabu searches and of children of two of them."""
        members, iterations = [], CHUNK
        for number in range(MEMBERS):
            begun = time.process_time()
            members.append(self._improve(self._rng.permutation(len(self._flow)), iterations))
            if not number:
                rate = iterations / max(time.process_time() - begun, 1e-6)
                iterations = max(min(ITERATIONS, round(FIRST * self._limit_s * rate / MEMBERS)), CHUNK)
        costs, stale = [self.measure(place) for place in members], 0
        while time.process_time() < self._end_s:
            one, other = self._rng.choice(MEMBERS, 2, replace=False)
            child = self._improve(self._cross(members[one], members[other]), iterations)
            cost, worst = self.measure(child), int(np.argmax(costs))
            stale = 0 if cost < min(costs) else stale + 1
            if cost < costs[worst] and not any((child == place).all() for place in members):
                members[worst], costs[worst] = child, cost
            if stale > STALE:
                stale = 0
                self._shuffle(members, costs, iterations)
        return min(costs)

    def _shuffle(self, members: list[IntArray], costs: list[float], iterations: int) -> None:
        """Shuffle half of every member but the best, and improve it."""
        for number in set(range(MEMBERS)) - {int(np.argmin(costs))}:
            mixed, chosen = members[number].copy(), self._rng.permutation(len(self._flow))[::2]
            mixed[chosen] = self._rng.permutation(mixed[chosen])
            members[number] = self._improve(mixed, iterations)
            costs[number] = self.measure(members[number])

    def _cross(self, one: IntArray, other: IntArray) -> IntArray:
        """Return a mapping with what two share, and elsewhere the node of either where it is free."""
        child, used = np.full(len(one), -1), np.zeros(len(one), bool)
        same = one == other
        child[same], used[one[same]] = one[same], True
        for task in self._rng.permutation(np.flatnonzero(~same)).tolist():
            for node in self._rng.permutation([one[task], other[task]]).tolist():
                if not used[node]:
                    child[task], used[node] = node, True
                    break
        child[child < 0] = self._rng.permutation(np.flatnonzero(~used))
        return child

    def _improve(self, place: IntArray, iterations: int) -> IntArray:
        """Return the cheapest mapping that a number of iterations of tabu search see, or those there is time for."""
        state = self._state
        state.place[:], state.clock[1] = place, self._rng.integers(1 << 31)
        _begin(state)
        done = 0
        while done < iterations and time.process_time() < self._end_s:
            chunk = min(CHUNK, iterations - done)
            _search(state, chunk)
            done += chunk
        return state.lowest.copy()


def _new_state(flow: FloatArray, distance: FloatArray) -> Tabu:
    """Return the arrays of a search."""
    size, own = len(flow), np.stack([np.diag(flow), np.diag(distance)])
    flows, distances = [(flow + flow.T) / 2.0], [(distance + distance.T) / 2.0]
    if (flow != flow.T).any() and (distance != distance.T).any():
        flows.append((flow - flow.T) / 2.0)
        distances.append((distance - distance.T) / 2.0)
    for matrix in (flows[0], distances[0]):
        np.fill_diagonal(matrix, 0.0)

    def zeros(*shape: int) -> FloatArray:
        """Return zeros."""
        return np.zeros(shape)

    return Tabu(
        flow=np.stack(flows),
        distance=np.stack(distances),
        apart=zeros(len(flows), size, size),
        own=own,
        place=np.arange(size),
        lowest=np.arange(size),
        price=zeros(size, size),
        until=zeros(size, size),
        early=zeros(size, size),
        late=zeros(size, size),
        moved=zeros(len(flows), size),
        turned=zeros(len(flows), size),
        cost=zeros(2),
        clock=np.zeros(2, np.int64),
    )


@njit(cache=True, nogil=True, fastmath=True)
def _begin(state: Tabu) -> None:
    """Compute distances and prices from scratch, and forget what was forbidden; O(n^3)."""
    size = len(state.place)
    for c in range(len(state.flow)):
        for u in range(size):
            for v in range(size):
                state.apart[c, u, v] = state.distance[c, state.place[u], state.place[v]]
    for u in range(size):
        state.lowest[u] = state.place[u]
        for v in range(size):
            # Any two tasks change places sooner or later: those of large numbers first.
            state.until[u, v] = -1.0 - 5.0 * u - 5.0 * v / size
            state.price[u, v] = _price(state, u, v) if u < v else 0.0
    for u in range(size):
        for v in range(size):
            _note(state, u, v)
    state.cost[:], state.clock[0] = 0.0, 0


@njit(cache=True, nogil=True, fastmath=True)
def _price(state: Tabu, u: int, v: int) -> float:
    """Return the cost change of a swap; O(n)."""
    change = 0.0
    for c in range(len(state.flow)):
        gain, loss, here, there = state.flow[c, u], state.flow[c, v], state.apart[c, u], state.apart[c, v]
        for k in range(len(gain)):
            change += (gain[k] - loss[k]) * (there[k] - here[k])
    # The sum has the two tasks too close to each other by their distance, but where both parts are antisymmetric.
    change += 2.0 * state.flow[0, u, v] * state.apart[0, u, v]
    near, far = state.place[u], state.place[v]
    return 2.0 * change + (state.own[0, u] - state.own[0, v]) * (state.own[1, far] - state.own[1, near])


@njit(cache=True, nogil=True, fastmath=True)
def _note(state: Tabu, u: int, v: int) -> None:
    """Put down until when a swap is forbidden to one of its tasks, and to the other."""
    one, other = state.until[u, state.place[v]], state.until[v, state.place[u]]
    state.early[u, v], state.late[u, v] = min(one, other), max(one, other)


@njit(cache=True, nogil=True, fastmath=True)
def _tenure(state: Tabu) -> float:
    """Return a random number of iterations from 0.9 n to 1.1 n."""
    state.clock[1] = (state.clock[1] * 1103515245 + 12345) & 0x7FFFFFFF
    return len(state.place) * (0.9 + 0.2 * state.clock[1] / 0x7FFFFFFF)


@njit(cache=True, nogil=True, fastmath=True)
def _search(state: Tabu, iterations: int) -> None:
    """Make the best swap that is allowed, again and again; O(n^2) each."""
    size = len(state.place)
    for _ in range(iterations):
        state.clock[0] += 1
        # Aspiration: a new lowest cost, or a swap of which neither task was on the other's node for long.
        now, below = float(state.clock[0]), state.cost[1] - state.cost[0] - 1e-9
        forgotten = now - 5.0 * size * size
        best = long = 1e300
        row = long_row = -1
        for u in range(size - 1):
            price, early, late = state.price[u, u + 1 :], state.early[u, u + 1 :], state.late[u, u + 1 :]
            least = least_long = 1e300
            for k in range(len(price)):
                cost = price[k] if early[k] < now or price[k] < below else 1e300
                least = min(least, cost)
                cost = price[k] if late[k] < forgotten else 1e300
                least_long = min(least_long, cost)
            if least < best:
                best, row = least, u
            if least_long < long:
                long, long_row = least_long, u
        forced = long_row >= 0 and best >= below
        if row < 0 and not forced:
            continue
        if forced:
            best, row = long, long_row
        column = row + 1
        while state.price[row, column] != best or not (
            state.late[row, column] < forgotten if forced else state.early[row, column] < now or best < below
        ):
            column += 1
        state.cost[0] += best
        _swap(state, row, column)
        if state.cost[0] < state.cost[1] - 1e-9:
            state.cost[1] = state.cost[0]
            for k in range(size):
                state.lowest[k] = state.place[k]


@njit(cache=True, nogil=True, fastmath=True)
def _swap(state: Tabu, u: int, v: int) -> None:
    """Swap two tasks, forbid their return for a while, and bring all prices up to date; O(n^2)."""
    place, size, now = state.place, len(state.place), float(state.clock[0])
    state.until[u, place[u]], state.until[v, place[v]] = now + _tenure(state), now + _tenure(state)
    place[u], place[v] = place[v], place[u]
    for c in range(len(state.flow)):
        apart, here, there = state.apart[c], state.apart[c, u], state.apart[c, v]
        for k in range(size):
            here[k], there[k] = there[k], here[k]
        for k in range(size):
            apart[k, u], apart[k, v] = apart[k, v], apart[k, u]
        for k in range(size):
            state.moved[c, k] = state.flow[c, u, k] - state.flow[c, v, k]
            state.turned[c, k] = there[k] - here[k]
    for i in range(size - 1):
        price = state.price[i, i + 1 :]
        for c in range(len(state.flow)):
            # Taillard 1991: the price of a swap of two other tasks changes by a product.
            moved, turned = state.moved[c, i + 1 :], state.turned[c, i + 1 :]
            gain, turn = state.moved[c, i], state.turned[c, i]
            for k in range(len(price)):
                price[k] += 2.0 * (gain - moved[k]) * (turn - turned[k])
    for k in range(size):
        for task in (u, v):
            if k != task:
                state.price[min(k, task), max(k, task)] = _price(state, min(k, task), max(k, task))
                _note(state, min(k, task), max(k, task))
