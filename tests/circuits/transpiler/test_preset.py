"""Tests of Qiskit's own preset beside a mapping of ours."""

import pytest
from qiskit import QuantumCircuit
from qiskit.circuit.library import CXGate, SXGate
from qiskit.converters import circuit_to_dag
from qiskit.passmanager import PropertySet
from qiskit.transpiler import (
    CouplingMap,
    InstructionProperties,
    PassManager,
    PassManagerConfig,
    StagedPassManager,
    Target,
    TransformationPass,
    TranspilerError,
)
from qiskit.transpiler.passes import SetLayout, VF2PostLayout
from qiskit.transpiler.preset_passmanagers import common, level_1_pass_manager

from tiger.circuits.transpiler.delivery import run_stage
from tiger.circuits.transpiler.own_stages import build_own_preset
from tiger.circuits.transpiler.preset import PLACED, SOURCE, KeepBest
from tiger.circuits.transpiler.source import KeepSource, Source
from tiger.routing.error_rates import errors_of_target

LINE = CouplingMap.from_line(4)


class Fixed(TransformationPass):
    """Put a circuit in the place of another."""

    def __init__(self, circuit: QuantumCircuit) -> None:
        """Take the circuit."""
        super().__init__()
        self.circuit = circuit

    def run(self, dag):
        """Return it."""
        self.property_set["made"] = "theirs"
        return circuit_to_dag(self.circuit)


class Refusing(TransformationPass):
    """Refuse every circuit."""

    def run(self, dag):
        """Raise what Qiskit raises."""
        raise TranspilerError("no")


class Panicking(TransformationPass):
    """Panic as compiled code does."""

    def run(self, dag):
        """Raise what is no Exception."""
        raise type("PanicException", (BaseException,), {})("index out of bounds")


def gates(*pairs: tuple[int, int]) -> QuantumCircuit:
    """Return a circuit of CX gates, each after a rotation."""
    circuit = QuantumCircuit(4)
    for a, b in pairs:
        circuit.rx(0.3, a)
        circuit.cx(a, b)
    return circuit


def keep(ours: QuantumCircuit, theirs: object, device: CouplingMap | Target = LINE) -> tuple[QuantumCircuit, str]:
    """Return what is kept of two circuits, and who made it."""
    config = PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "u"])
    preset = build_own_preset(config, 1, 0, "tiger")
    preset.layout, preset.routing = PassManager(theirs), None
    task = KeepBest(device, preset)
    task.property_set = PropertySet(made="ours")
    dag = circuit_to_dag(ours)
    task.property_set[SOURCE] = Source(dag, task.property_set).copy()
    found = task.run(dag)
    assert task.property_set[SOURCE] is None
    return found, task.property_set["made"]


def test_the_circuit_with_fewer_gates_is_kept() -> None:
    """With what is known of it; at equal numbers the shorter one, and ours where both are as good."""
    two, three = gates((0, 1), (2, 3)), gates((0, 1), (2, 3), (1, 2))
    for ours, theirs, made in (
        (two, three, "ours"),
        (three, two, "theirs"),
        (two, gates((2, 3), (1, 0)), "ours"),
        (gates((0, 1), (1, 2)), two, "theirs"),
        (two, two, "ours"),
    ):
        found, maker = keep(ours, Fixed(theirs))
        assert maker == made
        assert found == circuit_to_dag(ours if made == "ours" else theirs)


def test_gates_count_after_the_later_stages() -> None:
    """Four CX of which all cancel are fewer than one."""
    cancelling = QuantumCircuit(4)
    for _ in range(4):
        cancelling.cx(0, 1)
    assert keep(gates((0, 1)), Fixed(cancelling))[1] == "theirs"


def test_ours_is_kept_where_qiskit_refuses() -> None:
    """There is nothing to compare with."""
    assert keep(gates((0, 1)), Refusing())[1] == "ours"


def test_bug_a_panic_of_qiskits_layout_ended_the_plugin() -> None:
    """There is nothing to compare with, as where Qiskit refuses."""
    assert keep(gates((0, 1)), Panicking())[1] == "ours"


def test_a_circuit_on_faulty_pairs_is_not_taken() -> None:
    """Neither one on a pair whose gate always fails, nor one on a qubit that has no other."""
    target = Target(num_qubits=4)
    errors = {(0, 1): 1.0, (1, 2): 0.01, (2, 3): 0.01}
    target.add_instruction(CXGate(), {pair: InstructionProperties(error=error) for pair, error in errors.items()})
    target.add_instruction(SXGate(), {(k,): InstructionProperties(error=0.0) for k in range(4)})
    lone = QuantumCircuit(4)
    lone.x(0)
    ours = gates((1, 2), (2, 3))
    assert keep(ours, Fixed(gates((0, 1))), target)[1] == "ours"
    assert keep(ours, Fixed(lone), target)[1] == "ours"
    assert keep(ours, Fixed(gates((2, 3))), target)[1] == "theirs"


def test_a_circuit_that_nobody_kept_stays() -> None:
    """Without a source there is nothing that Qiskit could start from."""
    task = KeepBest(LINE, StagedPassManager())
    dag = circuit_to_dag(gates((0, 1)))
    assert task.run(dag) is dag


@pytest.mark.parametrize("given", [None, [0, 1, 2, 3]])
def test_a_layout_that_is_not_the_presets_stays(given: list[int] | None) -> None:
    """Qiskit's routing starts from the layout that the circuit has."""
    circuit = gates((0, 1), (0, 2), (0, 3))
    config = PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "u"], initial_layout=given)
    embed = common.generate_embed_passmanager(LINE).to_flow_controller().tasks
    manager = PassManager([SetLayout([3, 0, 2, 1] if given is None else given), *embed, KeepSource(PLACED)])
    long = gates(*5 * [(0, 1), (1, 2), (2, 3)])
    manager.append([Fixed(long), KeepBest(LINE, build_own_preset(config, 1, 0, "tiger"))])
    found = manager.run(circuit)
    assert found.layout.initial_index_layout() == ([3, 0, 2, 1] if given is None else given)
    assert found.count_ops()["cx"] < 15


def test_methods_of_ours_are_left_to_qiskit() -> None:
    """The others, and the configuration itself, stay as they are."""
    config = PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "u"], layout_method="tiger", routing_method="none")
    assert build_own_preset(config, 2, 5, "tiger").layout is not None
    assert (config.layout_method, config.routing_method, config.seed_transpiler) == ("tiger", "none", None)


def test_stages_are_built_when_they_are_asked_for() -> None:
    """Those of the preset, each once."""
    config = PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "u"])
    own, whole = build_own_preset(config, 1, 0, "tiger"), level_1_pass_manager(config)
    assert own.routing is own.routing
    assert not {"layout", "translation", "optimization"} & vars(own).keys()
    for stage in ("layout", "routing", "translation", "optimization"):
        made, known = (each.to_flow_controller().tasks for each in (getattr(own, stage), getattr(whole, stage)))
        assert len(made) == len(known) > 0


def test_bug_a_later_stage_that_fails_ended_the_comparison() -> None:
    """A circuit that it fails on is not kept beside one that it passes; without either, ours stays."""

    class Choosy(TransformationPass):
        """Refuse circuits of one CX."""

        def run(self, dag):
            """Return the others."""
            if dag.count_ops()["cx"] == 1:
                raise TranspilerError("no")
            return dag

    for ours, theirs, count in ((2, 1, 2), (1, 2, 2), (1, 1, 1)):
        preset = build_own_preset(PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "u"]), 1, 0, "tiger")
        preset.layout, preset.routing = PassManager(Fixed(gates(*[(0, 1)] * theirs))), None
        preset.translation, preset.optimization = PassManager(Choosy()), None
        task = KeepBest(LINE, preset)
        dag = circuit_to_dag(gates(*[(0, 1)] * ours))
        task.property_set = PropertySet()
        task.property_set[SOURCE] = Source(dag, task.property_set).copy()
        assert task.run(dag).count_ops()["cx"] == count


class Resuming(TransformationPass):
    """Go back to the first circuit seen, as Qiskit's search for a minimum does with the best."""

    def run(self, dag):
        """Return it."""
        self.property_set["first"] = self.property_set["first"] or dag
        return self.property_set["first"]


def test_bug_an_optimization_went_back_to_the_qubits_from_before() -> None:
    """A finished circuit on better qubits is optimized as a new one, and stays there."""
    device = Target(num_qubits=4)
    errors = {(0, 1): 0.3, (1, 2): 0.3, (2, 3): 0.001}
    device.add_instruction(CXGate(), {pair: InstructionProperties(error=error) for pair, error in errors.items()})
    device.add_instruction(SXGate(), {(k,): InstructionProperties(error=0.001) for k in range(4)})
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    preset = build_own_preset(PassManagerConfig(target=device, seed_transpiler=1), 1, 1, "tiger")
    preset.optimization = PassManager(Resuming())
    preset.post_optimization = PassManager(VF2PostLayout(device, seed=-1, strict_direction=True))
    place = PassManager(SetLayout([0, 1])) + common.generate_embed_passmanager(device)
    start = run_stage(place, Source(circuit_to_dag(circuit), PropertySet()))
    (_, before), (moved, after) = KeepBest(device, preset, "success")._deliver(start, errors_of_target(device))
    assert after.loss < before.loss
    assert moved.properties["first"] is None
    assert [moved.dag.find_bit(qubit).index for qubit in moved.dag.two_qubit_ops()[0].qargs] == [2, 3]
