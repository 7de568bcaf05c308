"""Which stages a solver consists of, and how the effort is dealt out to them."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Search
from tiger.model.seeds import derive
from tiger.qubo.ising import IsingParams, Sampling
from tiger.request import Request
from tiger.run.deadline import Deadline
from tiger.run.limits import EFFORT_LIMIT
from tiger.run.mapping import MappingIncumbent
from tiger.sampler_policy import ising_of
from tiger.solvers import registry
from tiger.solvers.warm import load

Step = Callable[[MappingIncumbent, int, int], None]
EXACT_TASKS = 24
EXACT_CELLS = 2_000_000
WINDOWED = 1 << 12
SPLIT = ("dense", "annealing", "multilevel", "random")
LATER, FRESH = ("refinement",), ("multilevel",)
SETTLED = ("identity", "greedy", "geometry", "bisection")


def budgets(request: Request) -> Iterator[tuple[int, int]]:
    """Yield (effort, seed) rounds of 1, 1, 2, 4, .. that add up to the effort asked for, or to the most there is."""
    effort = request.effort or (1 if request.time_limit_s is None else EFFORT_LIMIT - 1)
    spent = 0
    for number in count():
        amount = min(max(spent, 1), effort - spent)
        if not amount:
            return
        yield amount, derive(request.seed, number)
        spent += amount


def plan(request: Request, problem: Problem) -> tuple[Step, ...]:
    """Return the stages of a request's solver in the order in which a round runs them, their kernels loaded."""
    if request.solver == "auto":
        return _auto(request, problem)
    if request.solver == "search":
        return _native(request, problem)
    if isinstance(request.solver, str) and registry.kind_of(request.solver) == "search":
        return (_step(request, request.solver, registry.search(request.solver)),)
    sampler = registry.sampler(request.solver) if isinstance(request.solver, str) else request.solver
    load("annealing")
    ising = ising_of(sampler, problem, request.ising, request.executor)
    return ising.solve_whole, ising.solve_windows


def _auto(request: Request, problem: Problem) -> tuple[Step, ...]:
    """Return greedy, exact search where tiny, native search, and tuned windows for at most a quarter of the work."""
    tasks, nodes = len(problem.free), len(problem.topology.hosts)
    few = IsingParams(
        window=Sampling(rounds=1, reads=4, sweeps=100),
        passes=1,
        windows=max(tasks // (64 if problem.rule == "levels" else 16), 1),
        starts=0,
        penalty_scale=request.ising.penalty_scale,
        beta_range=request.ising.beta_range,
        capacity=request.ising.capacity,
    )
    steps = [_step(request, "greedy", registry.search("greedy"))]
    if 0 < tasks <= EXACT_TASKS:
        exact = registry.exact(visits=max(EXACT_CELLS // (tasks * nodes), 1))
        steps.append(_step(request, "exact", exact))
    steps += _native(request, problem)
    if tasks * nodes <= WINDOWED:
        load("annealing")
        ising = ising_of(registry.sampler("neal"), problem, few, request.executor)
        steps.append(partial(_while_it_gains, "windows", ising.solve_windows))
    return tuple(steps)


def _native(request: Request, problem: Problem) -> tuple[Step, ...]:
    """Return the searches on the problem itself that suit it."""
    if problem.tasks.memory is not None or len(problem.banned):
        load("repair")
    return tuple(_step(request, name, search) for name, search in registry.native_searches(problem))


def _step(request: Request, name: str, search: Search) -> Step:
    """Return the step that runs a search, once where more effort does not change it."""
    load(name)
    step = partial(_search, request, name, search)
    if name in LATER:
        return partial(_run_later, step)
    return partial(_run_once, name, step) if name in SETTLED else step


def _run_once(name: str, step: Step, run: MappingIncumbent, effort: int, seed: int) -> None:
    """Run a step that has not been run."""
    if all(stage.name != name for stage in run.stages):
        step(run, effort, seed)


def _run_later(step: Step, run: MappingIncumbent, effort: int, seed: int) -> None:
    """Run a step from the second round on, when there is a good mapping to go on from."""
    if any(stage.name in FRESH for stage in run.stages):
        step(run, effort, seed)


def _while_it_gains(name: str, step: Step, run: MappingIncumbent, effort: int, seed: int) -> None:
    """Run a step in the first round, and again as long as it lowers the cost."""
    if run.gained(name):
        step(run, effort, seed)


def _search(request: Request, name: str, search: Search, run: MappingIncumbent, effort: int, seed: int) -> None:
    """Run a search as a stage; one that starts anew is split in two, so that two threads can share the work.

    What it leaves for its next round is handed to it then.
    """
    with run.stage(name) as detail:
        detail["effort"] = effort
        search = registry.resume(search, run.elites.get(name))
        efforts = [effort - effort // 2, effort // 2] if name in SPLIT and effort > 1 else [effort]
        seeds = [derive(seed, part) for part in range(len(efforts))]
        task = partial(_search_once, search, run.problem, run.places, run.stop)
        answers = list((request.executor.map if request.executor else map)(task, efforts, seeds))
        for answer in answers:
            run.offer(answer.places)
            run.proved |= answer.proved
        if kept := [answer.elites for answer in answers if answer.elites is not None]:
            run.elites[name] = np.concatenate(kept)


def _search_once(
    search: Search, problem: Problem, places: IntArray, deadline: Deadline, effort: int, seed: int
) -> Assignment:
    """Run a search once; a plain function, so that it can be sent to another process."""
    return search.search(problem, places, effort=effort, seed=seed, stop=deadline)
