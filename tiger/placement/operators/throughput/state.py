"""The devices of vertices, and their loads, kept up to date in O(k degree) as vertices move."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.tables import Tables
from tiger.solvers.kernel import inner_kernel, kernel

CountArray = NDArray[np.int32]


class LoadState(NamedTuple):
    """Hold the device of every vertex `place[V]`, and counts and loads that follow from it.

    Operator u has `consumers[u, d]` consumers on device d, itself among none of them. `load[k]` are seconds, `held[k]`
    bytes. `change[k]` is what a move adds to the loads, in seconds.
    """

    place: IntArray
    consumers: CountArray
    load: FloatArray
    held: FloatArray
    change: FloatArray


def make_state(terms: Terms, tables: Tables, place: IntArray) -> LoadState:
    """Return the state of vertices on devices `place[V]`; O(k n + e)."""
    size, devices = len(tables.vertex_of), len(tables.capacity)
    state = LoadState(
        place=place.astype(np.int64),
        consumers=np.zeros((size, devices), np.int32),
        load=np.zeros(devices),
        held=np.zeros(devices),
        change=np.zeros(devices),
    )
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    np.add.at(state.consumers, (producer, state.place[tables.vertex_of[terms.consumer]]), 1)
    recompute_loads(tables, state)
    return state


@kernel
def recompute_loads(tables: Tables, state: LoadState) -> None:
    """Compute loads and held bytes from places and counts; O(k n)."""
    state.load[:] = 0.0
    state.held[:] = 0.0
    for g in range(len(state.place)):
        d = state.place[g]
        state.load[d] += tables.work[g, d]
        state.held[d] += tables.memory[g]
        for j in range(tables.output_start[g], tables.output_start[g + 1]):
            # A producer pays once for all receivers, the longest of its messages; each receiver pays for its own.
            u, most = tables.output[j], 0.0
            for h in range(len(state.load)):
                if h != d and state.consumers[u, h] > 0:
                    seconds = tables.sent[tables.link[d, h], u]
                    state.load[h] += tables.pays[h] * seconds
                    most = max(most, seconds)
            state.load[d] += tables.pays[d] * most


@inner_kernel
def compute_change(tables: Tables, state: LoadState, g: int, b: int) -> None:
    """Write to `change` what is added to loads when vertex g goes to device b; O(k (degree + 1))."""
    a = state.place[g]
    state.change[:] = 0.0
    state.change[a] -= tables.work[g, a]
    state.change[b] += tables.work[g, b]
    for j in range(tables.input_start[g], tables.input_start[g + 1]):
        u = tables.input[j]
        d = state.place[tables.vertex_of[u]]
        # The last consumer on a device that leaves saves a message; the first that comes costs one.
        leaves, joins = a != d and state.consumers[u, a] == tables.input_count[j], b != d and state.consumers[u, b] == 0
        if leaves or joins:
            _count_consumer(tables, state, u, a if leaves else -1, b if joins else -1)
    # Messages of the vertex itself start from another device, hence run over other links.
    for j in range(tables.output_start[g], tables.output_start[g + 1]):
        _count_producer(tables, state, tables.output[j], tables.kept[j], b)


@inner_kernel
def _count_consumer(tables: Tables, state: LoadState, u: int, leaves: int, joins: int) -> None:
    """Count that operator u loses its last consumer on one device, and gets its first on another; -1 for none."""
    d, before, after = state.place[tables.vertex_of[u]], 0.0, 0.0
    for h in range(len(state.load)):
        if h != d and (state.consumers[u, h] > 0 or h == joins):
            seconds = tables.sent[tables.link[d, h], u]
            if h == joins:
                state.change[h] += tables.pays[h] * seconds
            else:
                before = max(before, seconds)
            if h == leaves:
                state.change[h] -= tables.pays[h] * seconds
            else:
                after = max(after, seconds)
    state.change[d] += tables.pays[d] * (after - before)


@inner_kernel
def _count_producer(tables: Tables, state: LoadState, u: int, kept: int, b: int) -> None:
    """Count that operator u goes to device b together with `kept` of its consumers."""
    a, before, after = state.place[tables.vertex_of[u]], 0.0, 0.0
    for h in range(len(state.load)):
        count = state.consumers[u, h]
        if count == 0:
            continue
        # Receivers no longer pay for messages from device a.
        if h != a:
            seconds = tables.sent[tables.link[a, h], u]
            state.change[h] -= tables.pays[h] * seconds
            before = max(before, seconds)
        # Consumers that stay behind on device a receive a message from now on.
        if h != b and count > (kept if h == a else 0):
            seconds = tables.sent[tables.link[b, h], u]
            state.change[h] += tables.pays[h] * seconds
            after = max(after, seconds)
    # A producer pays for the longest of its messages alone, on either device.
    state.change[a] -= tables.pays[a] * before
    state.change[b] += tables.pays[b] * after


@inner_kernel
def move_vertex(tables: Tables, state: LoadState, g: int, b: int) -> None:
    """Put vertex g on device b, and update the counts of consumers, but neither loads nor held bytes. O(degree)."""
    a = state.place[g]
    for j in range(tables.input_start[g], tables.input_start[g + 1]):
        state.consumers[tables.input[j], a] -= tables.input_count[j]
        state.consumers[tables.input[j], b] += tables.input_count[j]
    for j in range(tables.output_start[g], tables.output_start[g + 1]):
        state.consumers[tables.output[j], a] -= tables.kept[j]
        state.consumers[tables.output[j], b] += tables.kept[j]
    state.place[g] = b


@inner_kernel
def apply_change(tables: Tables, state: LoadState, g: int, b: int) -> None:
    """Add the computed change of vertex g going to device b to loads, and move its bytes; O(k)."""
    for h in range(len(state.load)):
        state.load[h] += state.change[h]
    state.held[state.place[g]] -= tables.memory[g]
    state.held[b] += tables.memory[g]
