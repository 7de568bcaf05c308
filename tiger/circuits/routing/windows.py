"""Local search on a routed circuit: windows of it, local in time and on the device, are routed again, as in annealing.

What is behind a window stays as it is, for qubits that have gates left end where they did. Rounds go forwards and
backwards in turn, so that both the end and the start of the route are free. Long routes are cut into pieces, one for
each lane, at other places every time; of short ones every lane has its own.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import Coupling, IndexArray
from tiger.circuits.gate_dag import GateDag
from tiger.circuits.route import Route
from tiger.circuits.routing.corridor import (
    AWAY,
    BRIDGES,
    CHANCE,
    DEPTH,
    FAILED,
    GOALS,
    LENGTH,
    Circuit,
    Scene,
    Trial,
    reroute,
    undo,
)
from tiger.circuits.routing.excerpts import (
    COST,
    END,
    FRESH,
    OPS,
    TAKEN,
    Lane,
    circuit_of,
    clear,
    gates_of,
    lane_of,
    onward,
    put_in,
    rewind,
    scene_of,
    take_out,
    walk,
)
from tiger.circuits.routing.lanes import Everywhere, abreast
from tiger.circuits.routing.tokens import PRIME, chance, device_of, displacement
from tiger.model.arrays import IntArray
from tiger.solvers.kernel import inner_kernel, kernel

LANES, PIECE = 4, 64
ROUNDS, LEAST, MOST = 30, 10_000, 200_000
LONG, SATURATED = 16, 2_000
HOPS, LEAD, TRIALS = 4, 8, 3
NEAR, REACH = 0.7, 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowParams:
    """Set how long windows are searched: `work` in candidates scored over all lanes, about 0.2 us each.

    `heat` is the temperature to begin with, in SWAPs; it falls to 0 with the work. With `fixed[n]` the
    circuit's qubits keep the layout that the route starts from, which is this one. The number of threads never changes
    the result.
    """

    work: int = 40_000_000
    heat: float = 0.6
    seed: int = 0
    threads: int = 1
    fixed: IndexArray | None = None


class Plan(NamedTuple):
    """Hold what a lane does: its work, the temperature at begin and end, and the SWAPs of the longest window."""

    work: int
    hot: float
    cold: float
    longest: int


class Way(NamedTuple):
    """Hold the circuit in one direction: `ahead[N]` gates of every qubit, more where its end is given, and scratch."""

    circuit: Circuit
    ahead: IndexArray
    scenes: list[Scene]


DEFAULT = WindowParams()


def polish(
    dag: GateDag,
    coupling: Coupling,
    route: Route,
    params: WindowParams = DEFAULT,
    stop: Callable[[], bool] = bool,
) -> Route:
    """Return a route that costs no more, not optimal in general; with `params.fixed` it starts where that one does.

    The same for any number of threads. `stop` is asked about every 0.1 s.
    """
    cost, rng = route.extra_cx // 3, np.random.default_rng(params.seed)
    share = max(min(max(params.work // (2 * LANES * ROUNDS), LEAST), MOST, params.work // (2 * LANES)), 1)
    rounds = -(-params.work // (2 * LANES * share)) if cost else 0
    longest = int(np.clip(LONG * np.sqrt(params.work / (SATURATED * (cost + 1))), LONG, OPS))
    ways = _ways(dag, coupling, params.fixed)
    best, routes = route, [route] * (1 if cost >= LANES * PIECE else LANES)
    with abreast(LANES, params.threads) as everywhere:
        for number in range(rounds):
            hot, cold = (params.heat * (1 - k / rounds) for k in (number, number + 1))
            for way in ways:
                if stop():
                    return best
                routes = _round(way, routes, Plan(share, hot, cold, longest), rng, everywhere)
            best = min((best, *routes), key=lambda each: each.extra_cx)
    return best


def _ways(dag: GateDag, coupling: Coupling, fixed: IndexArray | None) -> list[Way]:
    """Return the circuit forwards and backwards; backwards a given layout counts as one more gate of its qubits."""
    device, gates = device_of(coupling), gates_of(dag, coupling)
    last = np.zeros_like(gates)
    last[: 0 if fixed is None else dag.qubits] = 1
    circuits = circuit_of(dag), circuit_of(dag.reverse())
    return [
        Way(circuit, ahead, [scene_of(circuit, device) for _ in range(LANES)])
        for circuit, ahead in zip(circuits, (gates, gates + last), strict=True)
    ]


def _round(way: Way, routes: list[Route], plan: Plan, rng: np.random.Generator, everywhere: Everywhere) -> list[Route]:
    """Search all routes in one direction, a lane for each or for each piece of the one, and turn them around."""
    pieces = LANES // len(routes)
    seeds, offset = rng.integers(2**31, size=LANES).tolist(), rng.random()
    lanes = [lane for route in routes for lane in _pieces(way, route, pieces, offset)]
    everywhere(lambda k: anneal(way.scenes[k], lanes[k], plan, seeds[k]))
    return [_turn_back(way, route, lanes[k * pieces : (k + 1) * pieces]) for k, route in enumerate(routes)]


def _pieces(way: Way, route: Route, count: int, offset: float) -> list[Lane]:
    """Return lanes with the pieces of a route, cut between `offset - 0.5` of a piece before or behind even parts."""
    length, lanes = len(route.steps), list[Lane]()
    cuts = [0, *(int(length * (k + offset - 0.5) / count) for k in range(1, count)), length]
    start, ahead = route.start, way.ahead
    for begin, end in itertools.pairwise(cuts):
        lane = lane_of(way.circuit, Route(start=start, steps=route.steps[begin:end]), ahead)
        lanes.append(lane)
        start, ahead = _end(way, lane)
    return lanes


def _end(way: Way, lane: Lane) -> tuple[IndexArray, IndexArray]:
    """Return where the qubits are after a lane's steps, and how many gates each of them has left."""
    scene = way.scenes[0]
    rewind(scene, lane)
    walk(scene, lane, int(lane.span[END]))
    return scene.tokens.place.copy(), lane.left.copy()


def _turn_back(way: Way, route: Route, lanes: list[Lane]) -> Route:
    """Return the route of the pieces backwards, for the circuit backwards."""
    steps = np.concatenate([lane.steps[: lane.span[END]] for lane in lanes])
    start, _ = _end(way, lane_of(way.circuit, Route(start=route.start, steps=steps), way.ahead))
    steps = steps[::-1].copy()
    nodes = steps[:, 0] >= 0
    steps[nodes, 0] = len(way.circuit.pairs) - 1 - steps[nodes, 0]
    return Route(start=start, steps=steps)


@kernel
def anneal(scene: Scene, lane: Lane, plan: Plan, seed: int) -> None:
    """Re-route windows from a random step on and from the begin again, until the work is done."""
    dice, work = scene.tokens.dice, scene.trial.work
    dice[0] = 1 + seed % (PRIME - 1)
    work[0] = 0
    rewind(scene, lane)
    walk(scene, lane, int(chance(dice) * lane.span[END]))
    while work[0] < plan.work:
        work[0] += 1
        if onward(scene, lane, int(chance(dice) * HOPS), int(chance(dice) * LEAD)):
            heat = plan.hot + (plan.cold - plan.hot) * min(work[0] / plan.work, 1.0)
            visit(scene, lane, plan, heat)
        else:
            rewind(scene, lane)


@kernel
def visit(scene: Scene, lane: Lane, plan: Plan, heat: float) -> None:
    """Take a window of random size and shape out at the cursor, try to re-route it, and put the result in."""
    dice, reach = scene.tokens.dice, len(lane.start)
    most = 2 + int(plan.longest * chance(dice) ** 2)
    if chance(dice) < NEAR:
        reach = 1 + int(REACH * chance(dice))
    take_out(scene, lane, most, reach)
    if lane.span[COST] > 1:
        attempt(scene, lane, heat)
        if lane.span[FRESH] >= 0:
            put_in(lane)
    clear(scene)


@inner_kernel
def attempt(scene: Scene, lane: Lane, heat: float) -> None:
    """Re-route the window a few times, each time accepting what the temperature allows, as in Metropolis' rule."""
    trial, span = scene.trial, lane.span
    cost, away, listed = span[COST], displacement(scene.device, scene.tokens), scene.tokens.marks[0]
    span[FRESH] = -1
    for _ in range(TRIALS):
        limit = min(cost - int(heat * np.log(chance(scene.tokens.dice))), span[COST] + OPS)
        draw(trial, scene.tokens.dice)
        trial.tally[AWAY] = away
        used = reroute(scene, limit)
        undo(scene, listed)
        length = trial.tally[LENGTH]
        if used < FAILED and span[END] + length - span[TAKEN] <= len(lane.steps):
            cost, span[FRESH] = used, length
            for k in range(length):
                lane.fresh[k, 0], lane.fresh[k, 1] = trial.log[k, 0], trial.log[k, 1]


@kernel
def draw(trial: Trial, dice: IntArray) -> None:
    """Draw the weights of an attempt."""
    decay, weight = 0.4 + 0.55 * chance(dice), 1.0
    for rank in range(DEPTH):
        trial.weight[rank] = weight
        weight *= decay
    trial.weight[GOALS] = chance(dice)
    trial.weight[CHANCE] = chance(dice) ** 2
    trial.weight[BRIDGES] = -1.2 + 0.6 * chance(dice)
