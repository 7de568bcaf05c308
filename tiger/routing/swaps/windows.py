"""Local search on a routed circuit: windows of it, local in time and on the device, are routed again, as in annealing.

What is behind a window stays as it is, for qubits that have gates left end where they did. Rounds go forwards and
backwards in turn, so that both the end and the start of the route are free. Long routes are cut into pieces, one for
each searcher, at other places every time; of short ones every searcher has its own.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import Route
from tiger.routing.swaps.extraction import (
    OPS,
    RouteBuffer,
    allocate_window_state,
    build_buffer,
    build_circuit,
    carry_out_to,
    clear_window,
    count_gates,
    extract,
    move_cursor,
    replace_window,
    rewind,
)
from tiger.routing.swaps.layers import add_layers, count_layers, find_deepest
from tiger.routing.swaps.prices import price_route, price_steps
from tiger.routing.swaps.threads import RunAll, run_searchers
from tiger.routing.swaps.tokens import build_device, count_token_hops, draw_unit
from tiger.routing.swaps.window_router import (
    DEPTH,
    FAILED,
    CircuitArrays,
    WindowAttempt,
    WindowState,
    route_window,
    undo,
)
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.solvers.lehmer import RNG_MODULUS

# Steps behind a window that are priced with it, and the most SWAPs more than before in a routing of it.
BEHIND, MORE = 64, 4
# The most that a SWAP which fuses with no gate adds to a score, in hops.
FUSION = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowParams:
    """Set how long windows are searched: `work` in candidates scored over all searchers, about 0.2 us each.

    `heat` is the temperature to begin with, in SWAPs; it falls to 0 with the work. With `fixed[n]` the circuit's qubits
    keep the layout that the route starts from, which is this one. A route of `goal` extra CX gates ends it. The number
    of threads never changes the result, that of `searchers` does: a route of `piece` SWAPs and BRIDGEs for every
    searcher is cut into as many pieces. The work is divided into `rounds`, as far as a searcher gets `least_share` to
    `most_share` of work in one. The longest window has `longest` SWAPs and BRIDGEs, and more where the work for each of
    the route exceeds `saturated`.

    A visit goes on by up to `hops` SWAPs and begins up to `lead` steps before the next; its window reaches up to
    `reach` hops on the device in a share `near` of them, and anywhere in the others. It is routed `trials` times.
    With prices a layer more of the whole counts as much as `depth` parts of a price, of which a gate has four. Over 14
    pairs of programs and devices of `benchmarks/delivered.py` that took 6 % off the two-qubit depth at level 3 for
    0.3 % more gates, and twice as much 11 % for 1.1 %.
    In place of windows three times the work for the search gains less on QASMBench, and as much on RevLib.
    """

    work: int = 40_000_000
    heat: float = 0.6
    seed: int = 0
    threads: int = 1
    fixed: IndexArray | None = None
    goal: int = 0
    searchers: int = 4
    piece: int = 64
    rounds: int = 30
    least_share: int = 10_000
    most_share: int = 200_000
    longest: int = 16
    saturated: int = 2_000
    hops: int = 4
    lead: int = 8
    reach: int = 3
    near: float = 0.7
    trials: int = 3
    depth: float = 2.0


class WindowPlan(NamedTuple):
    """Hold the work of a searcher in a round, its temperature at begin and end, and the SWAPs of the longest window.

    The others are as in `WindowParams`.
    """

    work: int
    hot: float
    cold: float
    longest: int
    hops: int
    lead: int
    reach: int
    near: float
    trials: int
    depth: float


class Direction(NamedTuple):
    """Hold the circuit in one direction: `ahead[N]` gates of every qubit, more where its end is given, and scratch."""

    circuit: CircuitArrays
    ahead: IndexArray
    states: list[WindowState]


DEFAULT = WindowParams()


def polish(
    dag: GateDag,
    coupling: Coupling,
    route: Route,
    params: WindowParams = DEFAULT,
    stop: Callable[[], bool] = bool,
) -> Route:
    """Return a route that costs no more, not optimal in general; with `params.fixed` it starts where that one does.

    The same for any number of threads. `stop` is called about every 0.1 s.
    """
    cost, rng = route.extra_cx // 3, np.random.default_rng(params.seed)
    plans = _plan_rounds(params, cost) if cost else []
    directions = _build_directions(dag, coupling, params)
    best, routes = route, [route] * (1 if cost >= params.searchers * params.piece else params.searchers)
    with run_searchers(params.searchers, params.threads) as run_all:
        for plan in plans:
            for direction in directions:
                if stop() or best.extra_cx <= params.goal:
                    return best
                routes = _run_round(direction, routes, plan, rng, run_all)
            best = min((best, *routes), key=lambda each: (price_route(dag, each), count_layers(dag, each)))
    return best


def _plan_rounds(params: WindowParams, cost: int) -> list[WindowPlan]:
    """Return the plan of every round for a route of `cost` SWAPs and BRIDGEs, in two directions each."""
    share = params.work // (2 * params.searchers * params.rounds)
    share = max(min(max(share, params.least_share), params.most_share, params.work // (2 * params.searchers)), 1)
    rounds = -(-params.work // (2 * params.searchers * share))
    longest = int(np.clip(params.longest * np.sqrt(params.work / (params.saturated * (cost + 1))), params.longest, OPS))
    heats = [params.heat * (1 - k / max(rounds, 1)) for k in range(rounds + 1)]
    shape = longest, params.hops, params.lead, params.reach, params.near, params.trials, params.depth
    return [WindowPlan(share, hot, cold, *shape) for hot, cold in itertools.pairwise(heats)]


def _build_directions(dag: GateDag, coupling: Coupling, params: WindowParams) -> list[Direction]:
    """Return the circuit forwards and backwards; backwards a given layout counts as one more gate of its qubits."""
    device, gates = build_device(coupling), count_gates(dag, coupling)
    last = np.zeros_like(gates)
    # So every qubit has a goal at the end of the route backwards, which is its given start.
    last[: 0 if params.fixed is None else dag.qubits] = 1
    circuits = build_circuit(dag), build_circuit(dag.reverse())
    return [
        Direction(circuit, ahead, [allocate_window_state(circuit, device) for _ in range(params.searchers)])
        for circuit, ahead in zip(circuits, (gates, gates + last), strict=True)
    ]


def _run_round(
    direction: Direction, routes: list[Route], plan: WindowPlan, rng: np.random.Generator, run_all: RunAll
) -> list[Route]:
    """Search all routes in one direction, a searcher for each or for each piece of the one, and turn them around."""
    searchers = len(direction.states)
    pieces = searchers // len(routes)
    seeds, offset = rng.integers(2**31, size=searchers).tolist(), rng.random()
    buffers = [buffer for route in routes for buffer in _cut_pieces(direction, route, pieces, offset)]
    run_all(lambda k: anneal(direction.states[k], buffers[k], plan, seeds[k]))
    return [_turn_around(direction, route, buffers[k * pieces : (k + 1) * pieces]) for k, route in enumerate(routes)]


def _cut_pieces(direction: Direction, route: Route, count: int, offset: float) -> list[RouteBuffer]:
    """Return buffers with the pieces of a route, cut between `offset - 0.5` of a piece before or behind even parts."""
    # Other cuts in every round, so that no window is out of reach for long.
    length, buffers = len(route.steps), list[RouteBuffer]()
    cuts = [0, *(int(length * (k + offset - 0.5) / count) for k in range(1, count)), length]
    start, ahead = route.start, direction.ahead
    for begin, end in itertools.pairwise(cuts):
        buffer = build_buffer(direction.circuit, Route(start=start, steps=route.steps[begin:end]), ahead)
        buffers.append(buffer)
        start, ahead = _find_end(direction, buffer)
    return buffers


def _find_end(direction: Direction, buffer: RouteBuffer) -> tuple[IndexArray, IndexArray]:
    """Return where the qubits are after a searcher's steps, and how many gates each of them has left."""
    state = direction.states[0]
    rewind(state, buffer)
    carry_out_to(state, buffer, int(buffer.span[0].end))
    return state.tokens.place.copy(), buffer.left.copy()


def _turn_around(direction: Direction, route: Route, buffers: list[RouteBuffer]) -> Route:
    """Return the route of the pieces backwards, for the circuit backwards."""
    steps = np.concatenate([buffer.steps[: buffer.span[0].end] for buffer in buffers])
    start, _ = _find_end(
        direction, build_buffer(direction.circuit, Route(start=route.start, steps=steps), direction.ahead)
    )
    steps = steps[::-1].copy()
    nodes = steps[:, 0] >= 0
    steps[nodes, 0] = len(direction.circuit.pairs) - 1 - steps[nodes, 0]
    return Route(start=start, steps=steps)


@kernel
def anneal(state: WindowState, buffer: RouteBuffer, plan: WindowPlan, seed: int) -> None:
    """Re-route windows from a random step on and from the begin again, until the work is done."""
    rng_state, work = state.tokens.rng_state, state.attempt.work
    rng_state[0] = 1 + seed % (RNG_MODULUS - 1)
    work[0] = 0
    rewind(state, buffer)
    if state.circuit.price[-1] > 1:
        buffer.span[0].deferred = 0
        buffer.span[0].depth = measure_depth(state, buffer, 0, 0)
    carry_out_to(state, buffer, int(draw_unit(rng_state) * buffer.span[0].end))
    # The route is swept through from its start again and again.
    while work[0] < plan.work:
        work[0] += 1
        if move_cursor(state, buffer, int(draw_unit(rng_state) * plan.hops), int(draw_unit(rng_state) * plan.lead)):
            heat = plan.hot + (plan.cold - plan.hot) * min(work[0] / plan.work, 1.0)
            reroute_window(state, buffer, plan, heat)
        else:
            rewind(state, buffer)


@inner_kernel
def reroute_window(state: WindowState, buffer: RouteBuffer, plan: WindowPlan, heat: float) -> None:
    """Take a window of random size and shape out at the cursor, try to re-route it, and put the result in."""
    rng_state, reach = state.tokens.rng_state, len(buffer.start)
    # Squared, so that most windows are short.
    most = 2 + int(plan.longest * draw_unit(rng_state) ** 2)
    if draw_unit(rng_state) < plan.near:
        reach = 1 + int(plan.reach * draw_unit(rng_state))
    extract(state, buffer, most, reach)
    if buffer.span[0].cost > 1:
        if state.circuit.price[-1] > 1:
            try_priced_routings(state, buffer, plan, heat)
        else:
            try_routings(state, buffer, plan.trials, heat)
        if buffer.span[0].new >= 0:
            replace_window(buffer)
    clear_window(state)


@inner_kernel
def try_routings(state: WindowState, buffer: RouteBuffer, trials: int, heat: float) -> None:
    """Re-route the window a few times, each time accepting what the temperature allows."""
    attempt, span = state.attempt, buffer.span[0]
    cost, token_hops, count = span.cost, count_token_hops(state.device, state.tokens), state.tokens.counters[0].count
    span.new = -1
    for _ in range(trials):
        # Metropolis' rule (1953) with the cost that it accepts drawn first, so that it bounds the search.
        limit = min(cost - int(heat * np.log(draw_unit(state.tokens.rng_state))), span.cost + OPS)
        draw_weights(attempt, state.tokens.rng_state)
        attempt.counters[0].token_hops = token_hops
        used = route_window(state, limit)
        undo(state, count)
        length = attempt.counters[0].length
        if used < FAILED and span.end + length - span.taken <= len(buffer.steps):
            cost, span.new = used, length
            for k in range(length):
                buffer.new[k, 0], buffer.new[k, 1] = attempt.log[k, 0], attempt.log[k, 1]


@inner_kernel
def try_priced_routings(state: WindowState, buffer: RouteBuffer, plan: WindowPlan, heat: float) -> None:
    """Re-route the window a few times, each time accepting what the temperature allows by the price of all SWAPs.

    With the layers that it adds to the whole it may not exceed that either.
    """
    attempt, span, alone = state.attempt, buffer.span[0], state.circuit.price[-1]
    token_hops, count = count_token_hops(state.device, state.tokens), state.tokens.counters[0].count
    behind = span.cursor + span.scanned
    begin_pricing(state, buffer)
    old = price_range(state, buffer, buffer.steps, span.cursor, min(behind + BEHIND, span.end))
    span.new = -1
    for _ in range(plan.trials):
        limit = old - int(alone * heat * np.log(draw_unit(state.tokens.rng_state)))
        draw_weights(attempt, state.tokens.rng_state)
        attempt.scores[0].fusion = FUSION * draw_unit(state.tokens.rng_state) / alone
        attempt.counters[0].token_hops = token_hops
        # A few SWAPs more may cost less, beside gates.
        used = route_window(state, span.cost + int(MORE * draw_unit(state.tokens.rng_state)))
        undo(state, count)
        length = attempt.counters[0].length
        if used < FAILED and span.end + length - span.taken <= len(buffer.steps):
            begin_pricing(state, buffer)
            cost = price_range(state, buffer, attempt.log, 0, length)
            cost += price_range(state, buffer, buffer.deferred, 0, span.deferred)
            cost += price_range(state, buffer, buffer.steps, behind, min(behind + BEHIND, span.end))
            attempt.work[0] += (length + span.deferred + BEHIND) // 8
            depth = measure_depth(state, buffer, length, behind) if cost <= limit else 0
            if cost <= limit and cost + plan.depth * (depth - span.depth) <= limit:
                old, span.new, span.depth = cost, length, depth
                for k in range(length):
                    buffer.new[k, 0], buffer.new[k, 1] = attempt.log[k, 0], attempt.log[k, 1]


@inner_kernel
def measure_depth(state: WindowState, buffer: RouteBuffer, length: int, behind: int) -> int:
    """Return the layers of the route with what the log has up to step `behind`, and what was deferred.

    O(steps from the cursor on).
    """
    attempt, circuit, span = state.attempt, state.circuit, buffer.span[0]
    begin_pricing(state, buffer)
    for v in range(len(attempt.level)):
        attempt.level[v] = attempt.reached[v]
    layers, now = (circuit.price, circuit.layers), (buffer.full.holds, attempt.last, attempt.level)
    add_layers(layers, circuit.pairs, attempt.log, 0, length, now)
    add_layers(layers, circuit.pairs, buffer.deferred, 0, span.deferred, now)
    add_layers(layers, circuit.pairs, buffer.steps, behind, span.end, now)
    attempt.work[0] += (span.end - behind) // 32
    return find_deepest(attempt.level)


@inner_kernel
def begin_pricing(state: WindowState, buffer: RouteBuffer) -> None:
    """Set who is where, and what was last on everyone, at the beginning of the window."""
    for v in range(len(state.attempt.last)):
        buffer.full.holds[v] = state.tokens.holds[v]
        state.attempt.last[v] = state.attempt.before[v]


@inner_kernel
def price_range(state: WindowState, buffer: RouteBuffer, steps: IndexArray, low: int, high: int) -> int:
    """Return the cost of some steps after those priced before."""
    circuit, last = state.circuit, state.attempt.last
    return price_steps(circuit.price, circuit.pairs, steps, low, high, buffer.full.holds, last)


@inner_kernel
def draw_weights(attempt: WindowAttempt, rng_state: IntArray) -> None:
    """Draw the weights of an attempt, so that no two score alike: gates fade with their rank by 0.4 to 0.95."""
    decay, weight = 0.4 + 0.55 * draw_unit(rng_state), 1.0
    for rank in range(DEPTH):
        attempt.weight[rank] = weight
        weight *= decay
    attempt.scores[0].goals = draw_unit(rng_state)
    attempt.scores[0].noise = draw_unit(rng_state) ** 2
    attempt.scores[0].bridge = -1.2 + 0.6 * draw_unit(rng_state)
