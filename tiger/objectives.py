"""Objectives other than the cost: which there are, and rounds of reweighting that lead a solver of costs to them."""

from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np

from tiger.congestion import Congestion
from tiger.deadline import Deadline
from tiger.errors import InputError
from tiger.makespan import Makespan, schedule_of
from tiger.model.aims import Aims
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Search
from tiger.model.seeds import derived
from tiger.report import Objective
from tiger.routes import routes_of
from tiger.run import Run

ObjectiveName = Literal["cost", "max-link-load", "makespan"]
Solve = Callable[[Problem, IntArray, int, int], IntArray]
ROUNDS, RATE = 2, 1.0


class Aim(Protocol):
    """Say how good a mapping is, and how to find better ones."""

    def value(self, places: IntArray) -> float:
        """Return the objective for node indices `places[n]`, evaluated exactly."""
        ...

    def bound(self) -> float:
        """Return a lower bound on the objective of every feasible mapping."""
        ...

    def stress(self, places: IntArray) -> FloatArray:
        """Return in [0, 1] how much each part, such as a link, has to do with the objective being as high as it is."""
        ...

    def surrogate(self, weights: FloatArray) -> Problem | None:
        """Return a problem in whose cost each part has a weight, None where that would be too large."""
        ...

    def ways(self) -> Aims | None:
        """Return the objective for compiled code, None where that would be too large."""
        ...


def aim_of(name: str, problem: Problem) -> Aim | None:
    """Return the aim of an objective, None for the cost; raise InputError where the problem does not have it."""
    if name == "max-link-load":
        routes = routes_of(problem.topology)
        if routes is None:
            raise InputError("objective", "expected hardware with links for max-link-load, got distances alone")
        return Congestion(problem=problem, routes=routes)
    if name == "makespan":
        schedule = schedule_of(problem)
        if schedule is None:
            graph = "one with a cycle" if problem.tasks.directed else "an undirected one"
            raise InputError("objective", f"expected a directed task graph without cycles for makespan, got {graph}")
        return Makespan(schedule=schedule)
    return None


def pursuit(run: Run, aim: Aim, start: IntArray, deadline: Deadline) -> Run:
    """Return the run that goes on from the cheapest mapping, or from `start[n]` where that is better by the aim.

    It shares the record of the run before.
    """
    goal = Run(
        problem=run.problem,
        places=run.places,
        deadline=deadline,
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


def outcome(name: str, aim: Aim, goal: Run, start: IntArray) -> Objective:
    """Report the value that a run has reached, that of the baseline `start[n]`, and the bound."""
    value = aim.value(goal.places)
    return Objective(name=name, value=value, baseline=aim.value(start), bound=value if goal.proved else goal.bound)


def reweigh(aim: Aim, solve: Solve, run: Run, effort: int, seed: int) -> None:
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
            latest = solve(surrogate, run.places, effort, derived(seed, rounds))
            accepted += run.offer(latest)
            weights *= np.exp(RATE * aim.stress(latest))
            surrogate, rounds = aim.surrogate(weights / weights.max()), rounds + 1
        detail["effort"], detail["rounds"], detail["accepted"] = effort, rounds, accepted


def anneal(search: Search, run: Run, effort: int, seed: int) -> None:
    """Run a search for the objective as a stage."""
    with run.stage("anneal") as detail:
        detail["effort"] = effort
        run.offer(search.search(run.problem, run.places, effort=effort, seed=seed, stop=run.deadline).places)
