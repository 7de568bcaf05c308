"""The search on whole routes: several searches side by side with ever wider beams, which exchange the best they have.

One of the searches side by side is called a searcher. How many there are depends on the work, and never on the threads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from tiger.routing.coupling import FAR, Coupling, IndexArray
from tiger.routing.embedding.segments import Anchor
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import Route
from tiger.routing.swaps.beam import route_by_beam
from tiger.routing.swaps.beam_arrays import Moves, allocate_beam, build_moves, fits_beams, leave_moves_out
from tiger.routing.swaps.frontier import (
    TOO_MUCH,
    RouterParams,
    RoutingArrays,
    RoutingState,
    allocate_state,
    begin,
    build_arrays,
)
from tiger.routing.swaps.phases import Extent, PhaseParams, plan_attempts, schedule
from tiger.routing.swaps.prices import price_route
from tiger.routing.swaps.renumbering import order_by_level, renumber
from tiger.routing.swaps.rerouting import NEVER_COST, ReroutePlan, Rerouting, RoutePool, RoutingViews, Searcher, advance
from tiger.routing.swaps.router import route
from tiger.routing.swaps.shortest import route_shortest_paths
from tiger.routing.swaps.threads import run_searchers
from tiger.routing.swaps.views import build_views
from tiger.solvers.lehmer import RNG_MODULUS
from tiger.solvers.records import allocate_records

# How much work is done before `stop` is called again: about 0.04 s.
CHUNK = 3_000_000
# States of the beam that tells what each of them takes.
MEASURED = 4
# A route under search may take this many SWAPs a gate at most, which bounds the memory on long devices.
DETOUR = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParams:
    """Set how much work the search may do, in candidates scored over all searchers, and how wide its beams may get.

    A unit is about 12 ns. The search ends at a route of `goal` extra CX gates. With `passages` it does at least that
    many routings of the whole circuit, and has no beams. Twice the work may find something better, at the same seed not
    always.
    """

    work: int = 400_000_000
    passages: int = 0
    width: int = 512
    goal: int = 0
    seed: int = 0
    threads: int = 1
    phases: PhaseParams = field(default_factory=PhaseParams)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchOrigins:
    """Hold where a search begins: layouts `[N]`, mappings at some time, and whole routes.

    The result is never worse than any of the routes. With `fixed[N]` every route starts from that layout, so must those
    given. A device of several parts needs an origin, which puts all qubits that meet into one part.
    """

    layouts: tuple[IndexArray, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    routes: tuple[Route, ...] = ()
    fixed: IndexArray | None = None


DEFAULT = SearchParams()


def search(
    dag: GateDag,
    coupling: Coupling,
    origins: SearchOrigins,
    params: SearchParams = DEFAULT,
    stop: Callable[[], bool] = bool,
) -> Route:
    """Return the best route found, not optimal in general; the same for any number of threads.

    `stop` is called every fraction of a second. Raise ValueError when a device of several parts gets no
    origin, or a layout parts qubits that meet.
    """
    starts = _list_starts(dag, coupling, origins)
    known = min(origins.routes, key=lambda route: price_route(dag, route), default=None)
    if known is not None and (known.extra_cx <= params.goal or not params.work + params.passages):
        return known
    if not params.work + params.passages:
        arrays = build_arrays(dag, coupling)[0]
        return _route_plainly(arrays, allocate_state(arrays, _limit_steps(dag, coupling)), dag, coupling, starts[0])
    # In order of levels the gates at the front and those that come soon lie side by side.
    order = order_by_level(dag)
    found = _search(renumber(dag, order), coupling, _rename(origins, known, order), params, stop)
    return _rename_nodes(found, order)


def _list_starts(dag: GateDag, coupling: Coupling, origins: SearchOrigins) -> list[IndexArray]:
    """Return where routes may start; raise for what cannot be searched."""
    places = [*origins.layouts, *(anchor.place for anchor in origins.anchors)]
    if origins.fixed is not None:
        places = [origins.fixed]
    gates = dag.pairs[dag.pairs[:, 0] >= 0]
    if any((coupling.part[place[gates[:, 0]]] != coupling.part[place[gates[:, 1]]]).any() for place in places):
        raise ValueError("expected layouts that put all qubits that meet into one part of the device, got another")
    if not places and not origins.routes and coupling.part.max(initial=0) > 0:
        raise ValueError("expected a layout, an anchor or a route on a device of several parts, got none")
    return places or [np.arange(coupling.size, dtype=np.int32)]


def _search(
    dag: GateDag, coupling: Coupling, origins: SearchOrigins, params: SearchParams, stop: Callable[[], bool]
) -> Route:
    """Search, with the best known route as the first."""
    views = build_views(dag, coupling)
    arrays = _view_forward(views)
    state = allocate_state(arrays, _limit_steps(dag, coupling))
    start = origins.routes[0].start if origins.routes else _list_starts(dag, coupling, origins)[0]
    known = origins.routes[0] if origins.routes else _route_plainly(arrays, state, dag, coupling, start)
    # To measure what a routing takes is to route, which large circuits spend a second on.
    if known.extra_cx <= params.goal or stop():
        return known
    passage = _measure_passage(arrays, state, start)
    beams = not params.passages and fits_beams(arrays)
    moves = build_moves(arrays) if beams else leave_moves_out()
    params = params if beams else replace(params, width=0)
    # A beam takes more for a state than plain routing for the whole.
    # From a given layout all routes start alike, and there is nothing to race.
    race = origins.fixed is None and _has_one_price(dag)
    ample = beams and race and params.work > params.phases.wide_least * passage
    extent = Extent(params.work, params.passages, params.width)
    count, phases = schedule(params.phases, extent, passage, _measure_beam(arrays, state, known, moves) if ample else 0)
    own = replace(origins, routes=origins.routes or (known,))
    pools = [_build_pool(coupling, dag, own, (number, count), params.phases) for number in range(count)]
    searchers = [_build_searcher(views, pool, moves, [params.seed, number]) for number, pool in enumerate(pools)]
    _share_best(searchers, known, dag)
    with run_searchers(len(searchers), params.threads) as run_all:
        due = 0
        for phase in phases:
            searchers = [_widen(searcher, phase.width) for searcher in searchers]
            if phase.kept:
                _deal_best(searchers, phase.kept)
            going = phase.searchers or count
            plan = plan_attempts(phase, params.phases, int(origins.fixed is not None))
            # What attempts take beyond a chunk or a phase is missing from the next: the search has its work in all.
            due += going * phase.work
            share = (due - _sum_work(searchers)) // going
            begun = [int(searcher.state.counters[0].work) for searcher in searchers[:going]]
            for done in range(0, share, CHUNK):
                if stop() or _find_best(searchers).extra_cx <= params.goal:
                    return _find_best(searchers)
                chunk = plan._replace(goal=min(done + CHUNK, share))
                run_all(partial(_advance, searchers, begun, chunk, stop))
            # Lanes exchange after every phase, at points that depend on work alone and not on threads.
            _share_best(searchers, _find_best(searchers), dag)
    return _find_best(searchers)


def _rename(origins: SearchOrigins, known: Route | None, order: IndexArray) -> SearchOrigins:
    """Return the origins with the best route first, for nodes in another order."""
    number = np.argsort(order).astype(np.int32)
    first = () if known is None else (known,)
    routes = tuple(_rename_nodes(route, number) for route in (*first, *(r for r in origins.routes if r is not known)))
    anchors = tuple(Anchor(place=anchor.place, done=anchor.done[order]) for anchor in origins.anchors)
    return replace(origins, routes=routes, anchors=anchors)


def _rename_nodes(route: Route, name: IndexArray) -> Route:
    """Return a route with `name[v]` for node v."""
    steps = route.steps.copy()
    nodes = steps[:, 0] >= 0
    steps[nodes, 0] = name[steps[nodes, 0]]
    return Route(start=route.start, steps=steps)


def _route_plainly(
    arrays: RoutingArrays, state: RoutingState, dag: GateDag, coupling: Coupling, start: IndexArray
) -> Route:
    """Return a route from a start by plain routing, along shortest paths if that takes too many SWAPs."""
    begin(arrays, state, start.astype(np.int32))
    if route(arrays, state, _build_usual_params(), 1, TOO_MUCH) >= TOO_MUCH:
        return route_shortest_paths(dag, coupling, start)
    return Route(start=start.astype(np.int32), steps=state.steps[: state.counters[0].steps].copy())


def _build_usual_params() -> Sequence[RouterParams]:
    """Return SABRE's extended set of 20 gates, weight 0.5 and decay 0.001 (Li, Ding, Xie 2019)."""
    usual = allocate_records(RouterParams)
    usual[0].lookahead, usual[0].lookahead_weight, usual[0].decay = 20.0, 0.5, 0.001
    usual[0].fade, usual[0].bridge_score, usual[0].later_weight = 1.0, -0.5, 1.0
    return usual


def _has_one_price(dag: GateDag) -> bool:
    """Return whether all SWAPs cost the same; where some fuse with gates, many attempts find more than wide beams."""
    return bool((dag.price == dag.price[-1]).all())


def _measure_passage(arrays: RoutingArrays, state: RoutingState, start: IndexArray) -> int:
    """Return the work of routing once from a start, looking at the front alone."""
    before = state.counters[0].work
    begin(arrays, state, start.astype(np.int32))
    route(arrays, state, allocate_records(RouterParams), 1, NEVER_COST)
    return max(int(state.counters[0].work - before), 1)


def _measure_beam(arrays: RoutingArrays, state: RoutingState, known: Route, moves: Moves) -> int:
    """Return the work of a beam for each of its states, where it routes the whole from the start of a route."""
    width, usual = MEASURED, _build_usual_params()
    usual[0].width, usual[0].gate_price = width, 2.0
    beam = allocate_beam(arrays, width, 2 * (known.swaps + known.bridges) + 1, moves)
    before = state.counters[0].work
    begin(arrays, state, known.start.astype(np.int32))
    route_by_beam(arrays, state, beam, usual)
    return max(int(state.counters[0].work - before) // width, 1)


def _limit_steps(dag: GateDag, coupling: Coupling) -> int:
    """Return how many SWAPs and BRIDGEs a route may take while it is searched."""
    return len(dag.pairs) * min(int(coupling.hops[coupling.hops < FAR].max(initial=0)), DETOUR)


def _build_pool(
    coupling: Coupling, dag: GateDag, origins: SearchOrigins, searcher: tuple[int, int], params: PhaseParams
) -> RoutePool:
    """Return the pool of a searcher, given by its number and how many there are, with its share of the origins."""
    (number, searchers), count, size = searcher, len(dag.pairs), coupling.size
    none = np.zeros(count, np.bool_)
    layouts = origins.layouts if origins.fixed is None else (origins.fixed,)
    anchors = [Anchor(place=layout, done=none) for layout in layouts]
    anchors += origins.anchors if origins.fixed is None else ()
    parted = bool(coupling.part.max(initial=0) > 0)
    if parted:
        anchors += [Anchor(place=origins.routes[0].start, done=none)] * searchers
    mine = anchors[number::searchers] if origins.fixed is None else anchors[:1]
    order = [np.concatenate([np.flatnonzero(a.done), np.flatnonzero(~a.done)]) for a in mine]
    steps = 2 * count + 1 + _limit_steps(dag, coupling) + max((len(r.steps) for r in origins.routes), default=0)
    pool = RoutePool(
        start=np.zeros((params.routes + 1, size), np.int32),
        steps=np.zeros((params.routes + 1, steps, 2), np.int32),
        length=np.zeros(params.routes + 1, np.int32),
        cost=np.full(params.routes + 1, NEVER_COST, np.int64),
        place=np.zeros(size, np.int32),
        ahead=np.zeros(size, np.int32),
        trial=np.zeros((steps, 2), np.int32),
        seed=np.array([a.place for a in mine], np.int32).reshape(-1, size),
        order=np.array(order, np.int32).reshape(-1, count),
        done=np.array([a.done.sum() for a in mine], np.int32),
        attempt=allocate_records(Rerouting),
    )
    pool.attempt[0].parted = int(parted)
    for e, known in enumerate(origins.routes[number::searchers][: params.routes]):
        _keep(pool, e, known, price_route(dag, known))
    return pool


def _keep(pool: RoutePool, e: int, known: Route, cost: int) -> None:
    """Put a route into the pool."""
    pool.start[e], pool.length[e] = known.start, len(known.steps)
    pool.steps[e, : len(known.steps)] = known.steps
    pool.cost[e] = cost


def _build_searcher(views: RoutingViews, pool: RoutePool, moves: Moves, seed: list[int]) -> Searcher:
    """Return a searcher with a beam of one state, which a phase makes wider."""
    arrays = _view_forward(views)
    state = allocate_state(arrays, len(pool.trial) - len(views.pairs))
    state.counters[0].rng = 1 + int(np.random.SeedSequence(seed).generate_state(1)[0]) % (RNG_MODULUS - 1)
    return Searcher(views, state, allocate_beam(arrays, 1, 1, moves), pool, allocate_records(RouterParams))


def _view_forward(views: RoutingViews) -> RoutingArrays:
    """Return the circuit as it is."""
    first, after, waits = views.first[0], views.after[0], views.waits[0]
    return RoutingArrays(views.pairs, first, after, waits, views.bridge, views.price, views.neighbours, views.hops)


def _widen(searcher: Searcher, width: int) -> Searcher:
    """Return the searcher with a beam of a width, for routes of up to twice the cost of the best of its pool."""
    best = _find_best([searcher])
    most = 2 * (best.swaps + best.bridges) + 1
    return searcher._replace(
        beam=allocate_beam(_view_forward(searcher.views), max(width, 1), most, searcher.beam.moves)
    )


def _advance(
    searchers: list[Searcher], begun: list[int], plan: ReroutePlan, stop: Callable[[], bool], number: int
) -> None:
    """Advance a searcher that goes on to the goal of a plan, counted from where its phase began, unless it is late."""
    if number < len(begun) and not stop():
        advance(searchers[number], plan._replace(goal=begun[number] + plan.goal))


def _sum_work(searchers: list[Searcher]) -> int:
    """Return the work that all searchers have done."""
    return sum(int(searcher.state.counters[0].work) for searcher in searchers)


def _find_best(searchers: list[Searcher]) -> Route:
    """Return the best route of all searchers, complete or not."""
    pool = min((searcher.pool for searcher in searchers), key=lambda pool: int(pool.cost.min()))
    e = int(pool.cost.argmin())
    return _read_route(pool, e)


def _share_best(searchers: list[Searcher], best: Route, dag: GateDag) -> None:
    """Put the best route in place of the worst of every searcher that has none as good."""
    cost = price_route(dag, best)
    for searcher in searchers:
        if searcher.pool.cost[:-1].min() > cost:
            _keep(searcher.pool, int(searcher.pool.cost[:-1].argmax()), best, cost)


def _deal_best(searchers: list[Searcher], kept: int) -> None:
    """Deal the best routes out to the searchers, `kept` to each in order of cost, and drop all others.

    Every searcher gets one, the same as others where there are too few.
    """
    found = [
        (int(pool.cost[e]), number, e)
        for number, (_, _, _, pool, _) in enumerate(searchers)
        for e in range(len(pool.cost) - 1)
    ]
    best: dict[bytes, tuple[int, Route]] = {}
    for cost, number, e in sorted(found):
        pool = searchers[number].pool
        # Of routes from the same mapping one is enough.
        if cost < NEVER_COST and len(best) < kept * len(searchers) and pool.start[e].tobytes() not in best:
            best[pool.start[e].tobytes()] = cost, _read_route(pool, e)
    for searcher in searchers:
        searcher.pool.cost[:] = NEVER_COST
        searcher.pool.attempt[0].passes = searcher.pool.attempt[0].turn = 0
    dealt = list(best.values())
    for rank in range(max(len(dealt), len(searchers))):
        cost, known = dealt[rank % len(dealt)]
        _keep(searchers[rank % len(searchers)].pool, rank // len(searchers), known, cost)


def _read_route(pool: RoutePool, e: int) -> Route:
    """Return a route of the pool."""
    return Route(start=pool.start[e].copy(), steps=pool.steps[e, : pool.length[e]].copy())
