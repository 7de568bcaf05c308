"""The rounds of a solve: how the effort is divided among them, and what each runs for the cost or another objective."""

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from itertools import count

from tiger.mapping.bounding import raise_bound_before, raise_spread_bound
from tiger.mapping.portfolio import Portfolio, portfolio_of
from tiger.mapping.previous import Anew
from tiger.mapping.request import Request
from tiger.model.arrays import IntArray
from tiger.model.objective_arrays import NetArrays, ObjectiveArrays, RingHops
from tiger.model.problem import Problem
from tiger.model.seeds import derive
from tiger.objectives.selection import ObjectiveFunction
from tiger.qubo.whole_sampling import sample_whole
from tiger.qubo.window_sampling import sample_windows
from tiger.run.deadline import Deadline
from tiger.run.limits import EFFORT_LIMIT
from tiger.run.mapping import MappingIncumbent
from tiger.run.objective_search import reweigh, search_directly
from tiger.run.search_stage import Round, run_search
from tiger.solvers import registry
from tiger.solvers.warm import load

# A last round under a time limit has at most so many times the effort spent before. One in place of 1, 2, .. and an
# interrupted round ends 0.3 % lower after 5 s, in the mean of ten problems of `python -m benchmarks constrained`.
LAST = 8


def _fit_all() -> float:
    """Return that there is time for any effort."""
    return math.inf


def rounds(request: Request, fit: Callable[[], float] = _fit_all) -> Iterator[Round]:
    """Yield rounds of effort 1, 1, 2, 4, .. that add up to the effort asked for, or to the most there is.

    `fit()` returns how much effort there is time for after a round. Where that is not much more than what was spent,
    the next round has all of it.
    """
    effort = request.effort or (1 if request.time_limit_s is None else EFFORT_LIMIT - 1)
    spent = 0
    for number in count():
        amount = min(max(spent, 1), effort - spent)
        if not amount:
            return
        if spent and (most := fit()) <= LAST * spent:
            amount = min(max(math.ceil(most), 1), effort - spent)
        yield Round(number, amount, derive(request.seed, number), request.islands)
        spent += amount


def search_cost(incumbent: MappingIncumbent, request: Request, anew: Anew | None = None) -> None:
    """Look for a low cost, round by round, until the effort is spent or the time, or nothing better exists.

    After a change that is near a mapping with few moves.
    """
    with incumbent.loading():
        portfolio = portfolio_of(request, incumbent.problem, anew)
    reached = 0
    for this_round in rounds(request, partial(_fit_effort, incumbent, portfolio, request)):
        before = len(incumbent.stages)
        if this_round.effort > reached:
            raise_bound_before(incumbent, range(reached + 1, this_round.effort + 1))
            reached = this_round.effort
        _run_round(incumbent, portfolio, this_round, request.executor)
        if not this_round.number:
            raise_spread_bound(incumbent)
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


def search_objective(by_objective: MappingIncumbent, request: Request, objective: ObjectiveFunction) -> None:
    """Look for a low value of another objective: by reweighted costs for the request's solver, then by annealing."""
    # Costs of reweighted problems are in units of their own, beside which no others can be set.
    unmeasured = replace(request, ising=replace(request.ising, control=False))

    def solve_again(problem: Problem, start: IntArray, this_round: Round) -> IntArray:
        """Return the cheapest mapping that a round of the solver finds in a quarter of the time left."""
        left_s = by_objective.stop.left_s
        stop = Deadline(None if left_s is None else time.monotonic() + left_s / 4)
        incumbent = MappingIncumbent(problem=problem, solution=start, stop=stop)
        with incumbent.loading():
            portfolio = portfolio_of(unmeasured, problem)
        _run_round(incumbent, portfolio, this_round._replace(number=0, anew=True), request.executor)
        by_objective.put_off(incumbent.loading_s)
        return incumbent.places

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
