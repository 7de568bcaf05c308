"""Compiled tabu search of one-to-one mappings: the best of all swaps is made, its price kept in a table.

Numbers are of single precision, twice as many of which fit into a vector instruction; prices are computed afresh at
every start, and ends are descended from in double precision.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiger.model.arrays import IntArray
from tiger.solvers.annealing.price_lanes import LANES, NEVER, SingleArray, add_products, scan_prices
from tiger.solvers.kernel import inner_kernel, kernel

TenureArray = NDArray[np.int32]

TWICE = np.float32(2.0)


class TabuState(NamedTuple):
    """Hold m nodes and m tasks, and a tabu search of their mappings.

    `flow[c, m, m]`, `distances[c, m, m]` and `bias[m, m]` are those of `tiger.solvers.annealing.fields.Fields`, but for
    what adds the same to the cost of every mapping. With task u on node `place[u]`, `field[u, n]` is what u would cost
    on node n with all others where they are, `own[u]` what it does cost, and `price[u, v]`, u < v, the cost change of a
    swap; other prices are NEVER, and rows are padded to a multiple of LANES. Task u may not return to node n before the
    iteration `until[u, n]`; a swap that would return both tasks is not made before `barred[u, v]`. Tenures are
    `shortest` and up to `spread` more iterations. `cost[3]` are the present cost and the lowest one, relative to that
    of the start, and the smallest gain that counts; `lowest[m]` is the mapping of the lowest. `clock[2]` are the
    iterations so far and the state of a linear congruential generator.
    `moved[c, m]` and `turned[c, m]` are how the flows and the distances of the tasks swapped last differ, and `pair[2]`
    these tasks; `fresh[2, m]` are the prices of their swaps, and `kept[m]` is 0 for them while other prices change.
    `least` and `free`, [m], are the lowest price of a column, of any swap and of one that is not barred.
    """

    shortest: int
    spread: int
    flow: SingleArray
    distances: SingleArray
    bias: SingleArray
    place: IntArray
    field: SingleArray
    own: SingleArray
    price: SingleArray
    until: TenureArray
    barred: TenureArray
    cost: NDArray[np.float64]
    lowest: IntArray
    clock: IntArray
    moved: SingleArray
    turned: SingleArray
    kept: SingleArray
    pair: IntArray
    fresh: SingleArray
    least: SingleArray
    free: SingleArray


@kernel
def begin(state: TabuState) -> None:
    """Compute fields and prices from scratch for the present `place`, and forget what was barred; O(m^3)."""
    place, size = state.place, len(state.place)
    for u in range(size):
        field = state.field[u]
        for node in range(size):
            field[node] = state.bias[u, node]
        for c in range(len(state.flow)):
            for t in range(size):
                volume, row = state.flow[c, t, u], state.distances[c, place[t]]
                for node in range(size):
                    field[node] += volume * row[node]
        state.own[u] = field[place[u]]
        state.lowest[u] = place[u]
    for u in range(size):
        for v in range(size):
            state.until[u, v] = state.barred[u, v] = 0
        _price_task(state, u, 0)
        for v in range(len(state.moved[0])):
            state.price[u, v] = state.fresh[0, v] if u < v < size else NEVER
    state.moved[:], state.turned[:], state.pair[:] = 0.0, 0.0, -1
    state.clock[0], state.cost[0], state.cost[1] = 0, 0.0, 0.0
    state.least[:], state.free[:] = NEVER, NEVER


@inner_kernel
def _price_task(state: TabuState, u: int, to: int) -> None:
    """Put the cost changes of the swaps of task u with every task into `fresh[to]`; O(m)."""
    place, field, fresh, here, own = state.place, state.field[u], state.fresh[to], state.place[u], state.own[u]
    volume, length = state.flow[0, u], state.distances[0, here]
    for v in range(len(place)):
        node = place[v]
        fresh[v] = field[node] - own - state.own[v] + TWICE * volume[v] * length[node]
    for v in range(len(place)):
        fresh[v] += state.field[v, here]


@inner_kernel
def _scan(state: TabuState) -> None:
    """Bring all prices up to date after the last swap, and find the lowest of every column; O(m^2)."""
    first, second, last = state.pair[0], state.pair[1], len(state.flow) - 1
    if first >= 0:
        for side in range(2):
            u = state.pair[side]
            for v in range(u + 1, len(state.place)):
                state.price[u, v] = state.fresh[side, v]
            state.kept[u] = 0.0
    if last > 0:
        for u in range(len(state.place)):
            _add_product(state, u)
    rows, lowest = (state.moved[last], state.turned[last], state.kept), (state.least, state.free)
    scan_prices(state.price, state.barred, rows, lowest, state.clock[0])
    if first >= 0:
        state.kept[first] = state.kept[second] = 1.0
        _scan_column(state, first, 0)
        _scan_column(state, second, 1)


@inner_kernel
def _add_product(state: TabuState, u: int) -> None:
    """Add what the last swap changes in the prices of row u by the symmetric matrices; O(m)."""
    after = u + 1 & -LANES
    price, moved, turned = state.price[u, after:], state.moved[0, after:], state.turned[0, after:]
    gain, turn, kept = state.moved[0, u], state.turned[0, u], state.kept[u]
    for v in range(len(price)):
        price[v] += kept * ((gain - moved[v]) * (turned[v] - turn))


@inner_kernel
def _scan_column(state: TabuState, v: int, side: int) -> None:
    """Put the fresh prices of task v, swapped last, into its column, and find their minima; O(m)."""
    fresh, barred, iteration = state.fresh[side], state.barred[v], np.int32(state.clock[0])
    lowest = legal = NEVER
    for u in range(v):
        here = fresh[u]
        state.price[u, v] = here
        lowest = here if here < lowest else lowest
        legal = here if barred[u] <= iteration and here < legal else legal
    state.least[v], state.free[v] = lowest, legal


@inner_kernel
def _choose(state: TabuState) -> bool:
    """Put the swap to make into `pair`, and return whether there is one; O(m).

    It is the cheapest that is not barred, or any that leads below the lowest cost (aspiration).
    """
    least, free, size, iteration = state.least, state.free, len(state.place), state.clock[0]
    column = open_column = 0
    lowest = legal = NEVER
    for v in range(1, size):
        if least[v] < lowest:
            lowest, column = least[v], v
        if free[v] < legal:
            legal, open_column = free[v], v
        least[v] = free[v] = NEVER
    if lowest == NEVER:
        return False
    u = 0
    if legal == NEVER or state.cost[0] + lowest < state.cost[1] - state.cost[2]:
        while state.price[u, column] != lowest:
            u += 1
        state.pair[0], state.pair[1] = u, column
    else:
        while state.price[u, open_column] != legal or state.barred[u, open_column] > iteration:
            u += 1
        state.pair[0], state.pair[1] = u, open_column
    return True


@inner_kernel
def _swap(state: TabuState) -> None:
    """Swap the chosen pair, and bring fields up to date and the prices of its tasks; O(m^2)."""
    place, (u, v), step = state.place, (state.pair[0], state.pair[1]), state.fresh[0]
    here, there, size = place[u], place[v], len(place)
    place[u], place[v] = there, here
    for c in range(len(state.flow)):
        moved, turned, gain, loss = state.moved[c], state.turned[c], state.flow[c, u], state.flow[c, v]
        near, far = state.distances[c, here], state.distances[c, there]
        for node in range(size):
            step[node] = far[node] - near[node]
        for t in range(size):
            moved[t] = gain[t] - loss[t]
        for t in range(size):
            turned[t] = step[place[t]]
        # The two tasks' own entries are those before the swap; their prices are computed afresh.
        add_products(state.field, moved, step)
    for t in range(size):
        state.own[t] = state.field[t, place[t]]
    _price_task(state, u, 0)
    _price_task(state, v, 1)


@inner_kernel
def _bar(state: TabuState, here: int, there: int) -> None:
    """Bar the pair just swapped from returning to the nodes `here` and `there` that they left; O(m)."""
    place, until, barred, clock = state.place, state.until, state.barred, state.clock
    u, v = state.pair[0], state.pair[1]
    clock[1] = (clock[1] * 1103515245 + 12345) & 0x7FFFFFFF
    until[u, here] = clock[0] + state.shortest + ((clock[1] >> 8) * state.spread >> 23)
    clock[1] = (clock[1] * 1103515245 + 12345) & 0x7FFFFFFF
    until[v, there] = clock[0] + state.shortest + ((clock[1] >> 8) * state.spread >> 23)
    # Taillard 1991: a swap is tabu while both tasks would return to nodes that they left lately.
    for t in range(len(place)):
        barred[u, t] = barred[t, u] = min(until[u, place[t]], until[t, there])
        barred[v, t] = barred[t, v] = min(until[v, place[t]], until[t, here])
    barred[u, v] = barred[v, u] = min(until[u, here], until[v, there])


@kernel
def search_tabu(state: TabuState, iterations: int) -> bool:
    """Make a number of swaps, each the best that is allowed, and return whether there were any; O(m^2) each.

    Source: robust tabu search, E. D. Taillard, doi:10.1016/S0167-8191(05)80147-4.
    """
    for _ in range(iterations):
        state.clock[0] += 1
        _scan(state)
        if not _choose(state):
            return False
        u, v = state.pair[0], state.pair[1]
        here, there = state.place[u], state.place[v]
        state.cost[0] += state.price[u, v]
        _swap(state)
        _bar(state, here, there)
        if state.cost[0] < state.cost[1] - state.cost[2]:
            state.cost[1] = state.cost[0]
            for t in range(len(state.place)):
                state.lowest[t] = state.place[t]
    return True
