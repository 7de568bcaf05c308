"""Local search: descent by best swaps and relocations, and annealing restarts that end in it."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.model.seeds import derive
from tiger.model.window import Block
from tiger.solvers.annealing import cost_changes, moves
from tiger.solvers.instance import Instance, State, instance_of, mark_fixed, restrict, state_of

# Rounds of a descent, which ends by itself long before, and the most moves that a round may look at.
SWEEPS, SCAN_LIMIT = 10_000, 1 << 20
# Moves of tasks with up to ENTRIES neighbours, neighbours looked at, and kicks, in a call that can't be stopped.
CHUNK, SLICE, KICKS_A_CHUNK = 100_000, 1 << 23, 100
ENTRIES = 16
# Cost changes drawn to estimate their median.
SAMPLE = 512
# Random moves a task before an annealing, which goes on mixing while it is hot.
SHUFFLE = 4


class Polish:
    """Hold a problem's arrays so that many mappings of it can be improved, whole or within a block."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._instance = instance_of(problem)

    def improve(self, places: IntArray, block: Block, stop: Stop) -> IntArray:
        """Return the local optimum below the feasible `places[n]`, moving only the block's tasks among its nodes.

        Once `stop` says so, it returns what it has.
        """
        return descend_from(self._problem, restrict(self._instance, block.tasks, block.nodes), places, stop)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnealParams:
    """Set the annealer: `restarts`, and `moves` proposals a task at each of `temperatures`, at effort 1.

    Restarts and proposals grow with the square root of the effort, so that the work is proportional to it. Proposals
    grow with the power `growth` of the nodes from 16 on, up to 32 times as many, and are at most `most_moves` a
    temperature at effort 1, `longest` at any. Temperatures fall from `hot` to `cold` times the median size of a cost
    change at a local optimum; `reheat` scales the first one for restarts from the best mapping instead of a random one.
    Small problems get up to `kicks` more descents, none where a round looks at more than `kicked_pairs` moves.
    """

    restarts: int = 4
    moves: int = 8
    growth: float = 2.5
    most_moves: int = 20_000
    longest: int = 5_000_000
    temperatures: int = 32
    hot: float = 0.5
    cold: float = 0.02
    reheat: float = 0.4
    kicks: int = 100
    kicked_pairs: int = 4096

    def moves_at(self, tasks: int, nodes: int) -> float:
        """Return the moves a temperature at effort 1: `moves` a task, more where nodes are many."""
        return min(self.moves * tasks * min(max(math.pow(nodes / 16, self.growth), 1.0), 32.0), self.most_moves)

    def kicks_at(self, pairs: int) -> int:
        """Return the kicks at effort 1: all where a round of descent looks at up to 256 moves."""
        return self.kicks * 256 // max(pairs, 256) if pairs <= self.kicked_pairs else 0

    def schedule(self, scale: tuple[float, float], *, shuffle: bool) -> FloatArray:
        """Return the falling temperatures of a restart, an infinite one first where it begins with a shuffle.

        `scale` are the sizes of a cost change that the first and the last one are relative to.
        """
        hot = self.hot * (1.0 if shuffle else self.reheat)
        falling = scale[0] * np.geomspace(hot, self.cold * (scale[1] / scale[0]), self.temperatures)
        return np.concatenate([[np.inf], falling]) if shuffle else falling


@dataclass(frozen=True, slots=True)
class Annealing:
    """Anneal on the problem itself, every other restart from a random mapping, each ending in descent."""

    params: AnnealParams = AnnealParams()
    usage: ClassVar[Usage] = Usage(parts=2)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest local optimum found from the feasible `start[n]`.

        O(effort n degree) time, up to 20,000 proposals a temperature at effort 1, and that of the descents.
        """
        inst = instance_of(problem)
        if not inst.movable.size:
            return Assignment(places=start.copy())
        best = descend_from(problem, inst, start, stop)
        # Temperatures are relative to the cost changes at a local optimum, so that they fit any unit of cost.
        cost = cost_changes.total(inst, best)
        least = self.params.moves_at(inst.movable.size, inst.hosts.size)
        moves_each = math.ceil(min(math.sqrt(effort) * least, self.params.longest))
        scale = find_scales(problem, inst, best, derive(seed))
        for number in range(math.ceil(effort * self.params.restarts * least / moves_each)):
            if stop():
                break
            temperatures = self.params.schedule(scale, shuffle=number % 2 == 0)
            places = _anneal_once(problem, inst, best, (temperatures, moves_each, derive(seed, number)), stop)
            found_cost = cost_changes.total(inst, places)
            if found_cost < cost - cost_changes.smallest_gain(inst, cost):
                best, cost = places, found_cost
        # Small problems end in iterated local search, where descents are cheap.
        kicks = effort * self.params.kicks_at(_pairs(problem, inst))
        return Assignment(places=_kick_and_descend(problem, inst, best, kicks, derive(seed, 0, 1), stop))


def shuffle(inst: Instance, state: State, count: int, seed: int, stop: Stop) -> None:
    """Make about `count` random legal moves (in place), fewer once `stop` says so."""
    fixed, scratch = mark_fixed(inst), state.place.copy()
    chunk = moves_in_chunk(inst, CHUNK)
    for number, done in enumerate(range(0, count, chunk)):
        draw = derive(seed, 1, number) if number else seed
        moves.anneal(inst, state, fixed, scratch, np.array([np.inf]), min(chunk, count - done), draw)
        if stop():
            break


def _anneal_once(
    problem: Problem, inst: Instance, start: IntArray, plan: tuple[FloatArray, int, int], stop: Stop
) -> IntArray:
    """Anneal once from `start[n]` by temperatures, moves at each and seed, and descend.

    A leading infinite temperature shuffles first. All is run in chunks so that `stop` is called in between.
    """
    temperatures, moves_each, seed = plan
    state, fixed = state_of(problem, start), mark_fixed(inst)
    if np.isinf(temperatures[0]):
        shuffle(inst, state, SHUFFLE * inst.movable.size, seed, stop)
        temperatures = temperatures[1:]
    lowest, chunk = state.place.copy(), moves_in_chunk(inst, CHUNK)
    repeats = -(-moves_each // chunk)
    parts = np.array_split(np.repeat(temperatures, repeats), -(-len(temperatures) * moves_each // chunk))
    for number, part in enumerate(parts):
        if stop():
            break
        moves.anneal(inst, state, fixed, lowest, part, -(-moves_each // repeats), derive(seed, number))
    return descend_from(problem, inst, lowest, stop) if _is_connected(problem, lowest) else start.copy()


def _kick_and_descend(problem: Problem, inst: Instance, start: IntArray, kicks: int, seed: int, stop: Stop) -> IntArray:
    """Return the cheapest mapping of `kicks` kicks of the local optimum `start[n]`, in chunks to ask `stop`."""
    state, spare, fixed = state_of(problem, start), state_of(problem, start), mark_fixed(inst)
    chunk = min(max(SLICE // 8 // _work(problem, inst), 1), KICKS_A_CHUNK)
    for number, done in enumerate(range(0, kicks, chunk)):
        if stop():
            break
        moves.iterate_local_search(inst, state, spare, fixed, min(chunk, kicks - done), derive(seed, number))
    return state.place if _is_connected(problem, state.place) else start


def moves_in_chunk(inst: Instance, most: int) -> int:
    """Return how many moves take about as long as `most` moves of tasks with up to 16 neighbours."""
    return max(most * ENTRIES * len(inst.work) // max(inst.indices.size, ENTRIES * len(inst.work)), 1)


def _is_connected(problem: Problem, places: IntArray) -> bool:
    """Return whether no traffic crosses disconnected parts, beside whose price all other costs drown in rounding."""
    if problem.metric is problem.topology.metric:
        return True
    row, col = problem.tasks.traffic.nonzero()
    return bool(np.isfinite(problem.topology.metric.between(places[row], places[col])).all())


def descend_from(problem: Problem, inst: Instance, start: IntArray, stop: Stop) -> IntArray:
    """Return the local optimum below `start[n]`, or the start itself where a round of descent is too long.

    Rounds are run in slices so that `stop` is called in between.
    """
    state, fixed = state_of(problem, start), mark_fixed(inst)
    if not 0 < _pairs(problem, inst) <= SCAN_LIMIT:
        return state.place
    work = _work(problem, inst)
    slices = min(-(-work // SLICE), inst.movable.size)
    parts = [inst]
    if slices > 1:
        parts = [restrict(inst, part, inst.hosts) for part in np.array_split(inst.movable, slices)]
    rounds = max(SLICE // work, 1)
    for _ in range(0, SWEEPS, rounds):
        gained = False
        for part in parts:
            if stop():
                return state.place
            gained |= moves.descend(part, state, fixed, rounds)
        if not gained:
            break
    return state.place


def _pairs(problem: Problem, inst: Instance) -> int:
    """Return how many moves a round of descent looks at: every task with every node, and with every task on it."""
    return inst.movable.size * (inst.hosts.size if problem.groups else inst.hosts.size + problem.tasks.size)


def _work(problem: Problem, inst: Instance) -> int:
    """Return how many neighbours a round of descent looks at."""
    return _pairs(problem, inst) * (1 + inst.indices.size // len(inst.work))


def find_scales(problem: Problem, inst: Instance, places: IntArray, seed: int) -> tuple[float, float]:
    """Return median sizes of a cost change at a mapping: of moves across disconnected parts, if any, and of others.

    Where no move costs anything they are 1. The first lets tasks gather in one part, the second find their places.
    """
    sizes = np.empty(SAMPLE)
    moves.sample_moves(inst, state_of(problem, places), mark_fixed(inst), sizes, seed)
    sizes, most = sizes[sizes > inst.tolerance], cost_ceiling(problem)
    far, near = sizes[sizes > most], sizes[sizes <= most]
    low = float(np.median(near)) if near.size else 1.0
    return (float(np.median(far)) if far.size else low), low


def cost_ceiling(problem: Problem) -> float:
    """Return more than any mapping costs whose traffic does not cross disconnected parts."""
    tasks, topology = problem.tasks, problem.topology
    compute = float(tasks.work.sum()) * float(topology.cost.max())
    return 1.000001 * (topology.metric.farthest * float(tasks.traffic.data.sum()) + compute)
