"""Tests of what a routed circuit ends as, and of what is better."""

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
    Target,
    TransformationPass,
    TranspilerError,
)

from tiger.circuits.transpiler.delivery import (
    CircuitQuality,
    DeliveryObjective,
    are_equal,
    count_gates,
    count_two_qubit_gates,
    deliver,
    measure,
    rank,
    weigh_depth,
)
from tiger.circuits.transpiler.own_stages import build_own_preset
from tiger.circuits.transpiler.preset import PLACED, SAME, SOURCE, KeepBest, Rivals
from tiger.circuits.transpiler.source import Source
from tiger.routing.error_rates import errors_of_target

LINE = CouplingMap.from_line(4)
# A chain of two gates beside one that fails more often, and three gates in two layers that hardly fail.
ERRORS = {(0, 1): 0.1, (1, 2): 0.001, (2, 3): 0.001}


def device() -> Target:
    """Return a line with error rates."""
    target = Target(num_qubits=4)
    target.add_instruction(CXGate(), {pair: InstructionProperties(error=rate) for pair, rate in ERRORS.items()})
    target.add_instruction(SXGate(), {(k,): InstructionProperties(error=0.0) for k in range(4)})
    return target


class Made(TransformationPass):
    """Put a circuit of CX gates in the place of another."""

    def __init__(self, *pairs: tuple[int, int]) -> None:
        """Take the pairs."""
        super().__init__()
        self.pairs = pairs

    def run(self, dag):
        """Return it."""
        circuit = QuantumCircuit(4)
        for pair in self.pairs:
            circuit.cx(*pair)
        return circuit_to_dag(circuit)


class Refusing(TransformationPass):
    """Refuse every circuit."""

    def run(self, dag):
        """Raise what passes raise."""
        raise TranspilerError("no")


def keep(
    objective: DeliveryObjective,
    target: Target | CouplingMap,
    *rivals: tuple[tuple[int, int], ...],
    shallow: tuple[tuple[int, int], ...] | None = None,
):
    """Return the pairs of the circuit that is kept of Qiskit's, which is the first, ours, and other ones of ours."""
    theirs, ours, *others = rivals
    preset = build_own_preset(PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "u"]), 1, 0, "tiger")
    preset.layout, preset.routing = PassManager(Made(*theirs)), None
    preset.translation = preset.optimization = None
    stages = tuple(PassManager(Made(*other)) for other in others)
    last = (PassManager(Refusing()),) if shallow is None else (PassManager(Refusing()), PassManager(Made(*shallow)))
    task = KeepBest(target, preset, objective, Rivals(SOURCE, stages, last))
    task.property_set = PropertySet()
    task.property_set[SOURCE] = Source(circuit_to_dag(QuantumCircuit(4)), PropertySet())
    found = task.run(Made(*ours).run(None))
    return tuple(tuple(found.find_bit(qubit).index for qubit in node.qargs) for node in found.topological_op_nodes())


CHAIN, FAILING, SOLID = ((1, 2), (2, 3)), ((2, 3), (0, 1)), ((1, 2), (2, 3), (1, 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objective", "best"), [("auto", FAILING), ("depth", FAILING), ("success", CHAIN)], ids=["auto", "depth", "success"]
)
def test_objectives_prefer_what_they_name(objective: DeliveryObjective, best: tuple[tuple[int, int], ...]) -> None:
    """Gates first and depth second, or either before, whoever's circuit that is."""
    for order in ((CHAIN, FAILING, SOLID), (FAILING, SOLID, CHAIN), (SOLID, CHAIN, FAILING)):
        assert set(keep(objective, device(), *order)) == set(best)


def test_success_decides_between_equal_gates_and_depths() -> None:
    """Where the device states errors; else ours stays."""
    worse, better = ((0, 1),), ((1, 2),)
    assert keep("auto", device(), worse, better) == keep("auto", device(), better, worse) == better
    assert keep("auto", LINE, better, worse) == worse


def test_gates_count_before_depth() -> None:
    """Unless the depth is the objective."""
    deep, flat = ((0, 1), (1, 2), (2, 3)), ((0, 1), (2, 3), (0, 1), (2, 3))
    assert keep("auto", LINE, flat, deep) == keep("auto", LINE, deep, flat) == deep
    assert set(keep("depth", LINE, flat, deep)) == set(flat)


# Six gates in three layers, five in as many as there are, and five in four and in three.
WIDE, LONG = 3 * ((0, 1), (2, 3)), ((0, 1), (1, 2), (0, 1), (1, 2), (0, 1))
SHORTER, SHORT = ((0, 1), (2, 3), (1, 2), (0, 1), (1, 2)), ((0, 1), (2, 3), (0, 1), (2, 3), (1, 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("theirs", "shallow", "best"),
    [(WIDE, SHORT, SHORT), (WIDE, SHORTER, SHORTER), (WIDE, None, LONG), (LONG[:4], SHORT, LONG[:4])],
)
def test_a_circuit_that_is_deeper_than_qiskits_has_shallow_rivals(theirs, shallow, best) -> None:
    """Whether they are as shallow as Qiskit's or not; without any, fewer gates than Qiskit's still win."""
    assert set(keep("auto", LINE, theirs, LONG, shallow=shallow)) == set(best)
    assert len(keep("auto", LINE, theirs, LONG, shallow=shallow)) == len(best)


def test_shallow_rivals_are_for_deep_circuits_with_fewer_gates_than_qiskits() -> None:
    """One with more gates is not taken, nor any where ours is no deeper; where depth comes first they are compared."""
    many = (*WIDE, (1, 2))
    for ours, shallow in ((LONG, many), (SHORT, ((0, 1),))):
        assert set(keep("auto", LINE, WIDE, ours, shallow=shallow)) == set(ours)
    for ours in (LONG, SHORT):
        assert keep("depth", LINE, WIDE, ours, shallow=((0, 1),)) == ((0, 1),)
        assert len(keep("depth", LINE, WIDE, ours, shallow=(*LONG, *LONG))) == len(SHORT if ours is SHORT else WIDE)


def test_bug_shallow_rivals_run_where_ours_is_qiskits_circuit() -> None:
    """Where depth comes first they are compared there, too; where gates do, Qiskit's depth is known there, too."""
    assert keep("depth", LINE, WIDE, WIDE, shallow=((0, 1),)) == ((0, 1),)
    assert sorted(keep("auto", LINE, WIDE, WIDE, shallow=((0, 1),))) == sorted(WIDE)
    assert set(keep("auto", LINE, WIDE, WIDE, LONG, shallow=SHORT)) == set(SHORT)
    assert keep("auto", LINE, WIDE, WIDE, LONG) == LONG


def test_bug_a_shallow_rival_that_is_no_better_than_qiskits_circuit_is_not_taken() -> None:
    """With as many gates in as many layers it weighs less than one of fewer gates in more layers."""
    assert keep("auto", LINE, WIDE, LONG, shallow=(*WIDE[2:], *WIDE[:2])) == LONG


def test_depth_weighs_above_that_of_the_other_circuit() -> None:
    """Gates alone count up to it."""
    peer = CircuitQuality(gates=9, depth=4)
    assert [weigh_depth(CircuitQuality(6, depth), peer) for depth in (2, 4, 6)] == [6, 6, 9]
    assert weigh_depth(CircuitQuality(6, 2), CircuitQuality(0, 0)) == 12


def test_rivals_do_not_run_where_routing_added_nothing() -> None:
    """A circuit without gates is no worse than it began."""
    assert keep("auto", LINE, SOLID, (), CHAIN) == ()


def test_rivals_of_the_layout_do_not_run_where_another_stage_has_laid_out() -> None:
    """Only a circuit that was kept before any layout is laid out again."""
    for begin, kept in ((SOURCE, 2), (PLACED, 1)):
        preset = build_own_preset(PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "u"]), 1, 0, "tiger")
        task = KeepBest(LINE, preset, "auto", Rivals(begin, (PassManager(Made((0, 1))),)))
        task.property_set = PropertySet()
        task.property_set[PLACED] = Source(circuit_to_dag(QuantumCircuit(4)), PropertySet())
        assert task.run(Made((0, 1), (1, 2)).run(None)).size() == kept


@pytest.mark.parametrize(
    ("theirs", "ours", "best"),
    [
        (CHAIN, ((1, 2),), ((1, 2),)),
        (CHAIN, SOLID, CHAIN),
        (CHAIN, ((1, 2), (1, 2), (2, 3)), ((1, 2), (1, 2), (2, 3))),
        (CHAIN, FAILING, FAILING),
        (FAILING, CHAIN, FAILING),
    ],
    ids=["fewer", "more", "fewer in the end", "as many in fewer layers", "as many in more layers"],
)
def test_two_circuits_are_compared_by_what_they_end_as(theirs, ours, best) -> None:
    """Without rivals: by gates after the optimization, then by depth."""
    assert set(keep_of_two(theirs, ours)) == set(best)


def test_qiskits_circuit_is_taken_as_its_later_stages_leave_it() -> None:
    """Where ours is the one that it begins with."""
    assert keep_of_two(((2, 3),), ((0, 1),)) == ((0, 1),)
    assert keep_of_two(((2, 3),), ((0, 1),), same=True) == ((2, 3),)


def keep_of_two(theirs, ours, *, same: bool = False):
    """Return the pairs of the circuit that is kept of Qiskit's and ours, without rivals."""
    preset = build_own_preset(PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "u"]), 1, 0, "tiger")
    preset.layout, preset.routing = PassManager(Made(*theirs)), None
    task = KeepBest(LINE, preset)
    task.property_set = PropertySet({SAME: same})
    task.property_set[SOURCE] = Source(circuit_to_dag(QuantumCircuit(4)), PropertySet())
    found = task.run(Made(*ours).run(None))
    return tuple(tuple(found.find_bit(qubit).index for qubit in node.qargs) for node in found.topological_op_nodes())


def test_circuits_are_equal_in_any_order_of_what_is_apart() -> None:
    """And not where a gate, its qubits, a parameter, or the order on a wire differs."""

    def make(*gates: tuple[str, list[float], list[int]]):
        circuit = QuantumCircuit(4)
        for name, angles, qubits in gates:
            getattr(circuit, name)(*angles, *qubits)
        return circuit_to_dag(circuit)

    one = make(("cx", [], [0, 1]), ("rz", [0.5], [1]), ("cx", [], [2, 3]))
    assert are_equal(one, make(("cx", [], [2, 3]), ("cx", [], [0, 1]), ("rz", [0.5], [1])))
    for other in (
        make(("cx", [], [0, 1]), ("rz", [0.25], [1]), ("cx", [], [2, 3])),
        make(("cx", [], [1, 0]), ("rz", [0.5], [1]), ("cx", [], [2, 3])),
        make(("rz", [0.5], [1]), ("cx", [], [0, 1]), ("cx", [], [2, 3])),
        make(("cx", [], [0, 1]), ("rz", [0.5], [1])),
    ):
        assert not are_equal(one, other)


def test_rank_names_all_measures() -> None:
    """The one that the objective names is first."""
    made = CircuitQuality(gates=3, depth=2, loss=0.5)
    assert [rank(made, each) for each in ("auto", "depth", "success")] == [(3, 2, 0.5), (2, 3, 0.5), (0.5, 3, 2)]


def test_a_delivery_is_that_of_the_final_circuit() -> None:
    """Gates that cancel are gone, and the estimate is that of the gates that are left."""
    target = device()
    preset = build_own_preset(PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "sx"]), 1, 0, "tiger")
    dag = Made((0, 1), (0, 1), (1, 2), (2, 3)).run(None)
    final = deliver(preset, Source(dag, PropertySet())).dag
    found = measure(final, errors_of_target(target))
    assert found[:2] == (2, 2)
    assert 1 - found.loss == pytest.approx(0.999**2, abs=1e-5)
    assert measure(final).loss == 0


def test_two_qubit_gates_are_counted_into_blocks() -> None:
    """A SWAP is three, a barrier nothing, and a block as deep as its deepest branch."""
    circuit = QuantumCircuit(3, 1)
    circuit.cx(0, 1)
    circuit.barrier(0, 1)
    circuit.swap(1, 2)
    assert count_gates(circuit_to_dag(circuit)) == 4
    with circuit.if_test((circuit.clbits[0], 1)) as otherwise:
        circuit.cz(0, 1)
        circuit.cz(1, 0)
    with otherwise:
        circuit.cx(0, 1)
    assert count_two_qubit_gates(circuit_to_dag(circuit)) == (7, 6)
    assert count_gates(circuit_to_dag(circuit)) == 7


def test_shallow_rivals_begin_where_qiskits_stages_did() -> None:
    """What these write into their circuit and its properties is not there."""

    class Begun(Made):
        """Note what is known when it begins."""

        known = "nothing"

        def run(self, dag):
            """Return a circuit of CX gates."""
            Begun.known = self.property_set["made"]
            return super().run(dag)

    class Writing(Made):
        """Write into the properties."""

        def run(self, dag):
            """Return a circuit of CX gates."""
            self.property_set["made"] = "theirs"
            return super().run(dag)

    preset = build_own_preset(PassManagerConfig(coupling_map=LINE, basis_gates=["cx", "u"]), 1, 0, "tiger")
    preset.layout, preset.routing = PassManager(Writing(*WIDE)), None
    preset.translation = preset.optimization = None
    task = KeepBest(LINE, preset, "auto", Rivals(SOURCE, (), (PassManager(Begun(*SHORT)),)))
    task.property_set = PropertySet()
    task.property_set[SOURCE] = Source(circuit_to_dag(QuantumCircuit(4)), PropertySet())
    assert task.run(Made(*LONG).run(None)).depth() == 3
    assert Begun.known is None
