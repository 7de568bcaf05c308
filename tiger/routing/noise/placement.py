"""Which of many routes of a circuit to take where errors or time count, and a search for a better one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from tiger.model.arrays import FloatArray
from tiger.model.seams import Stop
from tiger.model.seeds import derive
from tiger.routing.coupling import FAR, Coupling, HopArray, IndexArray
from tiger.routing.error_rates import Errors
from tiger.routing.gate_dag import GateDag
from tiger.routing.noise.depth import (
    Duration,
    ErrorCosts,
    QubitTimes,
    RouteTape,
    Singles,
    build_layer_costs,
    build_tape,
    costs_of,
    expand_route,
    run_operations,
)
from tiger.routing.noise.relabelling import DeviceCosts, RelabelParams, find_best_places, relabel
from tiger.routing.route import Route
from tiger.routing.swaps.frontier import RouterParams, allocate_state, begin, build_arrays, carry_out_known
from tiger.routing.swaps.router import route as route_circuit
from tiger.solvers.kernel import kernel
from tiger.solvers.records import allocate_records

if TYPE_CHECKING:
    from tiger.routing.ising.static import Losses

# Distances weighted by errors are whole numbers for the router: this many of them are a hop.
UNIT = 16.0
# An edge is as long as its SWAP costs over the mean, counted by this share beside its hop, within bounds that keep it
# true that a neighbour on a shortest path is nearer. That share of routings goes by these lengths.
SHORTEST, LONGEST, SHARE = 0.6, 3.0, 0.6
# A score above all, for which no BRIDGE is taken, and what keeps a sum of costs from being 0.
NEVER, TINY = 1e9, 1e-12
# Which part of a route is routed again; SHAKEN is both, after exchanges at the cut.
AFTER, BEFORE, BOTH, SHAKEN = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementParams:
    """Set the work: `searchers` searches of `scouts` trials, from the best known routes and then from fresh ones.

    The best `finalists` of them go on for `trials` more. A searcher goes back to its best route after `patience` trials
    in vain. A trial may be worse than the best by a share that falls from `slack` to nothing, and take `more` SWAPs
    than before. `relabelled` routes are moved to their best places as `relabel` says, and routes on the way as `touch`
    says. `pinned` routes keep their start, which is the caller's layout, and are only routed on from there.
    """

    searchers: int = 12
    scouts: int = 100
    finalists: int = 3
    trials: int = 800
    patience: int = 100
    slack: float = 0.05
    more: int = 3
    relabelled: int = 16
    pinned: bool = False
    relabel: RelabelParams = field(default_factory=RelabelParams)
    touch: RelabelParams = field(default_factory=lambda: RelabelParams(visits=5_000, rounds=5))


class RouteObjective(Protocol):
    """Measure what a route of a circuit loses, and relabel routes so that they lose less."""

    def loss(self, route: Route) -> float:
        """Return the loss of the route; less is better."""

    def relocate(self, route: Route, params: RelabelParams, seed: int, stop: Stop) -> Route:
        """Return the route on the device qubits where it loses least."""

    def lengths(self) -> FloatArray:
        """Return the cost of a SWAP on every edge over the mean, [N, N]."""

    def losses(self) -> "Losses | None":
        """Return the loss of a static layout by errors, None where they do not matter."""


class SuccessObjective:
    """Measure a route by the negative logarithm of its success probability.

    Losses by errors of gates and readout alone count a hundredfold above a `bound`, as of a circuit that the result
    should not fall behind in those either, however little its qubits wait.
    """

    def __init__(
        self, dag: GateDag, singles: Singles, coupling: Coupling, errors: Errors, bound: float = np.inf
    ) -> None:
        self._tape, self._device_costs = build_tape(dag, singles), DeviceCosts.of(coupling, costs_of(errors), bound)
        own = np.concatenate([[0], np.cumsum(singles.gates + singles.reads)])[singles.first]
        self._errors, self._coupling, self._uses = errors, coupling, np.diff(own).astype(np.float64)

    def loss(self, route: Route) -> float:
        """Return the negative logarithm, infinite on a faulty edge."""
        return _time_route(self._tape, route, self._device_costs.costs).total(self._device_costs.bound)

    def relocate(self, route: Route, params: RelabelParams, seed: int, stop: Stop) -> Route:
        """Return the best relabelling found."""
        operations = expand_route(self._tape._replace(steps=route.steps.copy()), route.start.copy())
        return relabel(route, find_best_places(operations, self._device_costs, params, seed, stop))

    def lengths(self) -> FloatArray:
        """Return the cost of a SWAP on every edge over the mean."""
        pair = self._device_costs.costs.pair
        swap = pair + pair.T + np.minimum(pair, pair.T)
        known = swap[np.isfinite(swap)]
        return swap * (len(known) / max(float(known.sum()), TINY))

    def losses(self) -> "Losses":
        """Return the errors by edge and qubit."""
        from tiger.routing.ising.static import losses_of  # with Ising models, which other objectives have no use for

        return losses_of(self._errors, self._coupling, self._uses)


class DepthObjective:
    """Measure a route by its depth, and by its extra CX gates where that is the same."""

    def __init__(self, dag: GateDag, singles: Singles, coupling: Coupling) -> None:
        self._tape, self._costs = build_tape(dag, singles), build_layer_costs(coupling.size)

    def loss(self, route: Route) -> float:
        """Return the depth in layers, plus a millionth for every CX gate."""
        return _time_route(self._tape, route, self._costs).end + 1e-6 * route.extra_cx

    def relocate(self, route: Route, params: RelabelParams, seed: int, stop: Stop) -> Route:  # noqa: ARG002 (as of RouteObjective)
        """Return the route as it is: depth is the same everywhere."""
        return route

    def lengths(self) -> FloatArray:
        """Return ones."""
        return np.ones_like(self._costs.pair)

    def losses(self) -> None:
        """Return none."""


class PinnedObjective:
    """Measure a route as another objective does, and leave it where it is."""

    def __init__(self, objective: RouteObjective) -> None:
        self.loss, self.lengths, self.losses = objective.loss, objective.lengths, objective.losses

    def relocate(self, route: Route, params: RelabelParams, seed: int, stop: Stop) -> Route:  # noqa: ARG002 (as of RouteObjective)
        """Return the route as it is."""
        return route


def relabel_best(
    routes: Iterable[Route], objective: RouteObjective, params: PlacementParams, seed: int, stop: Stop
) -> list[Route]:
    """Relabel the best of some routes; return them and the best as it was, best first, equal ones in order."""
    ranked = sorted(routes, key=objective.loss)
    found = ranked[:1]
    for number, route in enumerate(ranked[: params.relabelled]):
        if stop():
            break
        found.append(objective.relocate(route, params.relabel, derive(seed, number), stop))
    return sorted(found, key=objective.loss)


class Placer:
    """Search for the best route of a circuit on a device by an objective; no proof that it is the best."""

    def __init__(self, dag: GateDag, coupling: Coupling, objective: RouteObjective, params: PlacementParams) -> None:
        self._objective, self._params = PinnedObjective(objective) if params.pinned else objective, params
        self._rerouter = (ForwardRerouter if params.pinned else Rerouter)(dag, coupling, objective.lengths())

    def find_best(self, routes: Iterable[Route], seed: int, stop: Stop) -> Route:
        """Return a route no worse than any of some that are known."""
        objective, params = self._objective, self._params
        known = relabel_best(routes, objective, params, seed, stop)
        rngs = [np.random.default_rng([seed, searcher]) for searcher in range(params.searchers)]
        found = known[:1]
        # Successive halving: every start is searched for a while, and the best of what comes of it for longer.
        for searcher, rng in enumerate(rngs):
            if not stop():
                start = known[searcher] if searcher < len(known) else self._rerouter.draw_route(known[0], rng)
                found.append(self._search(start, params.scouts, rng, stop))
        for route, rng in zip(sorted(found, key=objective.loss)[: params.finalists], rngs, strict=False):
            found.append(self._search(route, params.trials, rng, stop))
        best = min(found, key=objective.loss)
        return best if stop() else objective.relocate(best, params.relabel, derive(seed, params.searchers), stop)

    def _search(self, route: Route, trials: int, rng: np.random.Generator, stop: Stop) -> Route:
        """Route a circuit repeatedly from mappings on its way."""
        if stop():
            return route
        objective, params = self._objective, self._params
        best = present = objective.relocate(route, params.touch, int(rng.integers(1 << 31)), stop)
        lowest = loss = objective.loss(best)
        vain = 0
        for trial in range(trials):
            if stop():
                break
            vain += 1
            tried = self._rerouter.vary(present, params.more, rng)
            cost = np.inf if tried is None else objective.loss(tried)
            # Good edges may be a relabelling away, which is only worth its price for what is better already.
            if tried is not None and cost < loss:
                tried = objective.relocate(tried, params.touch, int(rng.integers(1 << 31)), stop)
                cost = objective.loss(tried)
            # Threshold accepting (Dueck, Scheuer 1990): somewhat worse is taken too, by a margin that shrinks.
            if tried is not None and cost < lowest * (1 + params.slack * (1 - trial / trials)):
                present, loss = tried, cost
            if loss < lowest:
                best, lowest, vain = present, loss, 0
            # Back to the best after this many trials without a better one.
            if vain > params.patience:
                present, loss, vain = best, lowest, 0
        return best


class Rerouter:
    """Route a circuit, or the part of it before or after some step, again, by hops or by what edges cost."""

    parts: tuple[int, ...] = (AFTER, BEFORE, BOTH, SHAKEN)

    def __init__(self, dag: GateDag, coupling: Coupling, lengths: FloatArray) -> None:
        plain = build_arrays(dag, coupling)
        hops = _scaled_hops(coupling, lengths)
        weighted = tuple(arrays._replace(hops=hops) for arrays in plain)
        self._edges, self._part = coupling.edges, coupling.part
        self._arrays = {1.0: plain, UNIT: weighted}
        most = int(np.where(coupling.hops == FAR, 0, coupling.hops).max(initial=0)) * len(dag.pairs)
        self._state = allocate_state(plain[0], most)

    def draw_route(self, route: Route, rng: np.random.Generator) -> Route:
        """Return a route from where a random layout drifts to; every qubit stays in its part of the device."""
        return self._drift(route, self._shuffle(route.start, rng), (0, 1, 0, 1, 0), rng)

    def vary(self, route: Route, more: int, rng: np.random.Generator) -> Route | None:
        """Return a route that shares a mapping, or nearly so, with another, None if it takes many more SWAPs."""
        # As the search on whole routes does: the mapping at a cut is the seed of both sides.
        cut = int(rng.integers(len(route.steps) + 1))
        before, after = route.steps[:cut].copy(), route.steps[cut:].copy()
        place, start = route.start.copy(), route.start
        follow_swaps(before, place)
        limit = route.swaps + route.bridges + more
        part = self.parts[rng.integers(len(self.parts))]
        if part == SHAKEN:
            self._shake(place, rng)
        forward = self._route(0, place, before, limit, rng) if part != BEFORE else after
        if forward is None:
            return None
        if part != AFTER:
            backward = self._route(1, place, after, limit, rng)
            if backward is None:
                return None
            before, start = backward[::-1], self._state.place.copy()
        return Route(start=start, steps=np.concatenate([before, forward]))

    def _shuffle(self, place: IndexArray, rng: np.random.Generator) -> IndexArray:
        """Return a layout with the qubits of every part of the device exchanged at random."""
        shuffled = place.copy()
        for part in range(int(self._part.max()) + 1):
            inside = np.flatnonzero(self._part[place] == part)
            shuffled[inside] = rng.permutation(place[inside])
        return shuffled

    def _drift(self, route: Route, place: IndexArray, directions: tuple[int, ...], rng: np.random.Generator) -> Route:
        """Return the result of routing a layout forwards (0) and backwards (1), the given route if it does not end."""
        start, steps = place, route.steps
        # Reverse traversal (Li, Ding, Xie 2019): where one routing ends is where the next, turned around, begins.
        for direction in directions:
            found = self._route(direction, place, steps[:0], NEVER, rng)
            if found is None:
                return route
            start, steps, place = place, found, self._state.place.copy()
        return Route(start=start, steps=steps)

    def _shake(self, place: IndexArray, rng: np.random.Generator) -> None:
        """Exchange what neighbours hold, once to three times, if any qubits are neighbours."""
        if not len(self._edges):
            return
        for edge in rng.integers(len(self._edges), size=int(rng.integers(1, 4))):
            p, q = self._edges[edge]
            a, b = np.flatnonzero(place == p), np.flatnonzero(place == q)
            place[a], place[b] = q, p

    def _route(
        self, direction: int, place: IndexArray, done: IndexArray, limit: float, rng: np.random.Generator
    ) -> IndexArray | None:
        """Return the steps from a mapping on, forwards or backwards, with the nodes of some steps done already."""
        unit = UNIT if rng.random() < SHARE else 1.0
        arrays, state = self._arrays[unit][direction], self._state
        begin(arrays, state, place)
        # SWAPs of steps that are done would move the mapping, which is that after them already.
        nodes = done[done[:, 0] >= 0]
        carry_out_known(arrays, state, nodes, len(nodes))
        most = int(min(limit, len(state.steps)))
        if route_circuit(arrays, state, _draw_params(rng, unit), int(rng.integers(1 << 30)), most) > most:
            return None
        return state.steps[: state.counters[0].steps].copy()


class ForwardRerouter(Rerouter):
    """Route a circuit from its layout on, or from some step on."""

    parts = (AFTER,)

    def draw_route(self, route: Route, rng: np.random.Generator) -> Route:
        """Return a route from the same start."""
        return self._drift(route, route.start, (0,), rng)


def _time_route(tape: RouteTape, route: Route, costs: ErrorCosts) -> Duration:
    """Return when a route ends and what it loses."""
    operations = expand_route(tape._replace(steps=route.steps.copy()), route.start.copy())
    size = len(route.start)
    return Duration(*run_operations(operations, np.arange(size, dtype=np.int32), costs, QubitTimes.of(size)))


def _draw_params(rng: np.random.Generator, unit: float) -> Sequence[RouterParams]:
    """Draw how the router weighs distances, measured in units, of which a hop has UNIT: around the values of SABRE."""
    params = allocate_records(RouterParams)
    own = params[0]
    own.lookahead = _pick(rng, (10.0, 20.0, 40.0))
    own.lookahead_weight = _pick(rng, (0.2, 0.4, 0.7))
    own.fade = _pick(rng, (1.0, 3.0))
    own.decay = unit * _pick(rng, (0.001, 0.01, 0.1))
    own.bridge_score = unit * _pick(rng, (-0.5, 0.0, NEVER))
    own.distance_power = float(rng.integers(2))
    own.later_weight = _pick(rng, (0.5, 1.0))
    return params


def _pick(rng: np.random.Generator, values: tuple[float, ...]) -> float:
    """Draw one of a few values, in a tenth of the time that `rng.choice` takes."""
    return values[rng.integers(len(values))]


def _scaled_hops(coupling: Coupling, lengths: FloatArray) -> HopArray:
    """Return distances as the router reads them, with 1 for neighbours alone, in units by what edges cost.

    Bounded lengths keep it true that a neighbour on a shortest path is nearer, which the router relies on.
    """
    a, b = coupling.edges.T
    weight = np.clip(1 - SHARE + SHARE * lengths[a, b], SHORTEST, LONGEST)
    graph = coo_array((weight, (a, b)), shape=(coupling.size, coupling.size)).tocsr()
    scaled = 1 + np.maximum(np.round(UNIT * (shortest_path(graph, directed=False) - 1)), 1)
    return np.where(coupling.hops <= 1, coupling.hops, np.minimum(scaled, FAR)).astype(np.int16)


@kernel
def follow_swaps(steps: IndexArray, place: IndexArray) -> None:
    """Follow the SWAPs of some steps from a mapping `place[N]`; O(k N)."""
    for k in range(len(steps)):
        if steps[k, 0] < 0:
            p, q = -1 - steps[k, 0], steps[k, 1]
            for v in range(len(place)):
                if place[v] == p:
                    place[v] = q
                elif place[v] == q:
                    place[v] = p
