"""Which stages a solver consists of, and how the effort is dealt out to them."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from itertools import count

import dimod
from dimod.core.sampler import Sampler

from tiger.ising import Ising, IsingParams, Sampling
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Partitioner, Samples, Search, Stop
from tiger.model.seeds import derived
from tiger.model.window import Window
from tiger.partition.bisection import bisected
from tiger.partition.levels import LevelWindows
from tiger.partition.windows import TaskWindows
from tiger.penalties import Penalties
from tiger.request import EFFORT_LIMIT, Request
from tiger.run import Deadline, Run
from tiger.solvers import registry
from tiger.solvers.ocean import Draw, ask, tuned
from tiger.solvers.warm import ready
from tiger.tune import Bisection, Fixed

Step = Callable[[Run, int, int], None]
HOT, COLD = 2.0, 15.0
EXACT_TASKS = 24
EXACT_CELLS = 2_000_000
QPU_WIDTH, QPU_READS = 8, 100
TABU_STRENGTH = 1.5
COSTLY, COSTLY_WINDOWS = 1 << 20, 4
LEVEL_WINDOW, LEVEL_PASSES = 512, 8
BISECTED = 1024
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
    """Return the stages of a request's solver in the order in which a round runs them; loads the search kernels."""
    ready()
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


def ising_of(sampler: Sampler, problem: Problem, params: IsingParams, executor: Executor | None = None) -> Ising:
    """Put the Ising path together for a sampler.

    One that states a limit as `max_variables` gets no larger models, and many reads of each; one that is charged by the
    call and says so by `calls` gets that many a unit of effort.
    """
    levels = problem.rule == "levels"
    if levels:
        small = params.windows or len(problem.free) * len(problem.topology.hosts) <= params.window_size
        wide, passes = max(params.window_size, LEVEL_WINDOW), params.passes * (1 if small else LEVEL_PASSES)
        params = replace(params, window_size=wide, whole_variables=min(params.whole_variables, wide), passes=passes)
    most = getattr(sampler, "max_variables", None)
    if most is not None:
        size, total = min(params.window_size, QPU_WIDTH**2, most), min(params.whole_variables, most)
        window = replace(params.window, reads=max(params.window.reads, QPU_READS))
        # Slack bits would come on top of the limit, and are the first to suffer from a machine's precision.
        params = replace(params, window_size=size, whole_variables=total, window=window, capacity="slack-free")
    calls = getattr(sampler, "calls", None)
    if calls is not None:
        whole = replace(params.whole, rounds=calls)
        params = replace(params, whole=whole, whole_variables=COSTLY, passes=calls, windows=COSTLY_WINDOWS)
    return Ising(
        sample=partial(draw_bits, sampler, params.beta_range),
        tuner=Bisection() if tuned(sampler) else Fixed(),
        strengths=_strengths(sampler),
        partitioners=(LevelWindows(2), LevelWindows(3)) if levels else _task_windows(problem),
        polish=registry.polish(problem),
        construct=None if levels or len(problem.free) > BISECTED else partial(_bisected, problem),
        executor=executor,
        params=params,
    )


def _strengths(sampler: Sampler) -> tuple[float | None, float | None]:
    """Return at what strength of the penalties a sampler starts, on the whole problem and on windows.

    Tabu search finds better mappings at a strength of its own, tuned samplers walk from the safe bound, and others, of
    which nothing is known, stay there.
    """
    if type(sampler).__name__ == "TabuSampler":
        return TABU_STRENGTH, TABU_STRENGTH
    return (None, 1.0) if tuned(sampler) else (None, None)


def _task_windows(problem: Problem) -> tuple[Partitioner, ...]:
    """Return windows of every kind that the size of the problem allows."""
    kinds = [TaskWindows(kinship="traffic"), TaskWindows(kinship="cost"), TaskWindows(kinship="none")]
    return (*kinds, TaskWindows(kinship="nodes")) if len(problem.free) <= BISECTED else tuple(kinds)


def _bisected(problem: Problem, window: Window, seed: int, stop: Stop) -> IntArray | None:
    """Return a start by co-bisection."""
    return bisected(window, problem.topology.metric, seed, stop)


def draw_bits(
    sampler: Sampler,
    beta_range: tuple[float, float] | None,
    bqm: dimod.BinaryQuadraticModel,
    penalties: Penalties,
    sampling: Sampling,
    turn: tuple[int, Stop],
) -> Samples:
    """Draw bits; without a range given from temperatures of half the mean one-hot penalty to a fifteenth of it."""
    level = float(penalties.one_hot.mean())
    seed, stop = turn
    beta_range = beta_range or (HOT / level, COLD / level)
    draw = Draw(reads=sampling.reads, sweeps=sampling.sweeps, seed=seed, beta_range=beta_range, stop=stop)
    return ask(sampler, bqm, draw)
