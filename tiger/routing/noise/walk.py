"""Compiled search from route to route where errors or time count: a route is cut, and routed again from the cut on.

Threshold accepting (Dueck, Scheuer 1990, doi:10.1016/0021-9991(90)90201-B) over whole routes: as in the search by SWAPs
(`tiger/routing/swaps/rerouting.py`), the mapping at a cut is the seed of both sides of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from tiger.model.arrays import FloatArray
from tiger.routing.coupling import FAR, Coupling, HopArray, IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.noise.objectives import Measure, RouteObjective, measure_route
from tiger.routing.route import Route
from tiger.routing.swaps.frontier import (
    RouterParams,
    RoutingArrays,
    RoutingState,
    allocate_state,
    begin,
    build_arrays,
    carry_out_nodes,
    draw_below,
)
from tiger.routing.swaps.rerouting import copy_mapping
from tiger.routing.swaps.router import route
from tiger.solvers.kernel import allocating_kernel, inner_kernel
from tiger.solvers.lehmer import RNG_MODULUS
from tiger.solvers.records import allocate_records

# Distances weighted by errors are whole numbers for the router: this many of them are a hop.
UNIT = 16.0
# An edge is as long as its SWAP costs over the mean, counted by this share beside its hop, within bounds that keep it
# true that a neighbour on a shortest path is nearer. As many per cent of routings go by these lengths.
SHORTEST, LONGEST, SHARE, WEIGHTED = 0.6, 3.0, 0.6, 60
# A score above all, for which no BRIDGE is taken.
NEVER = 1e9
# Routes of a walk: the one it is at, the best, and the one in the making.
PRESENT, BEST, TRIED = range(3)
# Directions of a routing.
AHEAD, BACK = range(2)
# Which part of a route is routed again; SHAKEN is both, after exchanges at the cut.
AFTER, BEFORE, BOTH, SHAKEN = range(4)
# A route whose loss is lower by less than this share is as good: sums differ by rounding.
ROUNDING = 1e-9


class WalkViews(NamedTuple):
    """Hold a circuit forwards and backwards, with distances in hops and by what edges cost."""

    ahead: RoutingArrays
    back: RoutingArrays
    long_ahead: RoutingArrays
    long_back: RoutingArrays


class WalkCounters:
    """Count the trials and those since the last gain; the losses of the routes BEST and TRIED."""

    trial: int
    vain: int
    best: float
    tried: float


class WalkPlan(NamedTuple):
    """Say how a walk goes; fields as in `PlacementParams`."""

    trials: int
    patience: int
    slack: float
    more: int
    pinned: bool


class Walk(NamedTuple):
    """Hold all that a walk works on.

    Route r is `start[r, N]` and `steps[r, :length[r], 2]`. `cut[N]` is the mapping at a cut; `params` and `counters`
    are one record each.
    """

    views: WalkViews
    state: RoutingState
    measure: Measure
    edges: IndexArray
    start: IndexArray
    steps: IndexArray
    length: IndexArray
    cut: IndexArray
    params: Sequence[RouterParams]
    counters: Sequence[WalkCounters]

    def put(self, route: Route, loss: float, seed: int) -> None:
        """Begin at a route."""
        self.state.counters[0].rng = 1 + seed % (RNG_MODULUS - 1)
        counters = self.counters[0]
        counters.trial = 0
        self.move(route, loss)

    def move(self, route: Route, loss: float) -> None:
        """Go on from a route, which is the best."""
        counters = self.counters[0]
        counters.best = loss
        counters.vain = 0
        for own in (PRESENT, BEST):
            self.start[own], self.length[own] = route.start, len(route.steps)
            self.steps[own, : len(route.steps)] = route.steps

    def get(self, number: int) -> Route:
        """Return one of the routes."""
        return Route(start=self.start[number].copy(), steps=self.steps[number, : self.length[number]].copy())


def allocate_walk(dag: GateDag, coupling: Coupling, objective: RouteObjective, routes: Sequence[Route]) -> Walk:
    """Return the memory of walks from some routes."""
    ahead, back = build_arrays(dag, coupling)
    hops = scale_hops(coupling, objective.lengths())
    most = int(np.where(coupling.hops == FAR, 0, coupling.hops).max(initial=0)) * len(dag.pairs)
    state = allocate_state(ahead, most)
    room = max(len(state.steps), *(2 * len(each.steps) for each in routes))
    return Walk(
        views=WalkViews(ahead, back, ahead._replace(hops=hops), back._replace(hops=hops)),
        state=state,
        measure=objective.measure,
        edges=coupling.edges.astype(np.int32),
        start=np.zeros((3, coupling.size), np.int32),
        steps=np.zeros((3, room, 2), np.int32),
        length=np.zeros(3, np.int32),
        cut=np.zeros(coupling.size, np.int32),
        params=allocate_records(RouterParams),
        counters=allocate_records(WalkCounters),
    )


def scale_hops(coupling: Coupling, lengths: FloatArray) -> HopArray:
    """Return distances as the router reads them, with 1 for neighbours alone, in units by what edges cost.

    Bounded lengths keep it true that a neighbour on a shortest path is nearer, which the router relies on. Hops, where
    a shortest path is too long for these units, as on a line of 1,000 qubits.
    """
    a, b = coupling.edges.T
    weight = np.clip(1 - SHARE + SHARE * lengths[a, b], SHORTEST, LONGEST)
    graph = coo_array((weight, (a, b)), shape=(coupling.size, coupling.size)).tocsr()
    scaled = 1 + np.maximum(np.round(UNIT * (shortest_path(graph, directed=False) - 1)), 1)
    if scaled[np.isfinite(scaled)].max(initial=0) >= FAR:
        return coupling.hops.copy()
    return np.where(coupling.hops <= 1, coupling.hops, np.minimum(scaled, FAR)).astype(np.int16)


@allocating_kernel
def traverse(walk: Walk, start: IndexArray, passes: int) -> bool:
    """Route the circuit from a mapping forwards, and in later passes backwards and forwards; return whether that ends.

    The route of the last pass, an odd one, is TRIED. Reverse traversal (Li, Ding, Xie 2019): where one routing ends is
    where the next, turned around, begins.
    """
    copy_mapping(start, walk.cut)
    for number in range(passes):
        walk.length[TRIED] = 0
        copy_mapping(walk.cut, walk.start[TRIED])
        side = number % 2
        if not route_side(walk, walk.length[PRESENT] if side == BACK else 0, side, NEVER):
            return False
        copy_mapping(walk.state.place, walk.cut)
    return append_new(walk, AHEAD)


@allocating_kernel
def advance(walk: Walk, plan: WalkPlan, count: int) -> bool:
    """Make at most some trials; return whether the last one found a route below the best, which is left as TRIED."""
    counters = walk.counters[0]
    for _ in range(min(count, plan.trials - counters.trial)):
        counters.trial += 1
        counters.vain += 1
        if vary(walk, plan):
            steps = walk.steps[TRIED, : walk.length[TRIED]]
            counters.tried = measure_route(walk.measure, steps, walk.start[TRIED].copy())
            if counters.tried < counters.best * (1 - ROUNDING):
                return True
            # Somewhat worse is taken too, by a margin that shrinks.
            if counters.tried < counters.best * (1 + plan.slack * (1 - counters.trial / plan.trials)):
                copy_route(walk, TRIED, PRESENT)
        # Back to the best after this many trials without a better one.
        if counters.vain > plan.patience:
            copy_route(walk, BEST, PRESENT)
            counters.vain = 0
    return False


@inner_kernel
def vary(walk: Walk, plan: WalkPlan) -> bool:
    """Put a route as TRIED that nearly shares a mapping with PRESENT; return whether it takes few more SWAPs."""
    state, length = walk.state, walk.length[PRESENT]
    cut = draw_below(state.counters[0], length + 1)
    limit = follow(walk, cut) + plan.more
    part = AFTER if plan.pinned else draw_below(state.counters[0], 4)
    if part == SHAKEN:
        shake(walk)
    walk.length[TRIED] = 0
    # First what is before the cut, routed backwards from the mapping there, then what is after it.
    if part == AFTER:
        copy_mapping(walk.start[PRESENT], walk.start[TRIED])
        if not append_old(walk, 0, cut):
            return False
    else:
        if not (route_side(walk, cut, BACK, limit) and append_new(walk, BACK)):
            return False
        copy_mapping(state.place, walk.start[TRIED])
    if part == BEFORE:
        return append_old(walk, cut, length)
    return route_side(walk, cut, AHEAD, limit) and append_new(walk, AHEAD)


@inner_kernel
def follow(walk: Walk, cut: int) -> int:
    """Set the mapping at a cut of PRESENT; return how many SWAPs and BRIDGEs the route has."""
    # The state is free between routings: it holds the inverse.
    holds, moves = walk.state.holds, 0
    for v in range(len(walk.cut)):
        walk.cut[v] = walk.start[PRESENT, v]
        holds[walk.cut[v]] = v
    for k in range(walk.length[PRESENT]):
        v, q = walk.steps[PRESENT, k, 0], walk.steps[PRESENT, k, 1]
        moves += v < 0 or q >= 0
        if v < 0 and k < cut:
            p = -1 - v
            a, b = holds[p], holds[q]
            holds[p], holds[q] = b, a
            walk.cut[a], walk.cut[b] = q, p
    return int(moves)


@inner_kernel
def shake(walk: Walk) -> None:
    """Exchange what neighbours hold, once to three times, if any qubits are neighbours."""
    if len(walk.edges) == 0:
        return
    for _ in range(1 + draw_below(walk.state.counters[0], 3)):
        edge = draw_below(walk.state.counters[0], len(walk.edges))
        p, q = walk.edges[edge, 0], walk.edges[edge, 1]
        for v in range(len(walk.cut)):
            if walk.cut[v] == p:
                walk.cut[v] = q
            elif walk.cut[v] == q:
                walk.cut[v] = p


@inner_kernel
def route_side(walk: Walk, cut: int, side: int, limit: float) -> bool:
    """Route a side of a cut of PRESENT, what is before it `BACK` and what is after it `AHEAD`; False above a limit."""
    state, counters = walk.state, walk.state.counters[0]
    weighted = draw_below(counters, 100) < WEIGHTED
    arrays = walk.views.back if side == BACK else walk.views.ahead
    if weighted:
        arrays = walk.views.long_back if side == BACK else walk.views.long_ahead
    draw_params(walk, UNIT if weighted else 1.0)
    begin(arrays, state, walk.cut)
    low, high = (cut, walk.length[PRESENT]) if side == BACK else (0, cut)
    carry_out_nodes(arrays, state, walk.steps[PRESENT], low, high)
    most = int(min(limit, len(state.steps)))
    return route(arrays, state, walk.params, draw_below(counters, RNG_MODULUS), most) <= most


@inner_kernel
def draw_params(walk: Walk, unit: float) -> None:
    """Draw how the router weighs distances, of which a hop has `unit`: around the values of SABRE."""
    params, counters = walk.params[0], walk.state.counters[0]
    params.lookahead = (10.0, 20.0, 40.0)[draw_below(counters, 3)]
    params.lookahead_weight = (0.2, 0.4, 0.7)[draw_below(counters, 3)]
    params.fade = (1.0, 3.0)[draw_below(counters, 2)]
    params.decay = unit * (0.001, 0.01, 0.1)[draw_below(counters, 3)]
    params.bridge_score = unit * (-0.5, 0.0, NEVER)[draw_below(counters, 3)]
    params.distance_power = draw_below(counters, 2)
    params.later_weight = (0.5, 1.0)[draw_below(counters, 2)]


@inner_kernel
def append_new(walk: Walk, side: int) -> bool:
    """Append the steps that were routed to TRIED, those of a backward routing turned around; False without room."""
    made, done = walk.state.counters[0].steps, walk.length[TRIED]
    if done + made > walk.steps.shape[1]:
        return False
    for i in range(made):
        j = made - 1 - i if side == BACK else i
        walk.steps[TRIED, done + i, 0] = walk.state.steps[j, 0]
        walk.steps[TRIED, done + i, 1] = walk.state.steps[j, 1]
    walk.length[TRIED] = done + made
    return True


@inner_kernel
def append_old(walk: Walk, low: int, high: int) -> bool:
    """Append some steps of PRESENT to TRIED; False without room."""
    done = walk.length[TRIED]
    if done + high - low > walk.steps.shape[1]:
        return False
    for i in range(high - low):
        walk.steps[TRIED, done + i, 0] = walk.steps[PRESENT, low + i, 0]
        walk.steps[TRIED, done + i, 1] = walk.steps[PRESENT, low + i, 1]
    walk.length[TRIED] = done + high - low
    return True


@inner_kernel
def copy_route(walk: Walk, source: int, target: int) -> None:
    """Copy a route."""
    copy_mapping(walk.start[source], walk.start[target])
    walk.length[target] = walk.length[source]
    for k in range(walk.length[source]):
        walk.steps[target, k, 0], walk.steps[target, k, 1] = walk.steps[source, k, 0], walk.steps[source, k, 1]
