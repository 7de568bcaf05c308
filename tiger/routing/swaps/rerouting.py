"""Compiled search on whole routes: a route is cut, perturbed at the cut, and routed again to both sides of it.

A backward route of what comes before the cut, turned around, leads to the mapping at the cut; so every mapping at any
time is the seed of a whole route. Attempts keep a pool of routes, each replaced by what is as good or better.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tiger.model.arrays import IntArray
from tiger.routing.coupling import FAR, HopArray, IndexArray
from tiger.routing.swaps.attempt_params import draw_params
from tiger.routing.swaps.beam import search_beam
from tiger.routing.swaps.beam_arrays import Beam
from tiger.routing.swaps.frontier import (
    TOO_MUCH,
    RouterCounters,
    RouterParams,
    RoutingArrays,
    RoutingState,
    begin,
    carry_out_nodes,
    draw_below,
)
from tiger.routing.swaps.prices import price_part
from tiger.routing.swaps.router import route
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.solvers.lehmer import RNG_MODULUS

# Costs of a route in the making, below TOO_MUCH, and of an empty place in the pool, above it.
NO_LIMIT, NEVER_COST = 900_000_000, 2_000_000_000
# Which side of a cut is routed again.
BOTH, AFTER, BEFORE = range(3)
# A new mapping is routed backwards and forwards this many times, as in SABRE's reverse traversal.
PASSES = 5


class RoutingViews(NamedTuple):
    """Hold a circuit as `RoutingArrays` does, four ways: forwards and backwards, as it is and in strict order."""

    pairs: IndexArray
    first: IndexArray
    after: IndexArray
    waits: IndexArray
    bridge: IntArray
    price: IndexArray
    neighbours: IndexArray
    hops: HopArray


class Rerouting:
    """Say what is attempted: on which `route` of the pool, `cut` at which step, and which `part` is routed again.

    `given` counts the seeds used, `passes` those left on a new mapping, `made` the steps of the route in the making.
    `parted` is 1 where the device has several parts. `turn` counts passes over routes of the pool.
    """

    given: int
    passes: int
    route: int
    cut: int
    part: int
    made: int
    parted: int
    turn: int


class ReroutePlan(NamedTuple):
    """Say what the attempts of a searcher are like until its work reaches `goal`.

    `fresh` per cent begin at a new mapping, the others at a cut of a route of the pool; beams are `width` wide, 0 for
    plain routing; `ordered` per cent of the sides keep each qubit's gates in order; `fixed` is 1 when the start may not
    change. Where it is not 0 the others are whole routings of the best `kept` routes of the pool.
    """

    fresh: int
    fixed: int
    goal: int
    width: int
    ordered: int
    kept: int = 0


class RoutePool(NamedTuple):
    """Hold E routes, and one more in the making at number E.

    Route e is `start[e, N]` and `steps[e, :length[e], 2]`, of `cost[e]` SWAPs and BRIDGEs. `place[N]` is the mapping at
    a cut, `ahead[N]` that at the start of a new route, whose steps come together in `trial[k, 2]`. Seeds are
    `seed[s, N]`, mappings that hold when the first `done[s]` nodes of `order[s, g]` are carried out. `attempt` is one
    record.
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
    attempt: Sequence[Rerouting]


class Searcher(NamedTuple):
    """Hold all that one of the searches side by side works on; `params` is one record."""

    views: RoutingViews
    state: RoutingState
    beam: Beam
    pool: RoutePool
    params: Sequence[RouterParams]


@kernel
def advance(searcher: Searcher, plan: ReroutePlan) -> None:
    """Make attempts until the searcher's work reaches the goal, or a route costs nothing."""
    pool, state, counters = searcher.pool, searcher.state, searcher.state.counters[0]
    attempt = pool.attempt[0]
    while counters.work < plan.goal and pool.cost[find_cheapest(pool)] > 0:
        alone = searcher.views.price[len(searcher.views.price) - 1]
        draw_params(searcher.params[0], counters, alone)
        searcher.params[0].width = plan.width
        choose_attempt(searcher, plan)
        # A SWAP at the cut may fuse with a gate on the other side of it.
        cost, limit = 0, pool.cost[attempt.route] + alone - 1
        # First what is before the cut, routed backwards from the mapping there, then what is after it.
        for side in range(2):
            if cost <= limit and attempt.part == (AFTER if side == 0 else BEFORE):
                cost += append_old_side(pool, state, searcher.views, side)
            elif cost <= limit:
                arrays = select_view(searcher.views, side + (2 if draw_below(counters, 100) < plan.ordered else 0))
                prepare_side(arrays, state, pool, side)
                if searcher.params[0].width > 0:
                    cost += search_beam(arrays, state, searcher.beam, searcher.params, limit - cost)
                else:
                    cost += route(arrays, state, searcher.params, draw_below(counters, RNG_MODULUS), limit - cost)
                if cost <= limit:
                    cost += append_new_side(pool, state, side)
        if cost <= limit and alone > 1:
            made, scratch = pool.trial[: attempt.made], (state.holds, state.last)
            cost = price_part(searcher.views.price, searcher.views.pairs, made, pool.ahead, scratch)
        keep_route(pool, cost)
        # An attempt counts even where nothing was scored, so that the search ends.
        counters.work += 1


@inner_kernel
def find_cheapest(pool: RoutePool) -> int:
    """Return the number of the cheapest route of the pool."""
    best = 0
    for e in range(1, len(pool.cost) - 1):
        if pool.cost[e] < pool.cost[best]:
            best = e
    return best


@inner_kernel
def choose_attempt(searcher: Searcher, plan: ReroutePlan) -> None:
    """Decide what to attempt: a new mapping routed forth and back a few times, or a cut of a route of the pool."""
    pool, counters = searcher.pool, searcher.state.counters[0]
    attempt, last = pool.attempt[0], len(pool.cost) - 1
    if attempt.passes > 0:
        # SABRE's reverse traversal: the mapping where one pass ends is where the next begins.
        back = attempt.passes % 2 == 0
        set_cut(pool, last, pool.length[last] if back else 0, BOTH)
    elif attempt.given < len(pool.seed) or draw_below(counters, 100) < plan.fresh:
        attempt.passes = PASSES if plan.fixed == 0 else 1
        begin_new_route(searcher, last, plan.fixed)
    elif plan.kept > 0:
        # Each in turn, from its start and then from its end.
        e, from_end = attempt.turn % plan.kept, attempt.turn // plan.kept % 2
        attempt.turn += 1
        if pool.cost[e] >= NEVER_COST:
            e = find_cheapest(pool)
        set_cut(pool, e, from_end * pool.length[e], BOTH)
    else:
        # The better of two routes of the pool, drawn at random: binary tournament selection.
        e, f = draw_below(counters, last), draw_below(counters, last)
        e = e if pool.cost[e] <= pool.cost[f] else f
        if pool.cost[e] >= NEVER_COST:
            e = find_cheapest(pool)
        cut_route(searcher, e, plan.fixed)
    # Beams are kept for the last two passes, whose mapping has settled.
    if attempt.passes > 2:
        searcher.params[0].width = 0
    attempt.passes -= attempt.passes > 0
    if plan.fixed == 1:
        attempt.part = AFTER


@inner_kernel
def set_cut(pool: RoutePool, e: int, cut: int, part: int) -> None:
    """Set what to attempt, and the mapping at the cut."""
    place, attempt = pool.place, pool.attempt[0]
    attempt.route = e
    attempt.cut = cut
    attempt.part = part
    for v in range(len(place)):
        pool.ahead[pool.start[e, v]] = v
    # `ahead` holds the inverse of the mapping while the SWAPs before the cut are followed.
    for i in range(cut):
        if pool.steps[e, i, 0] < 0:
            p, q = -1 - pool.steps[e, i, 0], pool.steps[e, i, 1]
            pool.ahead[p], pool.ahead[q] = pool.ahead[q], pool.ahead[p]
    for p in range(len(place)):
        place[pool.ahead[p]] = p


@inner_kernel
def begin_new_route(searcher: Searcher, last: int, fixed: int) -> None:
    """Begin a route at the next seed, the only one if the start is fixed, or at a random mapping."""
    pool, attempt = searcher.pool, searcher.pool.attempt[0]
    # Given seeds come first, one after another, then random mappings.
    seed = 0 if fixed == 1 else attempt.given
    attempt.given += 1
    known = seed < len(pool.seed)
    if known:
        copy_mapping(pool.seed[seed], pool.place)
    else:
        draw_mapping(searcher.views, pool, searcher.state)
    # The route in the making has all nodes and no SWAP yet, and costs more than any that will replace it.
    pool.length[last] = len(searcher.views.pairs)
    pool.cost[last] = NO_LIMIT
    for i in range(pool.length[last]):
        pool.steps[last, i, 0] = pool.order[seed, i] if known else i
        pool.steps[last, i, 1] = -1
    copy_mapping(pool.place, pool.start[last])
    # A seed may hold in the middle of its route: there the first pass begins, both ways.
    set_cut(pool, last, pool.done[seed] if known else 0, BOTH)


@inner_kernel
def draw_mapping(views: RoutingViews, pool: RoutePool, state: RoutingState) -> None:
    """Draw the mapping at the cut: partners in the circuit near each other, from a gate and a device qubit on."""
    counters, place, holds = state.counters[0], pool.place, state.holds
    size, count = len(place), len(views.pairs)
    # On a device of several parts only a seed, perturbed, has all qubits that meet in one part.
    if len(pool.seed) > 0 and draw_below(counters, 2) >= 1 - pool.attempt[0].parted:
        copy_mapping(pool.seed[draw_below(counters, len(pool.seed))], place)
        for _ in range(size):
            perturb(views.hops, place, counters)
        return
    for v in range(size):
        place[v] = -1
        holds[v] = -1
    # The circuit is gone through from a random gate on, each qubit next to a partner that has a place.
    first = draw_below(counters, count)
    for i in range(count):
        a, b = views.pairs[(first + i) % count, 0], views.pairs[(first + i) % count, 1]
        if a >= 0 and place[a] < 0 and place[b] >= 0:
            a, b = b, a
        if a >= 0 and place[a] < 0:
            place_near(views.hops, pool, state, a, draw_below(counters, size))
        if a >= 0 and place[b] < 0:
            place_near(views.hops, pool, state, b, place[a])
    for v in range(size):
        if place[v] < 0:
            place_near(views.hops, pool, state, v, draw_below(counters, size))


@inner_kernel
def place_near(hops: HopArray, pool: RoutePool, state: RoutingState, v: int, near: int) -> None:
    """Put a qubit on the free device qubit nearest to one, ties at random."""
    holds, best, ties = state.holds, -1, 0
    for p in range(len(holds)):
        if holds[p] < 0 and (best < 0 or hops[near, p] <= hops[near, best]):
            ties = ties + 1 if best >= 0 and hops[near, p] == hops[near, best] else 1
            if draw_below(state.counters[0], ties) == 0:
                best = p
    holds[best] = v
    pool.place[v] = best


@inner_kernel
def copy_mapping(source: IndexArray, target: IndexArray) -> None:
    """Copy a mapping."""
    for v in range(len(source)):
        target[v] = source[v]


@inner_kernel
def cut_route(searcher: Searcher, e: int, fixed: int) -> None:
    """Cut a route somewhere, and perturb the mapping there at random."""
    counters, pool = searcher.state.counters[0], searcher.pool
    part, times = draw_below(counters, 4), draw_below(counters, 3)
    if times == 2:
        times += draw_below(counters, 3)
    # Half of the attempts route both sides of the cut again, a quarter each one of them.
    if part > BEFORE:
        part = BOTH
    cut = draw_below(counters, pool.length[e] + 1)
    if part == BOTH and fixed == 0 and draw_below(counters, 8) == 0:
        cut = pool.length[e] * draw_below(counters, 2)
    set_cut(pool, e, cut, part)
    for _ in range(times if part == BOTH and fixed == 0 else 0):
        perturb(searcher.views.hops, pool.place, counters)


@inner_kernel
def perturb(hops: HopArray, place: IndexArray, counters: RouterCounters) -> None:
    """Swap what is on a random device qubit with what is next to it, or on any of the same part."""
    # Mostly neighbours, which changes little; one in five exchanges is over any distance.
    a, b = draw_below(counters, len(place)), draw_below(counters, len(place))
    far = 2 if draw_below(counters, 5) > 0 else FAR
    for _ in range(4 * len(place)):
        if hops[place[a], place[b]] < far:
            break
        b = draw_below(counters, len(place))
    if hops[place[a], place[b]] < far:
        place[a], place[b] = place[b], place[a]


@inner_kernel
def select_view(views: RoutingViews, number: int) -> RoutingArrays:
    """Return the circuit one way: 0 is backwards and 1 forwards, 2 more are in strict order."""
    k = number ^ 1
    first, after, waits = views.first[k], views.after[k], views.waits[k]
    return RoutingArrays(views.pairs, first, after, waits, views.bridge, views.price, views.neighbours, views.hops)


@inner_kernel
def prepare_side(arrays: RoutingArrays, state: RoutingState, pool: RoutePool, side: int) -> None:
    """Prepare to route one side of the cut: take what is on the other as carried out."""
    cut, e = pool.attempt[0].cut, pool.attempt[0].route
    begin(arrays, state, pool.place)
    low, high = (cut, pool.length[e]) if side == 0 else (0, cut)
    carry_out_nodes(arrays, state, pool.steps[e], low, high)


@inner_kernel
def append_new_side(pool: RoutePool, state: RoutingState, side: int) -> int:
    """Append the steps of a new side to the route in the making; those before the cut come backwards.

    Returns 0, and TOO_MUCH where there is no room for them.
    """
    made, attempt = state.counters[0].steps, pool.attempt[0]
    if side == 0:
        attempt.made = 0
        copy_mapping(state.place, pool.ahead)
    if attempt.made + made > len(pool.trial):
        return TOO_MUCH
    for i in range(made):
        k, j = attempt.made + i, made - 1 - i if side == 0 else i
        pool.trial[k, 0], pool.trial[k, 1] = state.steps[j, 0], state.steps[j, 1]
    attempt.made += made
    return 0


@inner_kernel
def append_old_side(pool: RoutePool, state: RoutingState, views: RoutingViews, side: int) -> int:
    """Append the steps of a side that stays to the route in the making; return their cost, TOO_MUCH without room."""
    attempt, e = pool.attempt[0], pool.attempt[0].route
    if side == 0:
        attempt.made = 0
        copy_mapping(pool.start[e], pool.ahead)
    low, high = (0, attempt.cut) if side == 0 else (attempt.cut, pool.length[e])
    if attempt.made + high - low > len(pool.trial):
        return TOO_MUCH
    for i in range(low, high):
        k = attempt.made
        pool.trial[k, 0], pool.trial[k, 1] = pool.steps[e, i, 0], pool.steps[e, i, 1]
        attempt.made += 1
    place = pool.ahead if side == 0 else pool.place
    return price_part(views.price, views.pairs, pool.steps[e, low:high], place, (state.holds, state.last))


@inner_kernel
def keep_route(pool: RoutePool, cost: int) -> None:
    """Keep the new route if it is as good; after the last pass, keep it in place of the worst of the pool."""
    attempt, e, last = pool.attempt[0], pool.attempt[0].route, len(pool.cost) - 1
    # Routes of equal cost replace each other, so that the search drifts over plateaus.
    if cost <= pool.cost[e]:
        copy_mapping(pool.ahead, pool.start[e])
        pool.cost[e] = cost
        pool.length[e] = attempt.made
        for i in range(attempt.made):
            pool.steps[e, i, 0], pool.steps[e, i, 1] = pool.trial[i, 0], pool.trial[i, 1]
    # A new mapping competes with the pool after its last pass, against the worst route, if any pass came to an end.
    if e < last or attempt.passes > 0 or pool.cost[last] >= NO_LIMIT:
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
