"""What happens to a circuit: every stage of its mapping is a function here, in the order in which they run.

Layouts that need no SWAPs -> how many SWAPs it takes at least -> the fewest, where that is a small question -> layouts
of segments that need no SWAPs -> layouts that the Ising formulations propose -> a search on whole routes from all of
these -> windows of the best route, routed again -> at level 3, what the level below finds -> where errors or time
count, the device qubits on which the route does best. Read `map_circuit` first. An anchor is a layout at some time in
the circuit, from which a route grows both ways.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from tiger.circuits.incumbent import Mapped, RouteIncumbent
from tiger.circuits.islands import Island, run_islands
from tiger.circuits.optimization_levels import PARAMS_OF_LEVEL, OptimizationLevel
from tiger.circuits.params import LayoutParams
from tiger.circuits.stopping import STOP
from tiger.circuits.time_shares import fit_work, note_end
from tiger.model.seeds import derive
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.embedding import EmbeddingParams, estimate_call_s, search_perfect_layouts
from tiger.routing.embedding.pair_sets import ProofParams
from tiger.routing.embedding.parts import allot_parts
from tiger.routing.embedding.segments import Anchor, SegmentParams, find_anchors
from tiger.routing.embedding.swap_bound import SwapBound, bound_swaps
from tiger.routing.gate_dag import GateDag
from tiger.routing.noise.objectives import RouteObjective
from tiger.routing.noise.placement import Placer
from tiger.routing.route import PLAIN, Route
from tiger.routing.swaps.exact import ExactParams, find_exact_route, is_small
from tiger.routing.swaps.linear import route_along_path
from tiger.routing.swaps.phases import PhaseParams
from tiger.routing.swaps.prices import bound_price
from tiger.routing.swaps.search import DEFAULT, SearchOrigins, SearchParams, search
from tiger.routing.swaps.windows import WindowParams, polish
from tiger.run.answers import Answers
from tiger.run.deadline import Deadline

if TYPE_CHECKING:
    from tiger.routing.ising.static import Losses

# Solvers of mappings want a time limit above 0: one that is over is passed on as a millisecond.
LEAST_LIMIT_S = 1e-3
# Shares of the time left that proposals may take, and the search where windows follow. `python -m benchmarks timed`
# shows what limits reach with them. With 0.4 in place of 0.75 the longest circuits end up to 4 % higher in 10 s.
PROPOSALS_SHARE, SEARCH_SHARE = 0.1, 0.75
# Of the bound, of segments, and of layouts without SWAPs: dense circuits on tens of qubits otherwise spend short limits
# on these, and have nothing left to search.
BOUND_SHARE, SEGMENTS_SHARE, EMBEDDING_SHARE = 0.1, 0.1, 0.2
# Of all stages that look for few SWAPs, where errors or time count: QFT 8 loses 0.86 in 1 s without it, and 0.57 so.
ROUTES_SHARE = 0.5
# Seconds for which a thread scores a candidate, in the search and in windows; how many threads either has use for.
SEARCH_S, WINDOWS_S, MOST_THREADS = 12e-9, 0.15e-6, 4
# Under a limit beams are wider, in fewer searchers, and a routing takes up to two seconds. Else threads would idle.
LIMITED = SearchParams(width=1024, phases=PhaseParams(wide_most=192_000_000, enough=512))
# The level that holds the result of the one below.
HOLDING_LEVEL = 3
# Beside a seed on the path of those derived from it: slices of the search, numbered from 1.
SLICES = 2
# States of an exact search at any effort: 240 MB.
MOST_STATES = 4_000_000
# Of the states where SWAPs have prices and the fewest seldom cost least: all take 1.1 s for QFT 8 of `delivered`, grid.
PRICED_PART = 8
# Windows, and those in which a layer counts twice as much: of a Fourier transform of 24 qubits along a path of a grid
# these leave 142 layers of 769 gates, the others 168 of 756, in the mean of three seeds.
WINDOWS, SHALLOW = WindowParams(), WindowParams(depth=4.0)

SearchJob = tuple[GateDag, Coupling, SearchOrigins, SearchParams, Deadline]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CircuitTask:
    """Hold a circuit to map on a device, and how hard to search.

    `fixed[n]` is a layout that it has to start from, None where that is open; `start[N]` is a layout that puts qubits
    that meet into one part of the device, that one where it is given. Whole routes and windows get a `share` of the
    level's work.
    """

    dag: GateDag
    coupling: Coupling
    params: LayoutParams
    fixed: IndexArray | None
    start: IndexArray
    share: float = 1.0

    @property
    def level(self) -> OptimizationLevel:
        """Return how much the stages do."""
        return PARAMS_OF_LEVEL[self.params.level].scale(self.share)

    @property
    def does_all_work(self) -> bool:
        """Return whether the search goes on where it gains little."""
        return self.params.effort >= STOP.all_work_effort

    @property
    def proposals(self) -> int:
        """Return how many layouts Ising models propose: all of them at an effort, and where a sampler is named."""
        whole = self.does_all_work or self.params.solver != LayoutParams().solver
        return min(self.level.anchors_on(self.coupling), self.level.anchors if whole else STOP.proposals)


def map_circuit(
    dag: GateDag,
    coupling: Coupling,
    params: LayoutParams,
    *,
    fixed: IndexArray | None = None,
    known: tuple[Route, ...] = (),
    below: tuple[Route, ...] = (),
    objective: RouteObjective | None = None,
) -> Mapped:
    """Map a circuit at the least number of extra CX gates outside of control flow, or the least loss by an objective.

    Same arguments, same route, whatever the number of threads. Raises InputError when parts of the circuit do not fit
    those of the device.

    :param fixed: a layout [n] that it has to start from
    :param known: routes that the result must not exceed
    :param below: routes known at the level below, whose search level 3 does as well: without a time limit or another
        objective it has never more extra CX gates than level 2
    """
    task, incumbent = begin(dag, coupling, params, fixed)
    end, lower_bound = incumbent.stop, 0
    incumbent.stop = end if objective is None else end.share(ROUTES_SHARE)
    if known:
        with incumbent.stage("known"):
            for route in known:
                incumbent.add(route)
    find_perfect_layout(task, incumbent)
    if not incumbent.optimal:
        lower_bound = search_exactly(task, incumbent, bound_extra_cx(task, incumbent))
        # Of routes with the fewest SWAPs another may suit an objective, or fuse with other gates of the circuit.
        incumbent.bound = 0.0 if objective is not None else bound_price(dag, lower_bound)
        # Segments take a tenth of the time of the proposals, and end the search where few SWAPs are enough.
        route_segments(task, incumbent)
        route_proposals(task, incumbent, None if objective is None else objective.losses())
        starts = (*below, *incumbent.routes[len(known) :])
        if task.params.level >= HOLDING_LEVEL and not task.does_all_work:
            search_in_slices(task, incumbent, starts)
        else:
            search_whole_routes(task, incumbent)
            reroute_windows(task, incumbent)
            if objective is None and params.time_limit_s is None:
                search_as_below(task, incumbent, starts)
    if objective is not None:
        place_best(task, incumbent, objective, end)
    stages = tuple(incumbent.stages)
    return Mapped(route=incumbent.solution, lower_bound=lower_bound, stages=stages, answers=incumbent.answers)


def map_along_path(dag: GateDag, coupling: Coupling, params: LayoutParams, start: IndexArray) -> Route:
    """Route a circuit along a path of the device, on which it starts, then windows of that on all of it.

    For few layers of gates more than for few gates.
    """
    task, incumbent = begin(dag, coupling, params, None)
    incumbent.add(route_along_path(dag, coupling, start))
    reroute_windows(task, incumbent, SHALLOW)
    return incumbent.solution


def begin(
    dag: GateDag, coupling: Coupling, params: LayoutParams, fixed: IndexArray | None
) -> tuple[CircuitTask, RouteIncumbent]:
    """Return what is to be mapped, and no route yet; the clock starts."""
    stop = Deadline(None if params.time_limit_s is None else time.monotonic() + params.time_limit_s)
    start = allot_parts(dag, coupling, fixed).start
    task = CircuitTask(dag=dag, coupling=coupling, params=params, fixed=fixed, start=start)
    incumbent = RouteIncumbent(
        dag=dag,
        solution=Route(start=start, steps=np.empty((0, 2), np.int32)),
        stop=stop,
        answers=Answers.of(params.solver),
    )
    return task, incumbent


def find_perfect_layout(task: CircuitTask, incumbent: RouteIncumbent) -> None:
    """Look for a layout in which the circuit needs no SWAP."""
    most, stop = task.level.embedding_calls, incumbent.stop.share(EMBEDDING_SHARE)
    params = EmbeddingParams(
        calls=fit_work(most, stop, estimate_call_s(task.dag, task.coupling)), seed=task.params.seed
    )
    nodes = np.arange(len(task.dag.pairs), dtype=np.int32)
    with incumbent.stage("embedding") as detail:
        places, complete = search_perfect_layouts(task.dag, task.coupling, params, task.fixed)
        for place in places:
            incumbent.add(Route(start=place, steps=np.stack([nodes, np.full_like(nodes, PLAIN)], axis=1)))
        note_end(detail, ended=params.calls < most and not places and not complete)


def bound_extra_cx(task: CircuitTask, incumbent: RouteIncumbent) -> SwapBound:
    """Bound the extra CX gates of all routes from below."""
    reported = task.params.reports_bound
    calls = task.level.bound_calls if reported else task.level.useful_calls(task.dag, task.coupling)
    if not calls:
        return SwapBound(0, *np.zeros((2, len(task.dag.pairs)), np.int64))
    params = ProofParams(work=calls)
    stop = incumbent.stop.share(BOUND_SHARE)
    with incumbent.stage("bound") as detail:
        bound = bound_swaps(task.dag, task.coupling, params, task.fixed, stop)
        detail["lower_bound"] = 3 * bound.swaps
        note_end(detail, ended=stop())
    return bound


def search_exactly(task: CircuitTask, incumbent: RouteIncumbent, bound: SwapBound) -> int:
    """Search for the fewest extra CX gates of a small circuit; return how many every route has.

    Beside blocks of control flow only the bound counts.
    """
    states = task.level.exact_states * task.params.effort // (1 if int(task.dag.price[-1]) == 1 else PRICED_PART)
    met = incumbent.meets(incumbent.value, float(3 * bound.swaps))
    if met or not states or not is_small(task.dag, task.coupling):
        return 3 * bound.swaps
    fixed = None if task.fixed is None else task.start
    with incumbent.stage("exact") as detail:
        found = find_exact_route(
            task.dag, task.coupling, bound, ExactParams(states=min(states, MOST_STATES)), fixed, incumbent.stop
        )
        # The search knows nothing of pairs inside control flow, nor of the parts of the device that they have to be in.
        if found.route is not None and not len(task.dag.inner):
            incumbent.add(found.route)
        detail["lower_bound"] = 3 * found.bound
    return 3 * found.bound


def route_segments(task: CircuitTask, incumbent: RouteIncumbent) -> None:
    """Route from the layouts of segments that need no SWAP."""
    if task.fixed is not None or not task.level.anchors or incumbent.ended:
        return
    stop = incumbent.stop.share(SEGMENTS_SHARE)
    with incumbent.stage("segments") as detail:
        segments = find_anchors(task.dag, task.coupling, SegmentParams(seed=task.params.seed), stop)
        anchors = list(islice(segments, task.level.anchors_on(task.coupling)))
        if anchors:
            detail["extra_cx"] = incumbent.add(_search_once(task, incumbent, anchors))
        note_end(detail, ended=stop())
    incumbent.anchors += anchors


def route_proposals(task: CircuitTask, incumbent: RouteIncumbent, losses: "Losses | None" = None) -> None:
    """Route from the layouts of both Ising formulations, which errors count in where they are given."""
    if not task.level.anchors or incumbent.ended:
        return
    # Here, as levels without proposals need neither Ising models nor the mapper: 35 MB, and 0.9 s to import.
    from tiger.routing.ising.proposals import ProposalParams, propose_layouts

    stop = incumbent.stop.share(PROPOSALS_SHARE)
    params = ProposalParams(
        solver=task.params.solver,
        seed=task.params.seed,
        effort=task.params.effort,
        fixed=task.fixed,
        losses=losses,
        time_limit_s=None if stop.left_s is None else max(stop.left_s, LEAST_LIMIT_S),
        answers=incumbent.answers,
    )
    with incumbent.stage("proposals") as detail:
        layouts = propose_layouts(task.dag, task.coupling, params, stop)
        proposals = list(islice(layouts, task.proposals))
        for name in ("static", "levels"):
            own = [proposal.anchor for proposal in proposals if proposal.name.startswith(name)]
            if own:
                detail[f"{name}_extra_cx"] = incumbent.add(_search_once(task, incumbent, own))
        note_end(detail, ended=stop())
    incumbent.anchors[:0] = [proposal.anchor for proposal in proposals]


def search_whole_routes(task: CircuitTask, incumbent: RouteIncumbent) -> None:
    """Search on whole routes, from all that is known, on every island."""
    if incumbent.optimal:
        return
    work = task.level.search_work(task.dag, task.coupling, task.params.effort)
    stop = incumbent.stop.share(SEARCH_SHARE if task.level.windows.most else 1.0)
    fitting = fit_work(work, stop, SEARCH_S / min(task.params.threads, MOST_THREADS))
    with incumbent.stage("search") as detail:
        if task.params.islands > 1:
            detail["islands"] = task.params.islands
        origins = _gather_origins(task, incumbent.anchors, incumbent.routes)
        params = _plan_search(task, incumbent, replace(LIMITED if fitting < work else DEFAULT, work=fitting))
        job = task.dag, task.coupling, origins, params, stop
        incumbent.of_islands = run_islands(partial(_search, job), task.params)
        for route in incumbent.of_islands:
            incumbent.add(route)
        note_end(detail, ended=fitting < work or stop())


def reroute_windows(task: CircuitTask, incumbent: RouteIncumbent, windows: WindowParams = WINDOWS) -> None:
    """Route windows of the best route again, on several islands those of what each of them has found."""
    work = task.level.windows.work(task.dag, task.params.effort)
    if not work or incumbent.optimal:
        return
    fitting = fit_work(work, incumbent.stop, WINDOWS_S / min(task.params.threads, MOST_THREADS))
    params = replace(
        windows,
        work=fitting,
        fixed=None if task.fixed is None else task.start[: task.dag.qubits],
        goal=int(incumbent.bound or 0),
    )
    with incumbent.stage("windows") as detail:
        polish_once = partial(_polish, (task.dag, task.coupling, params, incumbent.stop))
        # From the best of both, two islands ended 1.3 % higher in the mean of three seeds (QAOA on 100 qubits).
        routes = incumbent.of_islands if task.params.islands > 1 else [incumbent.solution]
        for route in run_islands(polish_once, task.params, routes):
            incumbent.add(route)
        note_end(detail, ended=fitting < work)


def search_in_slices(task: CircuitTask, incumbent: RouteIncumbent, routes: Iterable[Route]) -> None:
    """Search from routes as the level below, then in ever larger slices of the work, until one of them gains little."""
    search_as_below(task, incumbent, routes)
    for number, share in enumerate(STOP.slices, 1):
        if incumbent.ended:
            return
        before = incumbent.value
        own = replace(task.params, seed=derive(task.params.seed, SLICES, number))
        part = replace(task, params=own, share=share)
        search_whole_routes(part, incumbent)
        reroute_windows(part, incumbent)
        if before - incumbent.value < STOP.least_gain * before:
            return


def search_as_below(task: CircuitTask, incumbent: RouteIncumbent, routes: Iterable[Route]) -> None:
    """Search from routes as the level below does, so that its result is held.

    Behind a search that is planned as a whole: one that starts from this result found nothing better on five large
    circuits, and ended 1 % above.
    """
    if task.params.level < HOLDING_LEVEL or incumbent.optimal:
        return
    lower = replace(task, params=replace(task.params, level=task.params.level - 1))
    own = RouteIncumbent(dag=task.dag, solution=incumbent.solution, stop=incumbent.stop, bound=incumbent.bound)
    own.anchors = incumbent.anchors
    with incumbent.stage("level below"):
        for route in routes:
            own.add(route)
        search_whole_routes(lower, own)
        reroute_windows(lower, own)
        incumbent.add(own.solution)


def place_best(task: CircuitTask, incumbent: RouteIncumbent, objective: RouteObjective, stop: Deadline) -> None:
    """Take the best route by an objective other than extra CX gates, from those known on, until time is up."""
    own = task.level.placement
    params = replace(own, trials=own.trials * task.params.effort, pinned=task.fixed is not None)
    with incumbent.stage("placement") as detail:
        placer = Placer(task.dag, task.coupling, objective, params)
        incumbent.solution = placer.find_best(incumbent.routes, task.params.seed, stop)
        incumbent.value = float(incumbent.solution.extra_cx)
        detail["loss"] = objective.loss(incumbent.solution)
        note_end(detail, ended=stop())


def _search_once(task: CircuitTask, incumbent: RouteIncumbent, starts: Iterable[Anchor]) -> Route:
    """Return what a short search finds from layouts for some time."""
    origins = _gather_origins(task, starts, ())
    own = SearchParams(work=task.level.trial, seed=task.params.seed, threads=task.params.threads)
    return search(task.dag, task.coupling, origins, _plan_search(task, incumbent, own), incumbent.stop)


def _gather_origins(task: CircuitTask, starts: Iterable[Anchor], routes: Iterable[Route]) -> SearchOrigins:
    """Return what a search goes on from: layouts for some time, and routes."""
    return SearchOrigins(
        layouts=(task.start,),
        anchors=tuple(starts),
        routes=tuple(routes),
        fixed=None if task.fixed is None else task.start,
    )


def _plan_search(task: CircuitTask, incumbent: RouteIncumbent, params: SearchParams) -> SearchParams:
    """Return the parameters with the level's passages and the goal."""
    passages = task.level.search_passages(task.dag, task.coupling, task.params.effort)
    return replace(params, passages=passages, goal=int(incumbent.bound or 0))


def _search(job: SearchJob, island: Island) -> Route | None:
    """Return what a search finds on an island."""
    dag, coupling, origins, params, stop = job
    if island.spare and stop():
        return None
    return search(dag, coupling, origins, replace(params, seed=island.seed, threads=island.threads), stop)


def _polish(job: tuple[GateDag, Coupling, WindowParams, Deadline], route: Route, island: Island) -> Route | None:
    """Return what is left of a route once its windows have been routed again on an island."""
    dag, coupling, params, stop = job
    if island.spare and stop():
        return None
    return polish(dag, coupling, route, replace(params, seed=island.seed, threads=island.threads), stop)
