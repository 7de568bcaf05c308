"""From a circuit and a device to the report."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit.library import CZGate, RCCXGate
from qiskit.circuit.random import random_circuit
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.quantum_info import SparsePauliOp, Statevector, random_pauli_list
from qiskit.transpiler import CouplingMap
from qiskit.transpiler.passes import CheckMap

import tiger
from tests.circuits.brief import shorten_levels
from tiger.circuits.entry.reading import read_circuit
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.entry.writing import qasm_of
from tiger.circuits.summary import circuit_summary
from tiger.errors import InputError
from tiger.run.progress import Progress

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "circuits"
LINE = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
CHEAP = {"level": 1}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every level search for a moment only."""
    shorten_levels(monkeypatch, 1000)


@pytest.fixture
def complete() -> QuantumCircuit:
    """Return four qubits that all meet, after turns that are all different."""
    circuit = QuantumCircuit(4)
    for qubit in range(4):
        circuit.u(0.3 + qubit, 0.2, 0.7 * qubit, qubit)
    for a, b in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
        circuit.cx(a, b)
        circuit.ry(0.4, a)
    return circuit


def is_same(circuit: QuantumCircuit, report: CircuitReport) -> bool:
    """Return whether the routed circuit leaves the state of the circuit, moved to where its qubits end."""
    routed = report.circuit
    assert routed is not None
    moved = QuantumCircuit(routed.num_qubits)
    moved.compose(circuit, [report.final_layout[k] for k in range(circuit.num_qubits)], inplace=True)
    return bool(Statevector(moved).equiv(Statevector(routed)))


def on_edges(report: CircuitReport, pairs: list[list[int]]) -> bool:
    """Return whether all two-qubit gates are on pairs."""
    check = CheckMap(CouplingMap([*pairs, *[pair[::-1] for pair in pairs]]))
    check.property_set = {}
    from qiskit.converters import circuit_to_dag

    check.run(circuit_to_dag(report.circuit))
    return bool(check.property_set["is_swap_mapped"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"level": level} for level in (0, 1, 2, 3)] + [{"initial_layout": [5, 0, 3, 1]}], ids=str
)
def test_a_circuit_stays_the_same(complete: QuantumCircuit, options: dict[str, Any]) -> None:
    """On the edges of the device, and counted as it is."""
    report = tiger.layout(complete, LINE, seed=3, **options)
    counts = report.circuit.count_ops()
    assert is_same(complete, report)
    assert on_edges(report, LINE)
    assert (report.feasible, report.extra_cx) == (True, counts["cx"] + 3 * counts.get("swap", 0) - 6)
    assert report.extra_cx == 3 * ((report.swaps or 0) + (report.bridges or 0))


@pytest.mark.parametrize("given", [None, [5, 0, 3, 1]])
@pytest.mark.parametrize("seed", range(3))
def test_bug_the_routed_circuit_had_no_layout(seed: int, given: list[int] | None) -> None:
    """Observables follow it, over spare qubits and from where routing leaves the others, for a text as well."""
    source = random_circuit(4, 4, max_operands=4, seed=seed)
    circuit = read_circuit(qasm_of(source) if seed else source)
    report = tiger.layout(circuit, LINE, seed=seed, initial_layout=given, **CHEAP)
    observable = SparsePauliOp(random_pauli_list(4, 8, seed=seed, phase=False), np.arange(1.0, 9.0))
    moved = observable.apply_layout(report.circuit.layout)
    expected = Statevector(circuit).expectation_value(observable)
    assert Statevector(report.circuit).expectation_value(moved) == pytest.approx(expected)
    assert report.circuit.layout.final_index_layout() == [report.final_layout[k] for k in range(4)]
    assert report.circuit.layout.initial_index_layout(filter_ancillas=True) == [*report.initial_layout.values()]


def test_bug_wide_gates_were_refused() -> None:
    """They count as what they are written out as."""
    circuit = QuantumCircuit(5)
    circuit.h([0, 1, 2])
    circuit.ccx(0, 1, 3)
    circuit.append(RCCXGate(), [3, 4, 2])
    report = tiger.layout(circuit, LINE, **CHEAP)
    counts = report.circuit.count_ops()
    assert is_same(circuit, report)
    assert report.extra_cx == counts["cx"] + 3 * counts.get("swap", 0) - 6 - 3
    assert report.circuit.layout.initial_index_layout(filter_ancillas=True) == [*report.initial_layout.values()]


@pytest.mark.slow
def test_what_a_sampler_drew_is_reported(complete: QuantumCircuit) -> None:
    """Its calls and reads, in the summary too, and of no other solver."""
    drawn = tiger.layout(complete, LINE, solver="neal", level=2)
    assert drawn.sampling.reads > drawn.sampling.calls > 0
    assert 0 <= drawn.sampling.feasible_share <= 1
    assert drawn.sampling.cost_of_control is None
    assert f"samples              {drawn.sampling.calls:,} calls" in circuit_summary(drawn)
    assert tiger.layout(complete, LINE, **CHEAP).sampling is None


def test_a_given_layout_is_kept(complete: QuantumCircuit) -> None:
    """As a mapping too."""
    report = tiger.layout(complete, LINE, initial_layout={"3": 1, "0": 5, "1": 0, "2": 3}, **CHEAP)
    assert report.initial_layout == {0: 5, 1: 0, 2: 3, 3: 1}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_circuit(complete: QuantumCircuit) -> None:
    """On two threads as well."""
    first, second = (tiger.layout(complete, LINE, seed=5, threads=threads) for threads in (1, 2))
    assert first.qasm == second.qasm
    assert first.initial_layout == second.initial_layout


@pytest.mark.slow
def test_islands_give_the_same_circuit_on_any_executor(complete: QuantumCircuit) -> None:
    """In this process, on threads of it, and on an executor; the report says how many there were."""
    found = [tiger.layout(complete, LINE, level=1, seed=5, islands=3, threads=threads) for threads in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        found.append(tiger.layout(complete, LINE, level=1, seed=5, islands=3, executor=pool))
    assert len({(report.qasm, report.islands) for report in found}) == 1
    assert found[0].islands == 3
    assert [stage.detail.get("islands") for stage in found[0].stages if stage.name == "search"] == [3]


def test_the_text_is_the_circuit(complete: QuantumCircuit) -> None:
    """Whoever reads it gets the same counts."""
    report = tiger.layout(complete, LINE, **CHEAP)
    assert read_circuit(report.qasm).count_ops() == report.circuit.count_ops()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_random_circuits_stay_the_same(seed: int) -> None:
    """Gates on one and two qubits of any kind."""
    circuit = random_circuit(4, 5, max_operands=2, seed=seed)
    report = tiger.layout(circuit, "ring:6", seed=seed, **CHEAP)
    assert is_same(circuit, report)


@pytest.mark.slow
def test_never_more_than_qiskit(complete: QuantumCircuit) -> None:
    """From level 1 on, at the same seed."""
    for level, seed in ((1, 0), (1, 1), (1, 2), (2, 0), (2, 1)):
        report = tiger.layout(complete, LINE, seed=seed, level=level)
        assert (report.extra_cx or 0) <= (report.baseline_extra_cx or 0)


def test_bug_fewer_swaps_ended_as_more_gates() -> None:
    """One SWAP less than Qiskit's were 15 gates after level 2 instead of 14."""
    circuit = QuantumCircuit(4)
    pairs = ((1, 2), (1, 2), (1, 2), (2, 3), (3, 2), (3, 0), (2, 1), (2, 0), (3, 0), (2, 1), (2, 1), (3, 2))
    for turn, (a, b) in enumerate(pairs):
        circuit.cx(a, b)
        circuit.ry(0.3 + turn, b)
        circuit.rx(0.4 + turn, a)
    report = tiger.layout(circuit, "grid:1x4", level=2)
    assert report.stages[-1].detail == {"two_qubit_gates": 15, "qiskit_two_qubit_gates": 14}
    assert report.extra_cx == report.baseline_extra_cx == report.stages[-1].cost == 6


@pytest.mark.slow
def test_other_objectives_are_reached() -> None:
    """Success is likelier and depth smaller than where extra CX count alone, and neither is worse than Qiskit's."""
    path, device = EXAMPLES / "qft5.qasm", EXAMPLES / "noisy7.json"
    plain, deep, likely = (tiger.layout(path, device, objective=aim) for aim in ("cx", "depth", "success"))
    assert (likely.success_probability or 0) > (plain.success_probability or 1)
    assert (deep.depth or 99) < (plain.depth or 0)
    assert (likely.success_probability or 0) >= (likely.baseline_success_probability or 1)
    assert (deep.depth or 99) <= (deep.baseline_depth or 0)
    assert int(deep.stages[-1].detail["loss"]) == deep.depth


def test_bug_short_limits_wait_for_no_choice_of_better_qubits() -> None:
    """Qiskit's whole preset ran after a limit, for seconds on large devices with errors: what it reaches is unknown."""
    path, device = EXAMPLES / "qft5.qasm", EXAMPLES / "noisy7.json"
    short, long = (tiger.layout(path, device, level=1, time_limit_s=limit) for limit in (1e-3, 1e3))
    assert (short.baseline_success_probability, short.baseline_extra_cx) == (None, long.baseline_extra_cx)
    assert 0 < (long.baseline_success_probability or 0) < 1


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_bug_depth_needs_no_edges(level: int) -> None:
    """A device of one qubit has no neighbours to exchange."""
    circuit = QuantumCircuit(1)
    circuit.h(0)
    report = tiger.layout(circuit, "grid:1x1", objective="depth", level=level)
    assert (report.feasible, report.depth) == (True, 1)


def moves(report: CircuitReport, circuit: QuantumCircuit, pairs: list[list[int]]) -> int:
    """Return how far data moves in a routed circuit without BRIDGEs, whose own gates are adjacent."""
    hops = CouplingMap([*pairs, *[pair[::-1] for pair in pairs]]).distance_matrix
    holds = {place: qubit for qubit, place in report.initial_layout.items()}
    at: dict[int, int] = {}
    total = 0
    for instruction in report.circuit.data:
        ends = [report.circuit.find_bit(qubit).index for qubit in instruction.qubits]
        if instruction.name == "swap":
            holds = {(ends[::-1][ends.index(p)] if p in ends else p): q for p, q in holds.items()}
        elif len(ends) == 2:
            total += sum(int(hops[at.get(holds[p], p)][p]) for p in ends)
            at |= {holds[p]: p for p in ends}
    return total


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"initial_layout": [5, 0, 3, 1]}, {"level": 2}], ids=str)
def test_bug_data_movement_is_that_of_the_circuit(complete: QuantumCircuit, options: dict[str, Any]) -> None:
    """Also where the layout is given, whose qubits are those of the device."""
    circuit = complete.copy_empty_like()
    for instruction in complete.data:
        circuit.append(CZGate() if instruction.name == "cx" else instruction.operation, instruction.qubits)
    report = tiger.layout(circuit, LINE, **({"level": 1} | options))
    assert report.data_movement.routed == moves(report, circuit, LINE)
    assert report.data_movement.trivial == 4


@pytest.mark.slow
def test_every_placement_is_routed(complete: QuantumCircuit) -> None:
    """From level 2 on; before it is known of the result alone."""
    names = ("trivial", "static_qubo", "levels", "routed")
    few, all_ = (tiger.layout(complete, LINE, level=level) for level in (1, 2))
    assert [few.placement_extra_cx[name] for name in names] == [None, None, None, few.extra_cx]
    assert min(all_.placement_extra_cx[name] for name in names) == all_.placement_extra_cx["routed"] == all_.extra_cx


def test_control_flow_is_routed_and_written() -> None:
    """As OpenQASM 3."""
    circuit = QuantumCircuit(4, 1)
    circuit.cx(0, 3)
    circuit.measure(3, 0)
    with circuit.if_test((0, 1)):
        circuit.cx(0, 2)
        circuit.cx(1, 3)
    report = tiger.layout(circuit, LINE, **CHEAP)
    assert on_edges(report, LINE)
    assert (report.qasm or "").startswith("OPENQASM 3.0;")


def test_a_circuit_without_pairs_adds_nothing() -> None:
    """There is nothing to route."""
    report = tiger.layout('OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; h q;', LINE)
    assert (report.extra_cx, report.swaps, report.data_movement.routed) == (0, 0, 0)


def test_errors_give_a_success_probability(complete: QuantumCircuit) -> None:
    """In (0, 1), and none without them."""
    backend = GenericBackendV2(6, coupling_map=LINE, seed=1)
    report = tiger.layout(complete, backend, objective="success", **CHEAP)
    assert 0 < (report.success_probability or 0) < 1
    assert tiger.layout(complete, LINE, **CHEAP).success_probability is None


@pytest.mark.parametrize(
    ("device", "kind"),
    [("ring:3", "qubits"), ([[0, 1], [2, 3]], "disconnected"), ([[0, 1], [2, 3], [4, 5]], "disconnected")],
)
def test_what_does_not_fit_is_a_result(complete: QuantumCircuit, device: object, kind: str) -> None:
    """Too few qubits, and parts that cannot hold it."""
    report = tiger.layout(complete, device)
    assert (report.feasible, report.circuit, report.extra_cx) == (False, None, None)
    assert [violation.kind for violation in report.violations] == [kind]


def test_a_layout_that_tears_the_circuit_apart_is_a_result() -> None:
    """Well-formed, but without a way between the parts."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    report = tiger.layout(circuit, [[0, 1], [2, 3]], initial_layout=[1, 2])
    assert [violation.kind for violation in report.violations] == ["disconnected"]


def test_parts_that_hold_the_circuit_are_used() -> None:
    """Each piece of it goes into one of them."""
    circuit = QuantumCircuit(4)
    circuit.cx(0, 2)
    circuit.cx(1, 3)
    report = tiger.layout(circuit, [[0, 1], [2, 3]])
    assert (report.feasible, is_same(circuit, report), on_edges(report, [[0, 1], [2, 3]])) == (True, True, True)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"level": 4}, "level"),
        ({"effort": 0}, "effort"),
        ({"objective": "swaps"}, "objective"),
        ({"objective": "success"}, "objective"),
        ({"solver": "nobody"}, "solver"),
        ({"seed": -1}, "seed"),
        ({"time_limit_s": 0}, "time_limit_s"),
        ({"threads": 0}, "threads"),
        ({"islands": 0}, "islands"),
        ({"islands": True}, "islands"),
        ({"executor": "there:1"}, "executor"),
        ({"initial_layout": [0, 1, 2, 2]}, "initial_layout/3"),
        ({"initial_layout": [0, 1, 2]}, "initial_layout"),
        ({"coupling": "moebius:3"}, "topology"),
        ({"coupling": [[0, 0]]}, "topology/0"),
        ({"circuit": "qreg q[2];"}, "circuit"),
        ({"circuit": QuantumCircuit(2)}, "circuit"),
    ],
)
def test_bad_input_is_named(complete: QuantumCircuit, options: dict[str, Any], field: str) -> None:
    """By the argument or below."""
    with pytest.raises(InputError) as caught:
        tiger.layout(**({"circuit": complete, "coupling": LINE} | options))
    assert caught.value.field == field


def test_a_time_limit_that_was_hit_is_said(complete: QuantumCircuit) -> None:
    """As the same seed may end elsewhere then."""
    assert "ended by the time limit" in tiger.layout(complete, LINE, time_limit_s=1e-6).warnings[0]
    assert tiger.layout(complete, LINE, time_limit_s=1e6, **CHEAP).warnings == ()


@pytest.mark.slow
def test_a_time_limit_that_ended_one_stage_is_said(complete: QuantumCircuit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though there was time left at the end."""
    complete.compose(complete, inplace=True)
    monkeypatch.setattr("tiger.circuits.solve.WINDOWS_S", 1e6)
    report = tiger.layout(complete, LINE, level=2, time_limit_s=1e6)
    assert "ended by the time limit" in report.warnings[0]


def test_stages_are_announced(complete: QuantumCircuit) -> None:
    """Whoever waits is told."""
    seen: list[Progress] = []
    tiger.layout(complete, LINE, progress=seen.append, **CHEAP)
    assert [step.stage for step in seen][:2] == ["reading", "search"]


def test_the_example_adds_up() -> None:
    """3 + 5 is 8, wherever the qubits are."""
    report = tiger.layout(EXAMPLES / "adder10.qasm", "grid:3x4", **CHEAP)
    bare = report.circuit.copy_empty_like()
    for instruction in report.circuit.data:
        if instruction.name != "measure":
            bare.append(instruction)
    (outcome,) = Statevector(bare).probabilities_dict(decimals=6)
    digits = [int(outcome[::-1][report.final_layout[qubit]]) for qubit in (6, 7, 8, 9, 1)]
    assert np.dot(digits, [1, 2, 4, 8, 16]) == 8
