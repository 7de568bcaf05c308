"""A search on the problem itself as a stage of a solve."""

from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Resumable, Search, Usage
from tiger.model.seeds import derive
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent
from tiger.solvers.warm import load_search


class Round(NamedTuple):
    """Hold what a round of a solve has: its number, from 0, its effort and its seed."""

    number: int
    effort: int
    seed: int


class Part(NamedTuple):
    """Hold what it takes to run a search once: all of it can be sent to another process."""

    search: Search
    problem: Problem
    start: IntArray
    effort: int
    seed: int
    stop: Deadline

    def run(self) -> Assignment:
        """Run the search."""
        return self.search.search(self.problem, self.start, effort=self.effort, seed=self.seed, stop=self.stop)


def run_search(
    incumbent: MappingIncumbent, name: str, search: Search, this_round: Round, executor: Executor | None = None
) -> None:
    """Improve a mapping by a search, as a stage, if the search is of use in this round; its parts may run at once.

    What the search leaves for its next round is handed to it then.
    """
    usage: Usage = getattr(search, "usage", Usage())
    if not usage.covers(this_round.number, gained=incumbent.has_gained(name)):
        return
    with incumbent.loading():
        load_search(name, incumbent.problem)
    with incumbent.stage(name) as detail:
        detail["effort"] = this_round.effort
        if isinstance(search, Resumable) and name in incumbent.elites:
            search = search.resume(incumbent.elites[name])
        parts = [
            Part(search, incumbent.problem, incumbent.places, effort, derive(this_round.seed, number), incumbent.stop)
            for number, effort in enumerate(_shares(this_round.effort, usage.parts))
        ]
        answers = list((executor.map if executor else map)(Part.run, parts))
        for answer in answers:
            incumbent.offer(answer.places)
            incumbent.proved |= answer.proved
        if kept := [answer.elites for answer in answers if answer.elites is not None]:
            incumbent.elites[name] = np.concatenate(kept)


def _shares(effort: int, parts: int) -> list[int]:
    """Return the efforts of parts, as equal as may be, the larger ones first; fewer parts where effort is scarce."""
    count = min(parts, effort)
    return [effort // count + (number < effort % count) for number in range(count)]
