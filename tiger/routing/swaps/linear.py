"""Routes along a path of the device, on which circuits where nearly all qubits meet take few layers.

On a line a Fourier transform of n qubits takes a SWAP after every gate on its pair, of which 2n - 3 layers are enough
(Fowler, Devitt, Hollenberg 2004, arXiv:quant-ph/0402196), as do all pairs in any order (Kivlichan, McClean, Wiebe,
Gidney, Aspuru-Guzik, Chan, Babbush 2018, doi:10.1103/PhysRevLett.120.110501). Where its gates may change places, plain
routing finds these from qubits in the order in which the circuit uses them.
"""

import numpy as np

from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.embedding import EmbeddingParams, find_perfect_layouts
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.route import Route
from tiger.routing.swaps.search import SearchOrigins, SearchParams, search


def place_on_path(dag: GateDag, coupling: Coupling, params: EmbeddingParams) -> IndexArray | None:
    """Return a layout `place[N]` on a path of the device in the order of first use.

    None where no path with as many qubits as meet others is found.
    """
    pairs = _list_path(dag)
    steps = [Operation((a, b), (None, None), pair=True) for a, b in pairs.tolist()]
    found = find_perfect_layouts(gate_dag_of(dag.qubits, steps).gate_dag, coupling, params)
    return found[0] if found else None


def route_along_path(dag: GateDag, coupling: Coupling, start: IndexArray) -> Route:
    """Return a route on a path of the device alone, on which `place_on_path` has put the qubits."""
    path = Coupling.of(coupling.size, [(a, b) for a, b in start[_list_path(dag)].tolist()])
    return search(dag, path, SearchOrigins(fixed=start), SearchParams(work=0))


def _list_path(dag: GateDag) -> IndexArray:
    """Return the pairs `[k, 2]` of qubits that are neighbours on the path."""
    order = _list_by_first_use(dag)
    return np.stack([order[:-1], order[1:]], axis=1)


def _list_by_first_use(dag: GateDag) -> IndexArray:
    """Return the qubits that meet others, in the order in which they first do; those only in control flow come last."""
    ends = np.concatenate([dag.pairs[dag.pairs[:, 0] >= 0], dag.inner[:, 1:]]).ravel()
    qubits, first = np.unique(ends, return_index=True)
    return qubits[np.argsort(first)].astype(np.int32)
