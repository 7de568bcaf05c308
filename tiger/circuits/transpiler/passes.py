"""Transpiler passes: lay a circuit out, route it, or both at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from qiskit.circuit import QuantumRegister
from qiskit.dagcircuit import DAGCircuit
from qiskit.passmanager import PropertySet
from qiskit.transpiler import AnalysisPass, CouplingMap, Layout, Target, TransformationPass, TranspilerError
from qiskit.transpiler.passes.layout.vf2_layout import VF2LayoutStopReason

from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler.faults import list_faults
from tiger.circuits.transpiler.quiet import quiet_qiskit
from tiger.errors import InputError

if TYPE_CHECKING:
    from tiger.circuits.transpiler.emission import Emission

ANCILLA = "ancilla"
PLAIN, SAME = "tiger_plain", "tiger_same"


class TigerLayout(AnalysisPass):  # type: ignore[misc]  # Qiskit has no types
    """Choose a layout by the cost of the routed circuit.

    Sets `layout`; follow with FullAncillaAllocation, EnlargeWithAncilla, ApplyLayout and a routing pass.
    TranspilerError for gates on more than two qubits, for circuits that do not fit, and for those that need SWAPs where
    a loop is left early, which other routing passes may get wrong.
    """

    def __init__(self, device: Target | CouplingMap, params: LayoutParams | None = None) -> None:
        """Take the device, and how hard to search: the default is level 3 with seed 0."""
        super().__init__()
        self.device, self.params = device, params or LayoutParams()

    @quiet_qiskit()
    def run(self, dag: DAGCircuit) -> None:
        """Set the layout of a circuit."""
        from tiger.circuits.transpiler.mapping import find_start

        with _transpiler_errors():
            start = find_start(dag, self.device, self.params)
        layout = Layout(dict(zip(dag.qubits, start, strict=False)))
        for register in dag.qregs.values():
            layout.add_register(register)
        self.property_set["layout"] = layout


class TigerRouting(TransformationPass):  # type: ignore[misc]  # Qiskit has no types
    """Route a circuit on device qubits, as SabreSwap does.

    Sets `final_layout`, after one that is there. TranspilerError for gates on more than two qubits, for a circuit that
    is not as wide as the device, and for qubits that meet but are in parts that are not connected.
    """

    def __init__(self, device: Target | CouplingMap, params: LayoutParams | None = None) -> None:
        """Take the device, and how hard to search: the default is level 3 with seed 0."""
        super().__init__()
        self.device, self.params = device, params or LayoutParams()

    @quiet_qiskit()
    def run(self, dag: DAGCircuit) -> DAGCircuit:
        """Return the routed circuit."""
        from tiger.circuits.transpiler.mapping import find_mapping, tell_failures

        if list(dag.qregs) != ["q"] or dag.num_qubits() != _size(self.device):
            raise TranspilerError(
                f"TigerRouting expects a circuit on all {_size(self.device)} device qubits, found {dag.num_qubits()}:"
                " run a layout pass, FullAncillaAllocation, EnlargeWithAncilla and ApplyLayout before"
            )
        with _transpiler_errors():
            found = find_mapping(dag, self.device, self.params, np.arange(dag.num_qubits(), dtype=np.int32))
            routed = tell_failures(found).emission
        _compose(self.property_set, routed.dag, Layout(dict(zip(routed.dag.qubits, routed.end, strict=True))))
        return routed.dag


class TigerRerouting(TigerRouting):
    """Route a circuit again that runs over what has error 1, as its layout may need no SWAP there and yet leave a way.

    Any other circuit stays as it is.
    """

    def run(self, dag: DAGCircuit) -> DAGCircuit:
        """Return the routed circuit."""
        return super().run(dag) if list_faults(dag, self.device) else dag


class TigerMapping(TransformationPass):  # type: ignore[misc]  # Qiskit has no types
    """Lay a circuit out and route it at once, as SabreLayout does.

    Sets `layout` with ancillas, `original_qubit_indices`, and `final_layout`, after one that is there; where the layout
    is VF2Layout's, also what that says of it, so that no stage behind looks for better qubits once more; and SABRE's
    circuit as `PLAIN` where that is the one of Qiskit's own layout stage, which need not run again; `SAME` says whether
    it is returned.
    TranspilerError for gates on more than two qubits and circuits that do not fit.
    """

    def __init__(self, device: Target | CouplingMap, params: LayoutParams | None = None) -> None:
        """Take the device, and how hard to search: the default is level 3 with seed 0."""
        super().__init__()
        self.device, self.params = device, params or LayoutParams()

    @quiet_qiskit()
    def run(self, dag: DAGCircuit) -> DAGCircuit:
        """Return the routed circuit on all device qubits."""
        from tiger.circuits.transpiler.mapping import find_mapping, tell_failures

        with _transpiler_errors():
            found = tell_failures(find_mapping(dag, self.device, self.params))
        if found.perfect:
            self.property_set["VF2Layout_stop_reason"] = VF2LayoutStopReason.SOLUTION_FOUND
        self.property_set[PLAIN], self.property_set[SAME] = found.plain, found.is_plain
        return set_layout(self.property_set, dag, found.emission)


class TigerPathMapping(TransformationPass):  # type: ignore[misc]  # Qiskit has no types
    """Lay a circuit out along a path of the device and route it from there, which takes few layers where all meet.

    Sets what TigerMapping does. TranspilerError where no such path is found, too.
    """

    def __init__(self, device: Target | CouplingMap, params: LayoutParams | None = None) -> None:
        """Take the device, and how hard to search: the default is level 3 with seed 0."""
        super().__init__()
        self.device, self.params = device, params or LayoutParams()

    @quiet_qiskit()
    def run(self, dag: DAGCircuit) -> DAGCircuit:
        """Return the routed circuit on all device qubits."""
        from tiger.circuits.transpiler.mapping import find_path_mapping

        with _transpiler_errors():
            routed = find_path_mapping(dag, self.device, self.params)
        return set_layout(self.property_set, dag, routed)


class TigerSabreMapping(TransformationPass):  # type: ignore[misc]  # Qiskit has no types
    """Lay a circuit out for SABRE's routing, and route it so; the layout may be SabreLayout's if that is better.

    Sets what TigerMapping does.
    """

    def __init__(self, device: Target | CouplingMap, params: LayoutParams | None = None) -> None:
        """Take the device, and how hard to search: the default is level 3 with seed 0."""
        super().__init__()
        self.device, self.params = device, params or LayoutParams()

    @quiet_qiskit()
    def run(self, dag: DAGCircuit) -> DAGCircuit:
        """Return the routed circuit on all device qubits."""
        from tiger.circuits.transpiler.sabre_layout import find_mapping_for_sabre

        with _transpiler_errors():
            routed = find_mapping_for_sabre(dag, self.device, self.params)
        return set_layout(self.property_set, dag, routed)


@contextmanager
def _transpiler_errors() -> Iterator[None]:
    """Turn bad input into the error that Qiskit's users expect."""
    try:
        yield
    except InputError as error:
        raise TranspilerError(str(error)) from error


def _size(device: Target | CouplingMap) -> int | None:
    """Return the number of device qubits."""
    size: int | None = device.size() if isinstance(device, CouplingMap) else device.num_qubits
    return size


def _free_name(dag: DAGCircuit) -> str:
    """Return a name for the ancillas that the circuit does not use."""
    name = ANCILLA
    while name in dag.qregs:
        name += "_"
    return name


def set_layout(properties: PropertySet, dag: DAGCircuit, routed: "Emission") -> DAGCircuit:
    """Set where the qubits of a circuit and the ancillas start and end; return the routed circuit."""
    ancillas = QuantumRegister(len(routed.start) - dag.num_qubits(), _free_name(dag))
    virtual = [*dag.qubits, *ancillas]
    layout = Layout(dict(zip(virtual, routed.start, strict=True)))
    for register in [*dag.qregs.values(), *([ancillas] if ancillas.size else [])]:
        layout.add_register(register)
    properties["layout"] = layout
    properties["original_qubit_indices"] = {qubit: k for k, qubit in enumerate(virtual)}
    bits = [routed.dag.qubits[place] for place in routed.start]
    _compose(properties, routed.dag, Layout(dict(zip(bits, routed.end, strict=True))))
    return routed.dag


def _compose(properties: PropertySet, dag: DAGCircuit, final: Layout) -> None:
    """Set where the qubits end, after what an earlier routing says."""
    before = properties["final_layout"]
    properties["final_layout"] = final if before is None else before.compose(final, dag.qubits)
