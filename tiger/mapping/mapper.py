"""Solve a mapping problem: the one place where all parts are wired together.

A request becomes a baseline and a lower bound, and then rounds, each of which may improve the incumbent. A round runs
what the solver's portfolio holds: searches on the problem itself, the QUBO of the whole problem, and the QUBOs of the
windows that it is partitioned into, each encoded, sampled with tuned penalties, decoded, repaired, polished and
stitched into the mapping. Where another objective than the cost is asked for, rounds towards that follow from the
cheapest mapping found. The report recomputes every cost from the mapping.
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

from dimod.core.sampler import Sampler

from tiger.bounds.lower_bound import quick_bound, spread_bound, strong_bound
from tiger.bounds.warm import load as load_bounds
from tiger.feasibility.start import launch_order
from tiger.mapping.portfolio import Portfolio, portfolio_of, rounds
from tiger.mapping.request import Request
from tiger.model.arrays import IntArray
from tiger.model.objective_arrays import NetArrays, ObjectiveArrays, RingHops
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.objectives.multipath import RoutingName, check_routing, load_links
from tiger.objectives.selection import ObjectiveFunction, ObjectiveName, objective_of, resolve_objective
from tiger.parallel.executors import open_executor
from tiger.qubo.ising import IsingParams
from tiger.qubo.whole_sampling import sample_whole
from tiger.qubo.window_sampling import sample_windows
from tiger.run.baselines import baselines, cyclic_order
from tiger.run.deadline import ENDING, Deadline
from tiger.run.incumbent import Watch
from tiger.run.mapping import MappingIncumbent
from tiger.run.node_choice import take_nodes
from tiger.run.objective_search import continue_by, report_objective, reweigh, search_directly
from tiger.run.progress import ignore
from tiger.run.report import Origin, Report
from tiger.run.search_stage import ISLANDS, Round, run_search
from tiger.run.verdict import THRESHOLD
from tiger.solvers import registry
from tiger.solvers.warm import load

SAMPLED = ("qubo", "windows")

# The strong bound: {effort of a round that it runs before: (above, up to) so many task-node pairs}, and its ascents.
# Small problems are worth it sooner.
STRONG_BOUND_PAIRS, STRONG_BOUND_ITERATIONS = {4: (0, 256), 64: (256, 1024)}, 16
# The spread bound, of tasks that share nodes: it runs with work 1 after the first round, for 3 to 56 % of the time that
# the round took on the sparse benchmark, and with so much work before a round of this effort.
SPREAD_BOUND_EFFORT, SPREAD_BOUND_WORK = 4, 4


def solve(
    problem: Problem,
    *,
    solver: str | Sampler = "auto",
    objective: ObjectiveName = "cost",
    routing: RoutingName = "single",
    nodes: int | None = None,
    threshold: float = THRESHOLD,
    seed: int = 0,
    effort: int | None = None,
    islands: int = 1,
    time_limit_s: float | None = None,
    executor: Executor | str | None = None,
    ising: IsingParams | None = None,
    progress: Watch | None = None,
) -> Report:
    """Map the tasks of a problem onto its nodes at low cost.

    `solver` is a name (`tiger.solvers.registry.list_solvers`) or any Ocean sampler object. `objective` is what is
    minimized: `cost`, `max-link-load` (tiger.objectives.link_load), `makespan` (tiger.objectives.makespan), `ring`
    (tiger.objectives.ring) or `multicast` (tiger.objectives.multicast), which follow a search for a low cost; of tasks
    with hyperedges the cost is that of their multicasts. `routing` is how the report counts the loads of
    links: on `single` paths, or split over `equal` or `weighted` ones (tiger.objectives.multipath). `nodes` takes so
    many of the nodes (tiger.run.node_choice), whose bound and baselines are then reported. The verdict is to keep a
    simple order that the mapping gains less on than the part `threshold` in [0, 1) of its value. `seed` is in [0,
    2**63): the same seed, effort and islands give the same answer, on any number of threads. `effort` >= 1 counts
    iterations, None is 1 without a time limit and as much as fits with one. As many `islands` do so side by side, with
    seeds of their own, and exchange their best mappings after every round: they are for an executor with as many
    workers, and more than one are for the solvers auto, search and random alone. `time_limit_s` > 0 only ends a solve
    early. `executor` runs independent parts of the work, `dask://HOST:PORT` on a Dask cluster. `ising` sets penalties,
    temperatures and sizes of the QUBOs that are sampled; `auto` keeps its own sizes. `progress` is called as stages
    begin. An unsatisfiable problem gives a report that says so; bad values raise InputError, also an objective that the
    problem does not have.
    """
    with open_executor(executor) as pool:
        request = Request(
            solver=solver,
            objective=resolve_objective(objective, problem),
            routing=routing,
            nodes=nodes,
            threshold=threshold,
            seed=seed,
            effort=effort,
            islands=islands,
            time_limit_s=time_limit_s,
            executor=pool,
            ising=IsingParams() if ising is None else ising,
        )
        return _answer(problem, request, progress or ignore)


def _answer(problem: Problem, request: Request, watch: Watch) -> Report:
    """Answer a request: baseline, bound, rounds of search, another objective where one is asked for, report."""
    check_routing(problem, request.routing)
    begun, loading_s = time.perf_counter(), 0.0
    if request.nodes is not None:
        taken, loading_s = _choose_nodes(problem, request.nodes, request)
        if isinstance(taken, tuple):
            return Report.unmet(problem, taken, _origin(request, time.perf_counter() - begun))
        problem = taken
    chosen = time.perf_counter()
    objective = objective_of(request.objective, problem, request.routing)
    start = launch_order(problem, request.deadline(loading_s).left_s)
    if isinstance(start, tuple):
        return Report.unmet(problem, start, _origin(request, time.perf_counter() - begun))
    incumbent = MappingIncumbent(problem=problem, solution=start, stop=request.cost_deadline, watch=watch)
    incumbent.put_off(loading_s)
    if request.nodes is not None:
        incumbent.record("nodes", chosen - begun - loading_s, {"taken": request.nodes})
    block, cyclic = incumbent.cost, cyclic_order(problem)
    # No launcher's own order is to be better than what comes out.
    _offer_cyclic(incumbent, request, cyclic)
    incumbent.record("baseline", time.perf_counter() - chosen, {})
    # The cost of pairs stands in for that of multicasts: bounds on it say nothing of these.
    if request.objective != "multicast":
        _raise_bound(incumbent, lambda: quick_bound(problem, start, incumbent.stop.left_s))
    if not incumbent.ended:
        _search_cost(incumbent, request)
    _warn_of_time(incumbent, request)
    by_objective = incumbent
    if objective is not None:
        by_objective = continue_by(objective, incumbent, start, request.deadline(incumbent.loading_s))
        _search_objective(by_objective, request, objective)
        _warn_of_time(by_objective, request)
    # What the search has no use for comes after it, so that a time limit leaves it more.
    orders, before = baselines(problem, block, cyclic), load_links(problem, start, request.routing)
    report = replace(
        Report.of(
            problem,
            by_objective.places,
            _origin(request, time.perf_counter() - begun - by_objective.loading_s),
            request.routing,
            before,
        ),
        baseline_cost=orders.block,
        baselines=orders,
        threshold=request.threshold,
        objective=None if objective is None else report_objective(request.objective, objective, by_objective, start),
        lower_bound=_bound_cost(incumbent, by_objective) if request.objective != "multicast" else None,
        optimal=by_objective.optimal,
        stages=tuple(incumbent.stages),
    )
    return replace(report, warnings=(*report.warnings, *incumbent.warnings, *_remark(report, request)))


def _bound_cost(incumbent: MappingIncumbent, by_objective: MappingIncumbent) -> float:
    """Return the lower bound on the cost that a report has.

    A cost that is proved is its own bound, below which that of another mapping may be within rounding.
    """
    return min(incumbent.cost if incumbent.optimal else incumbent.bound or 0.0, by_objective.cost)


def _origin(request: Request, seconds: float) -> Origin:
    """Return where a report comes from that took so many seconds."""
    return Origin(request.name, request.seed, seconds, request.islands)


def _offer_cyclic(incumbent: MappingIncumbent, request: Request, cyclic: IntArray | None) -> None:
    """Offer the cyclic order, if there is one, unless the block order is asked for as it is."""
    if cyclic is not None and request.solver != "identity":
        incumbent.offer(cyclic)


def _choose_nodes(problem: Problem, count: int, request: Request) -> tuple[Problem | tuple[Violation, ...], float]:
    """Return the problem on so many of its nodes, and the seconds for which kernels were loaded to choose them."""
    loading_s = 0.0

    def search(part: Problem) -> IntArray | tuple[Violation, ...]:
        """Return cheap places, found in a quarter of the time left."""
        nonlocal loading_s
        left_s = request.deadline(loading_s).left_s
        start = launch_order(part, left_s)
        if isinstance(start, tuple):
            return start
        stop = Deadline(None if left_s is None else time.monotonic() + left_s / 4)
        incumbent = MappingIncumbent(problem=part, solution=start, stop=stop)
        _search_cost(incumbent, replace(request, objective="cost"))
        loading_s += incumbent.loading_s
        return incumbent.places

    return take_nodes(problem, count, search), loading_s


def _search_cost(incumbent: MappingIncumbent, request: Request) -> None:
    """Look for a low cost, round by round, until the effort is spent or the time, or nothing better exists."""
    with incumbent.loading():
        portfolio = portfolio_of(request, incumbent.problem)
    reached = 0
    for this_round in rounds(request, partial(_fit_effort, incumbent, portfolio, request)):
        before = len(incumbent.stages)
        if this_round.effort > reached and request.objective != "multicast":
            _raise_bound_by_effort(incumbent, range(reached + 1, this_round.effort + 1))
            reached = this_round.effort
        _run_round(incumbent, portfolio, this_round, request.executor)
        if not this_round.number and request.objective != "multicast":
            _raise_by_spread_bound(incumbent, 1)
        if incumbent.ended or len(incumbent.stages) == before:
            break


def _fit_effort(incumbent: MappingIncumbent, portfolio: Portfolio, request: Request) -> float:
    """Return how much effort a long search has time for, infinity where no limit ends a solve by itself.

    A limit beside an effort leaves rounds as they are, as it may be no limit at all.
    """
    left_s, name = incumbent.stop.left_s, portfolio.long
    last = next((stage for stage in reversed(incumbent.stages) if stage.name == name), None)
    if request.effort is not None or left_s is None or last is None:
        return math.inf
    return left_s * int(str(last.detail["effort"])) / max(last.seconds, 1e-3)


def _run_round(incumbent: MappingIncumbent, portfolio: Portfolio, this_round: Round, executor: Executor | None) -> None:
    """Run what a portfolio consists of, each from the best mapping so far."""
    for name, search in portfolio.searches:
        if not incumbent.ended:
            run_search(incumbent, name, search, this_round, executor)
    if (portfolio.whole or portfolio.windows) and not incumbent.ended:
        with incumbent.loading():
            load("annealing")
    if portfolio.whole and not incumbent.ended:
        sample_whole(incumbent, portfolio.whole, this_round)
    if portfolio.windows and not incumbent.ended and (not portfolio.searches or incumbent.has_gained("windows")):
        if portfolio.windows.construct and portfolio.windows.params.starts:
            with incumbent.loading():
                load("bisection")
        sample_windows(incumbent, portfolio.windows, this_round)


def _raise_bound_by_effort(incumbent: MappingIncumbent, efforts: range) -> None:
    """Raise the lower bound on the cost by what is worth its time before the first round of one of the efforts or more.

    A round that is planned by the time left may have any effort, and passes some that a bound is due at.
    """
    problem = incumbent.problem
    due = [limits for effort, limits in STRONG_BOUND_PAIRS.items() if effort in efforts]
    pairs = len(problem.free) * problem.topology.size
    if any(over < pairs <= most for over, most in due) and not incumbent.ended:
        _raise_bound(
            incumbent,
            lambda: strong_bound(problem, incumbent.places, iterations=STRONG_BOUND_ITERATIONS, stop=incumbent.stop),
        )
    if SPREAD_BOUND_EFFORT in efforts:
        _raise_by_spread_bound(incumbent, SPREAD_BOUND_WORK)


def _raise_by_spread_bound(incumbent: MappingIncumbent, work: int) -> None:
    """Raise the lower bound of tasks that share nodes, in at most half of the time left, unless little of it is."""
    left_s, spent_s = incumbent.stop.left_s, sum(stage.seconds for stage in incumbent.stages)
    if incumbent.ended or incumbent.problem.groups or (left_s is not None and left_s <= spent_s / 2):
        return
    with incumbent.loading():
        load_bounds()
    half = Deadline(None if left_s is None else time.monotonic() + left_s / 2)
    _raise_bound(incumbent, lambda: spread_bound(incumbent.problem, work, half))


def _raise_bound(incumbent: MappingIncumbent, bound: Callable[[], float]) -> None:
    """Take another lower bound on the cost if it is higher, as a stage."""
    with incumbent.stage("bound") as detail:
        incumbent.bound = max(incumbent.bound or 0.0, min(bound(), incumbent.cost))
        detail["lower_bound"] = incumbent.bound


def _search_objective(by_objective: MappingIncumbent, request: Request, objective: ObjectiveFunction) -> None:
    """Look for a low value of another objective: by reweighted costs for the request's solver, then by annealing."""
    if request.solver == "identity":
        return

    def solve_again(problem: Problem, start: IntArray, this_round: Round) -> IntArray:
        """Return the cheapest mapping that a round of the solver finds in a quarter of the time left."""
        left_s = by_objective.stop.left_s
        stop = Deadline(None if left_s is None else time.monotonic() + left_s / 4)
        incumbent = MappingIncumbent(problem=problem, solution=start, stop=stop)
        with incumbent.loading():
            portfolio = portfolio_of(request, problem)
        _run_round(incumbent, portfolio, this_round._replace(number=0, anew=True), request.executor)
        by_objective.put_off(incumbent.loading_s)
        return incumbent.places

    _offer_cyclic(by_objective, request, cyclic_order(by_objective.problem))
    arrays = objective.arrays()
    for this_round in rounds(request):
        before = len(by_objective.stages)
        if not by_objective.ended:
            reweigh(by_objective, objective, solve_again, this_round)
        if arrays is not None:
            _run_searches(by_objective, arrays, this_round, request.executor)
        if by_objective.ended or len(by_objective.stages) == before:
            break


def _run_searches(
    by_objective: MappingIncumbent, arrays: ObjectiveArrays, this_round: Round, executor: Executor | None
) -> None:
    """Run the searches for an objective itself, each from the best mapping so far."""
    ring, first = isinstance(arrays, RingHops), this_round.number == 0
    kernels = "multicast" if isinstance(arrays, NetArrays) else "ring" if ring else "objective"
    with by_objective.loading():
        searches = registry.objective_searches(arrays, by_objective.problem, first=first)
    for name, search in searches:
        # The sum of a ring's hops counts second: it is lowered once where the slowest hop is proved before.
        if (ring and first and not by_objective.stop()) or not by_objective.ended:
            with by_objective.loading():
                load(kernels)
            search_directly(by_objective, name, search, this_round, executor)


def _warn_of_time(incumbent: MappingIncumbent, request: Request) -> None:
    """Warn where seconds, or an interruption that was asked for, ended a solve."""
    if incumbent.stop() and not incumbent.optimal:
        why = "as asked" if ENDING.is_set() else f"by the time limit of {request.time_limit_s:g} s"
        incumbent.warnings[f"ended {why}: the same seed may end elsewhere"] = None


def _remark(report: Report, request: Request) -> list[str]:
    """Say where the search gained nothing, and where options had no effect."""
    remarks, made = [], report.comparison
    if made and made.value >= made.baseline and not report.optimal and request.solver != "identity":
        remarks.append(f"nothing beat the {made.order} order: give it more effort or time, or another solver")
    if request.ising != IsingParams() and not any(stage.name in SAMPLED for stage in report.stages):
        remarks.append("no QUBO was sampled, so that penalties, temperatures and encoding were of no consequence")
    if request.islands > 1 and not any(ISLANDS in stage.detail for stage in report.stages):
        remarks.append("no search ran that has a seed, so that islands were of no consequence")
    return remarks
