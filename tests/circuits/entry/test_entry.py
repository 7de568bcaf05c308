"""From a list of circuits and a device to a report of each."""

import os
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

import pytest
from qiskit import QuantumCircuit

import tiger
from tests.circuits.brief import shorten_levels
from tiger.circuits.entry.entry import PARALLEL
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.entry.request import LayoutRequest
from tiger.errors import InputError
from tiger.run.progress import Progress

LINE = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every level search for a moment only."""
    shorten_levels(monkeypatch, 1000)


def ring(qubits: int) -> QuantumCircuit:
    """Return a circuit of CX gates on a ring, which a line cannot hold."""
    circuit = QuantumCircuit(qubits)
    for k in range(2 * qubits):
        circuit.cx(k % qubits, (k + 1) % qubits)
    return circuit


@pytest.fixture
def circuits() -> list[QuantumCircuit]:
    """Return circuits of different sizes, the largest first."""
    return [ring(6), ring(3), ring(5), ring(4)]


def alike(report: CircuitReport) -> CircuitReport:
    """Return a report without what differs from run to run."""
    stages = tuple(replace(stage, seconds=0) for stage in report.stages)
    return replace(report, seconds=0, stages=stages)


def test_a_list_gets_a_list(circuits: list[QuantumCircuit]) -> None:
    """In its order, each report that of its circuit alone, on any number of threads; progress counts circuits."""
    alone = [alike(tiger.layout(circuit, LINE, level=1, seed=4)) for circuit in circuits]
    for threads in (1, 2, 8):
        told: list[Progress] = []
        reports = tiger.layout(circuits, LINE, level=1, seed=4, threads=threads, progress=told.append)
        assert [alike(report) for report in reports] == alone, threads
        assert [each.fraction for each in told] == [0.25, 0.5, 0.75, 1], threads
    assert tiger.layout([], LINE) == []


@pytest.mark.slow
@pytest.mark.parametrize("executor", [partial(ThreadPoolExecutor, 2), partial(ProcessPoolExecutor, 2)])
def test_bug_workers_that_are_forked_wait_for_no_threads(
    circuits: list[QuantumCircuit], executor: type[Executor]
) -> None:
    """A process that is forked after Qiskit has used threads has none of them, and waited for them without end."""
    alone = [alike(tiger.layout(circuit, LINE, level=1)) for circuit in circuits]
    with executor() as workers:
        assert [alike(report) for report in tiger.layout(circuits, LINE, level=1, executor=workers)] == alone


@pytest.mark.slow
def test_bug_threads_in_a_forked_process_do_not_end_each_others_guard(circuits: list[QuantumCircuit]) -> None:
    """The first circuit that was done let Qiskit use threads again, which the others then waited for."""
    wanted = [report.extra_cx for report in tiger.layout(circuits * 3, LINE, level=0)]
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as workers:
        report = workers.submit(count_beside, circuits * 3).result(timeout=600)
    assert report == (wanted, None)


def count_beside(circuits: list[QuantumCircuit]) -> tuple[list[int | None], str | None]:
    """Return the extra CX gates of circuits that are mapped in threads, and what Qiskit is told afterwards."""
    reports = tiger.layout(circuits, LINE, level=0, threads=4)
    return [report.extra_cx for report in reports], os.environ.get(PARALLEL)


def test_layouts_are_given_one_for_each(circuits: list[QuantumCircuit]) -> None:
    """None leaves one open."""
    given = [[5, 4, 3, 2, 1, 0], None, None, {0: 3, 1: 1, 2: 0, 3: 2}]
    reports = tiger.layout(circuits, LINE, level=1, initial_layout=given)
    assert list(reports[0].initial_layout.values()) == given[0]
    assert reports[3].initial_layout == given[3]


@pytest.mark.slow
def test_a_circuit_without_room_is_a_report(circuits: list[QuantumCircuit]) -> None:
    """The others are mapped all the same."""
    reports = tiger.layout([*circuits, ring(7)], LINE, level=1)
    assert [report.feasible for report in reports] == [True, True, True, True, False]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"circuit": [ring(3), ring(3), "no file"]}, "circuit/2"),
        ({"initial_layout": [None, [0, 0, 1]]}, "initial_layout/1/1"),
        ({"initial_layout": [None]}, "initial_layout"),
        ({"objective": "success"}, "objective"),
        ({"level": 4}, "level"),
    ],
)
def test_bad_input_names_the_circuit(options: dict[str, object], field: str) -> None:
    """As far as it is that of one circuit."""
    with pytest.raises(InputError) as caught:
        tiger.layout(**{"circuit": [ring(3), ring(3)], "coupling": LINE, "level": 1, **options})
    assert caught.value.field == field


@pytest.mark.parametrize("options", [{"executor": 3}, {"initial_layout": {0: 1}}, {"effrot": 2}])
def test_arguments_of_another_type(options: dict[str, object]) -> None:
    """As with one circuit, which takes the executors of a list."""
    with pytest.raises(TypeError, match=next(iter(options))):
        tiger.layout([ring(3)], LINE, **options)
    with pytest.raises(TypeError, match="executor"):
        tiger.layout(ring(3), LINE, executor=3)


def test_what_fails_says_which_circuit(circuits: list[QuantumCircuit], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a note of the error."""

    def fail(request: LayoutRequest, initial_layout: object) -> CircuitReport:
        raise RuntimeError(f"{request.circuit.num_qubits} qubits")

    monkeypatch.setattr("tiger.circuits.entry.entry.report_mapping", fail)
    with pytest.raises(RuntimeError, match="6 qubits") as caught:
        tiger.layout(circuits, LINE)
    assert caught.value.__notes__ == ["circuit 0 of the list"]


@pytest.mark.slow
def test_circuits_of_a_list_have_islands_of_their_own() -> None:
    """An executor gets the circuits, whose islands share the threads there."""
    circuits = [ring(5), ring(5)]
    alone = tiger.layout(ring(5), LINE, level=1, islands=2)
    with ThreadPoolExecutor(2) as pool:
        found = tiger.layout(circuits, LINE, level=1, islands=2, executor=pool)
    assert [(report.qasm, report.islands) for report in found] == [(alone.qasm, 2)] * 2
