"""Which of many routes of a circuit to take where errors or time count, and a search for a better one."""

import math
from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from tiger.model.seams import Stop
from tiger.model.seeds import derive
from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag
from tiger.routing.noise.objectives import RouteObjective
from tiger.routing.noise.relabelling import RelabelParams
from tiger.routing.noise.walk import BEST, TRIED, Walk, WalkPlan, advance, allocate_walk, traverse
from tiger.routing.route import Route

# Looks at the clock in as many trials as the patience, of which there are fewer where each takes long; and passes of a
# routing from a random layout.
LOOKS, PASSES = 10, 5
# The power by which drafts and trials shrink where a draft takes more work: at a hundred times as much there are a
# twentieth as many, which take five times as long.
SHRINKING = 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementParams:
    """Set the work: `searchers` searches of `scouts` trials, from the best known routes and of `drafts` fresh ones.

    The best `finalists` of them go on for `trials` more. A searcher goes back to its best route after `patience` trials
    in vain. A trial may be worse than the best by a share that falls from `slack` to nothing, and either side of its
    cut may take `more` SWAPs than the whole before. `relabelled` routes are moved to their best places as `relabel`
    says, and routes on the way as `touch` says. There are as many drafts and trials where a draft takes up to `work`
    candidates scored, else fewer. `pinned` routes keep their start, which is the caller's layout, and are only routed
    on from there.
    """

    drafts: int = 1_000
    searchers: int = 16
    scouts: int = 500
    finalists: int = 4
    trials: int = 4_000
    patience: int = 500
    slack: float = 0.05
    more: int = 3
    relabelled: int = 16
    work: int = 12_000
    pinned: bool = False
    relabel: RelabelParams = field(default_factory=RelabelParams)
    touch: RelabelParams = field(default_factory=lambda: RelabelParams(visits=2_000, rounds=2))

    def fit(self, work: int) -> "PlacementParams":
        """Return the parameters where a draft takes so much work."""
        share = min(1.0, self.work / max(work, 1)) ** SHRINKING
        drafts, scouts, trials, patience = (
            math.ceil(share * each) for each in (self.drafts, self.scouts, self.trials, self.patience)
        )
        return replace(self, drafts=drafts, scouts=scouts, trials=trials, patience=patience)


class Placer:
    """Search for the best route of a circuit on a device by an objective; no proof that it is the best."""

    def __init__(self, dag: GateDag, coupling: Coupling, objective: RouteObjective, params: PlacementParams) -> None:
        self._dag, self._coupling, self._objective, self._params = dag, coupling, objective, params

    def find_best(self, routes: Iterable[Route], seed: int, stop: Stop) -> Route:
        """Return a route no worse than any of some that are known."""
        objective, params = self._objective, self._params
        known = relabel_best(routes, objective, params, seed, stop)
        if stop() or not params.searchers:
            return known[0]
        walk = allocate_walk(self._dag, self._coupling, objective, known)
        first, *rngs = (np.random.default_rng([seed, number]) for number in range(params.searchers + 1))
        drafts, params = self._draft(walk, known[0], first, stop)
        found = [*known, *drafts]
        # Successive halving: every start is searched for a while, and the best of what comes of it for longer.
        for trials, many in ((params.scouts, params.searchers), (params.trials, params.finalists)):
            plan = WalkPlan(trials, params.patience, params.slack, params.more, params.pinned)
            starts = zip(sorted(found, key=objective.loss)[:many], rngs, strict=False)
            found = [known[0], *(self._search(walk, route, plan, rng, stop) for route, rng in starts)]
        best = min(found, key=objective.loss)
        again = derive(seed, params.searchers)
        return best if stop() else relocate(best, objective, params, params.relabel, again, stop)

    def _draft(
        self, walk: Walk, fresh: Route, rng: np.random.Generator, stop: Stop
    ) -> tuple[list[Route], PlacementParams]:
        """Return fresh routes, each where it loses least, and the parameters that fit the work of one.

        One may take ten times the work of another, so that the middle one counts of those so far.
        """
        drafts, works, params, counters = list[Route](), list[int](), self._params, walk.state.counters[0]
        while len(drafts) < params.drafts and not stop():
            before = counters.work
            fresh = self._draw_route(walk, fresh, rng)
            insort(works, int(counters.work - before))
            drafts.append(self._touch(fresh, rng, stop))
            params = self._params.fit(works[(len(works) - 1) // 2])
        return drafts, params

    def _draw_route(self, walk: Walk, route: Route, rng: np.random.Generator) -> Route:
        """Return a route from where a random layout drifts to, the given one if routing does not end.

        Every qubit stays in its part of the device, and where it is if that is given.
        """
        start, part = route.start.copy(), self._coupling.part
        if not self._params.pinned:
            for number in range(int(part.max()) + 1):
                inside = np.flatnonzero(part[route.start] == number)
                start[inside] = rng.permutation(route.start[inside])
        walk.put(route, np.inf, int(rng.integers(1 << 31)))
        return walk.get(TRIED) if traverse(walk, start, 1 if self._params.pinned else PASSES) else route

    def _search(self, walk: Walk, route: Route, plan: WalkPlan, rng: np.random.Generator, stop: Stop) -> Route:
        """Route a circuit repeatedly from mappings on its way."""
        if stop():
            return route
        start, loss = self._touch(route, rng, stop), self._objective.loss
        walk.put(start, loss(start), int(rng.integers(1 << 31)))
        while walk.counters[0].trial < plan.trials and not stop():
            # Good edges may be a relabelling away, which is only worth its price for what is better already.
            if advance(walk, plan, max(plan.patience // LOOKS, 1)):
                better = self._touch(walk.get(TRIED), rng, stop)
                walk.move(better, loss(better))
        return walk.get(BEST)

    def _touch(self, route: Route, rng: np.random.Generator, stop: Stop) -> Route:
        """Return a route on the way where it loses least."""
        return relocate(route, self._objective, self._params, self._params.touch, int(rng.integers(1 << 31)), stop)


def relabel_best(
    routes: Iterable[Route], objective: RouteObjective, params: PlacementParams, seed: int, stop: Stop
) -> list[Route]:
    """Relabel the best of some routes; return them and the best as it was, best first, equal ones in order."""
    ranked = sorted(routes, key=objective.loss)
    found = ranked[:1]
    for number, route in enumerate(ranked[: params.relabelled]):
        if stop():
            break
        found.append(relocate(route, objective, params, params.relabel, derive(seed, number), stop))
    return sorted(found, key=objective.loss)


def relocate(
    route: Route, objective: RouteObjective, params: PlacementParams, work: RelabelParams, seed: int, stop: Stop
) -> Route:
    """Return a route on the device qubits where it loses least, as it is where its start is given."""
    return route if params.pinned else objective.relocate(route, work, seed, stop)
