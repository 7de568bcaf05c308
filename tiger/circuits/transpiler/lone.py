"""Device qubits for circuit qubits that meet no other, which Qiskit's searches place differently from call to call."""

from typing import NamedTuple

import numpy as np
from qiskit.circuit import Qubit
from qiskit.dagcircuit import DAGCircuit
from qiskit.passmanager import ConditionalController, PropertySet
from qiskit.transpiler import AnalysisPass, Layout, PassManager, Target
from qiskit.transpiler.passes import ApplyLayout

from tiger.circuits.transpiler.faults import list_operations
from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.routing.coupling import IndexArray

# What a qubit loses where it always fails, which is more than it can lose anywhere else.
LOST = 1e6


class GateCounts(NamedTuple):
    """Hold who of n qubits `meets[n]` another, and `counts[n, 2]` of gates and measurements of those that do not."""

    counts: IntArray
    meets: BoolArray


def read_uses(dag: DAGCircuit) -> GateCounts:
    """Return what the qubits of a circuit do, in its order and in blocks of control flow as well. O(operations)."""
    index = {qubit: k for k, qubit in enumerate(dag.qubits)}
    counts, meets = np.zeros((len(index), 2), np.int64), np.zeros(len(index), np.bool_)
    for node in dag.control_flow_op_nodes() or ():
        for name, places in list_operations(node, tuple([index[qubit] for qubit in node.qargs])):
            if len(places) > 1:
                meets[list(places)] = True
            elif places:
                counts[places[0], int(name == "measure")] += 1
    for qubit, k in index.items():
        alone = None if meets[k] else _count_alone(dag, qubit)
        meets[k] = alone is None
        counts[k] = 0 if alone is None else counts[k] + alone
    return GateCounts(counts, meets)


def _count_alone(dag: DAGCircuit, qubit: Qubit) -> list[int] | None:
    """Return the gates and the measurements of a qubit outside of control flow, None once it meets another."""
    counts = [0, 0]
    for node in dag.nodes_on_wire(qubit, only_ops=True):
        for name, qubits in () if node.is_control_flow() else list_operations(node, node.qargs):
            if len(qubits) > 1:
                return None
            counts[int(name == "measure")] += 1
    return counts


def choose_places(counts: IntArray, free: IndexArray, device: Target) -> IndexArray:
    """Return the device qubits, of those that are `free`, on which k qubits fail least; the first of those alike.

    `counts[k, 2]` are their gates and measurements; qubits without any get what the others leave. O(k^2 N).
    """
    from scipy.optimize import linear_sum_assignment  # 18 MB, which only devices with error rates need

    places, used = np.empty(len(counts), np.int32), counts.any(axis=1)
    with np.errstate(divide="ignore"):
        losses = counts[used] @ np.minimum(-np.log1p(-_list_rates(device)[:, free]), LOST)
    _, chosen = linear_sum_assignment(losses)
    places[used] = free[chosen]
    places[~used] = np.delete(free, chosen)[: int((~used).sum())]
    return places


def _list_rates(device: Target) -> FloatArray:
    """Return the errors `[2, N]` of gates on one qubit and of measurements, 1 without what other qubits have."""
    from tiger.circuits.transpiler.aim import list_errors  # it loads kernels

    errors = list_errors(device)
    return np.stack([errors.single, errors.readout])


def build_lone_placement(device: Target) -> PassManager:
    """Return the passes that place the lone qubits of a circuit on device qubits, which has error rates."""
    stage = PassManager(PlaceLone(device))
    stage.append(ConditionalController(ApplyLayout(), condition=_has_places))
    return stage


def _has_places(properties: PropertySet) -> bool:
    """Return whether qubits go elsewhere."""
    return properties["post_layout"] is not None


class PlaceLone(AnalysisPass):  # type: ignore[misc]  # Qiskit has no types
    """Choose the device qubits of circuit qubits that meet no other, by error rates; follow with ApplyLayout.

    Sets `post_layout` where they are not there yet.
    """

    def __init__(self, device: Target) -> None:
        """Take the device."""
        super().__init__()
        self.device = device

    def run(self, dag: DAGCircuit) -> None:
        """Set where the device qubits go."""
        layout, index = self.property_set["layout"], self.property_set["original_qubit_indices"]
        if layout is None or index is None or len(layout) != len(index) or len(index) != dag.num_qubits():
            return
        # In the order of circuit qubits, as it is their places that differ from call to call.
        now = np.array([layout[qubit] for qubit in sorted(index, key=index.__getitem__)], np.int32)
        uses = read_uses(dag)
        lone = now[~uses.meets[now]]
        new = choose_places(uses.counts[lone], np.sort(lone), self.device)
        if (new == lone).all():
            return
        places = np.arange(len(now))
        places[lone] = new
        self.property_set["post_layout"] = Layout(dict(zip(dag.qubits, places.tolist(), strict=True)))
