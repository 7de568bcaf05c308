"""Annealing towards a low cost of multicasts, from a mapping that is good for the graph that stands for them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import NetArrays
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop
from tiger.solvers.annealing.net_kernels import NetState, anneal_nets, reset_spans
from tiger.solvers.generator import seed_state
from tiger.solvers.instance import Instance, instance_of, mark_fixed, state_of, uniform

# Moves in a call that can't be stopped, each of at most this many distances: 0.1 to 0.5 s.
SLICE, DISTANCES = 1 << 17, 1000
# Nodes up to which a set of them is one number of this many bits, and sets of nodes whose trees' lengths are kept.
BITS, KEPT = 64, 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class NetParams:
    """Set the annealer: `moves` proposals a task and effort, at `temperatures` that fall from `hot` to `cold`.

    More than `tasks` share the proposals of that number, the most of `python -m benchmarks hypergraphs`, so that large
    problems end soon.

    Before that `quick` proposals a task and effort at the temperature `least` take what is to be had at once, for
    solves that end early. Temperatures are in units of what a set costs that is on two nodes next to each other. Half
    or twice of either, and half the moves, cost 0.1 to 0.3 % more on other draws of the sets of
    `python -m benchmarks hypergraphs`.
    """

    moves: int = 1_000
    tasks: int = 4_096
    temperatures: int = 64
    hot: float = 0.5
    cold: float = 0.12
    quick: int = 60
    least: float = 0.05

    def portions(self, tasks: int, distances: float) -> Iterator[tuple[FloatArray, int]]:
        """Yield temperatures and the moves at each of them for a number of tasks, in portions that end soon.

        Moves that look at more than 1,000 `distances` each are fewer in proportion, so that sets on many nodes take no
        longer; none are left where that is less than one a temperature.
        """
        fallen = (np.arange(self.temperatures) + 0.5) / self.temperatures
        falling = self.hot * (self.cold / self.hot) ** fallen
        share = min(DISTANCES / max(distances, 1.0), 1.0)
        for moves, ladder in ((self.quick, np.full(self.temperatures // 8, self.least)), (self.moves, falling)):
            if moves * tasks * share < len(ladder):
                continue
            calls = max(math.ceil(moves * tasks / SLICE), 1)
            # Calls for each temperature where it has more moves than a call, else temperatures for each call.
            repeats = math.ceil(calls / len(ladder))
            for part in np.array_split(ladder, min(calls, len(ladder))):
                for _ in range(repeats):
                    yield part, math.ceil(moves * tasks * share / (len(ladder) * repeats))


# Its first proposals alone: 0.1 to 0.8 % of what is cheap by pairs, 3 % for random sets, in a quarter to a half of the
# time of refinement in clusters. With it before that, sets on trees cost 0.3 to 0.5 % less in Mt-KaHyPar's own time (21
# draws, six kinds and sizes as `python -m benchmarks hypergraphs` makes them and one of nets in groups, three seeds).
QUICK = NetParams(moves=0)


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
        net, state, fixed = net_state_of(inst, nets), state_of(problem, best), mark_fixed(inst)
        unit, lowest = _unit(problem, inst, nets), np.inf
        tasks = min(len(inst.movable), self.params.tasks) * effort
        proposals = self.params.portions(tasks, _count_distances(problem, nets, start))
        for number, (temperatures, count) in enumerate(proposals):
            if stop():
                break
            if not number:
                lowest = reset_spans(inst, state.place, nets, net)
            draw = seed_state(seed, number)
            lowest = anneal_nets(inst, state, fixed, nets, net, best, temperatures * unit, count, draw, lowest)
        return Assignment(places=best)


def _unit(problem: Problem, inst: Instance, nets: NetArrays) -> float:
    """Return the mean volume of a set times the mean distance of a host to the closest other, of those that are > 0."""
    hosts = problem.topology.hosts
    near = inst.near[hosts]
    distances = np.where(near >= 0, problem.metric.between(hosts[:, None], near), np.inf).min(axis=1)
    distances = distances[(distances > 0) & (distances <= problem.topology.metric.farthest)]
    return (float(nets.volumes.mean()) or 1.0) * (float(distances.mean()) if distances.size else 1.0)


def _count_distances(problem: Problem, nets: NetArrays, places: IntArray) -> float:
    """Return how many distances a move of a task looks at, on average over the tasks of a mapping.

    A tree of k nodes takes their square, but is left alone by moves from and to nodes with other tasks of the set.
    """
    widths = np.diff(nets.starts)
    owner = np.repeat(np.arange(len(widths)), widths)
    incidences, counts = np.unique(owner * problem.topology.size + places[nets.pins], return_counts=True)
    nodes = np.bincount(incidences // problem.topology.size, minlength=len(widths)).astype(np.float64)
    alone = np.bincount(incidences[counts == 1] // problem.topology.size, minlength=len(widths))
    changing = np.where(nodes < len(problem.topology.hosts), widths, alone)
    return float((widths * nodes + changing * nodes**2).sum()) / problem.tasks.size


def net_state_of(inst: Instance, nets: NetArrays) -> NetState:
    """Return the sets of each task, and room for where each set is."""
    size, kept = len(inst.work), KEPT if len(inst.slots) <= BITS else 0
    count, pins = len(nets.volumes), len(nets.pins)
    widths = np.diff(nets.starts)
    owner = np.repeat(np.arange(count), widths)
    order = np.argsort(nets.pins, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(nets.pins, minlength=size))])
    widest = max(int(widths.max(initial=0)) + 1, BITS)
    return NetState(
        first=uniform(first.astype(np.int64)),
        sets=uniform(owner[order]),
        nodes=np.zeros(pins, np.int64),
        counts=np.zeros(pins, np.int64),
        distinct=np.zeros(count, np.int64),
        span=np.zeros(count),
        cut=np.zeros(size, np.int64),
        mark=np.zeros(count, np.int64),
        seen=np.zeros(1, np.int64),
        tree=np.zeros(widest, np.int64),
        distances=np.zeros(widest),
        mask=np.zeros(count, np.int64),
        once=np.zeros(count, np.int64),
        key=np.zeros(kept, np.int64),
        length=np.zeros(kept),
    )
