"""Tests of placements from samplers."""

import dimod
import numpy as np
import pytest

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import chain
from tests.placement.operators.plain import interpret
from tiger.model.arrays import IntArray
from tiger.placement.operators.qubo.sampling import sample
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.annealer import AnnealerParams, largest_load_s
from tiger.run.answers import Answers
from tiger.solvers import registry


@pytest.fixture(autouse=True)
def _plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels of cuts and refinement as plain Python."""
    interpret(monkeypatch)


TERMS = Terms.from_operators(
    chain([3.0, 1.0, 2.0, 2.0, 1.0, 3.0], 0.5, [4.0, 1.0, 1.0, 1.0, 1.0, 4.0]), cluster("aa", 6.0), {}
)


class Limited(dimod.ExactSolver):
    """Takes four variables at most."""

    max_variables = 4


def ignore(_name: str, _place: IntArray, _seconds: float) -> None:
    """Take no notice."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampler", [registry.sampler("neal"), registry.sampler("tabu"), dimod.ExactSolver(), Limited()]
)
def test_samplers_find_the_best_split(sampler: dimod.Sampler) -> None:
    """Six operators cut in the middle: 6 s of work and half a second sent, for both devices."""
    place = sample(TERMS, sampler, AnnealerParams(), lambda: False, ignore)
    assert place is not None
    assert largest_load_s(TERMS, place) == pytest.approx(6.5)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_place_and_every_round_is_told() -> None:
    """Twice the same, reported after each of eight rounds, the last the place that is returned."""
    reported: list[float] = []
    sampler = registry.sampler("neal")
    places = [
        sample(TERMS, sampler, AnnealerParams(seed=4), lambda: False, lambda *told_now: reported.append(told_now[2]))
        for _ in range(2)
    ]
    assert places[0] is not None
    assert np.array_equal(*places)
    assert len(reported) == 16
    assert reported[7] == largest_load_s(TERMS, places[0])


def test_nothing_fits() -> None:
    """Three operators of more than half a device, on two; and one that may go nowhere."""
    terms = Terms.from_operators(chain([1.0] * 3, 0.0, [5.0] * 3), cluster("aa", 8.0), {})
    assert sample(terms, dimod.ExactSolver(), AnnealerParams(), lambda: True, ignore) is None


@pytest.mark.parametrize("last", range(1, 4))
def test_what_a_sampler_answered_before_it_failed_is_kept(last: int) -> None:
    """Rounds before the failure lead to a split, and the answers say what happened."""

    class Failing(dimod.ExactSolver):
        """Fails after some calls."""

        calls_made = 0

        def sample(self, bqm: dimod.BinaryQuadraticModel, **options: object) -> dimod.SampleSet:
            self.calls_made += 1
            if self.calls_made > last:
                raise ConnectionError("offline")
            return super().sample(bqm, **options)

    answers, sampler = Answers(), Failing()
    place = sample(TERMS, sampler, AnnealerParams(), lambda: False, ignore, answers)
    assert place is not None
    assert sampler.calls_made == last + 1 == answers.count + 1
    assert len(answers.warnings) == 1


def test_reads_are_counted_and_one_round_of_eight_is_set_beside_coin_flips() -> None:
    """The comparison changes no answer; windows are not compared."""
    answers, windows = Answers(), Answers()
    place = sample(TERMS, registry.sampler("neal"), AnnealerParams(seed=2), bool, ignore, answers)
    drawn = answers.report("neal")
    assert drawn is not None
    assert (drawn.calls, drawn.reads, drawn.compared_reads) == (8, 8 * 48, 48)
    assert drawn.cost_of_reads is not None
    assert drawn.cost_of_control is not None
    assert place is not None
    assert drawn.cost_of_reads.polished == pytest.approx(largest_load_s(TERMS, place))
    assert drawn.cost_of_control.repaired is not None
    assert drawn.cost_of_control.repaired >= drawn.cost_of_reads.polished
    assert drawn.verdict is not None
    sample(TERMS, Limited(), AnnealerParams(), bool, ignore, windows)
    limited = windows.report("neal")
    assert limited is not None
    assert (limited.calls > 8, limited.compared_reads, limited.cost_of_control) == (True, 0, None)
