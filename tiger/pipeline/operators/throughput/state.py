"""The devices of groups of operators, and loads that are kept up to date as groups move."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiger.model.arrays import FloatArray, IntArray
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.tables import Tables
from tiger.solvers.kernel import inner_kernel, kernel

CountArray = NDArray[np.int32]


class State(NamedTuple):
    """Hold the device of every group `place[G]`, what follows from it, and room to work in.

    Operator u has `readers[u, d]` readers on device d, itself among none of them. `load[k]` are seconds, `held[k]`
    bytes. `step[k]` is how loads would change.
    """

    place: IntArray
    readers: CountArray
    load: FloatArray
    held: FloatArray
    step: FloatArray


def state_of(terms: Terms, tables: Tables, place: IntArray) -> State:
    """Return the state of groups on devices `place[G]`; O(k n + e)."""
    size, devices = len(tables.of), len(tables.capacity)
    made = State(
        place=place.astype(np.int64),
        readers=np.zeros((size, devices), np.int32),
        load=np.zeros(devices),
        held=np.zeros(devices),
        step=np.zeros(devices),
    )
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    np.add.at(made.readers, (producer, made.place[tables.of[terms.consumer]]), 1)
    settle(tables, made)
    return made


@kernel
def settle(tables: Tables, state: State) -> None:
    """Sum loads and what is held afresh; O(k n)."""
    state.load[:] = 0.0
    state.held[:] = 0.0
    for g in range(len(state.place)):
        d = state.place[g]
        state.load[d] += tables.work[g, d]
        state.held[d] += tables.memory[g]
        for j in range(tables.told_start[g], tables.told_start[g + 1]):
            u, most = tables.told[j], 0.0
            for h in range(len(state.load)):
                if h != d and state.readers[u, h] > 0:
                    seconds = tables.sent[tables.link[d, h], u]
                    state.load[h] += tables.pays[h] * seconds
                    most = max(most, seconds)
            state.load[d] += tables.pays[d] * most


@inner_kernel
def weigh(tables: Tables, state: State, g: int, b: int) -> None:
    """Write to `step` how loads change when group g goes to device b; O(k (degree + 1))."""
    a = state.place[g]
    state.step[:] = 0.0
    state.step[a] -= tables.work[g, a]
    state.step[b] += tables.work[g, b]
    for j in range(tables.read_start[g], tables.read_start[g + 1]):
        u = tables.read[j]
        d = state.place[tables.of[u]]
        leaves, joins = a != d and state.readers[u, a] == tables.reads[j], b != d and state.readers[u, b] == 0
        if leaves or joins:
            _change_reader(tables, state, u, a if leaves else -1, b if joins else -1)
    for j in range(tables.told_start[g], tables.told_start[g + 1]):
        _change_sender(tables, state, tables.told[j], tables.keeps[j], b)


@inner_kernel
def _change_reader(tables: Tables, state: State, u: int, leaves: int, joins: int) -> None:
    """Change the step by operator u no longer being read on one device, and read on another; -1 for none."""
    d, before, after = state.place[tables.of[u]], 0.0, 0.0
    for h in range(len(state.load)):
        if h != d and (state.readers[u, h] > 0 or h == joins):
            seconds = tables.sent[tables.link[d, h], u]
            if h == joins:
                state.step[h] += tables.pays[h] * seconds
            else:
                before = max(before, seconds)
            if h == leaves:
                state.step[h] -= tables.pays[h] * seconds
            else:
                after = max(after, seconds)
    state.step[d] += tables.pays[d] * (after - before)


@inner_kernel
def _change_sender(tables: Tables, state: State, u: int, keeps: int, b: int) -> None:
    """Change the step by operator u going to device b together with so many of its readers."""
    a, before, after = state.place[tables.of[u]], 0.0, 0.0
    for h in range(len(state.load)):
        count = state.readers[u, h]
        if count == 0:
            continue
        if h != a:
            seconds = tables.sent[tables.link[a, h], u]
            state.step[h] -= tables.pays[h] * seconds
            before = max(before, seconds)
        if h != b and count > (keeps if h == a else 0):
            seconds = tables.sent[tables.link[b, h], u]
            state.step[h] += tables.pays[h] * seconds
            after = max(after, seconds)
    state.step[a] -= tables.pays[a] * before
    state.step[b] += tables.pays[b] * after


@inner_kernel
def recount(tables: Tables, state: State, g: int, b: int) -> None:
    """Put group g on device b, and count readers by it; loads and what is held stay as they are. O(degree)."""
    a = state.place[g]
    for j in range(tables.read_start[g], tables.read_start[g + 1]):
        state.readers[tables.read[j], a] -= tables.reads[j]
        state.readers[tables.read[j], b] += tables.reads[j]
    for j in range(tables.told_start[g], tables.told_start[g + 1]):
        state.readers[tables.told[j], a] -= tables.keeps[j]
        state.readers[tables.told[j], b] += tables.keeps[j]
    state.place[g] = b


@inner_kernel
def reload(tables: Tables, state: State, g: int, b: int) -> None:
    """Change loads by the step that was weighed for group g going to device b, and what is held; O(k)."""
    for h in range(len(state.load)):
        state.load[h] += state.step[h]
    state.held[state.place[g]] -= tables.memory[g]
    state.held[b] += tables.memory[g]
