"""An independent check of a route, step by step in plain Python."""

import numpy as np

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import Route


def find_flaw(dag: GateDag, coupling: Coupling, route: Route) -> str:
    """Return why a route is not one of this circuit on this device, "" if it is; O(steps + order).

    Every node has to come once, after all that it waits for and with its qubits adjacent, or both of them adjacent to
    the middle of a BRIDGE where that is allowed; SWAPs need adjacent qubits.
    """
    if sorted(route.start.tolist()) != list(range(coupling.size)):
        return "the start is no permutation of the device's qubits"
    holds = np.argsort(route.start).tolist()
    waits = dag.waits.tolist()
    for number, (first, second) in enumerate(route.steps.tolist()):
        wrong = _swap(coupling, holds, -1 - first, second) if first < 0 else ""
        if first >= 0:
            wrong = _node(dag, coupling, holds, (first, second)) or _order(dag, waits, first)
        if wrong:
            return f"step {number}: {wrong}"
    # What was carried out waits for -1; all else was left out.
    missing = [node for node, left in enumerate(waits) if left >= 0]
    return f"node {missing[0]} is not carried out" if missing else ""


def _swap(coupling: Coupling, holds: list[int], p: int, q: int) -> str:
    """Swap two device qubits."""
    if not _adjacent(coupling, p, q):
        return f"device qubits {p} and {q} of a SWAP are not adjacent"
    holds[p], holds[q] = holds[q], holds[p]
    return ""


def _node(dag: GateDag, coupling: Coupling, holds: list[int], step: tuple[int, int]) -> str:
    """Return why a node's qubits cannot meet here."""
    node, middle = step
    if node >= len(dag.pairs):
        return f"there is no node {node}"
    if dag.pairs[node, 0] < 0:
        return "" if middle < 0 else f"node {node} is no gate and cannot be a BRIDGE"
    p, q = (holds.index(qubit) for qubit in dag.pairs[node].tolist())
    if middle < 0:
        return "" if _adjacent(coupling, p, q) else f"the qubits of node {node} are not adjacent"
    if not dag.bridge[node]:
        return f"node {node} may not be a BRIDGE"
    fits = _adjacent(coupling, p, middle) and _adjacent(coupling, middle, q) and p != q
    return "" if fits else f"the BRIDGE of node {node} has its middle elsewhere"


def _order(dag: GateDag, waits: list[int], node: int) -> str:
    """Carry out a node."""
    if waits[node]:
        return f"node {node} comes " + ("again" if waits[node] < 0 else "too early")
    waits[node] = -1
    for later in dag.after[dag.first[node] : dag.first[node + 1]].tolist():
        waits[later] -= 1
    return ""


def _adjacent(coupling: Coupling, p: int, q: int) -> bool:
    """Return whether two device qubits share an edge."""
    return 0 <= p < coupling.size and q in coupling.neighbours[p].tolist() and q >= 0
