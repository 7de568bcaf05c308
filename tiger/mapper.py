"""Solve a mapping problem: the one place where all parts are wired together.

Request -> problem -> baseline and lower bound -> stages, each of which may improve the incumbent -> report. Where
another objective than the cost is asked for, stages towards that follow, from the cheapest mapping found.
"""

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

from dimod.core.sampler import Sampler

from tiger.bounds import warm as bounds
from tiger.bounds.lower_bound import quick_bound, spread_bound, strong_bound
from tiger.feasibility.start import launch_order
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.objectives.selection import Aim, ObjectiveName, aim_of
from tiger.parallel.executors import open_executor
from tiger.portfolio import Step, budgets, plan
from tiger.qubo.ising import IsingParams
from tiger.request import Request
from tiger.run.baselines import baselines
from tiger.run.deadline import ENDING, Deadline
from tiger.run.incumbent import Watch
from tiger.run.mapping import MappingIncumbent
from tiger.run.objective_search import anneal, continue_run, outcome, reweigh
from tiger.run.progress import ignore
from tiger.run.report import Origin, Report
from tiger.solvers import registry
from tiger.solvers.warm import load

SAMPLED = ("qubo", "windows")

# Up to so many task-node pairs the bound is sharpened, in the round of so much effort.
SHARPEN, SHARPEN_ITERATIONS = {4: (0, 256), 64: (256, 1024)}, 16
# Tasks that share nodes get a bound after the first round, which took 3 to 56 % as long as the rest of it on the sparse
# benchmark, and one of so many times the work before the round of effort 4 (efforts of 8 and more).
SPREAD_ROUND, SPREAD_EFFORT = 4, 4


def solve(
    problem: Problem,
    *,
    solver: str | Sampler = "auto",
    objective: ObjectiveName = "cost",
    seed: int = 0,
    effort: int | None = None,
    time_limit_s: float | None = None,
    executor: Executor | str | None = None,
    ising: IsingParams | None = None,
    progress: Watch | None = None,
) -> Report:
    """Map the tasks of a problem onto its nodes at low cost.

    `solver` is a name (`tiger.solvers.registry.list_solvers`) or any Ocean sampler object. `objective` is what is made
    small: `cost`, `max-link-load` (tiger.objectives.link_load) or `makespan` (tiger.objectives.makespan), which follow
    a search for a low cost. `seed` is in [0, 2**63): the same seed and effort give the same answer, on any number of
    threads. `effort` >= 1 counts iterations, None is 1 without a time limit and as much as fits with one.
    `time_limit_s` > 0 only ends a solve early. `executor` runs independent parts of the work, `dask://HOST:PORT` on a
    Dask cluster. `ising` sets penalties, temperatures and sizes of the QUBOs that are sampled; `auto` keeps its own
    sizes. `progress` is called as stages begin. An unsatisfiable problem gives a report that says so; bad values raise
    InputError, also an objective that the problem does not have.
    """
    with open_executor(executor) as lent:
        request = Request(
            solver=solver,
            objective=objective,
            seed=seed,
            effort=effort,
            time_limit_s=time_limit_s,
            executor=lent,
            ising=IsingParams() if ising is None else ising,
        )
        return _answer(problem, request, progress or ignore)


def _answer(problem: Problem, request: Request, watch: Watch) -> Report:
    """Answer a request."""
    aim = aim_of(request.objective, problem)
    begun = time.perf_counter()
    left_s = None if request.deadline_s is None else request.deadline_s - time.monotonic()
    start = launch_order(problem, left_s)
    if isinstance(start, tuple):
        return Report.unmet(problem, start, Origin(request.name, request.seed, time.perf_counter() - begun))
    run = MappingIncumbent(problem=problem, solution=start, stop=Deadline(request.cost_deadline_s), watch=watch)
    simple = baselines(problem, run.cost)
    run.record("baseline", time.perf_counter() - begun, {})
    with run.stage("bound") as detail:
        run.bound = min(quick_bound(problem, start), run.cost)
        detail["lower_bound"] = run.bound
    steps, loading_s = ((), 0.0) if run.ended and aim is None else _plan_steps(request, problem)
    # Loading kernels, or compiling them once, is the start of the program and no part of a solve.
    begun, request = begun + loading_s, request.later(loading_s)
    run.stop = Deadline(request.cost_deadline_s)
    _improve(run, request, steps)
    goal = run
    if aim is not None:
        goal = continue_run(run, aim, start, Deadline(request.deadline_s))
        _improve(goal, request, () if goal.ended else _objective_stages(request, aim))
    report = replace(
        _report(run, goal, request, time.perf_counter() - begun),
        baseline_cost=simple.block,
        baselines=simple,
        objective=None if aim is None else outcome(request.objective, aim, goal, start),
    )
    return replace(report, warnings=(*report.warnings, *_remark(report, request)))


def _plan_steps(request: Request, problem: Problem) -> tuple[tuple[Step, ...], float]:
    """Return the steps of a solver and the seconds that loading them took."""
    begun = time.perf_counter()
    if request.objective != "cost":
        load("objective")
    if not problem.groups:
        bounds.load()
    return plan(request, problem), time.perf_counter() - begun


def _improve(run: MappingIncumbent, request: Request, steps: tuple[Step, ...]) -> None:
    """Run the steps, round by round, until the effort is spent or the time, or nothing better exists."""
    amounts = set[int]()
    for number, (amount, round_seed) in enumerate(budgets(request)):
        known = len(run.stages)
        if amount not in amounts and run.measure is None:
            amounts.add(amount)
            _sharpen(run, amount)
        for step in steps:
            if not run.ended:
                step(run, amount, round_seed)
        if not number:
            _spread(run, 1)
        if run.ended or len(run.stages) == known:
            break
    if run.stop() and not run.optimal:
        why = "as asked" if ENDING.is_set() else f"by the time limit of {request.time_limit_s:g} s"
        run.warnings[f"ended {why}: the same seed may end elsewhere"] = None


def _sharpen(run: MappingIncumbent, amount: int) -> None:
    """Raise the lower bound on the cost by what is worth its time once effort is being spent."""
    over, most = SHARPEN.get(amount, (0, 0))
    if over < len(run.problem.free) * run.problem.topology.size <= most and not run.ended:
        _raise(run, partial(strong_bound, run.problem, run.places, iterations=SHARPEN_ITERATIONS, stop=run.stop))
    if amount == SPREAD_ROUND:
        _spread(run, SPREAD_EFFORT)


def _spread(run: MappingIncumbent, effort: int) -> None:
    """Raise the lower bound of tasks that share nodes, in at most half of the time left, unless little of it is."""
    left_s, spent_s = run.stop.left_s, sum(stage.seconds for stage in run.stages)
    if not (run.ended or run.measure or run.problem.groups) and (left_s is None or left_s > spent_s / 2):
        half = Deadline(None if left_s is None else time.monotonic() + left_s / 2)
        _raise(run, partial(spread_bound, run.problem, effort, half))


def _raise(run: MappingIncumbent, bound: Callable[[], float]) -> None:
    """Take another lower bound on the cost if it is higher, as a stage."""
    with run.stage("bound") as detail:
        run.bound = max(run.bound or 0.0, min(bound(), run.cost))
        detail["lower_bound"] = run.bound


def _objective_stages(request: Request, aim: Aim) -> tuple[Step, ...]:
    """Return the stages that lead to an objective: reweighted costs for the request's solver, then annealing."""
    if request.solver == "identity":
        return ()
    reweighted, ways = partial(reweigh, aim, partial(_solve_again, request)), aim.ways()
    return (reweighted,) if ways is None else (reweighted, partial(anneal, registry.objective_search(ways)))


def _solve_again(request: Request, problem: Problem, start: IntArray, effort: int, seed: int) -> IntArray:
    """Return the cheapest mapping that a round of the solver finds for a problem in a quarter of the time left."""
    end_s = None if request.deadline_s is None else (3 * time.monotonic() + request.deadline_s) / 4
    run = MappingIncumbent(problem=problem, solution=start, stop=Deadline(end_s))
    for step in plan(request, problem):
        if not run.ended:
            step(run, effort, seed)
    return run.places


def _report(run: MappingIncumbent, goal: MappingIncumbent, request: Request, seconds: float) -> Report:
    """Report the incumbent of the goal, its cost and value recomputed from the mapping."""
    report = Report.of(run.problem, goal.places, Origin(request.name, request.seed, seconds))
    return replace(
        report,
        lower_bound=run.cost if run.optimal else run.bound,
        optimal=goal.optimal,
        stages=tuple(run.stages),
        warnings=(*report.warnings, *run.warnings),
    )


def _remark(report: Report, request: Request) -> list[str]:
    """Say where the search gained nothing, and where options had no effect."""
    remarks, made = [], report.comparison
    if made and made.value >= made.baseline and not report.optimal and request.solver != "identity":
        remarks.append(f"nothing beat the {made.order} order: give it more effort or time, or another solver")
    if request.ising != IsingParams() and not any(stage.name in SAMPLED for stage in report.stages):
        remarks.append("no QUBO was sampled, so that penalties, temperatures and encoding were of no consequence")
    return remarks
