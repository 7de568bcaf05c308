"""A sampler that fails after answers: they are kept, and it is asked no more."""

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import ClassVar

import dimod
import numpy as np
import pytest

from tiger.errors import InputError
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.objectives.cost import violations
from tiger.qubo.answers import Answers
from tiger.qubo.params import IsingParams, Sampling

# Three rounds on the whole, then windows of one round each.
FEW = IsingParams(
    whole=Sampling(rounds=3, reads=4, sweeps=20),
    window=Sampling(rounds=1, reads=4, sweeps=20),
    windows=4,
    passes=2,
    window_size=16,
)
OFFLINE = ConnectionError("offline")


class Failing(dimod.Sampler):
    """Draw bits by chance, until a call that raises an error."""

    parameters: ClassVar[dict[str, list[str]]] = {}
    properties: ClassVar[dict[str, object]] = {}

    def __init__(self, last: int, error: Exception) -> None:
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


def test_the_first_error_is_told():
    """Tests that later ones, of windows that were out already, change nothing."""
    answers = Answers()
    answers.add(2, None)
    assert answers.warnings == ()
    answers.add(0, InputError("solver", "one"))
    answers.add(1, ValueError("two"))
    assert answers.warnings == ("the sampler failed after 3 answers and was asked no more: one",)
