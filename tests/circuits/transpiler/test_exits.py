"""Loops that are left early."""

import pytest
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import BreakLoopOp, ForLoopOp
from qiskit.circuit.classical import expr, types
from qiskit.circuit.library import CXGate, GlobalPhaseGate
from qiskit.converters import circuit_to_dag
from qiskit.transpiler import CouplingMap, InstructionProperties, Target, TranspilerError

import tiger
from tests.fuzz.outcomes import outcomes
from tiger.circuits.entry.baseline import FLOWS
from tiger.circuits.transpiler import mapping
from tiger.circuits.transpiler.exits import check_order, has_exits, keeps_exits, leaves_early
from tiger.errors import InputError

LINE = CouplingMap.from_line(4)
LINE.make_symmetric()
TARGET = Target.from_configuration(["cx", "u", "measure", *FLOWS], 4, LINE, custom_name_mapping=FLOWS)


def tries(*pairs: tuple[int, int], exit_name: str = "break_loop") -> QuantumCircuit:
    """Return a loop that ends, or turns, as soon as a qubit reads 1, with CX on pairs before and after."""
    circuit = QuantumCircuit(4, 5)
    circuit.h([0, 1, 2, 3])
    with circuit.for_loop(range(3)):
        circuit.ry(0.7, 0)
        circuit.cx(*pairs[0])
        circuit.measure(0, 0)
        with circuit.if_test((circuit.clbits[0], 1)):
            circuit.x(1)
            getattr(circuit, exit_name)()
        for pair in pairs[1:]:
            circuit.cx(*pair)
            circuit.ry(0.4, pair)
    circuit.measure(range(4), range(1, 5))
    return circuit


def compile_it(circuit: QuantumCircuit, level: int, routing: str | None = "tiger") -> QuantumCircuit:
    """Return what the plugin makes of a circuit."""
    return transpile(circuit, target=TARGET, optimization_level=level, seed_transpiler=1, layout_method="tiger",
                     routing_method=routing)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("exit_name", ["break_loop", "continue_loop"])
def test_bug_exits_of_loops_are_taken_where_all_fits(level: int, exit_name: str) -> None:
    """A path goes onto the line, and every outcome stays as likely."""
    circuit = tries((0, 2), (2, 1), (1, 3), exit_name=exit_name)
    wanted = outcomes(circuit)
    for routed in (compile_it(circuit, level), tiger.layout(circuit, TARGET, level=level).circuit):
        assert outcomes(routed) == pytest.approx(wanted)


def test_swaps_outside_a_loop_are_no_matter() -> None:
    """All four qubits meet before a loop on one of them."""
    circuit = QuantumCircuit(4, 1)
    for a in range(4):
        for b in range(a):
            circuit.cx(a, b)
            circuit.ry(0.3, b)
    with circuit.while_loop((circuit.clbits[0], 0)):
        circuit.h(0)
        circuit.measure(0, 0)
        with circuit.if_test((circuit.clbits[0], 1)):
            circuit.break_loop()
    assert tiger.layout(circuit, LINE, level=1).swaps > 0


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 1])
def test_bug_exits_of_loops_that_need_swaps_are_refused(level: int) -> None:
    """With the reason, as qubits would not be back in their places."""
    triangle = tries((0, 1), (1, 2), (2, 0))
    with pytest.raises(InputError, match="leaves early to fit the device without a SWAP"):
        tiger.layout(triangle, LINE, level=level)
    for routing in ("tiger", None):
        with pytest.raises(TranspilerError, match="leaves early to fit"):
            compile_it(triangle, level, routing)


def test_bug_a_loop_that_is_refused_was_searched_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device without faults has no other pairs to try."""
    tried, search = [], mapping._map_on
    monkeypatch.setattr(mapping, "_map_on", lambda coupling, *rest: tried.append(coupling) or search(coupling, *rest))
    with pytest.raises(InputError, match="leaves early"):
        tiger.layout(tries((0, 1), (1, 2), (2, 3), (0, 3)), LINE, level=0)
    assert len(tried) == 1


def test_blocks_beside_an_exit_may_need_swaps() -> None:
    """A block without exits ends where it begins."""
    circuit = QuantumCircuit(3, 2)
    with circuit.for_loop(range(2)):
        with circuit.if_test((circuit.clbits[1], 1)):
            for pair in ((0, 1), (1, 2), (2, 0)):
                circuit.cx(*pair)
        circuit.measure(0, 0)
        with circuit.if_test((circuit.clbits[0], 1)):
            circuit.break_loop()
    assert tiger.layout(circuit, LINE, level=1).swaps > 0


def test_an_exit_that_leaves_out_a_qubit_is_refused() -> None:
    """Qiskit does not keep it in order with gates there."""
    body = QuantumCircuit(2, 0)
    body.append(BreakLoopOp(1, 0), [0])
    body.x(1)
    circuit = QuantumCircuit(2, 0)
    circuit.append(ForLoopOp(range(2), None, body), [0, 1])
    with pytest.raises(InputError, match="does not keep these in order"):
        tiger.layout(circuit, LINE, level=0)


def test_a_store_that_changes_places_with_an_exit_is_refused() -> None:
    """As Qiskit's graphs do not keep them in order."""
    before = QuantumCircuit(1, captures=[expr.Var.new("flag", types.Bool())])
    (flag,) = before.iter_captured_vars()
    after = before.copy_empty_like()
    before.append(BreakLoopOp(1, 0), [0])
    for block in (before, after):
        block.store(flag, expr.lift(True))
    check_order(before, before)
    after.append(BreakLoopOp(1, 0), [0])
    with pytest.raises(InputError, match="does not keep these in order"):
        check_order(before, after)


def test_bug_a_phase_that_changes_places_with_a_store_was_refused() -> None:
    """Nothing tells in which order they are, as long as both are on the same side of the exit."""
    before = QuantumCircuit(1, captures=[expr.Var.new("flag", types.Bool())])
    (flag,) = before.iter_captured_vars()
    after = before.copy_empty_like()
    before.append(GlobalPhaseGate(0.3), [])
    for block in (before, after):
        block.store(flag, expr.lift(True))
    after.append(GlobalPhaseGate(0.3), [])
    for block in (before, after):
        block.append(BreakLoopOp(1, 0), [0])
    assert check_order(before, after) is None


def test_an_exit_belongs_to_the_loop_around_it() -> None:
    """A loop inside another one keeps its exits to itself."""
    inner = tries((0, 1))
    body = inner.data[4].operation.blocks[0]
    assert leaves_early(body)
    assert not leaves_early(inner)
    assert has_exits(circuit_to_dag(inner))


def test_swaps_that_routing_adds_are_seen() -> None:
    """Where the circuit has none, in the block that leaves."""
    before, after = tries((0, 1)), tries((0, 1), (1, 2))
    body = after.data[4].operation.blocks[0]
    body.swap(0, 1)
    after.data[4] = after.data[4].replace(operation=ForLoopOp(range(3), None, body))
    assert not keeps_exits(circuit_to_dag(before), circuit_to_dag(after))


@pytest.mark.parametrize("level", [0, 1])
def test_bug_a_loop_that_fits_on_a_faulty_pair_alone_was_refused(level: int) -> None:
    """A triangle one pair of which has error 1: the circuit goes there, with a warning, as others do."""
    target = Target.from_configuration(["u", "measure", *FLOWS], 3, custom_name_mapping=FLOWS)
    ways = [(a, b) for a in range(3) for b in range(3) if a != b]
    target.add_instruction(CXGate(), {way: InstructionProperties(error=1.0 if 1 not in way else 0.01) for way in ways})
    circuit = QuantumCircuit(3, 1)
    with circuit.for_loop(range(2)):
        for a, b in ((0, 1), (1, 2), (0, 2)):
            circuit.cx(a, b)
        circuit.measure(0, 0)
        with circuit.if_test((circuit.clbits[0], 1)):
            circuit.break_loop()
    report = tiger.layout(circuit, target, level=level)
    assert (report.swaps, ["0-2" in warning for warning in report.warnings]) == (0, [True])
