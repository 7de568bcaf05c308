"""Solve a mapping problem: the one place where all parts are wired together.

A request becomes a baseline and a lower bound, and then rounds, each of which may improve the incumbent. A round runs
what the solver's portfolio holds: searches on the problem itself, the QUBO of the whole problem, and the QUBOs of the
windows that it is partitioned into, each encoded, sampled with tuned penalties, decoded, repaired, polished and
stitched into the mapping. Where another objective than the cost is asked for, rounds towards that follow from the
cheapest mapping found. The report recomputes every cost from the mapping.
"""

import time
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from tiger.feasibility.start import launch_order
from tiger.mapping.bounding import raise_first_bound
from tiger.mapping.contiguous import check_contiguity, list_contiguous, search_contiguous
from tiger.mapping.exchange.sample_folder import SampleFolder
from tiger.mapping.options import SolveArguments, SolveCall
from tiger.mapping.part_search import PartSearch
from tiger.mapping.previous import Anew, homes_of, improve_kept, list_moves, place_anew, price_moves
from tiger.mapping.remarks import remark, warn_of_time
from tiger.mapping.request import Request
from tiger.mapping.rounds import search_cost, search_objective
from tiger.mapping.start import home_of
from tiger.model.arrays import IntArray
from tiger.model.options import from_fields, narrow
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.objectives.multipath import check_routing, load_links
from tiger.objectives.selection import ObjectiveFunction, bounds_by_pairs, objective_of, resolve_objective
from tiger.qubo.params import IsingParams
from tiger.run.answers import Answers
from tiger.run.baselines import Orders, baselines, cyclic_order
from tiger.run.incumbent import Watch
from tiger.run.mapping import MappingIncumbent
from tiger.run.node_choice import take_nodes
from tiger.run.objective_search import continue_by, report_objective
from tiger.run.parallel.executors import open_executor
from tiger.run.progress import ignore
from tiger.run.report import Origin, Report


@from_fields(SolveCall)
def solve(call: SolveCall) -> Report:
    """Map the tasks of a problem onto its nodes at low cost.

    An unsatisfiable problem gives a report that says so; bad values raise InputError, also an objective that the
    problem does not have. The same seed, effort and islands give the same answer, on any number of threads.

    - `solver` is a name (`tiger.solvers.registry.list_solvers`) or any Ocean sampler object.
    - `objective` is what is minimized: `cost`, `max-link-load` (tiger.objectives.link_load), `makespan`
      (tiger.objectives.makespan), `ring` (tiger.objectives.ring) or `multicast` (tiger.objectives.multicast), which
      follow a search for a low cost; of tasks with hyperedges the cost is that of their multicasts.
    - `routing` is how the report counts the loads of links: on `single` paths, or split over `equal` or `weighted` ones
      (tiger.objectives.multipath).
    - `nodes` is how many of the nodes are taken (tiger.run.node_choice), whose bound and baselines are then reported.
    - `threshold` in [0, 1): the verdict is to keep a simple order that the mapping gains less on than this part of its
      value.
    - `contiguous_hosts` keeps the ranks of every host consecutive (tiger.mapping.contiguous), which the report sets
      beside the mapping without that rule, for the objective `cost` alone.
    - `seed` is in [0, 2**63).
    - `effort` >= 1 counts iterations; None is 1 without a time limit and as much as fits with one.
    - `islands` search side by side, each with the whole effort and a seed of its own, and exchange their best mappings
      after every round: for an executor with as many workers, and for the solvers auto, search and random alone.
    - `time_limit_s` > 0 only ends a solve early.
    - `executor` runs independent parts of the work, `dask://HOST:PORT` on a Dask cluster.
    - `ising` sets penalties, temperatures and sizes of the QUBOs that are sampled; `auto` keeps its own sizes.
    - `progress` is called as stages begin.
    """
    return solve_problem(call.problem, call, call.progress)


def solve_problem(
    problem: Problem, arguments: SolveArguments, progress: Watch | None = None, answers: Answers | None = None
) -> Report:
    """Map the tasks of a problem as `solve` does, whose arguments are given as one value.

    `answers` are those of the sampler to what the same use has asked before.
    """
    with open_executor(arguments.executor) as pool:
        request = check_request(problem, arguments, pool, answers)
        if request.ising.samples is not None and not request.ising.dry_run:
            request = replace(request, folder=SampleFolder.make(Path(request.ising.samples), problem))
        return _answer(problem, request, progress or ignore)


def check_request(
    problem: Problem, arguments: SolveArguments, pool: Executor | None = None, answers: Answers | None = None
) -> Request:
    """Return what is asked of a solve; raise InputError or TypeError as that does before it begins."""
    request = narrow(
        Request,
        arguments,
        objective=resolve_objective(arguments.objective, problem),
        executor=pool,
        ising=IsingParams() if arguments.ising is None else arguments.ising,
        answers=Answers.of(arguments.solver) if answers is None else answers,
        folder=None,
        home=home_of(problem, arguments),
        homes=homes_of(problem, arguments),
    )
    request.check_sampling()
    check_contiguity(problem, request)
    check_routing(problem, request.routing)
    return request


def _answer(problem: Problem, request: Request, watch: Watch) -> Report:
    """Answer a request: baseline, bound, rounds of search, another objective where one is asked for, report."""
    begun, loading_s = time.perf_counter(), 0.0
    if request.nodes is not None:
        taken, loading_s = _choose_nodes(problem, request.nodes, request)
        if isinstance(taken, tuple):
            return Report.unmet(problem, taken, _origin(request, time.perf_counter() - begun))
        problem = taken
    chosen = time.perf_counter()
    objective = objective_of(request.objective, problem, request.routing)
    order = launch_order(problem, request.deadline(loading_s).left_s)
    block = None if isinstance(order, tuple) else order
    start, anew = _find_start(problem, request, order, request.deadline(loading_s).left_s)
    if isinstance(start, tuple):
        return Report.unmet(problem, start, _origin(request, time.perf_counter() - begun))
    incumbent = _begin(problem, request, start, watch)
    incumbent.put_off(loading_s)
    if request.nodes is not None:
        incumbent.record("nodes", chosen - begun - loading_s, {"taken": request.nodes})
    orders = Orders(block=block, cyclic=cyclic_order(problem), start=request.home)
    _offer_orders(incumbent, request, orders)
    incumbent.record("baseline", time.perf_counter() - chosen, {})
    raise_first_bound(incumbent, start)
    if anew is not None:
        _place_moved(incumbent, request, anew)
    if not incumbent.ended:
        search_cost(incumbent, request, anew)
    warn_of_time(incumbent, request)
    by_objective = incumbent if objective is None else _search_other(incumbent, request, objective, orders, start)
    if request.contiguous_hosts:
        orders = list_contiguous(problem, orders)
        together = search_contiguous(incumbent, request, orders)
        if isinstance(together, tuple):
            return Report.unmet(problem, together, _origin(request, time.perf_counter() - begun))
        by_objective = together
    # What the search has no use for comes after it, so that a time limit leaves it more.
    simple = baselines(problem, orders)
    before = None if block is None else load_links(problem, block, request.routing)
    report = replace(
        Report.of(
            problem,
            by_objective.places,
            _origin(request, time.perf_counter() - begun - by_objective.loading_s),
            request.routing,
            before,
        ),
        baseline_cost=simple.block,
        baselines=simple,
        max_moves=request.max_moves,
        moved=_count_moves(request, by_objective.places),
        moves=() if anew is None else list_moves(problem, anew, by_objective.places),
        move_cost=request.move_cost,
        threshold=request.threshold,
        free_cost=min(incumbent.cost, by_objective.cost) if request.contiguous_hosts else None,
        objective=None if objective is None else report_objective(request.objective, objective, by_objective, orders),
        lower_bound=_bound_cost(incumbent, by_objective) if incumbent.bounded else None,
        optimal=by_objective.optimal,
        stages=tuple(incumbent.stages),
        sampling=request.answers.report(request.solver, estimated=request.ising.dry_run),
    )
    return replace(report, warnings=(*report.warnings, *incumbent.warnings, *remark(report, request)))


def _find_start(
    problem: Problem, request: Request, order: IntArray | tuple[Violation, ...], left_s: float | None
) -> tuple[IntArray | tuple[Violation, ...], Anew | None]:
    """Return the mapping that a search begins with, or why there is none, and what had to change of the one in use."""
    if request.homes is not None:
        found = place_anew(problem, request.homes, left_s)
        return (found.places, found) if isinstance(found, Anew) else (found, None)
    # A mapping that is given is there also where the search for any gave up.
    return order if request.home is None else request.home, None


def _begin(problem: Problem, request: Request, start: IntArray, watch: Watch) -> MappingIncumbent:
    """Return the incumbent of a search for a low cost that begins with a mapping `start[n]`."""
    homes, price = request.homes, request.move_cost
    return MappingIncumbent(
        problem=problem,
        solution=start,
        stop=request.cost_deadline,
        watch=watch,
        measure=price_moves(problem, homes, price) if homes is not None and price else None,
        bounded=bounds_by_pairs(request.objective),
    )


def _count_moves(request: Request, places: IntArray) -> int | None:
    """Return how many tasks are at other nodes than in the mapping given, None without one."""
    if request.homes is not None:
        return request.homes.count_left(places)
    return None if request.home is None else int((places != request.home).sum())


def _place_moved(incumbent: MappingIncumbent, request: Request, anew: Anew) -> None:
    """Offer cheap places for the tasks that have to move, with all others where they are in a mapping."""
    search, begun = PartSearch(request), time.perf_counter()
    incumbent.offer(improve_kept(incumbent.problem, anew, search))
    incumbent.put_off(search.loading_s)
    if not anew.fewest:
        incumbent.warnings["fewer tasks may have to move than did: that was not decided"] = None
    incumbent.record("moved", time.perf_counter() - begun - search.loading_s, {"moves": anew.moves})


def _search_other(
    incumbent: MappingIncumbent, request: Request, objective: ObjectiveFunction, orders: Orders, start: IntArray
) -> MappingIncumbent:
    """Return what a search for another objective finds, from the cheapest mapping or `start[n]` on."""
    by_objective = continue_by(objective, incumbent, start, request.deadline(incumbent.loading_s))
    if request.solver != "identity":
        _offer_orders(by_objective, request, orders)
        search_objective(by_objective, request, objective)
    warn_of_time(by_objective, request)
    return by_objective


def _bound_cost(incumbent: MappingIncumbent, by_objective: MappingIncumbent) -> float:
    """Return the lower bound on the cost that a report has.

    A cost that is proved is its own bound, below which that of another mapping may be within rounding.
    """
    return min(incumbent.cost if incumbent.optimal else incumbent.bound or 0.0, by_objective.cost)


def _origin(request: Request, seconds: float) -> Origin:
    """Return where a report comes from that took so many seconds."""
    return Origin(request.name, request.seed, seconds, request.islands)


def _offer_orders(incumbent: MappingIncumbent, request: Request, orders: Orders) -> None:
    """Offer the orders of launchers, so that none is better than what comes out, unless one mapping is asked for.

    That is the case of the solver `identity`, and where few tasks may leave the mapping that they are in.
    """
    if request.solver != "identity" and request.max_moves is None and request.homes is None:
        for order in (orders.block, orders.cyclic):
            if order is not None:
                incumbent.offer(order)


def _choose_nodes(problem: Problem, count: int, request: Request) -> tuple[Problem | tuple[Violation, ...], float]:
    """Return the problem on so many of its nodes, and the seconds for which kernels were loaded to choose them."""
    search = PartSearch(request)
    return take_nodes(problem, count, search), search.loading_s
