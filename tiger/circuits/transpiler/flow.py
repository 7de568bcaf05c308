"""Control flow on a device: each block routed from the places of that moment, and back to them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from qiskit.circuit import CircuitInstruction, ControlFlowOp, QuantumCircuit
from qiskit.converters import dag_to_circuit
from qiskit.dagcircuit import DAGCircuit
from rustworkx import PyGraph, graph_token_swapper

from tiger.circuits.transpiler.emission import emit
from tiger.circuits.transpiler.exits import NEEDS_SWAPS, check_order, leaves_early
from tiger.circuits.transpiler.model import model_of
from tiger.errors import InputError
from tiger.model.arrays import lock
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import PLAIN, Route

BlockRouter = Callable[[GateDag, IndexArray], Route]
# Trials of token swapping, of which the shortest counts.
TRIALS = 4
NO_PAIRS = lock(np.empty((0, 3), np.int32))


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Route the blocks of control flow; `router` gets a gate DAG and the places `fixed[n]` it has to start from."""

    coupling: Coupling
    commute: bool
    router: BlockRouter

    def __call__(self, flow: ControlFlowOp, places: list[int]) -> tuple[ControlFlowOp, list[int]]:
        """Return control flow that keeps to the device, and the device qubits it is on now, `places` first."""
        wide = [self._route(block, places) for block in flow.blocks]
        index = [{bit: k for k, bit in enumerate(dag.qubits)} for dag in wide]
        used = {at[bit] for dag, at in zip(wide, index, strict=True) for node in dag.op_nodes() for bit in node.qargs}
        touched = [*places, *sorted(used - set(places))]
        blocks = [_narrow(dag, touched) for dag in wide]
        for block, routed in zip(flow.blocks, blocks, strict=True):
            check_order(block, routed)
        return flow.replace_blocks(blocks), touched

    def _route(self, block: QuantumCircuit, places: list[int]) -> DAGCircuit:
        """Return a block on all device qubits; InputError where one that leaves a loop early needs a SWAP."""
        model = model_of(block.copy(), commute=self.commute)
        fixed = np.array(places, np.int32)
        route = route_in_place(model.gate_dag, self.coupling, fixed)
        if route is None and leaves_early(block):
            # Blocks inside may have SWAPs of their own, as they end where they begin.
            route = route_in_place(replace(model.gate_dag, inner=NO_PAIRS), self.coupling, fixed)
            if route is None:
                raise InputError("circuit", NEEDS_SWAPS)
        elif route is None:
            route = route_home(self.router(model.gate_dag, fixed), self.coupling)
        return emit(model, route, self).dag


def route_in_place(gate_dag: GateDag, coupling: Coupling, fixed: IndexArray) -> Route | None:
    """Return the route without a SWAP from `fixed[n]`, None if some qubits that have to meet are not adjacent."""
    ends = np.concatenate([gate_dag.pairs[gate_dag.pairs[:, 0] >= 0], gate_dag.inner[:, 1:]])
    if len(ends) and (coupling.hops[fixed[ends[:, 0]], fixed[ends[:, 1]]] > 1).any():
        return None
    spare = np.setdiff1d(np.arange(coupling.size, dtype=np.int32), fixed)
    count = len(gate_dag.pairs)
    steps = np.stack([np.arange(count, dtype=np.int32), np.full(count, PLAIN, np.int32)], axis=1)
    return Route(start=np.concatenate([fixed, spare]).astype(np.int32), steps=steps)


def route_home(route: Route, coupling: Coupling) -> Route:
    """Return a route that ends where it starts: the fewer of its own SWAPs backwards and token swapping.

    Token swapping is the approximation of arXiv:1602.05150 with fixed seeds.
    """
    end = route.end()
    if (end == route.start).all():
        return route
    back = route.steps[route.steps[:, 0] < 0][::-1]
    tokens = _token_swaps(end, route.start, coupling)
    return Route(start=route.start, steps=np.concatenate([route.steps, min(back, tokens, key=len)]))


def _token_swaps(end: IndexArray, start: IndexArray, coupling: Coupling) -> IndexArray:
    """Return SWAPs that carry every qubit from `end[N]` to `start[N]`, as steps."""
    graph = PyGraph(multigraph=False)
    graph.add_nodes_from(range(coupling.size))
    graph.add_edges_from_no_data([(a, b) for a, b in coupling.edges.tolist()])
    mapping = dict(zip(end.tolist(), start.tolist(), strict=True))
    swaps = graph_token_swapper(graph, mapping, trials=TRIALS, seed=0, parallel_threshold=coupling.size + 1)
    return np.array([(-1 - a, b) for a, b in swaps], np.int32).reshape(-1, 2)


def _narrow(wide: DAGCircuit, touched: list[int]) -> QuantumCircuit:
    """Return a block on the device qubits it touches, in their order."""
    narrow = wide.copy_empty_like()
    idle = set(range(wide.num_qubits())) - set(touched)
    narrow.remove_qubits(*[wide.qubits[k] for k in idle])
    narrow.make_physical(len(touched))
    rank = {wide.qubits[place]: narrow.qubits[k] for k, place in enumerate(touched)}
    circuit = dag_to_circuit(narrow)
    # As they were written: a graph does not keep what is on no qubits in front of an exit of a loop.
    for node in wide.op_nodes():
        circuit.append(CircuitInstruction(node.op, [rank[bit] for bit in node.qargs], node.cargs), copy=False)
    return circuit


def count_cx(dag: DAGCircuit) -> int:
    """Return the CX gates of a circuit with three for a SWAP, those in blocks of control flow included once."""
    counts = dag.count_ops(recurse=True)
    return int(counts.get("cx", 0) + 3 * counts.get("swap", 0))
