"""The operations of a route on device qubits."""

from tiger.circuits.coupling import IndexArray
from tiger.circuits.gate_dag import GateDag
from tiger.circuits.noise.depth import Singles, build_tape, expand_route
from tiger.circuits.route import Route


def list_operations(route: Route, dag: GateDag, singles: Singles) -> IndexArray:
    """Return the operations[k, 3] of a route on device qubits, in order; O(k).

    (ONE, p, c): c one-qubit gates on p, as late as they may be; (PAIR, p, q), from p to q; (SWAP, p, q); (READ, p, p).
    """
    return expand_route(build_tape(dag, singles)._replace(steps=route.steps.copy()), route.start.copy())
