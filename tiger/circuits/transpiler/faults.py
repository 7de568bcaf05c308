"""What a circuit uses of a device that has error 1, and what is said of it."""

import logging
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from qiskit.circuit import CircuitInstruction, Qubit
from qiskit.dagcircuit import DAGCircuit, DAGOpNode
from qiskit.transpiler import AnalysisPass, CouplingMap, Target

from tiger.circuits.transpiler.exits import EXITS
from tiger.circuits.transpiler.target import find_faulty_pairs, find_faulty_qubits, find_faulty_readouts, list_couplings
from tiger.routing.coupling import Coupling

LOG = logging.getLogger(__name__)
# What KeepBest leaves to be said: the faults of a circuit of Qiskit's with fewer gates.
SET_ASIDE = "tiger_set_aside"
# Faults that a line names.
NAMED = 10
IDLE = frozenset({"delay", "barrier"}) | EXITS
Pair = tuple[int, int]


class Uses(NamedTuple):
    """Hold the pairs of a circuit, the lower qubit first, the qubits of its operations, and the measured ones."""

    pairs: set[Pair]
    qubits: set[int]
    read: set[int]


def list_faults(dag: DAGCircuit, device: Target | CouplingMap) -> list[str]:
    """Return the pairs and qubits with error 1 that a circuit on device qubits uses, readout where it measures."""
    pairs, qubits, unread = _find_faults(device)
    if not (pairs or qubits or unread):
        return []
    uses = list_uses(dag)
    return [
        *(f"{a}-{b}" for a, b in sorted(pairs & uses.pairs)),
        *(f"qubit {qubit}" for qubit in sorted(qubits & uses.qubits)),
        *(f"readout of {qubit}" for qubit in sorted(unread & uses.read)),
    ]


def is_as_careful(dag: DAGCircuit, other: DAGCircuit, device: Target | CouplingMap) -> bool:
    """Return whether a circuit on device qubits uses no more that has error 1 than another one has to."""
    if not has_faults(device):
        return True
    mine, others = list_uses(dag), list_uses(other)
    allowed = next((coupling for coupling in list_couplings(device, ()) if _holds(coupling, others)), None)
    return mine.read & find_faulty_readouts(device) <= others.read and (allowed is None or _holds(allowed, mine))


def list_uses(dag: DAGCircuit) -> Uses:
    """Return what a circuit on device qubits uses, blocks of control flow included."""
    uses = Uses(set(), set(), set())
    index = {qubit: k for k, qubit in enumerate(dag.qubits)}
    for node in dag.op_nodes():
        for name, places in list_operations(node, tuple([index[qubit] for qubit in node.qargs])):
            uses.qubits.update(places)
            if name == "measure":
                uses.read.update(places)
            elif len(places) == 2:
                uses.pairs.add((min(places), max(places)))
    return uses


def list_operations(
    instruction: DAGOpNode | CircuitInstruction, places: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the name and the places of every operation that does something, in blocks of control flow as well."""
    if not instruction.is_control_flow():
        if not (instruction.is_directive() or instruction.name in IDLE):
            yield instruction.name, places
        return
    operation = instruction.op if isinstance(instruction, DAGOpNode) else instruction.operation
    for block in operation.blocks:
        inside: Mapping[Qubit, int] = dict(zip(block.qubits, places, strict=True))
        for part in block.data:
            yield from list_operations(part, tuple([inside[qubit] for qubit in part.qubits]))


def describe_faults(faults: list[str]) -> str:
    """Return a sentence on a circuit that uses what has error 1."""
    return f"the circuit uses what has error 1 on this device, and is expected to fail: {_join_names(faults)}"


class NoteFaults(AnalysisPass):  # type: ignore[misc]  # Qiskit has no types
    """Log in one line what a routed circuit uses that has error 1, or what it was kept off.

    The first is a warning: such a circuit is expected to fail. The second is said once a circuit of Qiskit's had fewer
    two-qubit gates and was set aside for what it uses.
    """

    def __init__(self, device: Target | CouplingMap) -> None:
        """Take the device."""
        super().__init__()
        self.device = device

    def run(self, dag: DAGCircuit) -> None:
        """Log what there is to say of a circuit."""
        faults, aside = list_faults(dag, self.device), self.property_set.pop(SET_ASIDE, None)
        if faults:
            LOG.warning("%s", describe_faults(faults))
        elif aside:
            LOG.info("Qiskit's circuit has fewer two-qubit gates, on what has error 1: %s", _join_names(aside))
        elif LOG.isEnabledFor(logging.INFO):
            pairs, qubits, unread = _find_faults(self.device)
            named = [*(f"{a}-{b}" for a, b in sorted(pairs)), *(f"qubit {k}" for k in sorted(qubits))]
            named += [f"readout of {k}" for k in sorted(unread)]
            LOG.info("the circuit is kept off what has error 1 on this device: %s", _join_names(named))


def has_faults(device: Target | CouplingMap) -> bool:
    """Return whether anything of a device has error 1."""
    return any(_find_faults(device))


def _find_faults(device: Target | CouplingMap) -> tuple[set[Pair], set[int], set[int]]:
    """Return the pairs and qubits whose gates have error 1, and the qubits whose readout has."""
    return find_faulty_pairs(device), find_faulty_qubits(device), find_faulty_readouts(device)


def _holds(coupling: Coupling, uses: Uses) -> bool:
    """Return whether a circuit uses pairs of a coupling map alone, and no qubit without one."""
    pairs = {(a, b) for a, b in coupling.edges.tolist()}
    return uses.pairs <= pairs and uses.qubits <= {qubit for pair in pairs for qubit in pair}


def _join_names(names: list[str]) -> str:
    """Return the first names as text, and how many there are more."""
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
