"""Routes of small circuits with the fewest SWAPs and BRIDGEs, by A* over layouts and sets of nodes that are done.

A qubit gets its place when its first gate runs, since SWAPs of qubits without a place change nothing: with such a place
it started where SWAPs backwards lead. All that can run is carried out at once, which never hinders anything. Estimates
are lower bounds: by the distance of two qubits and the bound on what comes after their gate (`swap_bound`). Source: P.
Hart, N. Nilsson, B. Raphael, A formal basis for the heuristic determination of minimum cost paths, 1968,
doi:10.1109/TSSC.1968.300136.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.embedding import complete_layout
from tiger.routing.embedding.swap_bound import SwapBound
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import PLAIN, Route
from tiger.routing.swaps.exact_states import (
    MOST,
    ExactStates,
    ExactTask,
    StateMove,
    add_state,
    allocate_states,
    exchange,
    unpack_layout,
)
from tiger.solvers.kernel import inner_kernel, kernel

# A layout and a set of nodes have to fit a whole number of 64 bits each, of which the sign is left out.
BITS = 62
# States expanded between two calls of `stop`: at most 0.2 s on 127 qubits.
CHUNK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactParams:
    """Set the work of an exact search: `states` that it may hold, of 60 bytes each, 1 to 2 us apiece."""

    states: int = 1_000_000


class ExactRoute(NamedTuple):
    """Return how many SWAPs and BRIDGEs there are at least, and a route with as many, None where none was found."""

    bound: int
    route: Route | None


def is_small(dag: GateDag, coupling: Coupling) -> bool:
    """Return whether layouts and sets of nodes fit the states: 62 nodes, and 12 qubits on 31, 8 on 127."""
    active = len(_list_active(dag))
    return 0 < active * coupling.size.bit_length() <= BITS and len(dag.pairs) <= BITS


def find_exact_route(
    dag: GateDag,
    coupling: Coupling,
    bound: SwapBound,
    params: ExactParams,
    fixed: IndexArray | None = None,
    stop: Callable[[], bool] = bool,
) -> ExactRoute:
    """Return the fewest SWAPs and BRIDGEs of a circuit and such a route, or a bound where that takes too many states.

    `fixed[N]` is a layout to start from. The circuit has to be small (`is_small`). Deterministic but for `stop`.
    """
    active = _list_active(dag)
    task = _build_task(dag, coupling, bound, active)
    states = allocate_states(task, params.states)
    place = np.full(len(active), -1, np.int32) if fixed is None else fixed[active].astype(np.int32)
    start_search(task, states, place)
    while not stop() and expand_states(task, states, CHUNK):
        pass
    counters = states.counters[0]
    if counters.goal < 0:
        return ExactRoute(max(bound.swaps, int(counters.level)), None)
    return ExactRoute(int(states.spent[counters.goal]), _read_route(task, states, active, fixed))


def _list_active(dag: GateDag) -> IntArray:
    """Return the qubits that have gates."""
    return np.unique(dag.pairs[dag.pairs[:, 0] >= 0]).astype(np.int64)


def _build_task(dag: GateDag, coupling: Coupling, bound: SwapBound, active: IntArray) -> ExactTask:
    """Return a circuit and a device as kernels read them."""
    before = np.zeros(len(dag.pairs), np.int64)
    for v, (begin, end) in enumerate(zip(dag.first[:-1].tolist(), dag.first[1:].tolist(), strict=True)):
        before[dag.after[begin:end]] |= 1 << v
    pairs = np.where(dag.pairs >= 0, np.searchsorted(active, dag.pairs), -1).astype(np.int32)
    return ExactTask(
        pairs=pairs,
        bridge=dag.bridge.astype(np.int64),
        before=before,
        onward=bound.onward,
        later=bound.later,
        edges=coupling.edges.copy(),
        hops=coupling.hops.astype(np.int64),
        width=coupling.size.bit_length(),
    )


@kernel
def start_search(task: ExactTask, states: ExactStates, place: IndexArray) -> None:
    """Put the state before any step into the queue; `place[n]` is -1 for qubits without a place."""
    states.counters[0].goal = -1
    for a in range(len(place)):
        states.place[a] = place[a]
    add_state(task, states, StateMove(0, -1, 0, 0))


@kernel
def expand_states(task: ExactTask, states: ExactStates, count: int) -> bool:
    """Expand at most a number of states, those of the least estimates; return whether there is more to do."""
    counters = states.counters[0]
    for _ in range(count):
        # A state that found no room has the estimate of the present level or more, which so remains a bound.
        if counters.full != 0:
            return False
        while counters.level < MOST and states.first[counters.level] < 0:
            counters.level += 1
        entry = int(states.first[counters.level])
        if entry < 0:
            return False
        states.first[counters.level] = states.link[entry]
        s = int(states.number[entry])
        # A cheaper way to the state has been found since, and is in the queue as well.
        if states.cost[entry] > states.spent[s]:
            continue
        if states.done[s] == (1 << len(task.pairs)) - 1:
            counters.goal = s
            return False
        expand(task, states, s)
    return True


@inner_kernel
def expand(task: ExactTask, states: ExactStates, s: int) -> None:
    """Put all that one step makes of a state into the queue."""
    done, spent, place, user = int(states.done[s]), int(states.spent[s]), states.place, states.user
    unpack_layout(task, states, int(states.layout[s]))
    for e in range(len(task.edges)):
        p, q = int(task.edges[e, 0]), int(task.edges[e, 1])
        if user[p] >= 0 or user[q] >= 0:
            exchange(states, p, q)
            add_state(task, states, StateMove(done, s, 1 + e, spent + 1))
            exchange(states, p, q)
    for v in range(len(task.pairs)):
        if done >> v & 1 or int(task.before[v]) & ~done or task.pairs[v, 0] < 0:
            continue
        a, b = int(task.pairs[v, 0]), int(task.pairs[v, 1])
        # What is ready with both places is two hops wide or more, as all else has been carried out.
        if place[a] >= 0 and place[b] >= 0:
            carry_out_here(task, states, StateMove(done, s, v, spent))
        elif place[a] >= 0:
            place_beside(task, states, StateMove(done, s, v, spent), b)
        elif place[b] >= 0:
            place_beside(task, states, StateMove(done, s, v, spent), a)
        else:
            for p in range(len(user)):
                if user[p] < 0:
                    place[a], user[p] = p, a
                    place_beside(task, states, StateMove(done, s, v, spent), b)
                    place[a], user[p] = -1, -1


@inner_kernel
def place_beside(task: ExactTask, states: ExactStates, move: StateMove, b: int) -> None:
    """Put the states into the queue in which a qubit gets a place where its first gate, `move.step`, can run."""
    for p in range(len(states.user)):
        if states.user[p] < 0:
            states.place[b], states.user[p] = p, b
            carry_out_here(task, states, move)
            states.place[b], states.user[p] = -1, -1


@inner_kernel
def carry_out_here(task: ExactTask, states: ExactStates, move: StateMove) -> None:
    """Put the state into the queue in which a gate, `move.step`, runs where its qubits are, over two hops as BRIDGE."""
    v = move.step
    hops = task.hops[states.place[task.pairs[v, 0]], states.place[task.pairs[v, 1]]]
    if hops == 1:
        add_state(task, states, StateMove(move.done, move.parent, 0, move.spent))
    elif hops == 2 and task.bridge[v]:
        add_state(task, states, StateMove(move.done | 1 << v, move.parent, -1 - v, move.spent + 1))


def _read_route(task: ExactTask, states: ExactStates, active: IntArray, fixed: IndexArray | None) -> Route:
    """Return the route of the goal, in which all that can run does so before and after each step."""
    s, path = int(states.counters[0].goal), list[int]()
    place = _list_places(task, len(active), int(states.layout[s]))
    while s >= 0:
        path.append(int(states.step[s]))
        s = int(states.parent[s])
    # Places backwards: a qubit started where the SWAPs lead from the place that it got.
    for step in path:
        place = _move(task, place, step)
    known = np.full(int(active.max()) + 1, -1, np.int32)
    known[active] = place
    steps, done = list[tuple[int, int]](), 0
    for step in path[::-1]:
        if step > 0:
            p, q = task.edges[step - 1].tolist()
            steps.append((-1 - p, q))
            place = _move(task, place, step)
        elif step < 0 and not done >> (-1 - step) & 1:
            steps.append((-1 - step, _find_middle(task, place, -1 - step)))
            done |= 1 << (-1 - step)
        for v in _list_runnable(task, place, done):
            steps.append((v, PLAIN))
            done |= 1 << v
    start = complete_layout(known, len(task.hops)) if fixed is None else fixed
    return Route(start=start, steps=np.array(steps, np.int32).reshape(-1, 2))


def _list_places(task: ExactTask, count: int, layout: int) -> list[int]:
    """Return the places of qubits from the number of a layout in which all have one."""
    return [layout >> task.width * (count - 1 - a) & (1 << task.width) - 1 for a in range(count)]


def _move(task: ExactTask, place: list[int], step: int) -> list[int]:
    """Return the places of qubits after a step, or before it."""
    if step <= 0:
        return place
    p, q = task.edges[step - 1].tolist()
    return [q if x == p else p if x == q else x for x in place]


def _find_middle(task: ExactTask, place: list[int], v: int) -> int:
    """Return a device qubit between those of a gate two hops wide."""
    a, b = task.pairs[v].tolist()
    return int(np.flatnonzero((task.hops[place[a]] == 1) & (task.hops[place[b]] == 1))[0])


def _list_runnable(task: ExactTask, place: list[int], done: int) -> Iterator[int]:
    """Yield the nodes that can run in a layout, in order."""
    for v, (a, b) in enumerate(task.pairs.tolist()):
        if not done >> v & 1 and not int(task.before[v]) & ~done and (a < 0 or task.hops[place[a], place[b]] == 1):
            done |= 1 << v
            yield v
