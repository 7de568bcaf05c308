"""The operations of a route on device qubits."""

from tiger.routing.coupling import IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.noise import depth
from tiger.routing.noise.depth import Singles
from tiger.routing.route import Route


def list_operations(route: Route, dag: GateDag, singles: Singles) -> IndexArray:
    """Return the operations[k, 3] of a route on device qubits, in order; O(k).

    (ONE, p, c): c one-qubit gates on p, as early as they may be; (PAIR, p, q), from p to q; (SWAP, p, q); (READ, p, p).
    """
    # By its name in the module, where a test may have put the plain function: else it were compiled with plain ones.
    return depth.expand_route(depth.build_tape(dag, singles), route.steps.copy(), route.start.copy())
