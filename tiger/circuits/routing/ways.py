"""A circuit as the search on whole routes reads it: forwards and backwards, as it is and in strict order."""

from dataclasses import replace

import numpy as np

from tiger.circuits.coupling import Coupling
from tiger.circuits.gate_dag import GateDag, adjacency
from tiger.circuits.routing.frontier import kits_of
from tiger.circuits.routing.rerouting import Kits


def ways_of(dag: GateDag, coupling: Coupling) -> Kits:
    """Return the circuit the four ways on a device; O(g log g + N^2)."""
    ways = (*kits_of(dag, coupling), *kits_of(in_order(dag), coupling))
    after = np.zeros((len(ways), max(len(kit.after) for kit in ways)), np.int32)
    for row, kit in zip(after, ways, strict=True):
        row[: len(kit.after)] = kit.after
    return Kits(
        pairs=ways[0].pairs,
        first=np.stack([kit.first for kit in ways]),
        after=after,
        waits=np.stack([kit.waits for kit in ways]),
        bridge=ways[0].bridge,
        neighbours=ways[0].neighbours,
        hops=ways[0].hops,
    )


def in_order(dag: GateDag) -> GateDag:
    """Return the gate DAG with gates of a qubit in circuit order, commuting or not; its routes are routes of both."""
    count = len(dag.pairs)
    gates = np.flatnonzero(dag.pairs[:, 0] >= 0)
    gate, qubit = np.repeat(gates, 2), dag.pairs[gates].ravel()
    order = np.argsort(qubit, kind="stable")
    gate, qubit = gate[order], qubit[order]
    same = qubit[:-1] == qubit[1:]
    heads = np.concatenate([gate[:-1][same], np.repeat(np.arange(count), np.diff(dag.first))])
    first, after = adjacency(heads, np.concatenate([gate[1:][same], dag.after]), count)
    return replace(dag, first=first, after=after)
