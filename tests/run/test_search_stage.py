"""Tests of searches as stages: which rounds they run in, and how their effort is shared."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.model.seams import Assignment, Usage
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent
from tiger.run.search_stage import Round, run_search


@dataclass(frozen=True)
class Recorder:
    """Keep the mapping and note what the search is asked for."""

    usage: Usage = field(default=Usage())
    asked: list = field(default_factory=list)
    elites: np.ndarray | None = None

    def resume(self, elites):
        """Return the search with elites."""
        return Recorder(self.usage, self.asked, elites)

    def search(self, problem, start, *, effort, seed, stop):
        """Return the start, with itself as the elite."""
        self.asked.append((effort, seed, 0 if self.elites is None else len(self.elites)))
        return Assignment(places=start, elites=start[None])


def incumbent_of(problem):
    """Return the incumbent of the launch order."""
    return MappingIncumbent(problem=problem, solution=launch_order(problem), stop=Deadline(None))


@pytest.mark.parametrize(("usage", "numbers"), [("all", [0, 1, 2]), ("first", [0]), ("later", [1, 2])])
def test_a_search_runs_in_the_rounds_that_it_states(usage, numbers, path_problem):
    """Tests three rounds of one effort."""
    incumbent, search = incumbent_of(path_problem), Recorder(Usage(rounds=usage))
    incumbent.record("baseline", 0.0, {})
    for number in range(3):
        run_search(incumbent, "recorder", search, Round(number, 1, number))
    assert len(search.asked) == len(incumbent.stages) - 1 == len(numbers)


@dataclass(frozen=True)
class Quick:
    """Find one mapping, which may be dearer than the start, and keep the cheaper one of them."""

    found: np.ndarray

    def search(self, problem, start, *, effort, seed, stop):
        """Return what was found, as the elite too: a mapping is taken only where it is cheaper."""
        return Assignment(places=self.found, elites=self.found[None])


@pytest.mark.parametrize(
    ("found", "anew", "stages"),
    [
        ([0, 1, 2], False, ["quick", "whole", "refine", "whole"]),
        ([1, 2, 0], False, ["quick", "whole", "refine", "whole"]),
        ([0, 2, 1], False, ["quick", "refine", "refine", "whole"]),
        ([0, 2, 1], True, ["quick", "whole", "refine", "whole"]),
    ],
    ids=["gain", "tie", "loss", "anew"],
)
def test_a_quick_search_decides_who_runs_in_the_first_round(found, anew, stages, path_problem):
    """Tests a thorough search and a refinement of what there is, where the quick one finds 7, 8 or 9 beside 8."""
    incumbent = MappingIncumbent(problem=path_problem, solution=np.array([1, 0, 2]), stop=Deadline(None))
    incumbent.record("baseline", 0.0, {})
    run_search(incumbent, "quick", Quick(np.array(found)), Round(0, 1, 0))
    for number in range(2):
        for name, rounds in (("refine", "later"), ("whole", "all")):
            search = Recorder(Usage(rounds=rounds, leader="quick"))
            run_search(incumbent, name, search, Round(number, 1, number, anew=anew))
    assert [stage.name for stage in incumbent.stages[1:]] == stages


@pytest.mark.parametrize("threads", [0, 2])
def test_parts_share_the_effort_and_have_seeds_of_their_own(threads, path_problem):
    """Tests an odd effort in two parts, and that an effort of 1 stays whole."""
    for effort, efforts in ((7, [4, 3]), (1, [1])):
        incumbent, search = incumbent_of(path_problem), Recorder(Usage(parts=2))
        if threads:
            with ThreadPoolExecutor(threads) as pool:
                run_search(incumbent, "recorder", search, Round(0, effort, 5), pool)
        else:
            run_search(incumbent, "recorder", search, Round(0, effort, 5))
        assert sorted((asked[0] for asked in search.asked), reverse=True) == efforts
        assert len({asked[1] for asked in search.asked}) == len(efforts)
        assert incumbent.stages[0].detail["effort"] == effort


def test_islands_spend_the_effort_each(path_problem):
    """Tests that they have seeds of their own, take no part in a search without one, and see the elites of all."""
    incumbent, search = incumbent_of(path_problem), Recorder(Usage(parts=2))
    for number in range(2):
        run_search(incumbent, "recorder", search, Round(number, 4, 5, 3))
    assert [asked[0] for asked in search.asked] == [4] * 6
    assert len({asked[1] for asked in search.asked}) == 3
    assert [asked[2] for asked in search.asked] == [0, 0, 0, 3, 3, 3]
    assert [stage.detail["islands"] for stage in incumbent.stages] == [3, 3]
    unseeded = Recorder(Usage(seeded=False))
    run_search(incumbent, "unseeded", unseeded, Round(0, 4, 5, 3))
    assert len(unseeded.asked) == 1
    assert "islands" not in incumbent.stages[-1].detail


@pytest.mark.parametrize("threads", [0, 2])
def test_bug_islands_do_not_begin_when_time_is_up(threads, path_problem):
    """Tests that the first one alone does: 256 of them on 20,000 tasks passed a limit of a second by 27."""
    incumbent, search = incumbent_of(path_problem), Recorder()
    incumbent.stop = Deadline(0.0)
    if threads:
        with ThreadPoolExecutor(threads) as pool:
            run_search(incumbent, "recorder", search, Round(0, 4, 5, 9), pool)
    else:
        run_search(incumbent, "recorder", search, Round(0, 4, 5, 9))
    assert len(search.asked) == len(incumbent.elites["recorder"]) == 1


@dataclass(frozen=True)
class Watcher:
    """Keep the mapping and note how long there is."""

    usage: Usage
    left: list = field(default_factory=list)

    def search(self, problem, start, *, effort, seed, stop):
        """Return the start."""
        self.left.append(stop.left_s)
        return Assignment(places=start)


def test_a_search_has_a_part_of_the_time_that_is_left(path_problem):
    """Tests that others have the rest, and that there is no end where there is none."""
    incumbent, halved, whole = incumbent_of(path_problem), Watcher(Usage(time_share=0.5)), Watcher(Usage())
    run_search(incumbent, "halved", halved, Round(0, 1, 5))
    incumbent.stop = Deadline(time.monotonic() + 100)
    for name, search in (("halved", halved), ("whole", whole)):
        run_search(incumbent, name, search, Round(0, 1, 5))
    assert halved.left[0] is None
    assert 40 < halved.left[1] <= 50 < 90 < whole.left[0] <= 100


def test_elites_are_handed_to_the_next_round(path_problem):
    """Tests that both parts' elites come back to a search that can resume."""
    incumbent, search = incumbent_of(path_problem), Recorder(Usage(parts=2))
    for number in range(2):
        run_search(incumbent, "recorder", search, Round(number, 2, number))
    assert [asked[2] for asked in search.asked] == [0, 0, 2, 2]
