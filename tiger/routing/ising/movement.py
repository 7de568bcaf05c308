r"""The movement of data that a placement of gates asks for, in hops.

With gates g on qubits a and b in the order in which they run, placed on device qubits p(g, a) and p(g, b), and d hops,

.. math::
    M = \sum_g (d_{p(g, a)\, p(g, b)} - 1) + \sum_{(g, h, q)} d_{p(g, q)\, p(h, q)}

over gates and over all q with successive gates g and h. The first sum is how far apart the qubits of a gate are when it
runs, the second how far qubits travel between their gates. One formula measures all four ways to place gates, so that
they compare: under a layout that never changes (trivial, static) nothing travels; in the levels model all gates are on
edges, so that all is travel; of a routed circuit the places are those where its gates run. A BRIDGE is one gate there,
apart by 1, whose qubits stay at its ends and do not visit the middle. Only the last can be carried out as it is: a
fixed layout does not pay for the way back, and levels do not pay for qubits that are in the way. A SWAP moves two
qubits by a hop each.
"""

from dataclasses import dataclass

import numpy as np

from tiger.model.document import Document
from tiger.routing.coupling import FAR, Coupling, IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.interaction import build_timeline
from tiger.routing.route import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class DataMovement(Document):
    """Hold the movement under the trivial layout, the static QUBO's, in the levels model, and of the routed circuit.

    None where a placement is missing, or needs a way between parts of the device that are not connected.
    """

    trivial: int | None
    static_qubo: int | None
    levels: int | None
    routed: int | None


def count_movement(visits: IndexArray, coupling: Coupling) -> int | None:
    """Return M of `visits[k, 4]`: the qubits of a gate and where they are, gates in the order in which they run.

    None where parts of the device that are not connected would have to meet. O(k log k).
    """
    apart = coupling.hops[visits[:, 2], visits[:, 3]].astype(np.int64)
    qubit, place = visits[:, :2].ravel(), visits[:, 2:].ravel()
    order = np.argsort(qubit, kind="stable")
    qubit, place = qubit[order], place[order]
    # Sorted by qubit, gates in order: two neighbours of one qubit are two visits in a row.
    again = qubit[1:] == qubit[:-1]
    travel = coupling.hops[place[:-1][again], place[1:][again]].astype(np.int64)
    if max(apart.max(initial=0), travel.max(initial=0)) >= FAR:
        return None
    return int((apart - 1).sum() + travel.sum())


def list_static_visits(dag: GateDag, place: IndexArray) -> IndexArray:
    """Return the visits of all gates under a layout `place[N]` that never changes."""
    pairs = build_timeline(dag).pairs
    return np.concatenate([pairs, place[pairs]], axis=1)


def list_route_visits(dag: GateDag, route: Route) -> IndexArray:
    """Return the visits of all gates of a routed circuit, in its order; O(steps)."""
    place, holds = route.start.copy(), np.argsort(route.start)
    pairs, visits = dag.pairs.tolist(), []
    for node, other in route.steps.tolist():
        if node < 0:
            here, there = -1 - node, other
            holds[[here, there]] = holds[[there, here]]
            place[holds[[here, there]]] = here, there
        elif pairs[node][0] >= 0:
            a, b = pairs[node]
            visits.append((a, b, place[a], place[b]))
    return np.array(visits, np.int32).reshape(-1, 4)
