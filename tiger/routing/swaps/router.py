"""The compiled router: gates are carried out as soon as they can be, and SWAPs or BRIDGEs are chosen by looking ahead.

Scores are those of SABRE (doi:10.1145/3297858.3304023) relative to the present mapping (LightSABRE, arXiv:2409.08368):
what a SWAP changes in the distances of the gates that wait and of those that come soon. A gate two hops long may also
become a BRIDGE, which leaves the mapping as it is. A heuristic: not optimal.
"""

from collections.abc import Sequence

from tiger.routing.swaps.frontier import (
    NEVER,
    TOO_MUCH,
    RouterParams,
    RoutingArrays,
    RoutingState,
    carry_out,
    carry_out_ready,
    draw_below,
    exchange,
    remove_from_front,
    stack_adjacent,
)
from tiger.routing.swaps.lookahead import link_lookahead, score_swap
from tiger.routing.swaps.prices import price_swap, quote_swap
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.solvers.lehmer import RNG_MODULUS

# SABRE resets the decay of all qubits every five SWAPs and after every gate (Li, Ding, Xie 2019). Raising
# the floor by more than a qubit gains in five SWAPs is the same without a pass over all of them.
DECAY_INTERVAL, DECAY_RESET = 5, 8
# Scores that differ by less are ties.
ROUNDING = 1e-9


@kernel
def route(arrays: RoutingArrays, state: RoutingState, params: Sequence[RouterParams], seed: int, limit: int) -> int:
    """Route what is not done yet from the mapping in `state`; return the price of it, TOO_MUCH if above `limit`.

    Call `begin(arrays, state, start)` before, or `begin` and then `carry_out_nodes(arrays, state, steps, low, high)`.
    The params are one record. The steps are `state.steps[:state.counters[0].steps]`, the end mapping is `state.place`;
    the work is added to `state.counters[0].work`. O(steps * front * degree).
    """
    counters = state.counters[0]
    counters.rng = 1 + seed % (RNG_MODULUS - 1)
    most = len(state.steps) - len(arrays.pairs) - 1
    carry_out_ready(arrays, state)
    link_lookahead(arrays, state, params[0])
    while counters.front > 0:
        if counters.cost >= limit or counters.moves >= most:
            return TOO_MUCH
        # As many SWAPs without a gate as this may go round in circles.
        if counters.since_gate > 2 * len(state.place):
            force_gate(arrays, state)
        else:
            choose_swap_or_bridge(arrays, state, params[0])
            apply_step(arrays, state, counters.here, counters.there)
        carry_out_ready(arrays, state)
        # What is looked at changes with the gates that are done alone; scores change with the mapping.
        if counters.since_gate == 0:
            counters.decay_floor += DECAY_RESET
            link_lookahead(arrays, state, params[0])
    return int(counters.cost)


@inner_kernel
def choose_swap_or_bridge(arrays: RoutingArrays, state: RoutingState, params: RouterParams) -> None:
    """Set `here`, `there` to the best SWAP next to the front, (-1 - p, q), or BRIDGE, (node, middle)."""
    counters, best, ties = state.counters[0], NEVER, 0
    for i in range(counters.front_qubits):
        p = state.place[state.front_qubits[i]]
        recent = max(state.decay[p], counters.decay_floor)
        for k in range(arrays.neighbours.shape[1]):
            q = arrays.neighbours[p, k]
            if q < 0:
                break
            # An edge between two qubits of the front is scored from its lower end alone.
            if q < p and state.first_gate[state.holds[q]] >= 0:
                continue
            # SABRE's decay, which spreads SWAPs over the qubits, is added to the score instead of multiplied.
            score = score_swap(arrays, state, p, q) + params.decay * (
                max(recent, state.decay[q]) - counters.decay_floor
            )
            score += params.fusion * (quote_swap(arrays.price, state.last, state.holds[p], state.holds[q]) - 1)
            if score > best + ROUNDING:
                continue
            # Ties are broken at random, all with the same chance.
            ties = 1 if score < best - ROUNDING else ties + 1
            if draw_below(counters, ties) == 0:
                best = score
                counters.here = -1 - p
                counters.there = q
        counters.work += arrays.neighbours.shape[1]
    if params.bridge_score + params.fusion * (arrays.price[len(arrays.price) - 1] - 1) < best:
        choose_bridge(arrays, state)


@inner_kernel
def choose_bridge(arrays: RoutingArrays, state: RoutingState) -> None:
    """Set `here`, `there` to the first gate of the front that a BRIDGE can carry out, if there is one."""
    counters = state.counters[0]
    for i in range(counters.front):
        v = state.front[i]
        p, q = state.place[arrays.pairs[v, 0]], state.place[arrays.pairs[v, 1]]
        if arrays.bridge[v] != 0 and arrays.hops[p, q] == 2:
            counters.here = v
            counters.there = find_nearer_neighbour(arrays, p, q)
            return


@inner_kernel
def find_nearer_neighbour(arrays: RoutingArrays, p: int, q: int) -> int:
    """Return the first neighbour of p that is nearer to q."""
    k = 0
    while arrays.hops[arrays.neighbours[p, k], q] >= arrays.hops[p, q]:
        k += 1
    return int(arrays.neighbours[p, k])


@inner_kernel
def apply_step(arrays: RoutingArrays, state: RoutingState, here: int, there: int) -> None:
    """Carry out a SWAP (-1 - p, q) or a BRIDGE (node, middle), and put the gates it makes adjacent on the stack."""
    counters = state.counters[0]
    counters.moves += 1
    counters.since_gate += 1
    # A BRIDGE carries its gate out and leaves the mapping as it is.
    if here >= 0:
        remove_from_front(state, here)
        carry_out(arrays, state, here, there)
        return
    p, q = -1 - here, there
    state.steps[counters.steps, 0] = here
    state.steps[counters.steps, 1] = there
    counters.steps += 1
    counters.cost += price_swap(arrays.price, state.last, state.holds[p], state.holds[q])
    exchange(state, p, q)
    # SABRE's decay (Li, Ding, Xie 2019): qubits of recent SWAPs cost more, until the floor rises above them.
    state.decay[p] = max(state.decay[p], counters.decay_floor) + 1
    state.decay[q] = max(state.decay[q], counters.decay_floor) + 1
    if counters.since_gate % DECAY_INTERVAL == 0:
        counters.decay_floor += DECAY_RESET
    # Gates whose qubits are neighbours now can leave the front.
    stack_adjacent(arrays, state)


@inner_kernel
def force_gate(arrays: RoutingArrays, state: RoutingState) -> None:
    """Take back the SWAPs since the last gate, and bring the two qubits of the closest gate of the front together.

    Along a shortest path, so that routing ends; SABRE's release valve in LightSABRE (arXiv:2409.08368).
    """
    counters, best = state.counters[0], state.front[0]
    while counters.since_gate > 0:
        counters.since_gate -= 1
        counters.moves -= 1
        counters.steps -= 1
        exchange(state, -1 - state.steps[counters.steps, 0], state.steps[counters.steps, 1])
    counters.cost = counters.gate_cost
    # The closest gate of the front needs the fewest SWAPs.
    for i in range(counters.front):
        a, b = arrays.pairs[state.front[i], 0], arrays.pairs[state.front[i], 1]
        c, d = arrays.pairs[best, 0], arrays.pairs[best, 1]
        if arrays.hops[state.place[a], state.place[b]] < arrays.hops[state.place[c], state.place[d]]:
            best = state.front[i]
    a, b = arrays.pairs[best, 0], arrays.pairs[best, 1]
    # The steps array bounds how many SWAPs a route may have, whatever limit was given.
    most = len(state.steps) - len(arrays.pairs) - 1
    while arrays.hops[state.place[a], state.place[b]] > 1 and counters.moves < most:
        p = state.place[a]
        apply_step(arrays, state, -1 - p, find_nearer_neighbour(arrays, p, state.place[b]))
