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
from tiger.solvers.annealing.local import cost_ceiling
from tiger.solvers.annealing.moves import total
from tiger.solvers.annealing.objective_kernels import Books, Judge, anneal_by, largest_load, makespan_of, reset_loads
from tiger.solvers.instance import Instance, fixed_of, instance_of, neighbour_lists, state_of, uniform

SLICE = 1e6


class Pace(NamedTuple):
    """Hold how many links or tasks a move looks at, and how many have to be looked at before the first one."""

    per_move: float
    to_begin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedParams:
    """Set the annealer: `moves` proposals a task at effort 1, `most_moves` or those that look at `work` links or tasks.

    Over `heats` temperatures, in units of the objective's value at the start, they fall to `cold` from `ease` over the
    number of tasks to the power of 1.5, within `hot`. A cost as large as that of the start counts as `share`. More
    effort makes a lane longer, up to `longest` efforts each.
    """

    moves: int = 5_000
    most_moves: int = 100_000
    work: float = 3e7
    heats: int = 32
    ease: float = 5.0
    hot: tuple[float, float] = (0.01, 0.5)
    cold: float = 0.0003
    share: float = 0.1
    longest: int = 64

    def moves_at(self, tasks: int, pace: Pace) -> float:
        """Return the moves at effort 1."""
        return min(self.work / pace.per_move, self.moves * tasks, self.most_moves)

    def portions(self, tasks: int, moves: float, pace: Pace) -> Iterator[tuple[FloatArray, int]]:
        """Yield a lane's temperatures and the moves at each, in portions short enough to hear `stop` in between."""
        hot = min(max(self.ease / tasks**1.5, self.hot[0]), self.hot[1])
        calls = max(math.ceil(moves * pace.per_move / max(SLICE, pace.to_begin)), 1)
        heats = -(-self.heats // calls)
        for number in range(calls):
            fallen = (number + (np.arange(heats) + 0.5) / heats) / calls
            yield hot * (self.cold / hot) ** fallen, math.ceil(moves / (calls * heats))


@dataclass(frozen=True, slots=True)
class Judged:
    """Anneal by an aim instead of the cost, with the moves of the native search."""

    aims: ObjectiveArrays
    params: JudgedParams = JudgedParams()

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return a feasible mapping at least as good by the aim as the feasible `start[n]`, whatever it costs.

        Work is proportional to the effort: a move looks at all tasks and traffic for the makespan, for loads at the
        links whose load it changes.
        """
        inst, best, level = instance_of(problem), start.copy(), (0.0, 1.0, 0.0)
        if not inst.movable.size:
            return Assignment(places=best)
        judge, books, pace = _judge(problem, inst, self.aims, start)
        judge = judge._replace(share=self.params.share / (total(inst, start) or 1.0))
        lanes = -(-effort // self.params.longest)
        moves = self.params.moves_at(problem.tasks.size, pace) * effort / lanes
        for lane in range(lanes):
            state = state_of(problem, best)
            level = (level[2], *level[1:])
            for number, (heats, count) in enumerate(self.params.portions(problem.tasks.size, moves, pace)):
                if stop():
                    return Assignment(places=best)
                draw = derive(seed, lane, number)
                level = anneal_by(inst, state, fixed_of(inst), judge, books, best, heats, count, draw, level)
        return Assignment(places=best)


def _judge(problem: Problem, inst: Instance, aims: ObjectiveArrays, start: IntArray) -> tuple[Judge, Books, Pace]:
    """Return the judge whose unit is the value of `start[n]`, books for it, and the pace."""
    none = np.zeros((1, 1), np.int64)
    ways = (
        aims if isinstance(aims, RouteArrays) else RouteArrays(GRID_ROUTES, none[0], none[0], none, none[0], np.ones(1))
    )
    order = aims.order if isinstance(aims, TaskOrder) else none[0, :0]
    out, back = map(uniform, neighbour_lists(problem)[2:])
    ways = RouteArrays(
        kind=ways.kind,
        shape=uniform(ways.shape),
        wrap=uniform(ways.wrap),
        table=uniform(ways.table),
        ends=uniform(ways.ends),
        width=uniform(ways.width),
    )
    books = Books(np.zeros(len(ways.width)), np.zeros(problem.tasks.size), np.zeros(problem.topology.size))
    judge = Judge(out, back, ways, uniform(1.0 / ways.width), uniform(order), 1.0, 0.0, cost_ceiling(problem))
    if isinstance(aims, TaskOrder):
        every = float(problem.tasks.size + problem.tasks.traffic.nnz)
        return judge._replace(unit=makespan_of(inst, judge, books, start) or 1.0), books, Pace(every, every)
    reset_loads(inst, judge._replace(out=uniform(np.sign(out)), scale=uniform(np.ones(len(ways.width)))), books, start)
    crossings = float(books.load.sum())
    pace = Pace(8 * (1 + crossings / problem.tasks.size), crossings + len(ways.width))
    reset_loads(inst, judge, books, start)
    return judge._replace(scale=uniform(judge.scale / (largest_load(books) or 1.0))), books, pace
