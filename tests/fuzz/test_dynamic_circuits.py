"""Circuits with phases, variables, stores, control flow and exits of loops through the plugins and `tiger.layout`."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import (
    BoxOp,
    BreakLoopOp,
    ContinueLoopOp,
    Delay,
    ForLoopOp,
    IfElseOp,
    Measure,
    Parameter,
    Reset,
    SwitchCaseOp,
    WhileLoopOp,
)
from qiskit.circuit.library import CXGate, CZGate, RZGate, SXGate, UGate
from qiskit.transpiler import InstructionProperties, Target, TranspilerError

import tiger
from tests.fuzz.dynamic import Program
from tests.fuzz.outcomes import outcomes
from tests.fuzz.profile import LONG, cases
from tiger.circuits.entry.reading import read_circuit
from tiger.errors import InputError

Answer = TypeVar("Answer")
TOLERANCE = 1e-6
# A search of levels 2 and 3 takes seconds.
LEVELS = (0, 1, 2, 3) if LONG else (0, 1)
STAGES = (("tiger", "tiger"), ("tiger", None), (None, "tiger"))
FLOWS = {
    "if_else": IfElseOp,
    "for_loop": ForLoopOp,
    "while_loop": WhileLoopOp,
    "switch_case": SwitchCaseOp,
    "box": BoxOp,
    "break_loop": BreakLoopOp,
    "continue_loop": ContinueLoopOp,
}
EXITS = ("break_loop", "continue_loop")
SHAPES = {
    "line": [(0, 1), (1, 2), (2, 3), (3, 4)],
    "star": [(0, 1), (2, 0), (0, 3), (0, 4)],
    "tee": [(0, 1), (2, 1), (1, 3), (3, 4)],
    "ring": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)],
}


class DynamicCase(NamedTuple):
    """Hold a circuit, whether its loops may be left early, a device and a seed."""

    circuit: QuantumCircuit
    exits: bool
    target: Target
    seed: int


@st.composite
def targets(draw: st.DrawFn) -> Target:
    """Draw a device of five qubits, with error rates on all, some or none of them."""
    edges, name = SHAPES[draw(st.sampled_from(sorted(SHAPES)))], draw(st.sampled_from(["cx", "cz"]))
    return build_target(edges, name, draw(st.integers(0, 99)), draw(st.sampled_from([0.0, 0.5, 1.0])))


def build_target(edges: list[tuple[int, int]], name: str, seed: int, known: float) -> Target:
    """Return a device of five qubits with error rates on a part of them.

    Its gates go both ways: Qiskit turns no gate round in a circuit with variables.
    """
    rng = np.random.default_rng(seed)

    def rate(scale: float) -> InstructionProperties | None:
        return InstructionProperties(error=float(scale * rng.uniform(0.1, 1))) if rng.random() < known else None

    target = Target(num_qubits=5)
    for operation in (UGate(*map(Parameter, "abc")), RZGate(Parameter("p")), SXGate(), Measure()):
        target.add_instruction(operation, {(k,): rate(1e-3) for k in range(5)})
    for operation in (Reset(), Delay(Parameter("d"))):
        target.add_instruction(operation, {(k,): None for k in range(5)})
    ways = [*edges, *(edge[::-1] for edge in edges)]
    target.add_instruction({"cx": CXGate(), "cz": CZGate()}[name], {way: rate(1e-2) for way in ways})
    for flow, operation in FLOWS.items():
        target.add_instruction(operation, name=flow)
    return target


@st.composite
def questions(draw: st.DrawFn) -> DynamicCase:
    """Draw a circuit and a device that holds it."""
    exits, rng = draw(st.booleans()), np.random.default_rng(draw(st.integers(0, 2**20)))
    program = Program(draw(st.integers(2, 4)), rng, exits=exits)
    return DynamicCase(program.write(draw(st.integers(1, 8))), exits, draw(targets()), draw(st.integers(0, 99)))


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
@cases(quick=2, long=300)
@given(asked=questions(), stages=st.sampled_from(STAGES))
def test_the_plugins_keep_what_bits_and_variables_read(
    level: int, asked: DynamicCase, stages: tuple[str | None, str | None]
) -> None:
    """All that bits and variables may read is as likely, on the device's own gates, with no more than Qiskit's."""
    ours = _ask(asked, lambda: _transpile(asked, level, *stages))
    if ours is None:
        return
    theirs, wanted = _transpile(asked, level, None, None), outcomes(asked.circuit)
    assert _differ(wanted, outcomes(ours)) < TOLERANCE
    assert _is_native(ours, asked.target, range(5))
    # What Qiskit routes in loops that are left early may be another circuit.
    if level > 0 and not (asked.exits and _differ(wanted, outcomes(theirs)) > TOLERANCE):
        assert _count_pairs(ours) <= _count_pairs(theirs)


def test_bug_blocks_on_qubits_in_another_order_were_taken_to_end_alike() -> None:
    """Qiskit calls circuits with such blocks equal, and optimizes one of them further."""
    circuit = Program(4, np.random.default_rng(101194), exits=False).write(1)
    asked = DynamicCase(circuit, False, build_target(SHAPES["line"], "cz", 3, 0.5), 0)
    assert _count_pairs(_transpile(asked, 2, "tiger", None)) == _count_pairs(_transpile(asked, 2, None, None)) == 2


@pytest.mark.slow
def test_bug_a_store_in_front_of_an_exit_came_behind_it() -> None:
    """Where both are on no qubits, as Qiskit leaves out those that a loop does not use."""
    circuit = Program(2, np.random.default_rng(538), exits=True).write(6)
    asked = DynamicCase(circuit, True, build_target(SHAPES["line"], "cx", 0, 0.0), 0)
    assert _differ(outcomes(circuit), outcomes(_transpile(asked, 2, "tiger", "tiger"))) < TOLERANCE


@pytest.mark.parametrize("level", LEVELS)
@cases(quick=2, long=300)
@given(asked=questions(), objective=st.sampled_from(["cx", "cx", "depth", "success"]))
def test_layouts_keep_what_bits_and_variables_read(level: int, asked: DynamicCase, objective: str) -> None:
    """All that bits and variables may read is as likely, on the edges; extra CX are no more than Qiskit's."""
    rated = any(each is not None for each in asked.target["measure"].values())
    aim = objective if rated or objective != "success" else "cx"
    report = _ask(asked, lambda: tiger.layout(asked.circuit, asked.target, level=level, seed=asked.seed, objective=aim))
    if report is None:
        return
    assert _differ(outcomes(asked.circuit), outcomes(report.circuit)) < TOLERANCE
    assert _is_on_edges(report.circuit, asked.target, range(5))
    if level > 0 and aim == "cx" and report.baseline_extra_cx is not None:
        assert report.extra_cx <= report.baseline_extra_cx
    with suppress(InputError):
        read_circuit(report.qasm or ";")


def _ask(asked: DynamicCase, call: Callable[[], Answer]) -> Answer | None:
    """Return an answer, None where it is refused because a loop that is left early needs SWAPs."""
    try:
        return call()
    except (InputError, TranspilerError) as error:
        if not asked.exits or "leaves early" not in str(error):
            raise
        return None


def _transpile(asked: DynamicCase, level: int, layout: str | None, routing: str | None) -> QuantumCircuit:
    """Run the whole transpiler."""
    return transpile(asked.circuit, target=asked.target, optimization_level=level, seed_transpiler=asked.seed,
                     layout_method=layout, routing_method=routing)  # fmt: skip


def _differ(one: dict[tuple[int, ...], float], other: dict[tuple[int, ...], float]) -> float:
    """Return by how much probabilities differ."""
    return max(abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other})


def _is_native(circuit: QuantumCircuit, target: Target, places: Sequence[int]) -> bool:
    """Return whether a device has all operations of a circuit, or of a block on its qubits, where they stand."""
    for each in circuit.data:
        at = tuple(places[circuit.find_bit(qubit).index] for qubit in each.qubits)
        blocks = each.operation.blocks if each.is_control_flow() else ()
        known = each.name in FLOWS or each.is_directive() or not at or target.instruction_supported(each.name, at)
        if not (known and all(_is_native(block, target, at) for block in blocks)):
            return False
    return True


def _is_on_edges(circuit: QuantumCircuit, target: Target, places: Sequence[int]) -> bool:
    """Return whether all gates on two qubits are on edges."""
    edges = set(target.build_coupling_map().get_edges())
    for each in circuit.data:
        at = tuple(places[circuit.find_bit(qubit).index] for qubit in each.qubits)
        blocks = each.operation.blocks if each.is_control_flow() else ()
        gate = len(at) == 2 and not (blocks or each.is_directive() or each.name in EXITS)
        if (gate and at not in edges) or not all(_is_on_edges(block, target, at) for block in blocks):
            return False
    return True


def _count_pairs(circuit: QuantumCircuit) -> int:
    """Count the gates on two qubits, those in blocks of control flow once."""
    inner = (block for each in circuit.data if each.is_control_flow() for block in each.operation.blocks)
    own = (each for each in circuit.data if not (each.is_control_flow() or each.is_directive() or each.name in EXITS))
    return sum(len(each.qubits) == 2 for each in own) + sum(map(_count_pairs, inner))
