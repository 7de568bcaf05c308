"""The search for another objective than the cost: reweighting that leads a solver of costs to it, and annealing."""

from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Search
from tiger.model.seeds import derive
from tiger.objectives.selection import ObjectiveFunction
from tiger.run.baselines import Orders
from tiger.run.deadline import Deadline
from tiger.run.island_call import IslandCall
from tiger.run.mapping import MappingIncumbent
from tiger.run.report import Objective
from tiger.run.search_stage import ISLANDS, Round, run_part, run_parts

Solve = Callable[[Problem, IntArray, Round], IntArray]
# A link or task of full stress weighs e times as much. A second solve a round, with the weights multiplied once more,
# gained nothing on the networks of `python -m benchmarks ranks` and on 12 small problems, for 40 % more time.
RATE = 1.0


def continue_by(
    objective: ObjectiveFunction, incumbent: MappingIncumbent, start: IntArray, deadline: Deadline
) -> MappingIncumbent:
    """Return the incumbent by another objective: the cheapest mapping, or `start[n]` where that is better.

    It shares the record of the search before.
    """
    goal = MappingIncumbent(
        problem=incumbent.problem,
        solution=incumbent.places,
        stop=deadline,
        watch=incumbent.watch,
        measure=objective.value,
        stages=incumbent.stages,
        warnings=incumbent.warnings,
        loading_s=incumbent.loading_s,
    )
    with goal.stage("objective") as detail:
        goal.offer(start)
        goal.proved = not len(goal.problem.free)
        goal.bound = detail["bound"] = min(objective.bound(), goal.value)
    return goal


def report_objective(name: str, objective: ObjectiveFunction, goal: MappingIncumbent, orders: Orders) -> Objective:
    """Report the value that a search has reached, those of the orders known before, and the bound."""
    value = objective.value(goal.places)
    block, cyclic, start = (None if places is None else objective.value(places) for places in orders)
    return Objective(
        name=name,
        value=value,
        baseline=block,
        cyclic=cyclic,
        start=start,
        bound=value if goal.proved else goal.bound,
    )


def reweigh(goal: MappingIncumbent, objective: ObjectiveFunction, solve: Solve, this_round: Round) -> None:
    r"""Solve a problem in whose cost the parts that the objective suffers from weigh more, as a stage.

    Weights are :math:`e^{s}`, s being the stress of the best mapping. `solve` takes problem, start and round. Source: a
    step of S. Arora, E. Hazan, S. Kale, doi:10.4086/toc.2012.v008a006.
    """
    weights = np.exp(RATE * objective.stress(goal.places))
    surrogate = objective.surrogate(weights / weights.max())
    if surrogate is None:
        return
    with goal.stage("reweight") as detail:
        detail["effort"] = this_round.effort
        goal.offer(solve(surrogate, goal.places, this_round._replace(seed=derive(this_round.seed, 0))))


def search_directly(
    goal: MappingIncumbent, name: str, search: Search, this_round: Round, executor: Executor | None = None
) -> None:
    """Run a search for the objective as a stage, the annealing or the ordering of rings, in one part an island."""
    seeds = [this_round.seed, *(derive(this_round.seed, number) for number in range(1, this_round.islands))]
    with goal.stage(name) as detail:
        detail["effort"] = this_round.effort
        run_parts(
            goal, IslandCall(run_part, search), [(this_round.effort, seed) for seed in seeds], executor, goal.stop
        )
        if this_round.islands > 1:
            detail[ISLANDS] = this_round.islands
