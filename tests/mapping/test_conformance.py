"""Tests that every implementation of a seam passes its conformance check, and that the checks can fail."""

import itertools
from typing import ClassVar

import dimod
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.model.seams import Assignment
from tiger.model.window import Block
from tiger.partition.levels import LevelWindows
from tiger.partition.windows import TaskWindows
from tiger.qubo.tune import Bisection, Fixed
from tiger.solvers import registry
from tiger.solvers.annealing.dense import Dense
from tiger.solvers.annealing.local import Annealing
from tiger.solvers.annealing.refinement import Refinement
from tiger.solvers.geometry.geometry import Geometry
from tiger.solvers.multilevel.multilevel import Multilevel
from tiger.testing import check_partitioner, check_sampler, check_search, check_tuner

RULES = ("one-to-one", "levels", "capacity")
NATIVE = (Annealing(), Dense(), Geometry(), Multilevel(), Refinement())
SEARCHES = [*map(registry.search, ("exact", "greedy", "random", "identity")), *NATIVE]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_every_search_conforms(search, rule, random_problem, random_feasible):
    """Tests all searches on each rule, with pins, forbidden pairs and memory."""
    for seed in range(4):
        limited = seed % 2 == 0
        problem = random_problem(rule, seed, pins=limited, forbidden=limited, memory=seed % 3 == 0)
        check_search(search, problem, random_feasible(problem, np.random.default_rng(seed)))


@pytest.mark.parametrize("name", ["neal", "tabu"])
def test_every_sampler_conforms(name):
    """Tests the samplers that come with the package; tabu search has no temperatures."""
    unchecked = check_sampler(registry.sampler(name))
    assert [remark.split(":")[0] for remark in unchecked] == {
        "neal": [],
        "tabu": ["takes no beta_range", "takes no interrupt_function"],
    }[name]


def test_any_dimod_sampler_conforms():
    """Tests a sampler that knows none of the options, and that what cannot be checked is said."""
    assert check_sampler(dimod.ExactSolver()) == (
        "takes no seed: not checked that samples can be repeated",
        "takes no beta_range: not checked what temperatures do",
        "takes no interrupt_function: not checked that it can end before all reads are drawn",
    )


class Deaf(dimod.Sampler):
    """Anneal, and break a promise about an option: not to pass it on, or to set it to a value of its own."""

    properties: ClassVar[dict[str, object]] = {}
    names = "num_reads", "num_sweeps", "seed", "beta_range", "interrupt_function"
    parameters: ClassVar[dict[str, list[str]]] = {name: [] for name in names}

    def __init__(self, name, **own):
        """Choose the option."""
        self.name, self.own = name, own

    def sample(self, bqm, **options):
        """Return samples."""
        del options[self.name]
        return registry.sampler("neal").sample(bqm, **options, **self.own)


@pytest.mark.parametrize(
    ("sampler", "promise"),
    [
        (Deaf("seed"), "the same seed gives the same samples"),
        (Deaf("seed", seed=1), "another seed gives other samples"),
        (Deaf("beta_range", beta_range=[0.1, 10.0]), "worse, where beta_range is listed"),
        (Deaf("interrupt_function"), "interrupt_function that is listed is called"),
    ],
)
def test_bug_a_sampler_that_ignores_an_option_fails_the_check(sampler, promise):
    """Tests seeds that are not passed on, or always the same, temperatures of its own, and no end between reads."""
    with pytest.raises(AssertionError, match=promise):
        check_sampler(sampler)


def test_what_was_not_put_to_the_test_is_said(path_problem):
    """Tests a search and a tuner that do nothing, a single block, and three that show what they do."""
    start = np.array([0, 1, 2])
    assert check_search(registry.search("identity"), path_problem, start)[0].startswith("every answer is the start")
    assert check_partitioner(TaskWindows(), path_problem, start)[0].startswith("never more than one block")
    assert check_tuner(Moody(0.0))[0].startswith("ends at once")
    assert check_search(registry.search("exact"), path_problem, np.array([0, 2, 1])) == ()
    assert check_partitioner(TaskWindows(), path_problem, start, max_size=4) == ()
    assert check_tuner(Bisection()) == ()


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_every_partitioner_conforms(rule, random_problem):
    """Tests both partitions where they apply."""
    for seed in range(4):
        problem = random_problem(rule, seed, tasks=9, nodes=12, pins=seed % 2 == 0)
        start = launch_order(problem)
        check_partitioner(TaskWindows(), problem, start)
        if rule == "levels":
            check_partitioner(LevelWindows(), problem, start)


@pytest.mark.parametrize("tuner", [Bisection(), Fixed()], ids=["bisection", "fixed"])
def test_every_tuner_conforms(tuner):
    """Tests both tuners."""
    check_tuner(tuner)


class Swapper:
    """Break promises: swap the first two tasks whatever that costs."""

    def search(self, problem, start, *, effort, seed, stop):
        """Return a mapping that may cost more."""
        places = start.copy()
        places[[0, 1]] = places[[1, 0]]
        return Assignment(places=places)


def test_a_search_that_worsens_fails_the_check(path_problem):
    """Tests that the optimum, made worse, is noticed."""
    with pytest.raises(AssertionError, match="never rises"):
        check_search(Swapper(), path_problem, np.array([0, 1, 2]))


class Half:
    """Break a promise: leave out a task."""

    def split(self, problem, start, *, max_size, seed):
        """Yield a single block without the last task."""
        yield Block(tasks=problem.free[:-1], nodes=np.unique(start))


def test_a_partition_that_leaves_out_a_task_fails_the_check(path_problem):
    """Tests that coverage is checked."""
    with pytest.raises(AssertionError, match="exactly once"):
        check_partitioner(Half(), path_problem, np.arange(3))


def test_a_sampler_that_finds_nothing_fails_the_check():
    """Tests that a sampler of zeros is noticed."""
    with pytest.raises(AssertionError, match="ground state"):
        check_sampler(Zeros())


def test_samples_that_are_not_bits_fail_the_check():
    """Tests a sampler that answers with spins, -1 for 0, and one that leaves out a variable."""
    for sampler, promise in ((Spins(), "0 or 1"), (Narrow(), "a column per variable")):
        with pytest.raises(AssertionError, match=promise):
            check_sampler(sampler)


class Zeros(dimod.Sampler):
    """Return all zeros."""

    parameters: ClassVar[dict[str, list[str]]] = {}
    properties: ClassVar[dict[str, object]] = {}

    def sample(self, bqm, **options):
        """Return one sample of zeros."""
        return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 0), bqm)


class Spins(Zeros):
    """Return the ground state in spins."""

    def sample(self, bqm, **options):
        """Return one sample of -1 and 1."""
        return dimod.SampleSet.from_samples([{0: -1, 1: 1}], dimod.SPIN, energy=[-1.5])


class Narrow(Zeros):
    """Return half of the ground state."""

    def sample(self, bqm, **options):
        """Return one sample of a single variable."""
        return dimod.SampleSet.from_samples([{0: 0}], dimod.BINARY, energy=[-1.5])


class Runaway:
    """Break a promise: double the penalties."""

    def next(self, penalties, trial):
        """Return penalties above the bound."""
        return penalties.scaled(penalties.scale * 2)


def test_a_tuner_above_the_bound_fails_the_check():
    """Tests that penalties above the safe bound are noticed."""
    with pytest.raises(AssertionError, match="safe bound"):
        check_tuner(Runaway())


class Moody:
    """Break a promise: answer differently when asked again."""

    def __init__(self, *answers):
        """Take turns between scales."""
        self._answers = itertools.cycle(answers)

    def next(self, penalties, trial):
        """Return the next scale, None for 0."""
        scale = next(self._answers)
        return penalties.scaled(scale) if scale else None


@pytest.mark.parametrize("answers", [(0.5, 0.6), (0.5, 0.0), (0.0, 0.5)])
def test_a_tuner_that_changes_its_mind_fails_the_check(answers):
    """Tests other penalties for the same trial, and an end that comes now or not."""
    with pytest.raises(AssertionError, match="same answer"):
        check_tuner(Moody(*answers))


def test_a_tuner_that_ends_conforms():
    """Tests that None is an answer."""
    check_tuner(Moody(0.0))


class Curious:
    """Read all there is in a trial."""

    def next(self, penalties, trial):
        """Return penalties weighed by what was violated, as long as all arrays fit."""
        return penalties.weighed(1 + trial.missed, 1 + trial.crowded)


def test_tuners_are_shown_whole_trials():
    """Tests that shares of violated constraints have the shapes of the penalties."""
    check_tuner(Curious())
