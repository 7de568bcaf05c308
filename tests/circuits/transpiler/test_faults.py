"""Circuits on devices of which something has error 1, through the plugins."""

import logging
from collections.abc import Iterator, Set

import pytest
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Measure, Parameter
from qiskit.circuit.library import CXGate, RZGate, SXGate
from qiskit.converters import circuit_to_dag
from qiskit.quantum_info import Operator
from qiskit.transpiler import CouplingMap, InstructionProperties, Target

import tiger
from tests.circuits.strategies import quick_search
from tiger.circuits.transpiler.faults import has_faults, is_as_careful, list_faults

RING = [(k, (k + 1) % 6) for k in range(6)]
METHODS = [
    {"layout_method": "tiger", "routing_method": "tiger"},
    {"routing_method": "tiger"},
    {"layout_method": "tiger"},
]


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    with quick_search():
        yield


def device(
    dead: Set[tuple[int, int]] = frozenset(), alone: float = 0.001, unread: int = -1, broken: int = -1
) -> Target:
    """Return a ring of six with dead pairs in the directions given, a qubit without readout and a broken one."""

    def known(*, bad: bool) -> InstructionProperties:
        return InstructionProperties(error=1.0 if bad else alone)

    target = Target(num_qubits=6)
    both = [*RING, *(pair[::-1] for pair in RING)]
    target.add_instruction(CXGate(), {pair: known(bad=pair in dead) for pair in both})
    target.add_instruction(SXGate(), {(k,): known(bad=k == broken) for k in range(6)})
    target.add_instruction(RZGate(Parameter("angle")), {(k,): known(bad=False) for k in range(6)})
    target.add_instruction(Measure(), {(k,): known(bad=k == unread) for k in range(6)})
    return target


def dead(*pairs: tuple[int, int]) -> set[tuple[int, int]]:
    """Return pairs in both directions."""
    return {*pairs, *(pair[::-1] for pair in pairs)}


def star(width: int) -> QuantumCircuit:
    """Return a circuit whose first qubit meets all others."""
    circuit = QuantumCircuit(width)
    for other in range(1, width):
        circuit.cx(0, other)
        circuit.ry(0.1 + other, other)
    return circuit


def compile_on(target: Target, circuit: QuantumCircuit, level: int, **methods: object) -> QuantumCircuit:
    """Return a circuit that was transpiled, the same but for where its qubits are."""
    out = transpile(circuit, target=target, optimization_level=level, seed_transpiler=1, **methods)
    if "measure" not in out.count_ops():
        wide = QuantumCircuit(6).compose(circuit, range(circuit.num_qubits))
        assert Operator.from_circuit(out).equiv(Operator(wide))
    assert all(target.instruction_supported(each.name, tuple(out.find_bit(bit).index for bit in each.qubits))
               for each in out.data if not each.is_directive())  # fmt: skip
    return out


def faults(circuit: QuantumCircuit, target: Target) -> list[str]:
    """Return what a circuit uses that has error 1."""
    return list_faults(circuit_to_dag(circuit), target)


@pytest.mark.slow
@pytest.mark.parametrize("methods", METHODS, ids=lambda methods: "+".join(methods))
@pytest.mark.parametrize("level", [0, 1])
def test_bug_a_device_without_working_pairs_was_refused(level: int, methods: dict[str, str]) -> None:
    """As one of IBM's snapshots is; what it uses is what there is."""
    target = device(dead(*RING))
    assert faults(compile_on(target, star(4), level, **methods), target)


@pytest.mark.parametrize("methods", METHODS, ids=lambda methods: "+".join(methods))
@pytest.mark.parametrize("level", [0, 1])
def test_bug_a_chain_over_the_whole_device_was_refused(level: int, methods: dict[str, str]) -> None:
    """Where qubit 0 works with no other; a pair between qubits that meet without it stays unused."""
    chain = QuantumCircuit(6)
    for k in range(5):
        chain.cx(k, k + 1)
    target = device(dead((0, 1), (0, 5)))
    used = faults(compile_on(target, chain, level, **methods), target)
    assert used
    assert set(used) <= {"0-1", "0-5"}


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 1])
def test_bug_a_layout_of_qiskits_on_faulty_pairs_was_refused(level: int) -> None:
    """The layout stays, and with it what it needs."""
    target = device(dead((0, 1), (0, 5)))
    out = compile_on(target, star(3), level, routing_method="tiger", initial_layout=[0, 2, 3])
    assert out.layout.initial_index_layout(filter_ancillas=True) == [0, 2, 3]
    assert set(faults(out, target)) <= {"0-1", "0-5"}


@pytest.mark.parametrize("methods", [METHODS[0], METHODS[2]], ids=lambda methods: "+".join(methods))
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize(
    "target", [device(dead((0, 1), (3, 4))), device(broken=2), device(unread=2)], ids=["pairs", "qubit", "readout"]
)
def test_what_has_error_1_is_avoided(target: Target, level: int, methods: dict[str, str]) -> None:
    """By either stage, wherever a circuit fits on the rest."""
    measured = star(3)
    measured.measure_all()
    assert faults(compile_on(target, measured, level, **methods), target) == []


@pytest.mark.parametrize("level", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_bug_the_faulty_one_of_two_directions_was_used(level: int) -> None:
    """A CX that has error 1 from 0 to 1 alone runs from 1 to 0."""
    target = device({(0, 1), (2, 3)})
    out = compile_on(target, star(6), level, **METHODS[0])
    used = {tuple(out.find_bit(bit).index for bit in each.qubits) for each in out.data}
    assert not {(0, 1), (2, 3)} & used


@pytest.mark.long
@pytest.mark.parametrize(
    ("target", "width", "level", "line"),
    [
        (device(dead(*RING)), 2, logging.WARNING, "and is expected to fail: "),
        (device(dead((0, 1))), 2, logging.INFO, "what has error 1"),
        (device(unread=3), 2, logging.INFO, "is kept off what has error 1 on this device: readout of 3"),
    ],
)
def test_what_has_error_1_is_logged_once(
    target: Target, width: int, level: int, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    """By each of the stages, and by both."""
    for methods in METHODS:
        caplog.clear()
        with caplog.at_level(logging.INFO, "tiger"):
            compile_on(target, star(width), 1, **methods)
        (record,) = (each for each in caplog.records if each.name.startswith("tiger"))
        assert (record.levelno, line in record.getMessage()) == (level, True)


def test_a_circuit_of_qiskits_that_was_set_aside_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """It has fewer gates, on a pair that never works."""
    ring = QuantumCircuit(6)
    for a, b in RING:
        ring.cx(a, b)
    with caplog.at_level(logging.INFO, "tiger"):
        compile_on(device(dead((0, 1))), ring, 1, **METHODS[0])
    (record,) = (each for each in caplog.records if each.name.startswith("tiger"))
    assert record.getMessage() == "Qiskit's circuit has fewer two-qubit gates, on what has error 1: 0-1"


def test_nothing_is_logged_where_all_works(caplog: pytest.LogCaptureFixture) -> None:
    """A coupling map knows of no error."""
    with caplog.at_level(logging.INFO, "tiger"):
        transpile(star(3), coupling_map=CouplingMap(RING), optimization_level=1, **METHODS[0])
    assert not [each for each in caplog.records if each.name.startswith("tiger")]
    assert not has_faults(CouplingMap(RING))


def test_faults_in_blocks_count() -> None:
    """Of control flow, where a barrier over a pair is no use of it."""
    circuit = QuantumCircuit(6, 1)
    circuit.barrier()
    with circuit.if_test((0, 1)):
        circuit.cx(1, 0)
        circuit.measure(3, 0)
    assert faults(circuit, device(dead((0, 1)), unread=3)) == ["0-1", "readout of 3"]


def test_a_circuit_is_as_careful_as_another() -> None:
    """It may use the dead pairs that another needs, and those that the other does without only with these."""
    target, needs, needs_more, good = device(dead((0, 1), (0, 5))), *(QuantumCircuit(6) for _ in range(3))
    needs.cx(0, 1)
    needs_more.cx(0, 1)
    needs_more.cx(0, 5)
    good.cx(1, 2)
    dags = [circuit_to_dag(each) for each in (needs, needs_more, good)]
    assert [is_as_careful(dag, dags[0], target) for dag in dags] == [True, True, True]
    assert [is_as_careful(dag, dags[2], target) for dag in dags] == [False, False, True]
    assert not is_as_careful(dags[0], dags[2], device(dead((0, 1))))


@pytest.mark.parametrize("level", [0, 1])
def test_a_report_says_what_has_error_1(level: int) -> None:
    """Where a circuit uses it, and only there."""
    bad = tiger.layout(star(6), device(dead((0, 1), (0, 5))), level=level)
    assert bad.feasible
    assert bad.warnings[0].startswith("the circuit uses what has error 1 on this device, and is expected to fail: 0-")
    assert tiger.layout(star(5), device(dead((0, 1), (0, 5))), level=level).warnings == ()


@pytest.mark.parametrize("alone", [0.0, 0.1])
def test_success_counts_where_nothing_can_succeed(alone: float) -> None:
    """The search prefers what uses little of the faulty pairs, and says that the circuit fails."""
    report = tiger.layout(star(6), device(dead((0, 1), (0, 5)), alone), level=1, objective="success")
    assert (report.feasible, report.success_probability) == (True, 0.0)


@pytest.mark.long
@pytest.mark.parametrize("name", ["FakeTorino", "FakeFez", "FakeMarrakesh", "FakeKyoto"])
@pytest.mark.parametrize("methods", METHODS, ids=lambda methods: "+".join(methods))
def test_snapshots_of_ibms_devices_run_everything(name: str, methods: dict[str, str]) -> None:
    """Chains up to the full width, and random circuits; faulty pairs are used where nothing else fits."""
    target = getattr(pytest.importorskip("qiskit_ibm_runtime.fake_provider"), name)().target
    for width in (5, 100, target.num_qubits):
        chain = QuantumCircuit(width)
        for k in range(width - 1):
            chain.cx(k, k + 1)
        for level in (0, 1, 2):
            out = transpile(chain, target=target, optimization_level=level, seed_transpiler=1, **methods)
            fits = width < target.num_qubits and name != "FakeKyoto" and "layout_method" in methods
            assert not (fits and faults(out, target))
