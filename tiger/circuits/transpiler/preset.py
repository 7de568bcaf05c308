"""Qiskit's own preset beside a mapping of ours: the better of two circuits by what its later stages make of them."""

import copy

import numpy as np
from qiskit.circuit import Qubit
from qiskit.converters import circuit_to_dag
from qiskit.dagcircuit import DAGCircuit
from qiskit.passmanager import PropertySet
from qiskit.passmanager.compilation_status import PassManagerState, WorkflowStatus
from qiskit.transpiler import (
    CouplingMap,
    PassManager,
    PassManagerConfig,
    StagedPassManager,
    Target,
    TransformationPass,
    TranspilerError,
)
from qiskit.transpiler.passes import CheckMap
from qiskit.transpiler.preset_passmanagers import (
    common,
    level_0_pass_manager,
    level_1_pass_manager,
    level_2_pass_manager,
    level_3_pass_manager,
)
from qiskit.transpiler.preset_passmanagers.clifford_t import clifford_t_pass_manager_legacy

from tiger.circuits.transpiler.panic import catch_panics, may_panic
from tiger.circuits.transpiler.source import Source, remove_layout
from tiger.circuits.transpiler.target import coupling_of, listed_coupling, working_device

SOURCE, PLACED = "tiger_source", "tiger_placed"
PRESETS = (level_0_pass_manager, level_1_pass_manager, level_2_pass_manager, level_3_pass_manager)
# Two-qubit gates of a SWAP.
SWAP = 3


def build_own_preset(config: PassManagerConfig, level: int, seed: int, ours: str) -> StagedPassManager:
    """Return Qiskit's stages for a configuration with a device, and its defaults where a method is `ours`."""
    plain = copy.copy(config)
    plain.seed_transpiler = seed
    if plain.coupling_map is None:  # the presets route for a coupling map alone
        plain.coupling_map = plain.target.build_coupling_map()
    plain.layout_method = None if config.layout_method == ours else config.layout_method
    plain.routing_method = None if config.routing_method == ours else config.routing_method
    if common.is_clifford_t_basis(plain.basis_gates, plain.target):
        return clifford_t_pass_manager_legacy(plain, optimization_level=level)
    return PRESETS[level](plain)


class KeepBetter(TransformationPass):  # type: ignore[misc]  # Qiskit has no types
    """Keep a routed circuit, or take the one of Qiskit's own layout and routing where that ends with fewer gates.

    Both run through the translation and optimization stages of the preset; two-qubit gates count, with three for a SWAP
    that stays, and at equal numbers their depth. Qiskit starts from the circuit that is kept as `SOURCE`, else from the
    one on device qubits that is kept as `PLACED`, whose layout stays. A circuit on faulty pairs is not taken.
    """

    def __init__(self, device: Target | CouplingMap, preset: StagedPassManager) -> None:
        """Take the device and Qiskit's own stages for it."""
        super().__init__()
        self.device, self.preset = device, preset

    def run(self, dag: DAGCircuit) -> DAGCircuit:
        """Return the circuit that ends with fewer two-qubit gates."""
        source, placed = self.property_set.pop(SOURCE, None), self.property_set.pop(PLACED, None)
        theirs = self._run_qiskit(source, placed)
        if theirs is None or theirs.dag == dag or not _avoids_faults(theirs.dag, self.device):
            return dag
        if self._deliver(theirs) >= self._deliver(Source(dag, self.property_set)):
            return dag
        self.property_set.clear()
        self.property_set.update(theirs.properties)
        return theirs.dag

    def _run_qiskit(self, source: Source | None, placed: Source | None) -> Source | None:
        """Return what Qiskit's own stages route, None where they refuse or panic."""
        try:
            with catch_panics():
                if source is not None:
                    laid_out = self._lay_out(source)
                else:
                    laid_out = None if placed is None else self._lay_out_again(placed)
                return None if laid_out is None else _run_stage(self.preset.routing, laid_out)
        except TranspilerError:
            return None

    def _lay_out(self, source: Source) -> Source | None:
        """Return a circuit after Qiskit's own layout stage, None where that may panic."""
        if may_panic(source.dag, listed_coupling(self.device)):
            return None
        return _run_stage(self.preset.layout, source)

    def _lay_out_again(self, placed: Source) -> Source | None:
        """Return a circuit after Qiskit's own layout stage, which may route, where it gives the layout that it has.

        None where no layout is known: Qiskit's routing stage needs one.
        """
        source = remove_layout(placed)
        if source is None:
            return None
        qubits, layout = list(source.dag.qubits), placed.properties["layout"]
        found = self._lay_out(source)
        same = found is not None and all(found.properties["layout"][qubit] == layout[qubit] for qubit in qubits)
        return found if same else placed

    def _deliver(self, routed: Source) -> tuple[float, float]:
        """Return the two-qubit gates and their depth after the stages that come later, infinite where these fail."""
        try:
            return deliver(self.preset, routed)
        except TranspilerError:
            return np.inf, np.inf


def deliver(preset: StagedPassManager, routed: Source) -> tuple[int, int]:
    """Return the two-qubit gates of a routed circuit and their depth after the translation and optimization stages."""
    return count_two_qubit_gates(_run_stage(preset.optimization, _run_stage(preset.translation, routed.copy())).dag)


def count_two_qubit_gates(dag: DAGCircuit) -> tuple[int, int]:
    """Return the two-qubit gates of a circuit and their depth, with three for a SWAP.

    Blocks of control flow count once, and in depth as their deepest.
    """
    count, level = 0, dict[Qubit, int]()
    for node in dag.topological_op_nodes():
        wires, layers = (*node.qargs, *node.cargs), 0
        if node.is_control_flow():
            inner = [count_two_qubit_gates(circuit_to_dag(block)) for block in node.op.blocks]
            count += sum(gates for gates, _ in inner)
            layers = max((depth for _, depth in inner), default=0)
        elif len(node.qargs) == 2 and (node.is_standard_gate() or not node.is_directive()):
            layers = SWAP if node.name == "swap" else 1
            count += layers
        top = max((level.get(wire, 0) for wire in wires), default=0) + layers
        level.update(dict.fromkeys(wires, top))
    return count, max(level.values(), default=0)


def _run_stage(stage: PassManager | None, source: Source) -> Source:
    """Return a circuit after a stage, which may change the one that it gets."""
    if stage is None:
        return source
    state = PassManagerState(WorkflowStatus(), source.properties)
    dag, state = stage.to_flow_controller().execute(source.dag, state)
    return Source(dag, state.property_set)


def _avoids_faults(dag: DAGCircuit, device: Target | CouplingMap) -> bool:
    """Return whether a circuit on device qubits uses none that is faulty, nor a faulty pair."""
    coupling = coupling_of(device)
    working = working_device(device, coupling)
    if working is device:
        return True
    check, idle = CheckMap(working), set(dag.idle_wires())
    check.property_set = PropertySet()
    check.run(dag)
    lone = {dag.qubits[k] for k, (first, *_) in enumerate(coupling.neighbours.tolist()) if first < 0}
    return bool(check.property_set["is_swap_mapped"]) and lone <= idle
