"""SABRE's routing there and back from layouts that take no time, where SabreLayout takes too long to begin with.

Source: G. Li, Y. Ding, Y. Xie, doi:10.1145/3297858.3304023 (the layout at the end of a reversed circuit is a good one).
"""

import time

import numpy as np
from qiskit.circuit import QuantumRegister
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.dagcircuit import DAGCircuit
from qiskit.transpiler import CouplingMap, PassManager, Target
from qiskit.transpiler.passes import ApplyLayout, EnlargeWithAncilla, FullAncillaAllocation, SetLayout

from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler.emission import CX, Emission
from tiger.circuits.transpiler.flow import count_cx
from tiger.circuits.transpiler.model import CircuitModel
from tiger.circuits.transpiler.sabre import run_sabre_routing
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.parts import allot_parts
from tiger.routing.gate_dag import GateDag

# SabreLayout begins with the densest part of a device, for which it compares as many qubits as the circuit has around
# each of the device with each other: 4 ns each, from 144 to 1,296 qubits of a grid.
DENSE_S = 4e-9
# The trial that there is time for.
QUICK_LEVEL = 1


def estimate_layout_s(qubits: int, size: int) -> float:
    """Return about how many seconds SabreLayout takes to begin, for so many qubits on a device of some size."""
    return DENSE_S * size * float(qubits) ** 2


def run_sabre_passes(
    model: CircuitModel, coupling: Coupling, device: Target | CouplingMap, params: LayoutParams
) -> Emission:
    """Route a circuit forwards, backwards and forwards by SABRE, from two layouts; return the better circuit.

    The layouts are one near partners and one in order, where all gates may go anywhere and both take no more than half
    of the time limit. TranspilerError as SABRE's.
    """
    begun = time.perf_counter()
    found = _route_thrice(model, device, allot_parts(model.gate_dag, coupling, None).start, params.seed)
    both_s = 2 * (time.perf_counter() - begun)
    if coupling.part.any() or (params.time_limit_s is not None and 2 * both_s > params.time_limit_s):
        return found
    other = _route_thrice(model, device, np.arange(coupling.size, dtype=np.int32), params.seed)
    return min(found, other, key=lambda each: count_cx(each.dag))


def _route_thrice(model: CircuitModel, device: Target | CouplingMap, start: IndexArray, seed: int) -> Emission:
    """Route a circuit from the layout at which routing there and back ends; `start[N]` is where it begins."""
    place = start
    for step in (1, -1):
        pairs = _pairs_on(model.gate_dag, place, step)
        place = np.array(run_sabre_routing(pairs, device, QUICK_LEVEL, seed, 0.0).end, np.int32)[place]
    spots = place.tolist()
    routed = run_sabre_routing(_embed(model.dag, spots, device), device, QUICK_LEVEL, seed, 0.0)
    return Emission(routed.dag, spots, [routed.end[p] for p in spots])


def _pairs_on(gate_dag: GateDag, place: IndexArray, step: int) -> DAGCircuit:
    """Return a circuit on device qubits with a CX for every gate on two qubits, in their order by a step of 1 or -1."""
    dag = DAGCircuit()
    dag.add_qreg(QuantumRegister(len(place), "q"))
    pairs = gate_dag.pairs[gate_dag.pairs[:, 0] >= 0]
    for a, b in place[pairs[::step]].tolist():
        dag.apply_operation_back(CX, (dag.qubits[a], dag.qubits[b]), check=False)
    return dag


def _embed(dag: DAGCircuit, spots: list[int], device: Target | CouplingMap) -> DAGCircuit:
    """Return a circuit on all device qubits, of which its own go to the first of `spots`."""
    layout = SetLayout(spots[: dag.num_qubits()])
    embed = PassManager([layout, FullAncillaAllocation(device), EnlargeWithAncilla(), ApplyLayout()])
    return circuit_to_dag(embed.run(dag_to_circuit(dag)))
