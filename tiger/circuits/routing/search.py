"""The search on whole routes: several searches side by side with ever wider beams, which exchange the best they have.

One of the searches side by side is called a lane. How many there are depends on the work, and never on the threads.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import FAR, Coupling, IndexArray
from tiger.circuits.embedding.segments import Anchor
from tiger.circuits.gate_dag import GateDag
from tiger.circuits.lehmer import RNG_MODULUS
from tiger.circuits.records import allocate_records
from tiger.circuits.route import Route
from tiger.circuits.routing.beam import route_by_beam
from tiger.circuits.routing.beam_arrays import Moves, allocate_beam, build_moves, fits_beams, leave_moves_out
from tiger.circuits.routing.frontier import (
    TOO_MUCH,
    RouterParams,
    RoutingArrays,
    State,
    allocate_state,
    begin,
    build_arrays,
)
from tiger.circuits.routing.prices import price_route
from tiger.circuits.routing.renumbering import order_by_level, renumber
from tiger.circuits.routing.rerouting import NEVER_COST, Attempt, Lane, Plan, Pool, RoutingViews, advance
from tiger.circuits.routing.router import route
from tiger.circuits.routing.shortest import route_shortest_paths
from tiger.circuits.routing.threads import run_lanes
from tiger.circuits.routing.views import build_views

# How much work is done before `stop` is called again: about 0.04 s.
CHUNK = 3_000_000
# States of the beam that tells what each of them takes.
MEASURED = 4
# A route under search may take so many SWAPs a gate at most, which bounds the memory on long devices.
DETOUR = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseParams:
    """Set how a search divides its work.

    There are two lanes above `two_lanes_work` and four above `four_lanes_work`, each with a pool of `routes`. A lane
    begins with plain routing, for a share `first_share` of its work; then beams of `narrowest` states, twice as many
    in every later phase, as long as `passes` routings of the whole circuit take at most a share `widest_share`.
    `fresh` says how many per cent of the attempts begin at a new mapping in the first phase, in that of the narrowest
    beams, in the next and in all later ones. `ordered` is how many per cent of the sides of a cut keep each qubit's
    gates in circuit order, with narrow beams and with wide ones: circuits of the Fourier transform need them.

    With work for a beam of `wide_least` states through the whole circuit there are few phases instead: plain routing,
    beams an eighth as wide as the last, and for `wide_share` of the work beams so wide that one routing of the whole
    takes all of it, `wide_fresh` per cent of them from new mappings. Nothing stops a routing, which takes `wide_most`
    at most: under a second. Long circuits end with fewer extra CX so than with ever wider beams in the same time;
    `python -m benchmarks record` measures them.
    """

    two_lanes_work: int = 200_000
    four_lanes_work: int = 1_000_000
    routes: int = 6
    first_share: float = 0.05
    narrowest: int = 4
    passes: int = 3
    widest_share: float = 0.2
    fresh: tuple[int, int, int, int] = (100, 50, 20, 5)
    ordered: tuple[int, int] = (50, 25)
    wide_least: int = 512
    wide_share: float = 0.9
    wide_most: int = 64_000_000
    wide_fresh: int = 80

    def count_lanes(self, work: int) -> int:
        """Return how many lanes share so much work."""
        return 4 if work > self.four_lanes_work else 2 if work > self.two_lanes_work else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParams:
    """Set how much work the search may do, in candidates scored over all lanes, and how wide its beams may get.

    A unit is about 12 ns. The search ends at a route of `goal` extra CX gates. With `passages` it does at least so many
    routings of the whole circuit, and has no beams. Twice the work may find something better, at the same seed not
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
class Origins:
    """Hold where a search begins: layouts `[N]`, mappings at some time, and whole routes.

    The result is never worse than any of the routes. With `fixed[N]` every route starts from that layout, so must those
    given. A device of several parts needs an origin, which puts all qubits that meet into one part.
    """

    layouts: tuple[IndexArray, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    routes: tuple[Route, ...] = ()
    fixed: IndexArray | None = None


class Phase(NamedTuple):
    """Hold what the lanes do for a while: how wide beams are, per cent of new mappings, and the work of a lane."""

    width: int
    fresh: int
    work: int


class Schedule(NamedTuple):
    """Hold how many lanes a search has, and their phases."""

    lanes: int
    phases: tuple[Phase, ...]


DEFAULT = SearchParams()


def search(
    dag: GateDag,
    coupling: Coupling,
    origins: Origins,
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


def _list_starts(dag: GateDag, coupling: Coupling, origins: Origins) -> list[IndexArray]:
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
    dag: GateDag, coupling: Coupling, origins: Origins, params: SearchParams, stop: Callable[[], bool]
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
    ample = beams and _has_one_price(dag) and params.work > params.phases.wide_least * passage
    schedule = _schedule(params, passage, _measure_beam(arrays, state, known, moves) if ample else 0)
    own = replace(origins, routes=origins.routes or (known,))
    pools = [
        _build_pool(coupling, dag, own, (number, schedule.lanes), params.phases) for number in range(schedule.lanes)
    ]
    lanes = [_build_lane(views, pool, moves, [params.seed, number]) for number, pool in enumerate(pools)]
    _share_best(lanes, known, dag)
    with run_lanes(len(lanes), params.threads) as run_all:
        for phase in schedule.phases:
            lanes = [_widen(lane, phase.width) for lane in lanes]
            begun = [int(lane.state.counters[0].work) for lane in lanes]
            plan = _plan_attempts(phase, params.phases, int(origins.fixed is not None))
            # What an attempt of one chunk takes beyond it is missing from the next: the phase has its work in all.
            for done in range(0, phase.work, CHUNK):
                if stop() or _find_best(lanes).extra_cx <= params.goal:
                    return _find_best(lanes)
                chunk = plan._replace(goal=min(done + CHUNK, phase.work))
                run_all(partial(_advance, lanes, begun, chunk, stop))
            # Lanes exchange after every phase, at points that depend on work alone and not on threads.
            _share_best(lanes, _find_best(lanes), dag)
    return _find_best(lanes)


def _rename(origins: Origins, known: Route | None, order: IndexArray) -> Origins:
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


def _route_plainly(arrays: RoutingArrays, state: State, dag: GateDag, coupling: Coupling, start: IndexArray) -> Route:
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


def _measure_passage(arrays: RoutingArrays, state: State, start: IndexArray) -> int:
    """Return the work of routing once from a start, looking at the front alone."""
    before = state.counters[0].work
    begin(arrays, state, start.astype(np.int32))
    route(arrays, state, allocate_records(RouterParams), 1, NEVER_COST)
    return max(int(state.counters[0].work - before), 1)


def _measure_beam(arrays: RoutingArrays, state: State, known: Route, moves: Moves) -> int:
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


def _build_pool(coupling: Coupling, dag: GateDag, origins: Origins, lane: tuple[int, int], params: PhaseParams) -> Pool:
    """Return the pool of a lane, given by its number and how many there are, with its share of the origins."""
    (number, lanes), count, size = lane, len(dag.pairs), coupling.size
    none = np.zeros(count, np.bool_)
    layouts = origins.layouts if origins.fixed is None else (origins.fixed,)
    anchors = [Anchor(place=layout, done=none) for layout in layouts]
    anchors += origins.anchors if origins.fixed is None else ()
    parted = bool(coupling.part.max(initial=0) > 0)
    if parted:
        anchors += [Anchor(place=origins.routes[0].start, done=none)] * lanes
    mine = anchors[number::lanes] if origins.fixed is None else anchors[:1]
    order = [np.concatenate([np.flatnonzero(a.done), np.flatnonzero(~a.done)]) for a in mine]
    steps = 2 * count + 1 + _limit_steps(dag, coupling) + max((len(r.steps) for r in origins.routes), default=0)
    pool = Pool(
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
        attempt=allocate_records(Attempt),
    )
    pool.attempt[0].parted = int(parted)
    for e, known in enumerate(origins.routes[number::lanes][: params.routes]):
        _keep(pool, e, known, price_route(dag, known))
    return pool


def _keep(pool: Pool, e: int, known: Route, cost: int) -> None:
    """Put a route into the pool."""
    pool.start[e], pool.length[e] = known.start, len(known.steps)
    pool.steps[e, : len(known.steps)] = known.steps
    pool.cost[e] = cost


def _build_lane(views: RoutingViews, pool: Pool, moves: Moves, seed: list[int]) -> Lane:
    """Return a lane with a beam of one state, which a phase makes wider."""
    arrays = _view_forward(views)
    state = allocate_state(arrays, len(pool.trial) - len(views.pairs))
    state.counters[0].rng = 1 + int(np.random.SeedSequence(seed).generate_state(1)[0]) % (RNG_MODULUS - 1)
    return Lane(views, state, allocate_beam(arrays, 1, 1, moves), pool, allocate_records(RouterParams))


def _view_forward(views: RoutingViews) -> RoutingArrays:
    """Return the circuit as it is."""
    first, after, waits = views.first[0], views.after[0], views.waits[0]
    return RoutingArrays(views.pairs, first, after, waits, views.bridge, views.price, views.neighbours, views.hops)


def _schedule(params: SearchParams, passage: int, beam: int) -> Schedule:
    """Return what a search does; plain routing all along where passages are asked for, which are few.

    `passage` is the work of plain routing, `beam` that of a beam for each of its states, 0 where that is not known.
    """
    if params.passages:
        whole = max(params.work, params.passages * passage)
        lanes = min(params.phases.count_lanes(whole), 2)
        half = whole // lanes // 2
        return Schedule(lanes, (Phase(0, params.phases.fresh[0], half), Phase(0, params.phases.fresh[2], half)))
    lanes = params.phases.count_lanes(params.work)
    if beam and params.work > params.phases.wide_least * beam:
        return Schedule(lanes, tuple(_list_wide_phases(params.phases, params.work // lanes, beam, params.width)))
    return Schedule(lanes, tuple(_list_phases(params.phases, params.work // lanes, passage, params.width)))


def _list_phases(params: PhaseParams, work: int, passage: int, width: int) -> Iterator[Phase]:
    """Yield plain routing, then ever wider beams, while several passages fit a phase; none if not even one does."""
    # Too little for a quarter of a passage is better left: the first attempt alone would take four times as long.
    if 4 * work < passage:
        return
    first = Phase(0, params.fresh[0], max(int(params.first_share * work), min(work, 2 * params.passes * passage)))
    yield first
    narrowest = params.narrowest
    widest = min(width, int(params.widest_share * work / (params.passes * passage)))
    widths = [narrowest << k for k in range(16) if narrowest << k <= widest]
    widths = widths or [narrowest if narrowest <= width and narrowest * passage <= work else 0]
    for rank, each in enumerate(widths):
        yield Phase(each, params.fresh[min(rank, 2) + 1], (work - first.work) // len(widths))


def _list_wide_phases(params: PhaseParams, work: int, beam: int, width: int) -> Iterator[Phase]:
    """Yield plain routing, narrow beams, and the widest that fit."""
    first = Phase(0, params.fresh[0], int(params.first_share * work))
    wide = int(params.wide_share * (work - first.work))
    widest = min(max(min(wide, params.wide_most) // beam, params.narrowest), width)
    yield first
    yield Phase(max(widest // 8, params.narrowest), params.fresh[1], work - first.work - wide)
    yield Phase(widest, params.wide_fresh, wide)


def _plan_attempts(phase: Phase, params: PhaseParams, fixed: int) -> Plan:
    """Return what the attempts of a phase are like; its work is the goal of a lane that has done none."""
    ordered = params.ordered[phase.width > params.narrowest]
    return Plan(fresh=phase.fresh, fixed=fixed, goal=phase.work, width=phase.width, ordered=ordered)


def _widen(lane: Lane, width: int) -> Lane:
    """Return the lane with a beam of a width, for routes of up to twice the cost of the best of its pool."""
    best = _find_best([lane])
    most = 2 * (best.swaps + best.bridges) + 1
    return lane._replace(beam=allocate_beam(_view_forward(lane.views), max(width, 1), most, lane.beam.moves))


def _advance(lanes: list[Lane], begun: list[int], plan: Plan, stop: Callable[[], bool], number: int) -> None:
    """Advance a lane to the goal of a plan, which counts from where its phase began, unless it is time to stop."""
    if not stop():
        advance(lanes[number], plan._replace(goal=begun[number] + plan.goal))


def _find_best(lanes: list[Lane]) -> Route:
    """Return the best route of all lanes, complete or not."""
    pool = min((lane.pool for lane in lanes), key=lambda pool: int(pool.cost.min()))
    e = int(pool.cost.argmin())
    return Route(start=pool.start[e].copy(), steps=pool.steps[e, : pool.length[e]].copy())


def _share_best(lanes: list[Lane], best: Route, dag: GateDag) -> None:
    """Put the best route in place of the worst of every lane that has none as good."""
    cost = price_route(dag, best)
    for lane in lanes:
        if lane.pool.cost[:-1].min() > cost:
            _keep(lane.pool, int(lane.pool.cost[:-1].argmax()), best, cost)
