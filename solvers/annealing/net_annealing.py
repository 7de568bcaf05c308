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
SLICE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NetParams:
    """Set the annealer: `moves` proposals a task and effort, at `temperatures` that fall from `hot` to `cold`.

    Temperatures are in units of what a set costs that is on two nodes next to each other.
    """

    moves: int = 2_000
    temperatures: int = 64
    hot: float = 0.5
    cold: float = 0.05

    def portions(self, moves: int, per_call: int) -> Iterator[tuple[FloatArray, int]]:
        """Yield the falling temperatures and the moves at each, in portions short enough to ask `stop` in between."""
        calls = min(max(math.ceil(moves / per_call), 1), self.temperatures)
        fallen = (np.arange(self.temperatures) + 0.5) / self.temperatures
        for part in np.array_split(self.hot * (self.cold / self.hot) ** fallen, calls):
            yield part, math.ceil(moves / self.temperatures)


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
        moves = self.params.moves * len(inst.movable) * effort
        for number, (temperatures, count) in enumerate(self.params.portions(moves, SLICE)):
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
