"""Gates as tasks, annealed: all levels at once, by moves to where a gate's qubits are before and after it.

Every function of arrays is compiled by numba on first use and kept in its cache; `.py_func` is the plain Python one.
"""

import numpy as np

from tiger.model.seams import Stop
from tiger.model.seeds import derive
from tiger.routing.coupling import FAR, IndexArray
from tiger.routing.ising.gatetasks import CouplingArcs, GateTasks, GateTies
from tiger.solvers.kernel import inner_kernel, kernel

# Temperatures in hops: annealing goes from the first to the second; the third accepts next to nothing that costs a hop.
HOT, COLD, COLDEST = 0.7, 0.1, 0.01
# Moves between two looks at whether to stop, and one move in this many to anywhere on the device.
BURST, SELDOM = 200_000, 16


def anneal_arcs(tasks: GateTasks, arc: IndexArray, *, seed: int, sweeps: int, stop: Stop) -> IndexArray:
    """Return arcs at most as costly as the feasible `arc[k]` by simulated annealing of all levels at once.

    O(sweeps k) moves in compiled code; no optimum is promised. Without sweeps to speak of it is a descent.
    """
    return _cool(tasks, arc, (HOT, COLD), (seed, sweeps), stop)


def descend(tasks: GateTasks, arc: IndexArray, *, seed: int, sweeps: int, stop: Stop) -> IndexArray:
    """Return arcs at most as costly as the feasible `arc[k]` by moves that gain or cost nothing."""
    return _cool(tasks, arc, (COLDEST, COLDEST), (seed, sweeps), stop)


def _cool(
    tasks: GateTasks, arc: IndexArray, heat: tuple[float, float], seed_and_sweeps: tuple[int, int], stop: Stop
) -> IndexArray:
    """Cool down from one temperature in hops to another in a number of sweeps; `stop` is called between bursts."""
    level, count = tasks.flow.level, len(arc)
    seed, sweeps = seed_and_sweeps
    moves = sweeps * count
    # A single gate has no others to wait for, but many arcs to choose from.
    if count < 2:
        moves *= 16
    found, bursts = arc.copy(), -(-moves // BURST)
    holder = np.full((int(level.max(initial=-1)) + 1, len(tasks.arcs.hops)), -1, np.int32)
    holder[level[:, None], tasks.arcs.ends[arc]] = np.arange(count)[:, None]
    for burst in range(bursts if count else 0):
        if stop():
            break
        # Geometric cooling (Kirkpatrick, Gelatt, Vecchi 1983), in bursts each of which covers its part of the range.
        warm, cool = (heat[0] * (heat[1] / heat[0]) ** ((burst + step) / bursts) for step in (0, 1))
        anneal(tasks.arcs, tasks.flow, found, holder, (warm, cool, -(-moves // bursts), derive(seed, burst)))
    return found if tasks.cost(found) <= tasks.cost(arc) else arc.copy()


@kernel
def anneal(
    arcs: CouplingArcs, flow: GateTies, arc: IndexArray, holder: IndexArray, plan: tuple[float, float, int, int]
) -> None:
    """Move gates to arcs near those of their neighbours in time (in place), by Metropolis' rule.

    `holder[levels, N]` is the gate of a level on a device qubit, -1 for none; `plan` is the first and last temperature
    in hops, the number of moves, and a seed.
    """
    warm, cool, moves, seed = plan
    np.random.seed(seed)
    heat, ratio = warm, (cool / warm) ** (1.0 / moves)
    for _ in range(moves):
        heat *= ratio
        gate = draw_below(len(arc))
        # A move: one gate goes to another arc, and a gate of its level that is in the way takes the arc left free.
        to, old = draw_arc(arcs, flow, arc, gate), arc[gate]
        other = find_displaced(arcs, holder[flow.level[gate]], gate, to)
        if to == old or other == -2:
            continue
        change = count_hops(arcs, flow, arc, gate, to) - count_hops(arcs, flow, arc, gate, old)
        # It may take that arc in either direction.
        moved = old if draw_below(2) else arcs.back[old]
        if other >= 0:
            change += count_hops(arcs, flow, arc, other, moved) - count_hops(arcs, flow, arc, other, arc[other])
        # Metropolis' rule (1953).
        if change <= 0 or np.random.random() < np.exp(-change / heat):
            row = holder[flow.level[gate]]
            if other >= 0:
                move_gate(arcs, row, arc, other, moved)
            move_gate(arcs, row, arc, gate, to)
            # The gate that moved last has cleared its old qubits, which the other one now holds.
            if other >= 0:
                row[arcs.ends[moved, 0]] = other
                row[arcs.ends[moved, 1]] = other


@inner_kernel
def move_gate(arcs: CouplingArcs, row: IndexArray, arc: IndexArray, gate: int, to: int) -> None:
    """Move a gate from its arc to another, in the row of its level as well."""
    row[arcs.ends[arc[gate], 0]] = -1
    row[arcs.ends[arc[gate], 1]] = -1
    row[arcs.ends[to, 0]] = gate
    row[arcs.ends[to, 1]] = gate
    arc[gate] = to


@inner_kernel
def draw_arc(arcs: CouplingArcs, flow: GateTies, arc: IndexArray, gate: int) -> int:
    """Return a random arc at where one of the gate's qubits is before or after it, or now, or seldom anywhere."""
    end, side = draw_below(2), draw_below(2)
    at = arcs.ends[arc[gate], end]
    if draw_below(SELDOM) == 0:
        to = draw_below(len(arcs.back))
        return int(to if arcs.hops[at, arcs.ends[to, end]] < FAR else arc[gate])
    # Most moves go to where a qubit of the gate is just before or after it, since only these can save hops.
    other = flow.near[gate, end, side, 0]
    if other >= 0 and draw_below(2) == 0:
        at = arcs.ends[arc[other], flow.near[gate, end, side, 1]]
    to = arcs.first[at] + draw_below(arcs.first[at + 1] - arcs.first[at])
    if draw_below(2) != end:
        to = arcs.back[to]
    return int(to)


@inner_kernel
def find_displaced(arcs: CouplingArcs, row: IndexArray, gate: int, to: int) -> int:
    """Return the one gate that has to make way and can take the other's arc, -1 for none, -2 where it is not so."""
    a, b = arcs.ends[to, 0], arcs.ends[to, 1]
    one, two = row[a], row[b]
    if one == gate:
        one = -1
    if two == gate:
        two = -1
    # Two different gates in the way would both have to move.
    if one < 0 or two < 0:
        one = max(one, two)
    elif one != two:
        return -2
    # An exchange is impossible where the new arc shares a qubit with the old one.
    if one >= 0 and (row[a] == gate or row[b] == gate):
        return -2
    return int(one)


@inner_kernel
def count_hops(arcs: CouplingArcs, flow: GateTies, arc: IndexArray, gate: int, to: int) -> int:
    """Return the hops that a gate's qubits travel to and from an arc."""
    total = 0
    for end in range(2):
        at = arcs.ends[to, end]
        if flow.home[gate, end] >= 0:
            total += arcs.hops[flow.home[gate, end], at]
        for side in range(2):
            other = flow.near[gate, end, side, 0]
            if other >= 0:
                total += arcs.hops[at, arcs.ends[arc[other], flow.near[gate, end, side, 1]]]
    return total


@inner_kernel
def draw_below(sides: int) -> int:
    """Return a random number from 0 to sides - 1."""
    return int(np.random.randint(sides))
