"""Annealing towards another objective than the cost: max link load, or makespan."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import GRID_ROUTES, ObjectiveArrays, RouteArrays, TaskOrder
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop
from tiger.model.seeds import derive
from tiger.solvers.annealing.cost_changes import total
from tiger.solvers.annealing.local import cost_ceiling
from tiger.solvers.annealing.objective_kernels import (
    CostRecord,
    Evaluation,
    MoveObjective,
    anneal_by,
    largest_load,
    makespan_of,
    reset_loads,
)
from tiger.solvers.instance import Instance, instance_of, mark_fixed, neighbour_lists, state_of, uniform

# Links or tasks looked at in a call that can't be stopped.
SLICE = 1e6


class WorkRate(NamedTuple):
    """Hold how many links or tasks a move looks at, and how many have to be looked at before the first one."""

    per_move: float
    to_begin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveParams:
    """Set the annealer: `moves` proposals a task at effort 1, `most_moves` or those that look at `work` links or tasks.

    The `temperatures`, in units of the objective's value at the start, fall to `cold` from `ease` over the number of
    tasks to the power of 1.5, within `hot`. A cost as large as that of the start counts as `share`. More effort makes a
    restart longer, up to `longest` efforts each.
    """

    moves: int = 5_000
    most_moves: int = 100_000
    work: float = 3e7
    temperatures: int = 32
    ease: float = 5.0
    hot: tuple[float, float] = (0.01, 0.5)
    cold: float = 0.0003
    share: float = 0.1
    longest: int = 64

    def moves_at(self, tasks: int, rate: WorkRate) -> float:
        """Return the moves at effort 1."""
        return min(self.work / rate.per_move, self.moves * tasks, self.most_moves)

    def portions(self, tasks: int, moves: float, rate: WorkRate) -> Iterator[tuple[FloatArray, int]]:
        """Yield a restart's temperatures and the moves at each, in portions short enough to ask `stop` in between."""
        hot = min(max(self.ease / tasks**1.5, self.hot[0]), self.hot[1])
        calls = max(math.ceil(moves * rate.per_move / max(SLICE, rate.to_begin)), 1)
        temperatures = -(-self.temperatures // calls)
        for number in range(calls):
            fallen = (number + (np.arange(temperatures) + 0.5) / temperatures) / calls
            yield hot * (self.cold / hot) ** fallen, math.ceil(moves / (calls * temperatures))


@dataclass(frozen=True, slots=True)
class ObjectiveAnnealing:
    """Anneal by an aim instead of the cost, with the moves of the native search."""

    arrays: ObjectiveArrays
    params: ObjectiveParams = ObjectiveParams()

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return a feasible mapping at least as good by the aim as the feasible `start[n]`, whatever it costs.

        Work is proportional to the effort: a move looks at all tasks and traffic for the makespan, for loads at the
        links whose load it changes.
        """
        inst, best, level = instance_of(problem), start.copy(), CostRecord(0.0, 1.0, 0.0)
        if not inst.movable.size:
            return Assignment(places=best)
        objective, values, rate = _objective_of(problem, inst, self.arrays, start)
        objective = objective._replace(share=self.params.share / (total(inst, start) or 1.0))
        restarts = -(-effort // self.params.longest)
        moves = self.params.moves_at(problem.tasks.size, rate) * effort / restarts
        # Every restart goes on from the best mapping, hot again.
        for restart in range(restarts):
            state = state_of(problem, best)
            level = level._replace(cost_change=level.best_cost_change)
            for number, (temperatures, count) in enumerate(self.params.portions(problem.tasks.size, moves, rate)):
                if stop():
                    return Assignment(places=best)
                draw = derive(seed, restart, number)
                level = anneal_by(
                    inst, state, mark_fixed(inst), objective, values, best, temperatures, count, draw, level
                )
        return Assignment(places=best)


def _objective_of(
    problem: Problem, inst: Instance, arrays: ObjectiveArrays, start: IntArray
) -> tuple[MoveObjective, Evaluation, WorkRate]:
    """Return the objective whose unit is the value of `start[n]`, its evaluation, and what a move of it looks at."""
    none = np.zeros((1, 1), np.int64)
    routes = RouteArrays(GRID_ROUTES, none[0], none[0], none, none[0], np.ones(1))
    if isinstance(arrays, RouteArrays):
        routes = arrays
    order = arrays.order if isinstance(arrays, TaskOrder) else none[0, :0]
    out, back = map(uniform, neighbour_lists(problem)[2:])
    # All arrays read-only and contiguous: one signature of the kernels for every kind of hardware.
    routes = RouteArrays(
        kind=routes.kind,
        shape=uniform(routes.shape),
        wrap=uniform(routes.wrap),
        table=uniform(routes.table),
        ends=uniform(routes.ends),
        width=uniform(routes.width),
    )
    values = Evaluation(np.zeros(len(routes.width)), np.zeros(problem.tasks.size), np.zeros(problem.topology.size))
    scale = uniform(1.0 / routes.width)
    objective = MoveObjective(out, back, routes, scale, uniform(order), 1.0, 0.0, cost_ceiling(problem))
    if isinstance(arrays, TaskOrder):
        every = float(problem.tasks.size + problem.tasks.traffic.nnz)
        return (
            objective._replace(unit=makespan_of(inst, objective, values, start) or 1.0),
            values,
            WorkRate(every, every),
        )
    reset_loads(
        inst, objective._replace(out=uniform(np.sign(out)), scale=uniform(np.ones(len(routes.width)))), values, start
    )
    # With unit traffic and bandwidth, loads add up to the hops of all transfers, of which a move changes a few tasks'.
    crossings = float(values.load.sum())
    rate = WorkRate(8 * (1 + crossings / problem.tasks.size), crossings + len(routes.width))
    reset_loads(inst, objective, values, start)
    return objective._replace(scale=uniform(objective.scale / (largest_load(values) or 1.0))), values, rate
