"""Solve a mapping problem: the one place where all parts are wired together.

Request -> problem -> baseline and lower bound -> stages, each of which may improve the incumbent -> report.
"""

import time
from concurrent.futures import Executor

from dimod.core.sampler import Sampler

from tiger.bounds import lower_bound
from tiger.executors import opened
from tiger.feasibility import launch_order
from tiger.model.problem import Problem
from tiger.objective import Violation, cost_of, metrics
from tiger.portfolio import budgets, plan
from tiger.progress import Progress
from tiger.report import Report
from tiger.request import Request
from tiger.run import Deadline, Run, Watch


def solve(
    problem: Problem,
    *,
    solver: str | Sampler = "auto",
    seed: int = 0,
    effort: int | None = None,
    time_limit_s: float | None = None,
    executor: Executor | str | None = None,
    progress: Watch | None = None,
) -> Report:
    """Map the tasks of a problem onto its nodes at low cost.

    `solver` is a name (`tiger.solvers.registry.available`) or any Ocean sampler object. `seed` is in [0, 2**63): the
    same seed and effort give the same answer, on any number of threads. `effort` >= 1 counts iterations, None is 1
    without a time limit and as much as fits with one. `time_limit_s` > 0 only ends a solve early. `executor` runs
    independent parts of the work, `dask://HOST:PORT` on a Dask cluster, and `progress` is called as stages begin. An
    unsatisfiable problem gives a report that says so; bad values raise InputError.
    """
    with opened(executor) as lent:
        request = Request(solver=solver, seed=seed, effort=effort, time_limit_s=time_limit_s, executor=lent)
        return _solved(problem, request, progress or _ignore)


def _solved(problem: Problem, request: Request, watch: Watch) -> Report:
    """Answer a request."""
    begun = time.perf_counter()
    start = launch_order(problem)
    if isinstance(start, tuple):
        return _infeasible(problem, request, start, time.perf_counter() - begun)
    run = Run(problem=problem, places=start, deadline=Deadline(request.deadline_s), watch=watch)
    run.record("baseline", time.perf_counter() - begun, {})
    baseline = run.cost
    with run.stage("bound") as detail:
        run.bound = min(lower_bound(problem, start), run.cost)
        detail["lower_bound"] = run.bound
    steps = () if run.ended else plan(request, problem)
    for amount, round_seed in budgets(request):
        known = len(run.stages)
        for step in steps:
            if not run.ended:
                step(run, amount, round_seed)
        if run.ended or len(run.stages) == known:
            break
    return _report(run, request, baseline, time.perf_counter() - begun)


def _report(run: Run, request: Request, baseline: float, seconds: float) -> Report:
    """Report the incumbent, its cost recomputed from the mapping."""
    cost = cost_of(run.problem, run.places)
    return Report(
        mapping=run.problem.mapping(run.places),
        cost=cost.total,
        compute_cost=cost.compute,
        communication_cost=cost.communication,
        baseline_cost=baseline,
        lower_bound=cost.total if run.optimal else run.bound,
        optimal=run.optimal,
        feasible=True,
        violations=(),
        solver=request.name,
        rule=run.problem.rule,
        seed=request.seed,
        stages=tuple(run.stages),
        seconds=seconds,
        metrics=metrics(run.problem, run.places),
        warnings=(*run.warnings, *_remarks(run, request, baseline)),
    )


def _remarks(run: Run, request: Request, baseline: float) -> list[str]:
    """Say where seconds ended the search, so that it cannot be repeated, and where it gained nothing."""
    remarks = []
    if run.deadline() and not run.optimal:
        remarks.append(f"ended by the time limit of {request.time_limit_s:g} s: the same seed may end elsewhere")
    if run.cost >= baseline and not run.optimal and request.solver != "identity":
        remarks.append("nothing beat the launch order: give it more effort or time, or another solver")
    return remarks


def _infeasible(problem: Problem, request: Request, reasons: tuple[Violation, ...], seconds: float) -> Report:
    """Report what cannot be met."""
    return Report(
        mapping={},
        cost=None,
        compute_cost=None,
        communication_cost=None,
        baseline_cost=None,
        lower_bound=None,
        optimal=False,
        feasible=False,
        violations=reasons,
        solver=request.name,
        rule=problem.rule,
        seed=request.seed,
        stages=(),
        seconds=seconds,
        metrics={},
    )


def _ignore(progress: Progress) -> None:
    """Drop a progress message."""
