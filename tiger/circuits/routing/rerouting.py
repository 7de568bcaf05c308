"""Compiled search on whole routes: a route is cut, perturbed at the cut, and routed anew to both sides of it.

A backward route of what comes before the cut, turned around, leads to the mapping at the cut; so every mapping at any
time is the seed of a whole route. Attempts keep a pool of routes, each replaced by what is as good or better.
"""

from typing import NamedTuple

from tiger.circuits.coupling import FAR, HopArray, IndexArray
from tiger.circuits.routing.beam import NOISE, PRICE, WIDTH, Beam, sweep
from tiger.circuits.routing.frontier import (
    DICE_SIZE,
    FADE,
    NEAR,
    SECOND,
    SHORT,
    SIZE,
    STEPS,
    TIRE,
    WEIGHT,
    WORK,
    Kit,
    State,
    begin,
    finish,
    ready,
    roll,
)
from tiger.circuits.routing.router import route
from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

LOOKED, NO_LIMIT, NEVER_COST = 40, 900_000_000, 2_000_000_000
BOTH, AFTER, BEFORE = range(3)
FRESH, FIXED, GOAL, BREADTH, ORDERED, PLANS = range(6)
GIVEN, CHAINED, SLOT, CUT, KIND, MADE, PARTED, TURNS = range(8)
CHAIN = 5


class Kits(NamedTuple):
    """Hold a circuit as `Kit` does, four ways: forwards and backwards as it is, and each qubit's gates in order."""

    pairs: IndexArray
    first: IndexArray
    after: IndexArray
    waits: IndexArray
    bridge: IntArray
    neighbours: IndexArray
    hops: HopArray


class Pool(NamedTuple):
    """Hold E routes, and one more in the making at number E.

    Route e is `start[e, N]` and `steps[e, :length[e], 2]`, of `cost[e]` SWAPs and BRIDGEs. `place[N]` is the mapping at
    a cut, `ahead[N]` that at the start of a new route, whose steps come together in `trial[k, 2]`. Seeds are
    `seed[s, N]`, mappings that hold when the first `done[s]` nodes of `order[s, g]` are carried out. `turn` says what
    is attempted: on which route, where it is cut, and which part of it is routed anew.
    """

    start: IndexArray
    steps: IndexArray
    length: IndexArray
    cost: IntArray
    place: IndexArray
    ahead: IndexArray
    trial: IndexArray
    seed: IndexArray
    order: IndexArray
    done: IndexArray
    turn: IntArray


class Lane(NamedTuple):
    """Hold all that a lane of the search works on."""

    kits: Kits
    state: State
    beam: Beam
    pool: Pool
    knobs: FloatArray


@kernel
def advance(lane: Lane, plan: IntArray) -> None:
    """Make attempts until the lane's work reaches `plan[GOAL]`, or a route costs nothing.

    `plan[FRESH]` per cent begin at a new mapping, the others from a cut of a route of the pool; beams are
    `plan[BREADTH]` wide, 0 for plain routing; `plan[ORDERED]` per cent of the sides keep each qubit's gates in order;
    `plan[FIXED]` is 1 when the start may not change.
    """
    pool, state, tally, turn = lane.pool, lane.state, lane.state.tally, lane.pool.turn
    while tally[WORK] < plan[GOAL] and pool.cost[cheapest_route(pool)] > 0:
        vary(lane.knobs, tally)
        lane.knobs[WIDTH] = plan[BREADTH]
        propose(lane, plan)
        cost, limit = 0, min(pool.cost[turn[SLOT]], len(pool.trial) - len(lane.kits.pairs))
        for side in range(2):
            if cost <= limit and turn[KIND] == (AFTER if side == 0 else BEFORE):
                cost += take_over(pool, side)
            elif cost <= limit:
                kit = one_way(lane.kits, side + (2 if roll(tally, 100) < plan[ORDERED] else 0))
                prepare_side(kit, state, pool, side)
                if lane.knobs[WIDTH] > 0:
                    cost += sweep(kit, state, lane.beam, lane.knobs, limit - cost)
                else:
                    cost += route(kit, state, lane.knobs, roll(tally, DICE_SIZE), limit - cost)
                if cost <= limit:
                    collect(pool, state, side)
        conclude(pool, cost)
        tally[WORK] += 1


@kernel
def cheapest_route(pool: Pool) -> int:
    """Return the number of the cheapest route of the pool."""
    best = 0
    for e in range(1, len(pool.cost) - 1):
        if pool.cost[e] < pool.cost[best]:
            best = e
    return best


@inner_kernel
def vary(knobs: FloatArray, tally: IntArray) -> None:
    """Draw the settings of an attempt."""
    knobs[SIZE] = LOOKED
    knobs[WEIGHT] = 0.4 + 0.8 * roll(tally, 1024) / 1024
    knobs[FADE] = 0.5 + 3.0 * roll(tally, 1024) / 1024
    knobs[TIRE] = 0.1 if roll(tally, 4) == 0 else 0.001
    knobs[SHORT] = -0.3 * roll(tally, 4)
    knobs[NEAR] = roll(tally, 2)
    knobs[SECOND] = 1.0 if roll(tally, 3) > 0 else 0.3
    knobs[PRICE] = 1.0 + 3.0 * roll(tally, 1024) / 1024
    knobs[NOISE] = 0.5 * roll(tally, 3)


@kernel
def propose(lane: Lane, plan: IntArray) -> None:
    """Decide what to attempt: a new mapping routed forth and back a few times, or a cut of a route of the pool."""
    pool, turn, tally = lane.pool, lane.pool.turn, lane.state.tally
    last = len(pool.cost) - 1
    if turn[CHAINED] > 0:
        back = turn[CHAINED] % 2 == 0
        pick(pool, last, pool.length[last] if back else 0, BOTH)
    elif turn[GIVEN] < len(pool.seed) or roll(tally, 100) < plan[FRESH]:
        turn[CHAINED] = CHAIN if plan[FIXED] == 0 else 1
        freshen(lane, last, plan[FIXED])
    else:
        e, f = roll(tally, last), roll(tally, last)
        e = e if pool.cost[e] <= pool.cost[f] else f
        if pool.cost[e] >= NEVER_COST:
            e = cheapest_route(pool)
        recut(lane, e, plan[FIXED])
    if turn[CHAINED] > 2:
        lane.knobs[WIDTH] = 0
    turn[CHAINED] -= turn[CHAINED] > 0
    if plan[FIXED] == 1:
        turn[KIND] = AFTER


@inner_kernel
def pick(pool: Pool, e: int, cut: int, kind: int) -> None:
    """Set what to attempt, and the mapping at the cut."""
    place = pool.place
    pool.turn[SLOT] = e
    pool.turn[CUT] = cut
    pool.turn[KIND] = kind
    for v in range(len(place)):
        pool.ahead[pool.start[e, v]] = v
    for i in range(cut):
        if pool.steps[e, i, 0] < 0:
            p, q = -1 - pool.steps[e, i, 0], pool.steps[e, i, 1]
            pool.ahead[p], pool.ahead[q] = pool.ahead[q], pool.ahead[p]
    for p in range(len(place)):
        place[pool.ahead[p]] = p


@inner_kernel
def freshen(lane: Lane, last: int, fixed: int) -> None:
    """Begin a route at the next seed, the only one if the start is fixed, or at a mapping by lot."""
    pool, turn = lane.pool, lane.pool.turn
    seed = 0 if fixed == 1 else turn[GIVEN]
    turn[GIVEN] += 1
    known = seed < len(pool.seed)
    if known:
        copy_mapping(pool.seed[seed], pool.place)
    else:
        scatter(lane.kits, pool, lane.state)
    pool.length[last] = len(lane.kits.pairs)
    pool.cost[last] = NO_LIMIT
    for i in range(pool.length[last]):
        pool.steps[last, i, 0] = pool.order[seed, i] if known else i
        pool.steps[last, i, 1] = -1
    copy_mapping(pool.place, pool.start[last])
    pick(pool, last, pool.done[seed] if known else 0, BOTH)


@inner_kernel
def scatter(kits: Kits, pool: Pool, state: State) -> None:
    """Set the mapping at the cut by lot: partners in the circuit near each other, from a gate and a device qubit on."""
    tally, place, holds = state.tally, pool.place, state.holds
    size, count = len(place), len(kits.pairs)
    if len(pool.seed) > 0 and roll(tally, 2) >= 1 - pool.turn[PARTED]:
        copy_mapping(pool.seed[roll(tally, len(pool.seed))], place)
        for _ in range(size):
            perturb(kits.hops, place, tally)
        return
    for v in range(size):
        place[v] = -1
        holds[v] = -1
    first = roll(tally, count)
    for i in range(count):
        a, b = kits.pairs[(first + i) % count, 0], kits.pairs[(first + i) % count, 1]
        if a >= 0 and place[a] < 0 and place[b] >= 0:
            a, b = b, a
        if a >= 0 and place[a] < 0:
            put(kits.hops, pool, state, a, roll(tally, size))
        if a >= 0 and place[b] < 0:
            put(kits.hops, pool, state, b, place[a])
    for v in range(size):
        if place[v] < 0:
            put(kits.hops, pool, state, v, roll(tally, size))


@kernel
def put(hops: HopArray, pool: Pool, state: State, v: int, near: int) -> None:
    """Put a qubit on the free device qubit nearest to one, ties by lot."""
    holds, best, ties = state.holds, -1, 0
    for p in range(len(holds)):
        if holds[p] < 0 and (best < 0 or hops[near, p] <= hops[near, best]):
            ties = ties + 1 if best >= 0 and hops[near, p] == hops[near, best] else 1
            if roll(state.tally, ties) == 0:
                best = p
    holds[best] = v
    pool.place[v] = best


@inner_kernel
def copy_mapping(source: IndexArray, target: IndexArray) -> None:
    """Copy a mapping."""
    for v in range(len(source)):
        target[v] = source[v]


@inner_kernel
def recut(lane: Lane, e: int, fixed: int) -> None:
    """Cut a route somewhere, and perturb the mapping there by lot."""
    tally, pool = lane.state.tally, lane.pool
    kind, kicks = roll(tally, 4), roll(tally, 3)
    if kicks == 2:
        kicks += roll(tally, 3)
    if kind > BEFORE:
        kind = BOTH
    cut = roll(tally, pool.length[e] + 1)
    if kind == BOTH and fixed == 0 and roll(tally, 8) == 0:
        cut = pool.length[e] * roll(tally, 2)
    pick(pool, e, cut, kind)
    for _ in range(kicks if kind == BOTH and fixed == 0 else 0):
        perturb(lane.kits.hops, pool.place, tally)


@inner_kernel
def perturb(hops: HopArray, place: IndexArray, tally: IntArray) -> None:
    """Swap what is on a device qubit by lot with what is next to it, or on any of the same part."""
    a, b = roll(tally, len(place)), roll(tally, len(place))
    far = 2 if roll(tally, 5) > 0 else FAR
    for _ in range(4 * len(place)):
        if hops[place[a], place[b]] < far:
            break
        b = roll(tally, len(place))
    if hops[place[a], place[b]] < far:
        place[a], place[b] = place[b], place[a]


@inner_kernel
def one_way(kits: Kits, way: int) -> Kit:
    """Return the circuit one way: sides 0 backwards and 1 forwards, 2 more for strict order."""
    k = way ^ 1
    shared = (kits.bridge, kits.neighbours, kits.hops)
    return Kit(kits.pairs, kits.first[k], kits.after[k], kits.waits[k], shared[0], shared[1], shared[2])


@kernel
def prepare_side(kit: Kit, state: State, pool: Pool, side: int) -> None:
    """Prepare to route one side of the cut: take what is on the other as carried out."""
    turn, e = pool.turn, pool.turn[SLOT]
    begin(kit, state, pool.place)
    low, high = (turn[CUT], pool.length[e]) if side == 0 else (0, turn[CUT])
    for i in range(low, high):
        if pool.steps[e, i, 0] >= 0:
            finish(kit, state, pool.steps[e, i, 0], -1)
    state.tally[STEPS] = 0
    ready(state)


@inner_kernel
def collect(pool: Pool, state: State, side: int) -> None:
    """Append the steps of a new side to the route in the making; those before the cut come backwards."""
    made, turn = state.tally[STEPS], pool.turn
    if side == 0:
        turn[MADE] = 0
        copy_mapping(state.place, pool.ahead)
    for i in range(made):
        k, j = turn[MADE] + i, made - 1 - i if side == 0 else i
        pool.trial[k, 0], pool.trial[k, 1] = state.steps[j, 0], state.steps[j, 1]
    turn[MADE] += made


@inner_kernel
def take_over(pool: Pool, side: int) -> int:
    """Append the steps of a side that stays to the route in the making; return their cost."""
    turn, cost, e = pool.turn, 0, pool.turn[SLOT]
    if side == 0:
        turn[MADE] = 0
        copy_mapping(pool.start[e], pool.ahead)
    low, high = (0, turn[CUT]) if side == 0 else (turn[CUT], pool.length[e])
    for i in range(low, high):
        k = turn[MADE]
        pool.trial[k, 0], pool.trial[k, 1] = pool.steps[e, i, 0], pool.steps[e, i, 1]
        turn[MADE] += 1
        cost += pool.steps[e, i, 0] < 0 or pool.steps[e, i, 1] >= 0
    return cost


@inner_kernel
def conclude(pool: Pool, cost: int) -> None:
    """Keep the new route if it is as good; at the end of a chain, keep it in place of the worst of the pool."""
    turn, e, last = pool.turn, pool.turn[SLOT], len(pool.cost) - 1
    if cost <= pool.cost[e]:
        copy_mapping(pool.ahead, pool.start[e])
        pool.cost[e] = cost
        pool.length[e] = turn[MADE]
        for i in range(turn[MADE]):
            pool.steps[e, i, 0], pool.steps[e, i, 1] = pool.trial[i, 0], pool.trial[i, 1]
    if e < last or turn[CHAINED] > 0:
        return
    worst = 0
    for f in range(1, last):
        if pool.cost[f] > pool.cost[worst]:
            worst = f
    if pool.cost[last] < pool.cost[worst]:
        copy_mapping(pool.start[last], pool.start[worst])
        pool.cost[worst], pool.length[worst] = pool.cost[last], pool.length[last]
        for i in range(pool.length[last]):
            pool.steps[worst, i, 0], pool.steps[worst, i, 1] = pool.steps[last, i, 0], pool.steps[last, i, 1]
