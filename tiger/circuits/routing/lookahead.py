"""What a routing looks at: the gates of the front and those that come soon, hung on their qubits with weights.

Gates to come count less the later they come; the front and the range of what is looked at are those of SABRE
(doi:10.1145/3297858.3304023).
"""

import math

from tiger.circuits.routing.frontier import (
    ACTIVE,
    FADE,
    FAINT,
    FRONT,
    LINKS,
    NEAR,
    SECOND,
    SIZE,
    WEIGHT,
    WORK,
    Kit,
    State,
)
from tiger.model.arrays import FloatArray
from tiger.solvers.kernel import inner_kernel, kernel


@inner_kernel
def look(kit: Kit, state: State, knobs: FloatArray) -> None:
    """Hang the front and the gates that come soon after it on their qubits, with their weights."""
    tally = state.tally
    for i in range(tally[LINKS]):
        v = state.other[i]
        state.head[v] = -1
        state.mark[v] = -1
    tally[LINKS] = 0
    tally[ACTIVE] = 0
    front = tally[FRONT]
    for i in range(front):
        v = state.front[i]
        state.queue[i] = v
        for k in range(2):
            q = kit.pairs[v, k]
            if state.mark[q] < 0:
                state.mark[q] = v
                state.active[tally[ACTIVE]] = q
                tally[ACTIVE] += 1
            state.mark[q] = min(state.mark[q], v)
    for i in range(front):
        v = state.front[i]
        hang(kit, state, v, urgency(kit, state, knobs, v))
    hang_coming(kit, state, knobs, tally[ACTIVE] / 2)


@inner_kernel
def urgency(kit: Kit, state: State, knobs: FloatArray, v: int) -> float:
    """Return the weight of a gate of the front: less if it is far, or not the first in circuit order on its qubits."""
    a, b = kit.pairs[v, 0], kit.pairs[v, 1]
    weight = 1.0 if state.mark[a] == v and state.mark[b] == v else knobs[SECOND]
    for _ in range(int(knobs[NEAR])):
        weight /= kit.hops[state.place[a], state.place[b]] - 1
    return weight


@inner_kernel
def hang_coming(kit: Kit, state: State, knobs: FloatArray, wide: float) -> None:
    """Hang the gates that come soon, breadth first; what they wait for is counted down and then restored."""
    tally, touched, found, i = state.tally, 0, 0, 0
    queued, most = tally[FRONT], knobs[SIZE]
    weight, fade = knobs[WEIGHT], math.exp(-1.0 / (1.0 + knobs[FADE] * wide))
    while i < queued and found < most and weight > FAINT:
        v = state.queue[i]
        i += 1
        for e in range(kit.first[v], kit.first[v + 1]):
            h = kit.after[e]
            state.need[h] -= 1
            state.touched[touched] = h
            touched += 1
            if state.need[h] == 0:
                state.queue[queued] = h
                queued += 1
                if kit.pairs[h, 0] >= 0 and found < most:
                    found += 1
                    hang(kit, state, h, weight)
                    weight *= fade
    for k in range(touched):
        state.need[state.touched[k]] += 1
    tally[WORK] += touched + tally[FRONT]


@inner_kernel
def hang(kit: Kit, state: State, v: int, weight: float) -> None:
    """Hang a gate on its two qubits."""
    i = state.tally[LINKS]
    for k in range(2):
        q = kit.pairs[v, k]
        state.other[i] = kit.pairs[v, 1 - k]
        state.weight[i] = weight
        state.link[i] = state.head[q]
        state.head[q] = i
        i += 1
    state.tally[LINKS] = i


@kernel
def change(kit: Kit, state: State, p: int, q: int) -> float:
    """Return what a SWAP of device qubits p and q changes in the weighted distances."""
    a, b = state.holds[p], state.holds[q]
    total = 0.0
    i = state.head[a]
    while i >= 0:
        if state.other[i] != b:
            r = state.place[state.other[i]]
            total += state.weight[i] * (kit.hops[q, r] - kit.hops[p, r])
        i = state.link[i]
    i = state.head[b]
    while i >= 0:
        if state.other[i] != a:
            r = state.place[state.other[i]]
            total += state.weight[i] * (kit.hops[p, r] - kit.hops[q, r])
        i = state.link[i]
    return total
