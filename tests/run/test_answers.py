"""A sampler that fails after answers: they are kept, and it is asked no more."""

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import ClassVar

import dimod
import networkx as nx
import numpy as np
import pytest
from qiskit import qasm2, transpile
from qiskit.transpiler import CouplingMap, PassManager

import tiger
from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler.passes import TigerMapping
from tiger.errors import InputError
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.objectives.cost import violations
from tiger.qubo.params import IsingParams, Sampling
from tiger.run.answers import Answers, portable

# Three rounds on the whole, then windows of one round each.
FEW = IsingParams(
    whole=Sampling(rounds=3, reads=4, sweeps=20),
    window=Sampling(rounds=1, reads=4, sweeps=20),
    windows=4,
    passes=2,
    window_size=16,
)
OFFLINE = ConnectionError("offline")
CIRCUITS = Path(__file__).parents[2] / "examples" / "circuits"


class Failing(dimod.Sampler):
    """Draw bits by chance, until a call that raises an error."""

    parameters: ClassVar[dict[str, list[str]]] = {}
    properties: ClassVar[dict[str, object]] = {}

    def __init__(self, last: int, error: Exception = OFFLINE) -> None:
        self.last, self.error, self.calls_made = last, error, 0

    def sample(self, bqm: dimod.BinaryQuadraticModel, **_: object) -> dimod.SampleSet:
        """Return four samples, or raise the error."""
        self.calls_made += 1
        if self.calls_made > self.last:
            raise self.error
        return dimod.RandomSampler().sample(bqm, num_reads=4, seed=self.calls_made)


def ask(problem: Problem, sampler: Failing, executor: Executor | None = None):
    """Solve by a sampler with few reads."""
    return solve(problem, solver=sampler, seed=1, ising=FEW, executor=executor)


@pytest.fixture(params=["one-to-one", "levels"])
def problem(request, random_problem) -> Problem:
    """Return a problem whose bound no simple order meets."""
    drawn: Problem = random_problem(request.param, 4, tasks=9, nodes=12, hardware="grid")
    return drawn


@pytest.mark.parametrize("error", [OFFLINE, InputError("solver", "the way is lost"), ZeroDivisionError()], ids=repr)
def test_a_sampler_that_never_answers_is_an_error(problem, error):
    """Tests that its error is raised as it is."""
    with pytest.raises(type(error)):
        ask(problem, Failing(0, error))


@pytest.mark.parametrize("last", range(1, 9))
def test_what_was_answered_is_kept(problem, last):
    """Tests a failure at every call: the report has a mapping no dearer than the orders, and says what happened."""
    sampler = Failing(last, InputError("solver", "the way is lost"))
    report = ask(problem, sampler)
    assert sampler.calls_made == last + 1
    assert report.feasible
    assert report.cost <= report.baseline_cost
    names = {name: k for k, name in enumerate(problem.topology.names)}
    places = np.array([names[report.mapping[task]] for task in problem.tasks.names])
    assert violations(problem, places) == ()
    several = "1 answer" if last == 1 else f"{last} answers"
    told = f"the sampler failed after {several} and was asked no more: the way is lost"
    assert told in report.warnings


def test_the_answers_of_other_windows_are_kept(problem):
    """Tests windows that are out at the same time; errors of other kinds are named."""
    with ThreadPoolExecutor(2) as pool:
        report = ask(problem, Failing(5, OFFLINE), pool)
    assert report.feasible
    assert any("ConnectionError('offline')" in warning for warning in report.warnings)


def test_the_native_search_hides_no_failure(random_problem, monkeypatch):
    """Tests that one of the windows which neal has beside it is in the report as well."""
    sampler = Failing(1, ZeroDivisionError("lost"))
    monkeypatch.setattr("tiger.solvers.registry.sampler", lambda _: sampler)
    report = solve(random_problem("one-to-one", 3, tasks=40, nodes=49, hardware="grid"), seed=1, effort=4)
    assert sampler.calls_made == 2
    assert "the sampler failed after 1 answer and was asked no more: ZeroDivisionError('lost')" in report.warnings


def test_answers_of_windows_behind_a_failed_one_are_kept():
    """Tests twelve pairs that talk to nobody else, whose windows are out at once: the first of these may fail."""

    class FailingOnce(Failing):
        """Fails at its first call alone."""

        def sample(self, bqm, **options):
            self.last = -1 if self.calls_made == 0 else 10**6
            return super().sample(bqm, **options)

    pairs = nx.empty_graph(24)
    pairs.add_edges_from((k, 23 - k) for k in range(12))
    few = replace(FEW, whole_variables=1, window_size=4, starts=0, windows=None)
    with ThreadPoolExecutor(4) as pool:
        report = tiger.assign(pairs, "ring:24", solver=FailingOnce(0), seed=1, ising=few, executor=pool)
    assert report.feasible
    assert any("and was asked no more" in warning for warning in report.warnings)


def test_neal_beside_the_native_search_is_not_needed(random_problem, monkeypatch):
    """Tests that its very first failure is a warning, too."""
    monkeypatch.setattr("tiger.solvers.registry.sampler", lambda _: Failing(0))
    report = solve(random_problem("one-to-one", 3, tasks=40, nodes=49, hardware="grid"), seed=1)
    assert report.feasible
    assert "the sampler failed after 0 answers and was asked no more: ConnectionError('offline')" in report.warnings


@pytest.mark.parametrize("options", [{"objective": "max-link-load"}, {"nodes": 9}], ids=str)
def test_a_lost_machine_is_not_connected_to_again(random_problem, options):
    """Tests searches that begin after the one in which it was lost."""

    class Machine(Failing):
        """Says how much it takes for as long as it can be reached."""

        @property
        def max_variables(self) -> int:
            if self.calls_made > self.last:
                raise OFFLINE
            return 64

    problem = random_problem("one-to-one", 4, tasks=9, nodes=12, hardware="grid")
    report = solve(problem, solver=Machine(3), seed=1, ising=FEW, **options)
    assert report.feasible
    assert any("after 3 answers and was asked no more" in warning for warning in report.warnings)
    assert not any("of no consequence" in warning for warning in report.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("last", [1, 20])
def test_a_circuit_is_laid_out_whatever_its_sampler_does(last):
    """Tests failures in the static layout and in the levels of gates; the sampler is not asked to compare, either."""
    sampler = Failing(last)
    report = tiger.layout(CIRCUITS / "adder10.qasm", "heavy-hex:3", level=3, seed=1, solver=sampler)
    assert sampler.calls_made == last + 1
    assert report.feasible
    assert any("and was asked no more: ConnectionError('offline')" in warning for warning in report.warnings)
    assert report.data_movement.static_qubo is None


@pytest.mark.slow
def test_a_circuit_that_needs_no_sampler_warns_where_it_is_only_compared():
    """Tests a circuit whose bound is met before: the comparison alone lacks a figure."""
    report = tiger.layout(CIRCUITS / "qft5.qasm", "heavy-hex:3", level=2, seed=1, solver=Failing(0))
    assert report.optimal
    assert report.warnings == ("the sampler failed after 0 answers and was asked no more: ConnectionError('offline')",)


@pytest.mark.parametrize("last", [0, *(pytest.param(last, marks=pytest.mark.slow) for last in (1, 5))])
def test_stages_are_placed_whatever_their_sampler_does(monkeypatch, last):
    """Tests ranks that are put onto devices by a sampler, which is an error only if it never answers."""
    sampler = Failing(last)
    monkeypatch.setattr("tiger.solvers.registry.sampler", lambda _: sampler)
    model = "transformer:layers=12,hidden=1024,heads=16,vocabulary=5000,sequence=512"
    if last == 0:
        with pytest.raises(ConnectionError):
            tiger.place(model, "dgx:2", solver="neal")
        return
    report = tiger.place(model, "dgx:2", solver="neal")
    assert sampler.calls_made == last + 1
    assert report.feasible
    assert any("and was asked no more" in warning for warning in report.warnings)


@pytest.mark.slow
def test_a_plan_asks_a_failed_sampler_no_more(monkeypatch):
    """Tests that the searches for several choices share what they know of it, and that the report warns once."""
    sampler = Failing(5)
    monkeypatch.setattr("tiger.solvers.registry.sampler", lambda _: sampler)
    model = "transformer:layers=12,hidden=1024,heads=16,vocabulary=5000,sequence=512"
    report = tiger.plan(model, "dgx:2", batch=32, schedule="zero-bubble", solver="neal", top=3)
    assert sampler.calls_made == 6
    assert report.feasible
    assert sum("after 5 answers and was asked no more" in warning for warning in report.warnings) == 1


@pytest.mark.slow
def test_a_pass_logs_that_its_sampler_failed(caplog):
    """Tests the plugin's pass, which has no report."""
    circuit = transpile(qasm2.load(CIRCUITS / "adder10.qasm"), basis_gates=["cx", "u"])
    mapping = TigerMapping(CouplingMap.from_heavy_hex(3), LayoutParams(level=3, seed=1, solver=Failing(3)))
    PassManager([mapping]).run(circuit)
    assert "the sampler failed after 3 answers and was asked no more: ConnectionError('offline')" in caplog.messages


def test_errors_that_cannot_be_sent_say_the_same():
    """Tests one that holds a lock, and one that can be sent."""
    held = ConnectionError("offline")
    held.lock = Lock()
    assert str(portable(held)) == repr(held)
    assert portable(OFFLINE) is OFFLINE


def test_the_first_error_is_told():
    """Tests that later ones, of windows that were out already, change nothing."""
    answers = Answers()
    answers.add(2, None)
    assert answers.warnings == ()
    answers.add(0, InputError("solver", "one"))
    answers.add(1, ValueError("two"))
    assert answers.warnings == ("the sampler failed after 3 answers and was asked no more: one",)
