"""The nodes of a gate DAG in order of levels, so that those under way at one time have numbers close to each other."""

from dataclasses import replace

import numpy as np

from tiger.routing.coupling import IndexArray
from tiger.routing.gate_dag import GateDag, build_adjacency
from tiger.solvers.kernel import kernel


def order_by_level(dag: GateDag) -> IndexArray:
    """Return the nodes by how long a chain leads to them, gates of a qubit in circuit order; O(g log g + order)."""
    level, busy = np.zeros(len(dag.pairs), np.int32), np.zeros(dag.qubits, np.int32)
    fill_levels(dag.pairs.copy(), dag.first.copy(), dag.after.copy(), level, busy)
    return np.argsort(level, kind="stable").astype(np.int32)


@kernel
def fill_levels(pairs: IndexArray, first: IndexArray, after: IndexArray, level: IndexArray, busy: IndexArray) -> None:
    """Fill `level[g]`, all 0 before, with the length of the longest chain that leads to a node."""
    for v in range(len(pairs)):
        # As late as the qubits of a gate are free, though commuting gates need not wait for each other.
        a, b = pairs[v, 0], pairs[v, 1]
        if a >= 0:
            level[v] = max(level[v], busy[a], busy[b])
            busy[a] = busy[b] = level[v] + 1
        for e in range(first[v], first[v + 1]):
            level[after[e]] = max(level[after[e]], level[v] + 1)


def renumber(dag: GateDag, order: IndexArray) -> GateDag:
    """Return the gate DAG with node `order[v]` as node v; the order has to respect dependencies."""
    count = len(order)
    number = np.empty(count, np.int32)
    number[order] = np.arange(count, dtype=np.int32)
    first, after = build_adjacency(np.repeat(number, np.diff(dag.first)), number[dag.after], count)
    inner = dag.inner.copy()
    inner[:, 0] = number[inner[:, 0]]
    pairs, bridge = dag.pairs[order], dag.bridge[order]
    price = np.append(dag.price[order], dag.price[-1:])
    return replace(
        dag,
        pairs=pairs,
        first=first,
        after=after,
        bridge=bridge,
        inner=inner,
        price=price,
        layers=dag.layers[order],
    )
