"""A baseline for the routers: every gate moves one of its qubits along a shortest path."""

import numpy as np

from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import PLAIN, Route


def route_shortest_paths(dag: GateDag, coupling: Coupling, start: IndexArray) -> Route:
    """Route the nodes in circuit order from `start[N]`, with distance - 1 SWAPs for every gate; O(g D)."""
    place, holds = start.copy(), np.argsort(start).astype(np.int32)
    steps: list[tuple[int, int]] = []
    for node, (a, b) in enumerate(dag.pairs.tolist()):
        while a >= 0 and coupling.hops[place[a], place[b]] > 1:
            # The first qubit goes one hop towards the second.
            here = int(place[a])
            there = _find_nearer(coupling, here, int(place[b]))
            steps.append((-1 - here, there))
            holds[[here, there]] = holds[[there, here]]
            place[holds[[here, there]]] = here, there
        steps.append((node, PLAIN))
    return Route(start=start.copy(), steps=np.array(steps, np.int32).reshape(-1, 2))


def _find_nearer(coupling: Coupling, here: int, goal: int) -> int:
    """Return the first neighbour that is nearer to the goal."""
    around = coupling.neighbours[here]
    return int(next(q for q in around.tolist() if q >= 0 and coupling.hops[q, goal] < coupling.hops[here, goal]))
