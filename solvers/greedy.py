"""Greedy construction: tasks in order of their traffic, each to the cheapest node that is left."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.metrics import GRID
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.solvers import construction
from tiger.solvers.annealing import cost_changes
from tiger.solvers.instance import Instance, State, instance_of, state_of

# Pairs of a task, or an end of an edge, with a node: in all, and in a call that can't be stopped.
LIMIT, SLICE = 1 << 31, 1 << 22


@dataclass(frozen=True, slots=True)
class Greedy:
    """Place the task with most traffic to those already placed on the node where it costs least, one after another.

    No promise of quality.
    """

    usage: ClassVar[Usage] = Usage(rounds="first", seeded=False)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the greedy mapping, or `start[n]` where that is cheaper or tight constraints stop the construction.

        O((n + edges) (m + log n)) time; deterministic, so effort and seed play no part. A problem of more
        than 2**31 pairs of a task, or an end of an edge, with a node comes back as it is.
        """
        inst = instance_of(problem)
        tasks, hosts = inst.movable.size, inst.hosts.size
        work = hosts * (tasks + inst.indices.size)
        if not tasks or work > LIMIT:
            return Assignment(places=start.copy())
        # All movable tasks leave their places and compete for the next turn by their traffic.
        state, tournament, costs = _clear(problem, inst, start), _tournament(inst), _host_costs(problem, inst)
        construction.build(tournament)
        step = max(tasks * SLICE // work, 1)
        for placed in range(0, tasks, step):
            if stop() or not construction.construct(inst, state, tournament, costs, min(step, tasks - placed)):
                return Assignment(places=start.copy())
        cheaper = cost_changes.total(inst, state.place) < cost_changes.total(inst, start)
        return Assignment(places=state.place if cheaper else start.copy())


def complete(problem: Problem, inst: Instance, place: IntArray, start: IntArray) -> IntArray | None:
    """Return a mapping [n] with movable tasks at `place[n]`, those at -1 put where they cost least, None if none fits.

    Other tasks are where they are in the feasible `start[n]`.
    """
    state, tournament, costs = _clear(problem, inst, start), _tournament(inst), _host_costs(problem, inst)
    done, size = inst.movable[place[inst.movable] >= 0], len(place)
    state.place[done] = place[done]
    np.add.at(state.occupied, place[done], 1)
    np.add.at(state.used, place[done], inst.memory[done])
    if problem.groups:
        state.occupant[inst.group_of[done], place[done]] = done
    row, known = np.repeat(np.arange(size), np.diff(inst.indptr)), state.place[inst.indices] >= 0
    tournament.pull[:] = np.bincount(row[known], (inst.out + inst.back)[known], size)
    tournament.winner[size + done] = -1
    construction.build(tournament)
    fits = construction.construct(inst, state, tournament, costs, inst.movable.size - len(done))
    return state.place if fits else None


def _clear(problem: Problem, inst: Instance, start: IntArray) -> State:
    """Return the state in which the movable tasks have no place."""
    state, gone = state_of(problem, start), inst.movable
    if problem.groups:
        state.occupant[inst.group_of[gone], start[gone]] = -1
    np.subtract.at(state.occupied, start[gone], 1)
    np.subtract.at(state.used, start[gone], inst.memory[gone])
    state.place[gone] = -1
    return state


def _tournament(inst: Instance) -> construction.Tournament:
    """Return all movable tasks as waiting, with their traffic with movable ones."""
    size = len(inst.work)
    movable = np.zeros(size, bool)
    movable[inst.movable] = True
    row = np.repeat(np.arange(size), np.diff(inst.indptr))
    weight = np.bincount(row, (inst.out + inst.back) * movable[inst.indices], size)
    winner = np.full(2 * size, -1)
    winner[size + inst.movable] = inst.movable
    return construction.Tournament(np.zeros(size), weight.astype(np.float64), winner)


def _host_costs(problem: Problem, inst: Instance) -> construction.HostCosts:
    """Return all hosts as open, with their coordinates where the hardware is a grid."""
    size, is_grid = problem.topology.size, inst.kind == GRID
    coords = np.stack(np.unravel_index(np.arange(size), inst.shape), axis=1) if is_grid else np.zeros((1, 1), np.int64)
    return construction.HostCosts(
        hosts=inst.hosts.copy(),
        open_count=np.array([inst.hosts.size]),
        cost=np.zeros(size),
        coords=coords,
        axis_sums=np.zeros(int(inst.shape.sum()) if is_grid else 1),
        symmetric=int(problem.metric.symmetric),
    )
