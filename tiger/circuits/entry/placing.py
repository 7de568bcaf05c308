"""Circuits on device qubits where their layout is given."""

import numpy as np
from qiskit.circuit import QuantumCircuit
from qiskit.transpiler import CouplingMap, PassManager
from qiskit.transpiler.passes import ApplyLayout, EnlargeWithAncilla, FullAncillaAllocation, SetLayout

from tiger.circuits.entry.request import LayoutRequest
from tiger.circuits.transpiler.emission import Emission
from tiger.routing.coupling import IndexArray


def place_qubits(request: LayoutRequest, fixed: IndexArray | None) -> QuantumCircuit:
    """Return the circuit, on all device qubits where its layout is given."""
    if fixed is None:
        return request.circuit
    size = request.device.size() if isinstance(request.device, CouplingMap) else request.device.num_qubits
    spots = CouplingMap.from_full(size)
    embed = [SetLayout(fixed.tolist()), FullAncillaAllocation(spots), EnlargeWithAncilla(), ApplyLayout()]
    return PassManager(embed).run(request.circuit)


def name_qubits(emission: Emission, fixed: IndexArray) -> Emission:
    """Return a circuit that was on device qubits from the start, with those of the circuit before the spare ones."""
    spare = np.setdiff1d(np.arange(len(emission.start)), fixed)
    order = [*fixed.tolist(), *spare.tolist()]
    return Emission(emission.dag, [emission.start[k] for k in order], [emission.end[k] for k in order])
