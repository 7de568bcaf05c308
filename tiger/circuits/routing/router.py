"""The compiled router: gates are carried out as soon as they can be, and SWAPs or BRIDGEs are chosen by looking ahead.

Scores are those of SABRE (doi:10.1145/3297858.3304023) relative to the present mapping (LightSABRE, arXiv:2409.08368):
what a SWAP changes in the distances of the gates that wait and of those that come soon. A gate two hops long may also
become a BRIDGE, which leaves the mapping as it is. A heuristic: not optimal.
"""

from tiger.circuits.routing.frontier import (
    ACTIVE,
    COST,
    DICE,
    DICE_SIZE,
    FADE,
    FRONT,
    HEAT,
    HERE,
    KNOBS,
    NEAR,
    NEVER,
    QUIET,
    REST,
    SECOND,
    SHORT,
    SIZE,
    STEPS,
    THERE,
    TIRE,
    TOO_MUCH,
    WARM,
    WEIGHT,
    WORK,
    Kit,
    State,
    begin,
    drop,
    exchange,
    finish,
    gather,
    kits_of,
    roll,
    settle,
    skip,
    state_of,
)
from tiger.circuits.routing.lookahead import change, look
from tiger.model.arrays import FloatArray
from tiger.solvers.kernel import inner_kernel, kernel

__all__ = [
    "COST",
    "FADE",
    "KNOBS",
    "NEAR",
    "SECOND",
    "SHORT",
    "SIZE",
    "STEPS",
    "TIRE",
    "TOO_MUCH",
    "WEIGHT",
    "WORK",
    "Kit",
    "State",
    "begin",
    "kits_of",
    "route",
    "skip",
    "state_of",
]


@kernel
def route(kit: Kit, state: State, knobs: FloatArray, seed: int, limit: int) -> int:
    """Route what is not done yet from the mapping in `state`; return SWAPs plus BRIDGEs, TOO_MUCH if above `limit`.

    Call `begin(kit, state, start)` before, or `begin` and then `skip(kit, state, steps, count)`. `knobs[KNOBS]` are the
    gates looked ahead, their weight against the front, how fast that fades, how SWAPs tire a qubit, and what favours a
    BRIDGE. The steps are `state.steps[:state.tally[STEPS]]`, the end mapping is `state.place`; the work, in candidates
    scored and gates looked at, is added to `state.tally[WORK]`. O(steps * front * degree).
    """
    tally = state.tally
    tally[DICE] = 1 + seed % (DICE_SIZE - 1)
    limit = min(limit, len(state.steps) - len(kit.pairs) - 1)
    settle(kit, state)
    look(kit, state, knobs)
    while tally[FRONT] > 0:
        if tally[COST] >= limit:
            return TOO_MUCH
        if tally[QUIET] > 2 * len(state.place):
            force(kit, state)
        else:
            choose(kit, state, knobs)
            act(kit, state, tally[HERE], tally[THERE])
        settle(kit, state)
        if tally[QUIET] == 0:
            tally[HEAT] += WARM
            look(kit, state, knobs)
    return int(tally[COST])


@inner_kernel
def choose(kit: Kit, state: State, knobs: FloatArray) -> None:
    """Set HERE and THERE to the best SWAP next to the front, (-1 - p, q), or BRIDGE, (node, middle); ties by lot."""
    tally, best, ties = state.tally, NEVER, 0
    for i in range(tally[ACTIVE]):
        p = state.place[state.active[i]]
        tired = max(state.heat[p], tally[HEAT])
        for k in range(kit.neighbours.shape[1]):
            q = kit.neighbours[p, k]
            if q < 0:
                break
            if q < p and state.mark[state.holds[q]] >= 0:
                continue
            score = change(kit, state, p, q) + knobs[TIRE] * (max(tired, state.heat[q]) - tally[HEAT])
            if score > best + 1e-9:
                continue
            ties = 1 if score < best - 1e-9 else ties + 1
            if roll(tally, ties) == 0:
                best = score
                tally[HERE] = -1 - p
                tally[THERE] = q
        tally[WORK] += kit.neighbours.shape[1]
    if knobs[SHORT] < best:
        choose_bridge(kit, state)


@inner_kernel
def choose_bridge(kit: Kit, state: State) -> None:
    """Set HERE and THERE to the first gate of the front that a BRIDGE can carry out, if there is one."""
    for i in range(state.tally[FRONT]):
        v = state.front[i]
        p, q = state.place[kit.pairs[v, 0]], state.place[kit.pairs[v, 1]]
        if kit.bridge[v] != 0 and kit.hops[p, q] == 2:
            state.tally[HERE] = v
            state.tally[THERE] = nearer_neighbour(kit, p, q)
            return


@inner_kernel
def nearer_neighbour(kit: Kit, p: int, q: int) -> int:
    """Return the first neighbour of p that is nearer to q."""
    k = 0
    while kit.hops[kit.neighbours[p, k], q] >= kit.hops[p, q]:
        k += 1
    return int(kit.neighbours[p, k])


@inner_kernel
def act(kit: Kit, state: State, here: int, there: int) -> None:
    """Carry out a SWAP (-1 - p, q) or a BRIDGE (node, middle), and put the gates it makes adjacent on the stack."""
    tally = state.tally
    tally[COST] += 1
    tally[QUIET] += 1
    if here >= 0:
        drop(state, here)
        finish(kit, state, here, there)
        return
    p, q = -1 - here, there
    state.steps[tally[STEPS], 0] = here
    state.steps[tally[STEPS], 1] = there
    tally[STEPS] += 1
    exchange(state, p, q)
    state.heat[p] = max(state.heat[p], tally[HEAT]) + 1
    state.heat[q] = max(state.heat[q], tally[HEAT]) + 1
    if tally[QUIET] % REST == 0:
        tally[HEAT] += WARM
    gather(kit, state)


@inner_kernel
def force(kit: Kit, state: State) -> None:
    """Take back the SWAPs since the last gate, and bring the two qubits of the closest gate of the front together.

    Along a shortest path, so that routing ends; SABRE's release valve in LightSABRE (arXiv:2409.08368).
    """
    tally, best = state.tally, state.front[0]
    while tally[QUIET] > 0:
        tally[QUIET] -= 1
        tally[COST] -= 1
        tally[STEPS] -= 1
        exchange(state, -1 - state.steps[tally[STEPS], 0], state.steps[tally[STEPS], 1])
    for i in range(tally[FRONT]):
        a, b = kit.pairs[state.front[i], 0], kit.pairs[state.front[i], 1]
        c, d = kit.pairs[best, 0], kit.pairs[best, 1]
        if kit.hops[state.place[a], state.place[b]] < kit.hops[state.place[c], state.place[d]]:
            best = state.front[i]
    a, b = kit.pairs[best, 0], kit.pairs[best, 1]
    while kit.hops[state.place[a], state.place[b]] > 1 and tally[COST] < len(state.steps) - len(kit.pairs) - 1:
        p = state.place[a]
        act(kit, state, -1 - p, nearer_neighbour(kit, p, state.place[b]))
