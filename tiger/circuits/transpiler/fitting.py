"""Which pairs of a device a circuit may use: faulty ones only where it fits on no others."""

import numpy as np
from qiskit.transpiler import CouplingMap, Target

from tiger.circuits.transpiler.model import CircuitModel
from tiger.circuits.transpiler.target import list_couplings
from tiger.errors import InputError
from tiger.routing.coupling import FAR, Coupling, IndexArray
from tiger.routing.embedding.parts import allot_parts
from tiger.routing.gate_dag import GateDag


def choose_coupling(device: Target | CouplingMap, model: CircuitModel, fixed: IndexArray | None = None) -> Coupling:
    """Return the pairs of a device that a circuit may use, faulty ones only where it fits on no others.

    `fixed[n]` are device qubits that it starts from.
    """
    return list_fitting(device, model, fixed)[0]


def list_fitting(device: Target | CouplingMap, model: CircuitModel, fixed: IndexArray | None = None) -> list[Coupling]:
    """Return the pairs of a device that a circuit may use, those with fewer faulty ones first; the last as they are."""
    *careful, last = list_couplings(device, model.dag.count_ops(recurse=True))
    return [*(coupling for coupling in careful if _fits(model.gate_dag, coupling, fixed)), last]


def list_apart(gate_dag: GateDag, coupling: Coupling, fixed: IndexArray) -> list[tuple[int, int]]:
    """Return the device qubits `fixed[n]` that have to meet, blocks included, and are in parts that never do."""
    ends = fixed[np.concatenate([gate_dag.pairs[gate_dag.pairs[:, 0] >= 0], gate_dag.inner[:, 1:]])]
    return [(a, b) for a, b in ends[coupling.hops[ends[:, 0], ends[:, 1]] >= FAR].tolist()]


def _fits(gate_dag: GateDag, coupling: Coupling, fixed: IndexArray | None) -> bool:
    """Return whether all qubits that meet can be in one part of a device."""
    if fixed is not None:
        return not list_apart(gate_dag, coupling, fixed)
    try:
        allot_parts(gate_dag, coupling)
    except InputError:
        return False
    return True
