"""The search for another objective than the cost: reweighting that leads a solver of costs to it, and annealing."""

from collections.abc import Callable

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Search
from tiger.model.seeds import derive
from tiger.objectives.selection import Aim
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent
from tiger.run.report import Objective

Solve = Callable[[Problem, IntArray, int, int], IntArray]
ROUNDS, RATE = 2, 1.0


def continue_run(run: MappingIncumbent, aim: Aim, start: IntArray, deadline: Deadline) -> MappingIncumbent:
    """Return the run that goes on from the cheapest mapping, or from `start[n]` where that is better by the aim.

    It shares the record of the run before.
    """
    goal = MappingIncumbent(
        problem=run.problem,
        solution=run.places,
        stop=deadline,
        watch=run.watch,
        measure=aim.value,
        stages=run.stages,
        warnings=run.warnings,
    )
    with goal.stage("objective") as detail:
        goal.offer(start)
        goal.proved = not len(run.problem.free)
        goal.bound = detail["bound"] = min(aim.bound(), goal.value)
    return goal


def outcome(name: str, aim: Aim, goal: MappingIncumbent, start: IntArray) -> Objective:
    """Report the value that a run has reached, that of the baseline `start[n]`, and the bound."""
    value = aim.value(goal.places)
    return Objective(name=name, value=value, baseline=aim.value(start), bound=value if goal.proved else goal.bound)


def reweigh(aim: Aim, solve: Solve, run: MappingIncumbent, effort: int, seed: int) -> None:
    r"""Solve problems in whose cost the parts that the objective suffers from weigh more, as a stage.

    Weights are multiplied by :math:`e^{s}` each round, s being the stress of the last mapping. `solve` takes problem,
    start, effort and seed. Source: S. Arora, E. Hazan, S. Kale, doi:10.4086/toc.2012.v008a006.
    """
    latest, weights = run.places, np.exp(RATE * aim.stress(run.places))
    surrogate = aim.surrogate(weights / weights.max())
    if surrogate is None:
        return
    with run.stage("reweight") as detail:
        rounds = accepted = 0
        while surrogate is not None and rounds < ROUNDS and not run.ended:
            latest = solve(surrogate, run.places, effort, derive(seed, rounds))
            accepted += run.offer(latest)
            weights *= np.exp(RATE * aim.stress(latest))
            surrogate, rounds = aim.surrogate(weights / weights.max()), rounds + 1
        detail["effort"], detail["rounds"], detail["accepted"] = effort, rounds, accepted


def anneal(search: Search, run: MappingIncumbent, effort: int, seed: int) -> None:
    """Run a search for the objective as a stage."""
    with run.stage("anneal") as detail:
        detail["effort"] = effort
        run.offer(search.search(run.problem, run.places, effort=effort, seed=seed, stop=run.stop).places)
