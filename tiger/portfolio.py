"""Which stages a solver consists of, and how the effort is dealt out to them."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

from tiger.ising import IsingParams, Sampling
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Search
from tiger.model.seeds import derived
from tiger.request import EFFORT_LIMIT, Request
from tiger.run import Deadline, Run
from tiger.sampling import ising_of
from tiger.solvers import registry

Step = Callable[[Run, int, int], None]
EXACT_TASKS = 24
EXACT_CELLS = 2_000_000
SPLIT = ("search", "random")
SETTLED = ("identity", "greedy")


def budgets(request: Request) -> Iterator[tuple[int, int]]:
    """Yield (effort, seed) rounds of 1, 1, 2, 4, .. that add up to the effort asked for, or to the most there is."""
    effort = request.effort or (1 if request.time_limit_s is None else EFFORT_LIMIT - 1)
    spent = 0
    for number in count():
        amount = min(max(spent, 1), effort - spent)
        if not amount:
            return
        yield amount, derived(request.seed, number)
        spent += amount


def plan(request: Request, problem: Problem) -> tuple[Step, ...]:
    """Return the stages of a request's solver in the order in which a round runs them."""
    if request.solver == "auto":
        return _auto(request, problem)
    if isinstance(request.solver, str) and registry.kind_of(request.solver) == "search":
        step = partial(_searched, request, request.solver, registry.search(request.solver))
        return (partial(_first, step) if request.solver in SETTLED else step,)
    sampler = registry.sampler(request.solver) if isinstance(request.solver, str) else request.solver
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
    steps: list[Step] = [partial(_first, partial(_searched, request, "greedy", registry.search("greedy")))]
    if 0 < tasks <= EXACT_TASKS:
        exact = registry.exact(visits=max(EXACT_CELLS // (tasks * nodes), 1))
        steps.append(partial(_searched, request, "exact", exact))
    steps.append(partial(_searched, request, "search", registry.search("search")))
    steps.append(ising_of(registry.sampler("neal"), problem, few, request.executor).solve_windows)
    return tuple(steps)


def _first(step: Step, run: Run, effort: int, seed: int) -> None:
    """Run a step in the first round only, as more effort does not change it."""
    if len(run.stages) <= 2:
        step(run, effort, seed)


def _searched(request: Request, name: str, search: Search, run: Run, effort: int, seed: int) -> None:
    """Run a search as a stage; one that starts anew is split in two, so that two threads can share the work."""
    with run.stage(name) as detail:
        detail["effort"] = effort
        efforts = [effort - effort // 2, effort // 2] if name in SPLIT and effort > 1 else [effort]
        seeds = [derived(seed, part) for part in range(len(efforts))]
        task = partial(_search_once, search, run.problem, run.places, run.deadline)
        answers = (request.executor.map if request.executor else map)(task, efforts, seeds)
        for answer in answers:
            run.offer(answer.places)
            run.proved |= answer.proved


def _search_once(
    search: Search, problem: Problem, places: IntArray, deadline: Deadline, effort: int, seed: int
) -> Assignment:
    """Run a search once; a plain function, so that it can be sent to another process."""
    return search.search(problem, places, effort=effort, seed=seed, stop=deadline)
