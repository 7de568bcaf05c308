"""What a SWAP is scored by: the gates of the front and those that come soon, linked to their qubits with weights.

The front layer and the extended set behind it are those of SABRE (Li, Ding, Xie 2019,
doi:10.1145/3297858.3304023); here the gates of the extended set count less the later they come.
"""

import math

from tiger.routing.swaps.frontier import RouterParams, RoutingArrays, RoutingState
from tiger.solvers.kernel import inner_kernel

# Gates whose weight has faded below this change no choice, but ties: they are not looked at.
LEAST_WEIGHT = 0.03


@inner_kernel
def link_lookahead(arrays: RoutingArrays, state: RoutingState, params: RouterParams) -> None:
    """Link the front and the gates that come soon after it to their qubits, with their weights."""
    counters = state.counters[0]
    # Only the qubits that were linked before are cleared.
    for i in range(counters.links):
        v = state.other[i]
        state.head[v] = -1
        state.first_gate[v] = -1
    counters.links = 0
    counters.front_qubits = 0
    front = counters.front
    for i in range(front):
        v = state.front[i]
        state.queue[i] = v
        for k in range(2):
            q = arrays.pairs[v, k]
            if state.first_gate[q] < 0:
                state.first_gate[q] = v
                state.front_qubits[counters.front_qubits] = q
                counters.front_qubits += 1
            # Commuting gates of a qubit may all be in the front: the earliest in the circuit is remembered.
            state.first_gate[q] = min(state.first_gate[q], v)
    for i in range(front):
        v = state.front[i]
        link_gate(arrays, state, v, weigh_front_gate(arrays, state, params, v))
    link_extended_set(arrays, state, params, counters.front_qubits / 2)


@inner_kernel
def weigh_front_gate(arrays: RoutingArrays, state: RoutingState, params: RouterParams, v: int) -> float:
    """Return the weight of a gate of the front: less if it is far, or not the first in circuit order on its qubits."""
    a, b = arrays.pairs[v, 0], arrays.pairs[v, 1]
    weight = 1.0 if state.first_gate[a] == v and state.first_gate[b] == v else params.later_weight
    for _ in range(int(params.distance_power)):
        weight /= arrays.hops[state.place[a], state.place[b]] - 1
    return weight


@inner_kernel
def link_extended_set(arrays: RoutingArrays, state: RoutingState, params: RouterParams, wide: float) -> None:
    """Link the gates that come soon, breadth first; what they wait for is counted down and then restored."""
    counters, touched, found, i = state.counters[0], 0, 0, 0
    queued, most = counters.front, params.lookahead
    # A weight that falls by 1 / e over as many gates as the front is wide falls alike in time on all circuits.
    weight, fade = params.lookahead_weight, math.exp(-1.0 / (1.0 + params.fade * wide))
    while i < queued and found < most and weight > LEAST_WEIGHT:
        v = state.queue[i]
        i += 1
        # Kahn's algorithm from the front on: a node is reached when the last that it waits for is.
        for e in range(arrays.first[v], arrays.first[v + 1]):
            h = arrays.after[e]
            state.need[h] -= 1
            state.touched[touched] = h
            touched += 1
            if state.need[h] == 0:
                state.queue[queued] = h
                queued += 1
                if arrays.pairs[h, 0] >= 0 and found < most:
                    found += 1
                    link_gate(arrays, state, h, weight)
                    weight *= fade
    for k in range(touched):
        state.need[state.touched[k]] += 1
    counters.work += touched + counters.front


@inner_kernel
def link_gate(arrays: RoutingArrays, state: RoutingState, v: int, weight: float) -> None:
    """Link a gate to its two qubits."""
    i = state.counters[0].links
    for k in range(2):
        q = arrays.pairs[v, k]
        state.other[i] = arrays.pairs[v, 1 - k]
        state.weight[i] = weight
        state.link[i] = state.head[q]
        state.head[q] = i
        i += 1
    state.counters[0].links = i


@inner_kernel
def score_swap(arrays: RoutingArrays, state: RoutingState, p: int, q: int) -> float:
    """Return the change of the weighted distances by a SWAP of device qubits p and q."""
    # LightSABRE (arXiv:2409.08368), relative score: only the gates on the two qubits change, so that nothing else is
    # summed; a gate between the two of them keeps its length.
    a, b = state.holds[p], state.holds[q]
    total = 0.0
    i = state.head[a]
    # Gates of the qubit that goes from p to q; then those of the other, the opposite way.
    while i >= 0:
        if state.other[i] != b:
            r = state.place[state.other[i]]
            total += state.weight[i] * (arrays.hops[q, r] - arrays.hops[p, r])
        i = state.link[i]
    i = state.head[b]
    while i >= 0:
        if state.other[i] != a:
            r = state.place[state.other[i]]
            total += state.weight[i] * (arrays.hops[p, r] - arrays.hops[q, r])
        i = state.link[i]
    return total
