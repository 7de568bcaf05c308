"""Search among the mappings that differ from a given one in a few tasks: annealing, each time ending in descent."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.model.seeds import derive
from tiger.solvers.annealing import cost_changes, limited_kernels
from tiger.solvers.annealing.local import CHUNK, AnnealParams, descend_from, find_scales, moves_in_chunk
from tiger.solvers.instance import Instance, instance_of, mark_fixed, restrict, state_of

# Moves a temperature at effort 1 in any case. Of eleven tasks, 0.1 s of them come to 388 in place of 393.
FEWEST = 2_000
# With 20,000 moves, in 2.5 times the time, 32 moves of sko100a end 0.2 % lower, and others as low.
PARAMS = AnnealParams(most_moves=8_000)


@dataclass(frozen=True, slots=True, eq=False)
class LimitedMoves:
    """Anneal with at most `most` tasks at other nodes than their `home[n]`, every other restart from `origin[n]`.

    That is a mapping within the limit, home without one. A task whose home is -1 may go anywhere; each other that is
    not at home costs `price`.
    """

    home: IntArray
    most: int
    origin: IntArray | None = None
    price: float = 0.0
    params: AnnealParams = PARAMS
    usage: ClassVar[Usage] = Usage(parts=2)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the mapping of least cost and prices found from `start[n]`, which keeps to the limit itself.

        O(effort n degree) time, as `tiger.solvers.annealing.local.Annealing` takes, and that of the descents.
        """
        inst = instance_of(problem)
        best, cost = start.copy(), self._value(inst, start)
        origin = self.home if self.origin is None else self.origin
        if not inst.movable.size or not (self.most or (self.home < 0).any()):
            return Assignment(places=best)
        least = max(self.params.moves_at(inst.movable.size, inst.hosts.size), FEWEST)
        moves_each = math.ceil(min(math.sqrt(effort) * least, self.params.longest))
        scale = find_scales(problem, inst, origin, derive(seed))
        temperatures = self.params.schedule(scale, shuffle=False)
        for number in range(math.ceil(effort * self.params.restarts * least / moves_each)):
            if stop():
                break
            first = best if number % 2 else origin
            found = self._anneal_once(problem, inst, first, (temperatures, moves_each, derive(seed, number)), stop)
            found_cost = self._value(inst, found)
            if found_cost < cost - cost_changes.smallest_gain(inst, cost):
                best, cost = found, found_cost
        return Assignment(places=best)

    def _value(self, inst: Instance, places: IntArray) -> float:
        """Return what a mapping costs with the prices of what is not at home."""
        moved = int(((self.home >= 0) & (places != self.home)).sum())
        return float(cost_changes.total(inst, places)) + self.price * moved

    def _anneal_once(
        self, problem: Problem, inst: Instance, start: IntArray, plan: tuple[FloatArray, int, int], stop: Stop
    ) -> IntArray:
        """Anneal once from `start[n]` by temperatures, moves at each and seed; then the tasks that moved descend."""
        temperatures, moves_each, seed = plan
        state, fixed, lowest = state_of(problem, start), mark_fixed(inst), start.copy()
        moved, chunk = limited_kernels.find_moves(self.home, start), moves_in_chunk(inst, CHUNK)
        repeats = -(-moves_each // chunk)
        parts = np.array_split(np.repeat(temperatures, repeats), -(-len(temperatures) * moves_each // chunk))
        for number, part in enumerate(parts):
            if stop():
                break
            schedule = limited_kernels.LimitedSchedule(
                part, -(-moves_each // repeats), self.most, self.price, derive(seed, number)
            )
            limited_kernels.anneal_within(inst, state, fixed, moved, lowest, schedule)
        free = inst.movable[lowest[inst.movable] != self.home[inst.movable]]
        return descend_from(problem, restrict(inst, free, inst.hosts), lowest, stop) if free.size else lowest
