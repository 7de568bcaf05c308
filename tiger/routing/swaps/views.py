"""A circuit as the search on whole routes reads it: forwards and backwards, as it is and in strict order."""

from dataclasses import replace

import numpy as np

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, build_adjacency
from tiger.routing.swaps.frontier import build_arrays
from tiger.routing.swaps.rerouting import RoutingViews


def build_views(dag: GateDag, coupling: Coupling) -> RoutingViews:
    """Return the circuit in all four views on a device; O(g log g + N^2)."""
    views = (*build_arrays(dag, coupling), *build_arrays(order_strictly(dag), coupling))
    # Padded, so that kernels have one array for all views.
    after = np.zeros((len(views), max(len(view.after) for view in views)), np.int32)
    for row, view in zip(after, views, strict=True):
        row[: len(view.after)] = view.after
    return RoutingViews(
        pairs=views[0].pairs,
        first=np.stack([view.first for view in views]),
        after=after,
        waits=np.stack([view.waits for view in views]),
        bridge=views[0].bridge,
        price=views[0].price,
        neighbours=views[0].neighbours,
        hops=views[0].hops,
    )


def order_strictly(dag: GateDag) -> GateDag:
    """Return the gate DAG with gates of a qubit in circuit order, commuting or not; its routes are routes of both."""
    count = len(dag.pairs)
    gates = np.flatnonzero(dag.pairs[:, 0] >= 0)
    gate, qubit = np.repeat(gates, 2), dag.pairs[gates].ravel()
    order = np.argsort(qubit, kind="stable")
    gate, qubit = gate[order], qubit[order]
    # Two gates in a row on a qubit are tied, whether they commute or not.
    same = qubit[:-1] == qubit[1:]
    heads = np.concatenate([gate[:-1][same], np.repeat(np.arange(count), np.diff(dag.first))])
    first, after = build_adjacency(heads, np.concatenate([gate[1:][same], dag.after]), count)
    return replace(dag, first=first, after=after)
