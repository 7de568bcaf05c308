"""The fewest SWAPs and BRIDGEs of a small circuit, by breadth-first search over all layouts and sets of nodes done."""

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.gate_dag import Axis, GateDag, Operation, gate_dag_of

State = tuple[tuple[int, ...], frozenset[int]]
AXES: tuple[tuple[Axis | None, Axis | None], ...] = (("z", "x"), ("z", "z"), ("x", "x"), (None, None), ("z", None))


class TinyProblem(NamedTuple):
    """Hold a circuit of n qubits, a device, and the layout `fixed[n]` that routes start from, None where it is open."""

    dag: GateDag
    device: Coupling
    fixed: IndexArray | None


@st.composite
def tiny_problems(draw: st.DrawFn) -> TinyProblem:
    """Draw a device of two to five qubits, in parts now and then, and up to eight gates, with a layout or without.

    Some gates commute and some may be BRIDGEs; operations that only keep the order are among them.
    """
    size = draw(st.integers(2, 5))
    pairs = [(a, b) for b in range(size) for a in range(b)]
    device = Coupling.of(size, draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=6)))
    qubits, steps = draw(st.integers(2, size)), list[Operation]()
    for _ in range(draw(st.integers(1, 8))):
        a, b = draw(st.permutations(range(qubits)))[:2]
        pair = draw(st.integers(0, 9)) > 0
        steps.append(Operation((a, b), draw(st.sampled_from(AXES)), pair, pair and draw(st.booleans())))
    place = draw(st.none() | st.permutations(range(size)))
    fixed = None if place is None else np.array(place[:qubits], np.int32)
    return TinyProblem(gate_dag_of(qubits, steps).gate_dag, device, fixed)


def count_fewest(dag: GateDag, coupling: Coupling, fixed: IndexArray | None = None) -> int | None:
    """Return the fewest SWAPs and BRIDGEs of any route, None where there is none."""
    near = {(a, b) for a, b in coupling.edges.tolist()} | {(b, a) for a, b in coupling.edges.tolist()}
    places = permutations(range(coupling.size), dag.qubits) if fixed is None else [tuple(fixed.tolist())]
    front = {_carry_out(dag, near, (place, frozenset())) for place in places}
    seen, spent = set(front), 0
    while front:
        if any(len(done) == len(dag.pairs) for _, done in front):
            return spent
        front = {_carry_out(dag, near, after) for state in front for after in _list_next(dag, near, state)} - seen
        seen |= front
        spent += 1
    return None


def _list_next(dag: GateDag, near: set[tuple[int, int]], state: State) -> Iterator[State]:
    """Yield what one SWAP or one BRIDGE makes of a state."""
    place, done = state
    for p, q in near:
        yield tuple(q if x == p else p if x == q else x for x in place), done
    for v in _list_ready(dag, done):
        a, b = place[dag.pairs[v, 0]], place[dag.pairs[v, 1]]
        if dag.bridge[v] and any((a, m) in near and (m, b) in near for m in range(len(near))):
            yield place, done | {v}


def _carry_out(dag: GateDag, near: set[tuple[int, int]], state: State) -> State:
    """Carry out all that can be without a SWAP, which never hinders anything."""
    place, done = state
    while True:
        free = [v for v in _list_ready(dag, done) if _runs(dag, near, place, v)]
        if not free:
            return place, done
        done = done.union(free)


def _list_ready(dag: GateDag, done: frozenset[int]) -> list[int]:
    """Return the nodes that wait for nothing."""
    waiting = {
        int(w) for v in range(len(dag.pairs)) if v not in done for w in dag.after[dag.first[v] : dag.first[v + 1]]
    }
    return [v for v in range(len(dag.pairs)) if v not in done and v not in waiting]


def _runs(dag: GateDag, near: set[tuple[int, int]], place: tuple[int, ...], v: int) -> bool:
    """Return whether a node can be carried out in a layout."""
    a, b = dag.pairs[v].tolist()
    return a < 0 or (place[a], place[b]) in near
