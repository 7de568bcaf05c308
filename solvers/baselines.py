"""Baselines: keep the mapping, or draw random ones. They are oracles for the other searches."""

from dataclasses import dataclass
from typing import ClassVar

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.model.seeds import derive
from tiger.solvers.annealing import cost_changes
from tiger.solvers.annealing.local import shuffle
from tiger.solvers.instance import instance_of, state_of

# Random moves a task that turn a mapping into a random one: more than before an annealing, as nothing mixes it after.
SHUFFLE = 8


@dataclass(frozen=True, slots=True)
class Identity:
    """Keep the mapping as it is."""

    usage: ClassVar[Usage] = Usage(rounds="first", seeded=False)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return `start[n]`."""
        return Assignment(places=start.copy())


@dataclass(frozen=True, slots=True)
class Random:
    """Draw random feasible mappings and keep the cheapest."""

    usage: ClassVar[Usage] = Usage(parts=2)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest of `start[n]` and `effort` mappings, each reached by 8 n random legal moves.

        The draws are not uniform where constraints are tight.
        """
        inst = instance_of(problem)
        best = start.copy()
        if not inst.movable.size:
            return Assignment(places=best)
        # Each mapping is shuffled on from the last one, which is as random.
        state = state_of(problem, start)
        for number in range(effort):
            if stop():
                break
            shuffle(inst, state, SHUFFLE * inst.movable.size, derive(seed, number), stop)
            if cost_changes.total(inst, state.place) < cost_changes.total(inst, best) - inst.tolerance:
                best = state.place.copy()
        return Assignment(places=best)
