"""A compiled beam search over SWAPs and BRIDGEs: many routings advance side by side, and the most promising go on.

All of them have taken as many steps at any time; what they still have to pay is estimated from the distances of the
gates that wait and come soon, and from how many gates are left. Equal states are merged. A heuristic: not optimal.
"""

from collections.abc import Sequence

from tiger.circuits.coupling import IndexArray
from tiger.circuits.lehmer import RNG_MODULUS
from tiger.circuits.routing.beam_arrays import OPTIONS, Beam
from tiger.circuits.routing.frontier import (
    NEVER,
    TOO_MUCH,
    RouterParams,
    RoutingArrays,
    State,
    carry_out_ready,
    draw_below,
    stack_ready,
)
from tiger.circuits.routing.lookahead import link_lookahead, score_swap
from tiger.circuits.routing.prices import NOTHING, quote_swap
from tiger.circuits.routing.router import apply_step, find_nearer_neighbour
from tiger.circuits.routing.smallest import select
from tiger.solvers.kernel import inner_kernel, kernel

# Levels without a gate less to do, after which only the front counts, so that the search ends.
PATIENCE = 8
# Odd multipliers that spread positions over 31 bits: factors of Lehmer's generator (see `tiger.circuits.lehmer`).
FACTORS = (48_271, 16_807, 69_621)


@inner_kernel
def search_beam(
    arrays: RoutingArrays, state: State, beam: Beam, router_params: Sequence[RouterParams], limit: int
) -> int:
    """Route what is not done yet from the mapping in `state` by a beam; return as `route` does, with the same results.

    O(levels * width * (front * degree + g)) at worst.
    """
    counters, params = state.counters[0], router_params[0]
    open_beam(arrays, state, beam, params)
    count, level, stalled, fewest, weight = 1, 0, 0, counters.left, params.lookahead_weight
    width = int(min(params.width, len(beam.alive)))
    best = find_leader(beam, count)
    # A level adds one SWAP or BRIDGE to every state: all states of a level have paid the same.
    while beam.header[beam.alive[best]].front > 0:
        if beam.header[beam.alive[best]].paid >= limit or level >= len(beam.origin) - 1:
            break
        stalled += 1
        params.lookahead_weight = weight if stalled < PATIENCE else 0.0
        # Twice as many options are tried as states go on: the estimate after a step is better than that before it.
        children = expand(arrays, state, beam, params, rank_options(beam, count, 2 * width))
        count = keep_best(beam, level, children, width)
        level += 1
        best = find_leader(beam, count)
        if beam.header[beam.alive[best]].left < fewest:
            fewest, stalled = beam.header[beam.alive[best]].left, 0
    params.lookahead_weight = weight
    if beam.header[beam.alive[best]].front > 0:
        return TOO_MUCH
    replay_steps(arrays, state, beam, level, best)
    return int(counters.cost)


@kernel
def route_by_beam(arrays: RoutingArrays, state: State, beam: Beam, router_params: Sequence[RouterParams]) -> int:
    """Call `search_beam` from Python, without a limit."""
    return search_beam(arrays, state, beam, router_params, TOO_MUCH)


@inner_kernel
def find_leader(beam: Beam, count: int) -> int:
    """Return the first of the states that go on with the fewest gates left."""
    best = 0
    for i in range(1, count):
        if beam.header[beam.alive[i]].left < beam.header[beam.alive[best]].left:
            best = i
    return best


@inner_kernel
def open_beam(arrays: RoutingArrays, state: State, beam: Beam, params: RouterParams) -> None:
    """Make the state the only one of the beam."""
    counters = state.counters[0]
    # What rows store their differences from, and where the replay begins.
    for v in range(len(state.need)):
        beam.start_need[v] = state.need[v]
    for v in range(len(state.place)):
        beam.start_place[v] = state.place[v]
        beam.busy[v] = 0
    for v in range(len(state.need)):
        if state.need[v] >= 0 and arrays.pairs[v, 0] >= 0:
            beam.busy[arrays.pairs[v, 0]] = beam.busy[arrays.pairs[v, 1]] = 1
    counters.low = len(state.need)
    counters.high = 0
    carry_out_ready(arrays, state)
    # Free rows are taken from the end, so that the first can hold the beginning, with all done that needs no SWAP.
    for r in range(len(beam.free)):
        beam.free[r] = r
    beam.header[0].hash = 0
    beam.alive[0] = 0
    link_lookahead(arrays, state, params)
    store_row(arrays, state, beam, params, 0)


@inner_kernel
def rank_options(beam: Beam, count: int, most: int) -> int:
    """Order the most promising options of all states that go on, up to `most`; return how many."""
    found = 0
    for i in range(count):
        r = beam.alive[i]
        for o in range(OPTIONS):
            if beam.gain[r, o] < NEVER:
                beam.keys[found] = beam.value[r] + beam.gain[r, o]
                beam.order[found] = i * OPTIONS + o
                found += 1
    select(beam.keys, beam.order, found, most)
    return min(found, most)


@inner_kernel
def expand(arrays: RoutingArrays, state: State, beam: Beam, params: RouterParams, chosen: int) -> int:
    """Try the options in order, each in a free row; return how many different states there are."""
    rows, made, spots = len(beam.free), 0, 4 * chosen
    # Open addressing with four places an option, so that chains of taken places stay short.
    for i in range(spots):
        beam.seen[i] = -1
    for i in range(chosen):
        parent, o = beam.order[i] // OPTIONS, beam.order[i] % OPTIONS
        r = beam.alive[parent]
        load_row(state, beam, r)
        here, there = beam.option[r, o, 0], beam.option[r, o, 1]
        # Zobrist hashing (1970): the hash of a mapping and of what is done changes by the positions that change.
        key = take_step(arrays, state, beam.busy, here, there) ^ beam.header[r].hash
        if insert_hash(beam, key, spots):
            link_lookahead(arrays, state, params)
            # Free rows are taken from the end, so that the children of this level can be found there.
            row = beam.free[rows - 1 - made]
            beam.header[row].hash = key
            store_row(arrays, state, beam, params, row)
            beam.order[made] = beam.order[i]
            made += 1
    return made


@inner_kernel
def load_row(state: State, beam: Beam, r: int) -> None:
    """Take up a state of the beam."""
    counters, low, high = state.counters[0], beam.header[r].low, beam.header[r].high
    # Counts that the state before has changed are put back, then those of this state are put in.
    for v in range(counters.low, counters.high):
        state.need[v] = beam.start_need[v]
    for v in range(low, high):
        state.need[v] = beam.need[r, v]
    for v in range(len(state.place)):
        state.place[v] = beam.place[r, v]
        state.holds[beam.place[r, v]] = v
        state.last[v] = beam.last[r, v]
    for i in range(beam.header[r].front):
        state.front[i] = beam.front[r, i]
    counters.front = beam.header[r].front
    counters.left = beam.header[r].left
    counters.cost = beam.header[r].paid
    counters.low = low
    counters.high = high
    # Steps are counted from here on: those of the option alone change the hash.
    counters.steps = 0


@inner_kernel
def take_step(arrays: RoutingArrays, state: State, busy: IndexArray, here: int, there: int) -> int:
    """Carry out a SWAP or BRIDGE and all that it makes possible; return what that changes in the hash.

    Qubits without a gate left are all alike: where they are is no part of it.
    """
    counters, key = state.counters[0], 0
    if here < 0:
        p, q = -1 - here, there
        a, b = state.holds[p], state.holds[q]
        if busy[a] == 1:
            key ^= hash_position(a, p) ^ hash_position(a, q)
        if busy[b] == 1:
            key ^= hash_position(b, q) ^ hash_position(b, p)
    apply_step(arrays, state, here, there)
    carry_out_ready(arrays, state)
    for i in range(counters.steps):
        if state.steps[i, 0] >= 0:
            key ^= hash_position(-1, state.steps[i, 0])
    return key


@inner_kernel
def hash_position(a: int, p: int) -> int:
    """Return a number for circuit qubit a on device qubit p, or for node p when a is -1."""
    mixed = (int(a) + 2) * FACTORS[0] % RNG_MODULUS + (int(p) + 1) * FACTORS[1]
    return mixed % RNG_MODULUS * FACTORS[2] % RNG_MODULUS * FACTORS[0] % RNG_MODULUS


@inner_kernel
def insert_hash(beam: Beam, key: int, spots: int) -> bool:
    """Return whether no state of this level has this hash, and note it."""
    i = key % spots
    while beam.seen[i] >= 0:
        if beam.seen[i] == key:
            return False
        i = (i + 1) % spots
    beam.seen[i] = key
    return True


@inner_kernel
def store_row(arrays: RoutingArrays, state: State, beam: Beam, params: RouterParams, r: int) -> None:
    """Keep the state in a row, with its value and its best options."""
    counters, need = state.counters[0], state.need
    low, high = counters.low, counters.high
    # Nodes are numbered by level, so that only a short range of counts differs from those at the beginning.
    while low < high and need[low] < 0:
        low += 1
    while high > low and need[high - 1] < 0:
        high -= 1
    for v in range(low, high):
        beam.need[r, v] = need[v]
    for v in range(len(state.place)):
        beam.place[r, v] = state.place[v]
        beam.last[r, v] = state.last[v]
    for i in range(counters.front):
        beam.front[r, i] = state.front[i]
    beam.header[r].front = counters.front
    beam.header[r].left = counters.left
    beam.header[r].paid = counters.cost
    beam.header[r].low = low
    beam.header[r].high = high
    # All states of a level have paid for as many steps: they are ranked by what is still to pay, by whether their SWAPs
    # fused with gates, and by noise, which makes attempts differ.
    beam.value[r] = estimate_cost(arrays, state, params) + params.noise * draw_below(counters, 1024) / 1024
    beam.value[r] += params.fusion * counters.cost
    # Copying counts as work too, some entries for one candidate scored.
    counters.work += (len(state.place) + high - low) // 2 + 2 * counters.front
    list_options(arrays, state, beam, params, r)


@inner_kernel
def estimate_cost(arrays: RoutingArrays, state: State, params: RouterParams) -> float:
    """Return an estimate of what is still to pay: weighted hops of the gates looked at, a price for each other gate."""
    price = params.gate_price
    total = price * state.counters[0].left
    # Every gate has two links, one after the other.
    for i in range(0, state.counters[0].links, 2):
        a, b = state.other[i], state.other[i + 1]
        total += state.weight[i] * (arrays.hops[state.place[a], state.place[b]] - 1 - price)
    return float(total)


@inner_kernel
def list_options(arrays: RoutingArrays, state: State, beam: Beam, params: RouterParams, r: int) -> None:
    """Note the best options of the state in its row: SWAPs next to the front, and BRIDGEs."""
    counters = state.counters[0]
    for o in range(OPTIONS):
        beam.gain[r, o] = NEVER
    for i in range(counters.front_qubits):
        p = state.place[state.front_qubits[i]]
        for k in range(arrays.neighbours.shape[1]):
            q = arrays.neighbours[p, k]
            if q < 0:
                break
            # An edge between two qubits of the front is scored from its lower end alone.
            if q > p or state.first_gate[state.holds[q]] < 0:
                price = quote_swap(arrays.price, state.last, state.holds[p], state.holds[q])
                insert_option(beam, r, score_swap(arrays, state, p, q) + params.fusion * price, -1 - p, q)
        counters.work += arrays.neighbours.shape[1]
    for i in range(counters.front):
        v = state.front[i]
        p, q = state.place[arrays.pairs[v, 0]], state.place[arrays.pairs[v, 1]]
        # A BRIDGE saves the one hop that the gate is too long, and moves nothing.
        if arrays.bridge[v] != 0 and arrays.hops[p, q] == 2:
            gain = params.fusion * arrays.price[len(arrays.price) - 1] - state.weight[2 * i]
            insert_option(beam, r, gain, v, find_nearer_neighbour(arrays, p, q))


@inner_kernel
def insert_option(beam: Beam, r: int, gain: float, here: int, there: int) -> None:
    """Insert an option if it is among the best of its state."""
    o = OPTIONS - 1
    if gain >= beam.gain[r, o]:
        return
    # Insertion into a short sorted list.
    while o > 0 and beam.gain[r, o - 1] > gain:
        beam.gain[r, o] = beam.gain[r, o - 1]
        beam.option[r, o, 0] = beam.option[r, o - 1, 0]
        beam.option[r, o, 1] = beam.option[r, o - 1, 1]
        o -= 1
    beam.gain[r, o] = gain
    beam.option[r, o, 0] = here
    beam.option[r, o, 1] = there


@inner_kernel
def keep_best(beam: Beam, level: int, children: int, width: int) -> int:
    """Let the best children go on, note where they come from, and free all other rows; return how many."""
    rows = len(beam.free)
    # Children lie in the last free rows, as they were made; the least estimates go on.
    for i in range(children):
        beam.keys[i] = beam.value[beam.free[rows - 1 - i]]
        beam.seen[i] = beam.order[i]
        beam.order[i] = i
    select(beam.keys, beam.order, children, width)
    count = min(children, width)
    # The table of hashes holds where the children come from, while `order` is used to select.
    for i in range(count):
        source = beam.seen[beam.order[i]]
        r = beam.alive[source // OPTIONS]
        beam.origin[level, i] = source // OPTIONS
        beam.taken[level, i, 0] = beam.option[r, source % OPTIONS, 0]
        beam.taken[level, i, 1] = beam.option[r, source % OPTIONS, 1]
    # Positions among the children become rows, and only then replace the parents.
    for i in range(count):
        beam.order[i] = beam.free[rows - 1 - beam.order[i]]
    for i in range(count):
        beam.alive[i] = beam.order[i]
    list_free_rows(beam, count)
    return count


@inner_kernel
def list_free_rows(beam: Beam, count: int) -> None:
    """List all rows but those of the states that go on as free, these first."""
    for r in range(len(beam.free)):
        beam.order[r] = 0
    for i in range(count):
        beam.order[beam.alive[i]] = 1
    low, high = 0, len(beam.free) - 1
    for r in range(len(beam.free)):
        if beam.order[r] == 1:
            beam.free[low] = r
            low += 1
        else:
            beam.free[high] = r
            high -= 1


@inner_kernel
def replay_steps(arrays: RoutingArrays, state: State, beam: Beam, level: int, best: int) -> None:
    """Carry out the steps that led to a state, from the beginning."""
    # Backwards from the last level, each step is put where the forward pass reads it: column 0 of its level.
    for k in range(level - 1, -1, -1):
        beam.taken[k, 0, 0], beam.taken[k, 0, 1] = beam.taken[k, best, 0], beam.taken[k, best, 1]
        best = beam.origin[k, best]
    return_to_start(arrays, state, beam)
    for k in range(level):
        apply_step(arrays, state, beam.taken[k, 0, 0], beam.taken[k, 0, 1])
        carry_out_ready(arrays, state)


@inner_kernel
def return_to_start(arrays: RoutingArrays, state: State, beam: Beam) -> None:
    """Return to the beginning."""
    counters = state.counters[0]
    for v in range(len(beam.start_need)):
        state.need[v] = beam.start_need[v]
    for v in range(len(beam.start_place)):
        state.place[v] = beam.start_place[v]
        state.holds[beam.start_place[v]] = v
        state.last[v] = NOTHING
    counters.steps = counters.moves = counters.cost = counters.gate_cost = counters.front = 0
    stack_ready(state)
    carry_out_ready(arrays, state)
