"""Local search: descent by best swaps and relocations, and annealing lanes that end in it."""

import math
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop
from tiger.model.seeds import derived
from tiger.model.window import Block
from tiger.solvers import moves
from tiger.solvers.instance import Instance, fixed_of, instance_of, limited, state_of

SWEEPS = 10_000
SCAN_LIMIT = 1 << 23
LEAST_MOVES = 20_000
MOST_MOVES = 5_000_000
CHUNK = 100_000


@dataclass(frozen=True, slots=True)
class Descent:
    """Improve a mapping until no single swap or relocation gains: a local optimum, with no promise beyond it."""

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the local optimum below the feasible `start[n]`; deterministic, so effort and seed play no part."""
        return Assignment(places=Polish(problem).improve(start))


class Polish:
    """Hold a problem's arrays so that many mappings of it can be improved, whole or within a block."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._instance = instance_of(problem)

    def improve(self, places: IntArray, block: Block | None = None) -> IntArray:
        """Return the local optimum below the feasible `places[n]`, moving only the block's tasks among its nodes."""
        inst = self._instance if block is None else limited(self._instance, block.tasks, block.nodes)
        return _descended(self._problem, inst, places)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnealParams:
    """Set the annealer: `lanes` starts and `moves` proposals per task and temperature at effort 1, `heats` temperatures.

    Both grow with the square root of the effort, so that the work is proportional to it.

    Temperatures fall from `hot` to `cold` times the median size of a cost change at a local optimum; `reheat` scales the
    first one for lanes that start from the best mapping instead of a random one.
    """

    lanes: int = 4
    moves: int = 8
    heats: int = 32
    hot: float = 0.5
    cold: float = 0.02
    reheat: float = 0.4

    def moves_at(self, tasks: int, nodes: int) -> float:
        """Return the moves a heat at effort 1: `moves` a task, more with the square of the nodes, at most 20,000."""
        return min(self.moves * tasks * min(max((nodes / 16) ** 2, 1.0), 16.0), LEAST_MOVES)

    def schedule(self, scale: float, *, shuffle: bool) -> FloatArray:
        """Return the falling temperatures of a lane, an infinite one first where it starts from a shuffle."""
        hot = self.hot * (1.0 if shuffle else self.reheat)
        falling = scale * np.geomspace(hot, self.cold, self.heats)
        return np.concatenate([[np.inf], falling]) if shuffle else falling


@dataclass(frozen=True, slots=True)
class Annealing:
    """Anneal on the problem itself, every other lane from a random mapping, each lane ending in descent."""

    params: AnnealParams = AnnealParams()

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest local optimum found from the feasible `start[n]`; O(effort n degree) up to 20,000 moves a heat."""
        inst = instance_of(problem)
        if not inst.movable.size:
            return Assignment(places=start.copy())
        best = _descended(problem, inst, start)
        cost = moves.total(inst, best)
        least = self.params.moves_at(inst.movable.size, inst.hosts.size)
        moves_each = math.ceil(min(math.sqrt(effort) * least, MOST_MOVES))
        scale = _scale(problem, inst, best, derived(seed))
        for lane in range(math.ceil(effort * self.params.lanes * least / moves_each)):
            if stop():
                break
            lane_seed = derived(seed, lane)
            shuffle = lane % 2 == 0
            heats = self.params.schedule(scale, shuffle=shuffle)
            found = _lane(problem, inst, best, (heats, moves_each, lane_seed), stop)
            found_cost = moves.total(inst, found)
            if found_cost < cost - inst.tolerance:
                best, cost = found, found_cost
        return Assignment(places=best)


def _lane(problem: Problem, inst: Instance, start: IntArray, plan: tuple[FloatArray, int, int], stop: Stop) -> IntArray:
    """Anneal once from `start[n]` by temperatures, moves at each and seed, and descend.

    A leading infinite temperature shuffles first. The rest is run in chunks so that `stop` is heard.
    """
    heats, moves_each, seed = plan
    state, fixed = state_of(problem, start), fixed_of(inst)
    lowest = state.place.copy()
    if np.isinf(heats[0]):
        moves.anneal(inst, state, fixed, lowest, heats[:1], 4 * inst.movable.size, seed, (0.0, 0.0))
        heats, lowest = heats[1:], state.place.copy()
    repeats = -(-moves_each // CHUNK)
    chunks = np.array_split(np.repeat(heats, repeats), -(-len(heats) * moves_each // CHUNK))
    level = (0.0, 0.0)
    for number, chunk in enumerate(chunks):
        if stop():
            break
        level = moves.anneal(inst, state, fixed, lowest, chunk, -(-moves_each // repeats), derived(seed, number), level)
    return _descended(problem, inst, lowest)


def _descended(problem: Problem, inst: Instance, start: IntArray) -> IntArray:
    """Return the local optimum below `start[n]`, or the start itself where a round of descent is too long."""
    state = state_of(problem, start)
    sweeps = SWEEPS if inst.movable.size * inst.hosts.size <= SCAN_LIMIT else 0
    moves.descend(inst, state, fixed_of(inst), sweeps)
    return state.place


def _scale(problem: Problem, inst: Instance, places: IntArray, seed: int) -> float:
    """Return the median size of a cost change at a mapping, 1 where no move costs anything."""
    sizes = moves.spread(inst, state_of(problem, places), fixed_of(inst), 512, seed)
    sizes = sizes[sizes > inst.tolerance]
    return float(np.median(sizes)) if sizes.size else 1.0
