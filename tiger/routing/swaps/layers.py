"""How deep a route is in two-qubit gates, where SWAPs beside a gate on their pair are fused with it.

A step begins when its qubits are free, and takes as many layers as it has gates, in which prices are stated.
"""

import numpy as np

from tiger.routing.coupling import IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import Route
from tiger.routing.swaps.prices import NOTHING, price_bridge, price_gate, price_swap
from tiger.solvers.kernel import inner_kernel, kernel

# Gates in a row of a SWAP, and of a BRIDGE.
SWAP, BRIDGE = 3, 4


def count_layers(dag: GateDag, route: Route) -> int:
    """Return the depth of a route in two-qubit gates; O(k + N)."""
    place, layers = route.start.astype(np.int32), (dag.price.copy(), dag.layers.copy())
    scratch = np.empty_like(place), np.full_like(place, NOTHING), np.zeros_like(place)
    scratch[0][place] = np.arange(len(place), dtype=np.int32)
    return int(count_whole(layers, dag.pairs.copy(), route.steps.astype(np.int32), scratch))


@kernel
def count_whole(
    layers: tuple[IndexArray, IndexArray],
    pairs: IndexArray,
    steps: IndexArray,
    state: tuple[IndexArray, IndexArray, IndexArray],
) -> int:
    """Call `add_layers` from Python; return the deepest level."""
    add_layers(layers, pairs, steps, 0, len(steps), state)
    return find_deepest(state[2])


@inner_kernel
def add_layers(
    layers: tuple[IndexArray, IndexArray],
    pairs: IndexArray,
    steps: IndexArray,
    low: int,
    high: int,
    state: tuple[IndexArray, IndexArray, IndexArray],
) -> None:
    """Raise the levels of qubits by steps `low` to `high`.

    `layers` are prices and the gates in a row of every node; `state` is `holds[N]`, and what was `last[N]` and the
    `level[N]` on circuit qubits.
    """
    holds, last, level = state
    for k in range(low, high):
        what, where = steps[k, 0], steps[k, 1]
        if what < 0:
            p = -1 - what
            a, b = holds[p], holds[where]
            holds[p], holds[where] = b, a
            raise_by_swap(layers, last, level, a, b)
        elif pairs[what, 0] >= 0:
            a, b = pairs[what, 0], pairs[what, 1]
            if where >= 0:
                raise_by_bridge(layers, last, level, a, b, holds[where])
            else:
                raise_by_gate(layers, last, level, a, b, what)


@inner_kernel
def raise_by_swap(layers: tuple[IndexArray, IndexArray], last: IndexArray, level: IndexArray, a: int, b: int) -> None:
    """Raise the levels of circuit qubits a and b by a SWAP, which what was last on both may take up in part."""
    price = layers[0]
    added = price_swap(price, last, a, b) * SWAP // price[len(price) - 1]
    level[a] = level[b] = max(level[a], level[b]) + added


@inner_kernel
def raise_by_gate(
    layers: tuple[IndexArray, IndexArray], last: IndexArray, level: IndexArray, a: int, b: int, v: int
) -> None:
    """Raise the levels of circuit qubits a and b by node v, which may take up a SWAP right before it in part."""
    price = layers[0]
    # Rounded down: a price has a part more than its gates, which what is taken off lacks.
    added = layers[1][v] + price_gate(price, last, a, b, v) * SWAP // price[len(price) - 1]
    level[a] = level[b] = max(level[a], level[b]) + added


@inner_kernel
def raise_by_bridge(
    layers: tuple[IndexArray, IndexArray], last: IndexArray, level: IndexArray, a: int, b: int, middle: int
) -> None:
    """Raise the levels of circuit qubits a and b and of the one between by a BRIDGE."""
    price_bridge(layers[0], last, a, b)
    level[a] = level[b] = level[middle] = max(level[a], level[b], level[middle]) + BRIDGE


@inner_kernel
def find_deepest(level: IndexArray) -> int:
    """Return the highest level."""
    deepest = 0
    for v in range(len(level)):
        if level[v] > deepest:
            deepest = level[v]
    return int(deepest)
