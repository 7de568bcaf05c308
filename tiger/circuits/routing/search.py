"""The search on whole routes: several lanes with ever wider beams, which exchange the best they have."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import FAR, Coupling, IndexArray
from tiger.circuits.embedding.segments import Anchor
from tiger.circuits.gate_dag import GateDag
from tiger.circuits.route import Route
from tiger.circuits.routing.beam import SETTINGS, beam_of
from tiger.circuits.routing.frontier import DICE, DICE_SIZE, STEPS, TOO_MUCH, WORK, Kit, State, begin, kits_of, state_of
from tiger.circuits.routing.lanes import abreast
from tiger.circuits.routing.renumbering import by_level, renumber
from tiger.circuits.routing.rerouting import (
    BREADTH,
    FIXED,
    FRESH,
    GOAL,
    NEVER_COST,
    ORDERED,
    PARTED,
    PLANS,
    TURNS,
    Kits,
    Lane,
    Pool,
    advance,
)
from tiger.circuits.routing.router import route
from tiger.circuits.routing.shortest import shortest_paths
from tiger.circuits.routing.ways import ways_of

LANES, CROWDED, ROUTES = ((1_000_000, 4), (200_000, 2)), 200_000, 6
CHUNK, LEAST = 3_000_000, 4
NARROW, PASSES, SHARE = 4, 3, 0.2
HALF, OFTEN, RARELY, NARROW_ORDERED, WIDE_ORDERED = 50, 20, 5, 50, 25
FIRST_SHARE, DETOUR = 0.05, 64
USUAL = (20.0, 0.5, 1.0, 0.001, -0.5, 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParams:
    """Set how much work the search may do, in candidates scored over all lanes, and how wide its beams may get.

    A unit is about 15 ns. With
    `passages` it does at least so many routings of the whole circuit, and has no beams. Twice the work may find
    something better, at the same seed not always.
    """

    work: int = 400_000_000
    passages: int = 0
    width: int = 512
    seed: int = 0
    threads: int = 1


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


class Stage(NamedTuple):
    """Hold what the lanes do for a while: how wide beams are, per cent of new mappings, and the work of a lane."""

    width: int
    fresh: int
    work: int


class Plan(NamedTuple):
    """Hold how many lanes a search has, and their stages."""

    lanes: int
    stages: tuple[Stage, ...]


DEFAULT = SearchParams()


def search(
    dag: GateDag,
    coupling: Coupling,
    origins: Origins,
    params: SearchParams = DEFAULT,
    stop: Callable[[], bool] = bool,
) -> Route:
    """Return the best route found, not optimal in general; the same for any number of threads.

    `stop` is asked every fraction of a second. Raise ValueError when a device of several parts gets no
    origin, or a layout parts qubits that meet.
    """
    starts = _starts(dag, coupling, origins)
    known = min(origins.routes, key=lambda route: route.extra_cx, default=None)
    if known is not None and (known.extra_cx == 0 or not params.work + params.passages):
        return known
    if not params.work + params.passages:
        kit = kits_of(dag, coupling)[0]
        return _plain(kit, state_of(kit, _most(dag, coupling)), dag, coupling, starts[0])
    order = by_level(dag)
    found = _search(renumber(dag, order), coupling, _rename(origins, known, order), params, stop)
    return _rename_nodes(found, order)


def _starts(dag: GateDag, coupling: Coupling, origins: Origins) -> list[IndexArray]:
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
    kits = ways_of(dag, coupling)
    kit = _forward_ways(kits)
    state = state_of(kit, _most(dag, coupling))
    start = origins.routes[0].start if origins.routes else _starts(dag, coupling, origins)[0]
    known = origins.routes[0] if origins.routes else _plain(kit, state, dag, coupling, start)
    if known.extra_cx == 0:
        return known
    plan = _plan(params, _passage(kit, state, start))
    own = replace(origins, routes=origins.routes or (known,))
    pools = [_pool(coupling, dag, own, number, plan.lanes) for number in range(plan.lanes)]
    lanes = [_lane(kits, pool, [params.seed, number]) for number, pool in enumerate(pools)]
    _share_best(lanes, known)
    with abreast(len(lanes), params.threads) as everywhere:
        for stage in plan.stages:
            lanes = [_widen(lane, stage.width) for lane in lanes]
            for left in range(stage.work, 0, -CHUNK):
                if stop() or _best(lanes).extra_cx == 0:
                    return _best(lanes)
                chunk = stage._replace(work=min(left, CHUNK))
                everywhere(partial(_advance, lanes, chunk, int(origins.fixed is not None)))
            _share_best(lanes, _best(lanes))
    return _best(lanes)


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


def _plain(kit: Kit, state: State, dag: GateDag, coupling: Coupling, start: IndexArray) -> Route:
    """Return a route from a start by plain routing, along shortest paths if that takes too many SWAPs."""
    begin(kit, state, start.astype(np.int32))
    if route(kit, state, np.array(USUAL), 1, TOO_MUCH) >= TOO_MUCH:
        return shortest_paths(dag, coupling, start)
    return Route(start=start.astype(np.int32), steps=state.steps[: state.tally[STEPS]].copy())


def _passage(kit: Kit, state: State, start: IndexArray) -> int:
    """Return the work of routing once from a start, looking at the front alone."""
    before = int(state.tally[WORK])
    begin(kit, state, start.astype(np.int32))
    route(kit, state, np.zeros(SETTINGS), 1, NEVER_COST)
    return max(int(state.tally[WORK]) - before, 1)


def _most(dag: GateDag, coupling: Coupling) -> int:
    """Return how many SWAPs and BRIDGEs a route may take while it is searched."""
    return len(dag.pairs) * min(int(coupling.hops[coupling.hops < FAR].max(initial=0)), DETOUR)


def _pool(coupling: Coupling, dag: GateDag, origins: Origins, number: int, lanes: int) -> Pool:
    """Return the pool of one of so many lanes, with its share of the origins."""
    count, size = len(dag.pairs), coupling.size
    none = np.zeros(count, np.bool_)
    layouts = origins.layouts if origins.fixed is None else (origins.fixed,)
    anchors = [Anchor(place=layout, done=none) for layout in layouts]
    anchors += origins.anchors if origins.fixed is None else ()
    parted = bool(coupling.part.max(initial=0) > 0)
    if parted:
        anchors += [Anchor(place=origins.routes[0].start, done=none)] * lanes
    mine = anchors[number::lanes] if origins.fixed is None else anchors[:1]
    order = [np.concatenate([np.flatnonzero(a.done), np.flatnonzero(~a.done)]) for a in mine]
    steps = 2 * count + 1 + _most(dag, coupling) + max((len(r.steps) for r in origins.routes), default=0)
    pool = Pool(
        start=np.zeros((ROUTES + 1, size), np.int32),
        steps=np.zeros((ROUTES + 1, steps, 2), np.int32),
        length=np.zeros(ROUTES + 1, np.int32),
        cost=np.full(ROUTES + 1, NEVER_COST, np.int64),
        place=np.zeros(size, np.int32),
        ahead=np.zeros(size, np.int32),
        trial=np.zeros((steps, 2), np.int32),
        seed=np.array([a.place for a in mine], np.int32).reshape(-1, size),
        order=np.array(order, np.int32).reshape(-1, count),
        done=np.array([a.done.sum() for a in mine], np.int32),
        turn=np.zeros(TURNS, np.int64),
    )
    pool.turn[PARTED] = int(parted)
    for e, known in enumerate(origins.routes[number::lanes][:ROUTES]):
        _keep(pool, e, known)
    return pool


def _keep(pool: Pool, e: int, known: Route) -> None:
    """Put a route into the pool."""
    pool.start[e], pool.length[e] = known.start, len(known.steps)
    pool.steps[e, : len(known.steps)] = known.steps
    pool.cost[e] = known.swaps + known.bridges


def _lane(kits: Kits, pool: Pool, seed: list[int]) -> Lane:
    """Return a lane with a beam that is hardly one."""
    kit = _forward_ways(kits)
    state = state_of(kit, len(pool.trial) - len(kits.pairs))
    state.tally[DICE] = 1 + int(np.random.SeedSequence(seed).generate_state(1)[0]) % (DICE_SIZE - 1)
    return Lane(kits, state, beam_of(kit, 1, 1), pool, np.zeros(SETTINGS))


def _forward_ways(kits: Kits) -> Kit:
    """Return the circuit as it is."""
    return Kit(kits.pairs, kits.first[0], kits.after[0], kits.waits[0], kits.bridge, kits.neighbours, kits.hops)


def _plan(params: SearchParams, passage: int) -> Plan:
    """Return what a search does; plain routing all along where passages are asked for, which are few."""
    if params.passages:
        whole = max(params.work, params.passages * passage)
        lanes = 1 + (whole > CROWDED)
        half = whole // lanes // 2
        return Plan(lanes, (Stage(0, 100, half), Stage(0, OFTEN, half)))
    lanes = next((lanes for work, lanes in LANES if params.work > work), 1)
    return Plan(lanes, tuple(_stages(params.work // lanes, passage, params.width)))


def _stages(work: int, passage: int, width: int) -> Iterator[Stage]:
    """Yield plain routing, then ever wider beams, while several passages fit a stage; none if not even one does."""
    if LEAST * work < passage:
        return
    first = Stage(0, 100, max(int(FIRST_SHARE * work), min(work, 2 * PASSES * passage)))
    yield first
    widest = min(width, int(SHARE * work / (PASSES * passage)))
    widths = [NARROW << k for k in range(16) if NARROW << k <= widest] or [NARROW if NARROW * passage <= work else 0]
    for rank, each in enumerate(widths):
        yield Stage(each, HALF if rank == 0 else OFTEN if rank == 1 else RARELY, (work - first.work) // len(widths))


def _widen(lane: Lane, width: int) -> Lane:
    """Return the lane with a beam of a width, for routes of up to twice the cost of the best of its pool."""
    most = 2 * int(lane.pool.cost[:-1].min()) + 1
    return lane._replace(beam=beam_of(_forward_ways(lane.kits), max(width, 1), most))


def _advance(lanes: list[Lane], stage: Stage, fixed: int, number: int) -> None:
    """Advance a lane."""
    lane, plan = lanes[number], np.zeros(PLANS, np.int64)
    plan[FRESH], plan[BREADTH], plan[FIXED] = stage.fresh, stage.width, fixed
    plan[ORDERED] = NARROW_ORDERED if stage.width <= NARROW else WIDE_ORDERED
    plan[GOAL] = lane.state.tally[WORK] + stage.work
    advance(lane, plan)


def _best(lanes: list[Lane]) -> Route:
    """Return the best route of all lanes, be it still in the making."""
    pool = min((lane.pool for lane in lanes), key=lambda pool: int(pool.cost.min()))
    e = int(pool.cost.argmin())
    return Route(start=pool.start[e].copy(), steps=pool.steps[e, : pool.length[e]].copy())


def _share_best(lanes: list[Lane], best: Route) -> None:
    """Put the best route in place of the worst of every lane that has none as good."""
    for lane in lanes:
        if lane.pool.cost[:-1].min() > best.swaps + best.bridges:
            _keep(lane.pool, int(lane.pool.cost[:-1].argmax()), best)
