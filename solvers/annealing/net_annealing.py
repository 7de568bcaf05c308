"""Annealing towards a low cost of multicasts, from a mapping that is good for the graph that stands for them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import NetArrays
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop
from tiger.model.seeds import derive
from tiger.solvers.annealing.net_kernels import NetState, anneal_nets
from tiger.solvers.instance import instance_of, mark_fixed, state_of, uniform

# Moves in a call that can't be stopped.
SLICE = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class NetParams:
    """Set the annealer: `moves` proposals a task and effort, at `temperatures` that fall from `hot` to `cold`.

    Before that `quick` proposals a task and effort at the temperature `least` take what is to be had at once, for
    solves that end early. Temperatures are in units of what a set costs that is on two nodes next to each other.
    """

    moves: int = 1_000
    temperatures: int = 64
    hot: float = 0.5
    cold: float = 0.12
    quick: int = 60
    least: float = 0.05

    def portions(self, tasks: int, per_call: int) -> Iterator[tuple[FloatArray, int]]:
        """Yield temperatures and the moves at each of them for so many tasks, in portions of about so many moves."""
        fallen = (np.arange(self.temperatures) + 0.5) / self.temperatures
        falling = self.hot * (self.cold / self.hot) ** fallen
        for moves, ladder in ((self.quick, np.full(self.temperatures // 8, self.least)), (self.moves, falling)):
            calls = min(max(math.ceil(moves * tasks / per_call), 1), len(ladder))
            for part in np.array_split(ladder, calls):
                yield part, math.ceil(moves * tasks / len(ladder))


@dataclass(frozen=True, slots=True)
class NetAnnealing:
    """Anneal the cost of multicasts by moves to the nodes of a task's sets."""

    arrays: NetArrays
    params: NetParams = NetParams()

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return a feasible mapping whose multicasts cost no more than those of the feasible `start[n]`.

        A move looks at the sets of its tasks that it changes, and at the square of their nodes.
        """
        inst, best = instance_of(problem), start.copy()
        if not inst.movable.size or not len(self.arrays.volumes):
            return Assignment(places=best)
        nets = NetArrays(uniform(self.arrays.starts), uniform(self.arrays.pins), uniform(self.arrays.volumes))
        net, state, fixed = _state_of(problem, nets), state_of(problem, best), mark_fixed(inst)
        unit, lowest = _unit(problem, nets), np.inf
        proposals = self.params.portions(len(inst.movable) * effort, SLICE)
        for number, (temperatures, count) in enumerate(proposals):
            if stop():
                break
            draw = derive(seed, number)
            lowest = anneal_nets(inst, state, fixed, nets, net, best, temperatures * unit, count, draw, lowest)
        return Assignment(places=best)


def _unit(problem: Problem, nets: NetArrays) -> float:
    """Return the mean volume of a set times the mean distance of a node to those next to it."""
    hosts = problem.topology.hosts
    away = problem.metric.between(hosts[:-1], hosts[1:])
    near = float(away.min(initial=np.inf))
    return float(nets.volumes.mean()) * (near if np.isfinite(near) and near > 0 else 1.0)


def _state_of(problem: Problem, nets: NetArrays) -> NetState:
    """Return the sets of each task, and room for where each set is."""
    count, pins = len(nets.volumes), len(nets.pins)
    widths = np.diff(nets.starts)
    owner = np.repeat(np.arange(count), widths)
    order = np.argsort(nets.pins, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(nets.pins, minlength=problem.tasks.size))])
    widest = int(widths.max()) + 1
    return NetState(
        first=uniform(first.astype(np.int64)),
        sets=uniform(owner[order]),
        nodes=np.zeros(pins, np.int64),
        counts=np.zeros(pins, np.int64),
        distinct=np.zeros(count, np.int64),
        span=np.zeros(count),
        cut=np.zeros(problem.tasks.size, np.int64),
        mark=np.zeros(count, np.int64),
        seen=np.zeros(1, np.int64),
        tree=np.zeros(widest, np.int64),
        away=np.zeros(widest),
    )
