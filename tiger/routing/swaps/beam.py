"""A compiled beam search over SWAPs and BRIDGEs: many routings advance side by side, and the most promising go on.

All of them have taken as many steps at any time; what they still have to pay is estimated from the distances of the
gates that wait and come soon, and from how many gates are left. Equal states are merged. A heuristic: not optimal.
"""

from collections.abc import Sequence

from tiger.routing.swaps.beam_arrays import OPTIONS, Beam
from tiger.routing.swaps.beam_options import estimate_cost, list_options
from tiger.routing.swaps.frontier import (
    NEVER,
    TOO_MUCH,
    RouterParams,
    RoutingArrays,
    RoutingState,
    carry_out_ready,
    draw_below,
    stack_ready,
)
from tiger.routing.swaps.fronts import (
    carry_out,
    clear_table,
    drop_fronts,
    find_front,
    keep_front,
    leave_front,
    load_front,
)
from tiger.routing.swaps.prices import NOTHING, price_bridge, price_gate, price_swap
from tiger.routing.swaps.router import apply_step
from tiger.routing.swaps.smallest import select
from tiger.solvers.kernel import inner_kernel, kernel

# Levels without a gate less to do, after which only the front counts, so that the search ends.
PATIENCE = 8


@inner_kernel
def search_beam(
    arrays: RoutingArrays, state: RoutingState, beam: Beam, router_params: Sequence[RouterParams], limit: int
) -> int:
    """Route what is not done yet from the mapping in `state` by a beam; return as `route` does, with the same results.

    O(levels * width * (front * degree + g)) at worst.
    """
    counters, params = state.counters[0], router_params[0]
    open_beam(arrays, state, beam, params)
    count, level, stalled, fewest = 1, 0, 0, counters.left
    width = int(min(params.width, len(beam.alive)))
    best = find_leader(beam, count)
    # A level adds one SWAP or BRIDGE to every state: all states of a level have paid the same.
    while beam.fronts.record[beam.header[beam.alive[best]].front].gates > 0:
        if beam.header[beam.alive[best]].paid >= limit or level >= len(beam.origin) - 1:
            return TOO_MUCH
        stalled += 1
        beam.fronts.counters[0].near = int(stalled >= PATIENCE)
        make_room(beam, count, width)
        # Twice as many options are tried as states go on: the estimate after a step is better than that before it.
        children = expand(arrays, state, beam, params, rank_options(beam, count, 2 * width))
        if children == 0:
            return TOO_MUCH
        count = keep_best(beam, level, children, width)
        for i in range(count):
            list_options(arrays, state, beam, params, beam.alive[i])
        level += 1
        best = find_leader(beam, count)
        if beam.header[beam.alive[best]].left < fewest:
            fewest, stalled = beam.header[beam.alive[best]].left, 0
    replay_steps(arrays, state, beam, level, best)
    return int(counters.cost)


@kernel
def route_by_beam(arrays: RoutingArrays, state: RoutingState, beam: Beam, router_params: Sequence[RouterParams]) -> int:
    """Call `search_beam` from Python, without a limit."""
    return search_beam(arrays, state, beam, router_params, TOO_MUCH)


@inner_kernel
def make_room(beam: Beam, count: int, width: int) -> None:
    """Drop the fronts of no state that goes on where those of another level may find no room."""
    fronts = beam.fronts
    counters = fronts.counters[0]
    full = counters.fronts + 2 * width > len(fronts.record)
    if not full and 2 * counters.entries < len(fronts.entry) and 2 * counters.links < len(fronts.weight):
        return
    for f in range(counters.fronts):
        fronts.target[f] = -1
    for i in range(count):
        fronts.target[beam.header[beam.alive[i]].front] = 0
    drop_fronts(fronts)
    for i in range(count):
        header = beam.header[beam.alive[i]]
        header.front = fronts.target[header.front]


@inner_kernel
def find_leader(beam: Beam, count: int) -> int:
    """Return the first of the states that go on with the fewest gates left."""
    best = 0
    for i in range(1, count):
        if beam.header[beam.alive[i]].left < beam.header[beam.alive[best]].left:
            best = i
    return best


@inner_kernel
def open_beam(arrays: RoutingArrays, state: RoutingState, beam: Beam, params: RouterParams) -> None:
    """Make the state the only one of the beam, with all done that needs no SWAP."""
    fronts = beam.fronts
    # Where the replay begins.
    for v in range(len(state.need)):
        beam.start_need[v] = state.need[v]
    for v in range(len(state.place)):
        beam.start_place[v] = state.place[v]
    list_slots(arrays, state, beam)
    carry_out_ready(arrays, state)
    for r in range(len(beam.free)):
        beam.free[r] = r
    beam.alive[0] = 0
    clear_table(fronts)
    counters = fronts.counters[0]
    counters.fronts = counters.entries = counters.links = counters.touched = counters.key = counters.near = 0
    counters.front = state.counters[0].front
    counters.left = state.counters[0].left
    for i in range(counters.front):
        fronts.front[i] = state.front[i]
    for v in range(len(state.need)):
        # What is done stays so, though nodes that it waits for in this view may come later: gates commute in another.
        fronts.need[v] = arrays.waits[v] if state.need[v] >= 0 else -1
        if 0 < state.need[v] < arrays.waits[v]:
            fronts.need[v] = state.need[v]
            fronts.touched[counters.touched] = v
            counters.touched += 1
    header = beam.header[0]
    header.front = keep_front(arrays, fronts, beam.slot, params)
    leave_front(arrays, fronts)
    header.left, header.paid, header.hash = counters.left, state.counters[0].cost, 0
    for a in range(len(state.place)):
        if beam.slot[a] >= 0:
            beam.place[0, beam.slot[a]] = state.place[a]
            beam.last[0, beam.slot[a]] = state.last[a]
    beam.value[0] = 0.0
    list_options(arrays, state, beam, params, 0)


@inner_kernel
def list_slots(arrays: RoutingArrays, state: RoutingState, beam: Beam) -> None:
    """Give each qubit with gates left a slot."""
    slots = 0
    for a in range(len(beam.slot)):
        beam.slot[a] = -1
    for v in range(len(state.need)):
        if state.need[v] >= 0 and arrays.pairs[v, 0] >= 0:
            beam.slot[arrays.pairs[v, 0]] = beam.slot[arrays.pairs[v, 1]] = 0
    for a in range(len(beam.slot)):
        if beam.slot[a] == 0:
            beam.slot[a] = slots
            slots += 1
    beam.fronts.counters[0].slots = slots


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
def expand(arrays: RoutingArrays, state: RoutingState, beam: Beam, params: RouterParams, chosen: int) -> int:
    """Try the options in order, each in a free row; return how many different states there are."""
    counters, rows, made, cells = state.counters[0], len(beam.free), 0, 4 * chosen
    # Open addressing with four places an option, so that chains of taken places stay short.
    for i in range(cells):
        beam.seen[i] = -1
    for i in range(chosen):
        # Free rows are taken from the end, so that the children of this level can be found there.
        r, row, o = beam.alive[beam.order[i] // OPTIONS], beam.free[rows - 1 - made], beam.order[i] % OPTIONS
        copy_state(beam, r, row)
        reached = take_step(arrays, beam, r, o, row)
        if reached:
            carry_out_front(arrays, beam, r, o, row)
        if insert_hash(beam, beam.header[row].hash, cells) and (not reached or settle(arrays, beam, params, row)):
            # All states of a level have paid for as many steps: they are ranked by what is still to pay, by whether
            # their SWAPs fused with gates, and by noise, which makes attempts differ.
            value = estimate_cost(arrays, beam, params, row) + params.fusion * beam.header[row].paid
            beam.value[row] = value + params.noise * draw_below(counters, 1024) / 1024
            beam.order[made] = beam.order[i]
            made += 1
        if reached:
            leave_front(arrays, beam.fronts)
    counters.work += chosen * (16 + beam.fronts.counters[0].slots // 2)
    return made


@inner_kernel
def copy_state(beam: Beam, r: int, row: int) -> None:
    """Copy a state to another row, without its options."""
    for s in range(beam.fronts.counters[0].slots):
        beam.place[row, s] = beam.place[r, s]
        beam.last[row, s] = beam.last[r, s]
    source, target = beam.header[r], beam.header[row]
    target.front, target.left, target.paid, target.hash = source.front, source.left, source.paid, source.hash


@inner_kernel
def take_step(arrays: RoutingArrays, beam: Beam, r: int, o: int, row: int) -> bool:
    """Carry out an option of state r alone in the row of its child; return whether gates can be carried out then.

    Qubits without a gate left are all alike: where they are is no part of the hash.
    """
    here, there, a, b = beam.option[r, o, 0], beam.option[r, o, 1], beam.option[r, o, 2], beam.option[r, o, 3]
    header, fronts, place, last = beam.header[row], beam.fronts, beam.place[row], beam.last[row]
    if here >= 0:
        if a >= 0:
            last[a] = NOTHING
        return True
    p, q, keys = -1 - here, there, beam.moves.place_key
    # Zobrist hashing (1970): the hash of a mapping and of what is done changes by the positions that change.
    header.hash ^= keys[a, p] ^ keys[a, q]
    place[a] = q
    if b >= 0:
        header.hash ^= keys[b, q] ^ keys[b, p]
        place[b] = p
        header.paid += price_swap(arrays.price, last, a, b)
    else:
        last[a] = NOTHING
        header.paid += arrays.price[len(arrays.price) - 1]
    # Gates of the front come first among the links.
    record = fronts.record[header.front]
    for i in range(record.link, record.link + record.gates):
        c, d = fronts.link[i, 0], fronts.link[i, 1]
        if arrays.hops[place[c], place[d]] == 1:
            return True
    return False


@inner_kernel
def carry_out_front(arrays: RoutingArrays, beam: Beam, r: int, o: int, row: int) -> None:
    """Carry out all that a step has made possible, a BRIDGE with its gate, in the front in the making."""
    fronts, header, place, last = beam.fronts, beam.header[row], beam.place[row], beam.last[row]
    load_front(fronts, header.front)
    counters, stack, kept = fronts.counters[0], 0, 0
    for i in range(counters.front):
        v = fronts.front[i]
        a, b = beam.slot[arrays.pairs[v, 0]], beam.slot[arrays.pairs[v, 1]]
        if v == beam.option[r, o, 0]:
            header.paid += price_bridge(arrays.price, last, a, b)
            stack = carry_out(arrays, fronts, beam.moves.node_key[v], v, stack)
        elif arrays.hops[place[a], place[b]] == 1:
            fronts.stack[stack] = v
            stack += 1
        else:
            fronts.front[kept] = v
            kept += 1
    while stack > 0:
        stack -= 1
        v = fronts.stack[stack]
        # A node without a pair only keeps others in order.
        if arrays.pairs[v, 0] >= 0:
            a, b = beam.slot[arrays.pairs[v, 0]], beam.slot[arrays.pairs[v, 1]]
            if arrays.hops[place[a], place[b]] > 1:
                fronts.front[kept] = v
                kept += 1
                continue
            header.paid += price_gate(arrays.price, last, a, b, v)
        stack = carry_out(arrays, fronts, beam.moves.node_key[v], v, stack)
    counters.front = kept
    header.hash ^= counters.key ^ fronts.record[header.front].key
    header.left = counters.left


@inner_kernel
def settle(arrays: RoutingArrays, beam: Beam, params: RouterParams, row: int) -> bool:
    """Give a state the front in the making, kept if there is none like it; return False where there is no room."""
    f = find_front(beam.fronts)
    beam.header[row].front = f if f >= 0 else keep_front(arrays, beam.fronts, beam.slot, params)
    return bool(beam.header[row].front >= 0)


@inner_kernel
def insert_hash(beam: Beam, key: int, cells: int) -> bool:
    """Return whether no state of this level has this hash, and note it."""
    i = key % cells
    while beam.seen[i] >= 0:
        if beam.seen[i] == key:
            return False
        i = (i + 1) % cells
    beam.seen[i] = key
    return True


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
def replay_steps(arrays: RoutingArrays, state: RoutingState, beam: Beam, level: int, best: int) -> None:
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
def return_to_start(arrays: RoutingArrays, state: RoutingState, beam: Beam) -> None:
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
