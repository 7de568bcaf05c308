"""A search on the problem itself as a stage of a solve."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Resumable, Search, Usage
from tiger.model.seeds import derive
from tiger.run.deadline import Deadline
from tiger.run.island_call import IslandCall
from tiger.run.mapping import MappingIncumbent
from tiger.solvers.warm import load_search

# Of a stage's details: how many islands it ran on, where these are several.
ISLANDS = "islands"


class Round(NamedTuple):
    """Hold what a round of a solve has: its number, from 0, the effort of each of its islands, and its seed.

    A first round `anew` runs what mappings come from, whatever quick searches find.
    """

    number: int
    effort: int
    seed: int
    islands: int = 1
    anew: bool = False


class SearchPart(NamedTuple):
    """Hold what a search is run on once: all of it can be sent to another process. Only the first is no `spare` one."""

    problem: Problem
    start: IntArray
    effort: int
    seed: int
    stop: Deadline
    spare: bool


def run_part(search: Search, part: SearchPart) -> Assignment | None:
    """Run a search, or return None if it is a spare one and time is up.

    Executors take runs of searches of one type for equally long.
    """
    if part.spare and part.stop():
        return None
    return search.search(part.problem, part.start, effort=part.effort, seed=part.seed, stop=part.stop)


def run_search(
    incumbent: MappingIncumbent, name: str, search: Search, this_round: Round, executor: Executor | None = None
) -> None:
    """Improve a mapping by a search, as a stage, if the search is of use in this round; its parts may run at once.

    One island divides the effort among the parts of the search, several spend it each, with seeds of their own. What
    they leave for the next round is handed to all of them then.
    """
    usage: Usage = getattr(search, "usage", Usage())
    led = usage.leader is None or this_round.anew or this_round.number > 0 or incumbent.leads(usage.leader)
    if not usage.covers(this_round.number, led=led):
        return
    islands = this_round.islands if usage.seeded else 1
    with incumbent.stage(name, load=partial(load_search, name, incumbent.problem)) as detail:
        detail["effort"] = this_round.effort
        if islands > 1:
            detail[ISLANDS] = islands
        if isinstance(search, Resumable) and name in incumbent.elites:
            search = search.resume(incumbent.elites[name])
        # Long searches find more than short ones, so that islands do not divide theirs.
        efforts = _shares(this_round.effort, usage.parts) if islands == 1 else [this_round.effort] * islands
        seeded = [(effort, derive(this_round.seed, number)) for number, effort in enumerate(efforts)]
        run = (partial if islands == 1 else IslandCall)(run_part, search)
        if kept := run_parts(incumbent, run, seeded, executor, incumbent.stop.share(usage.time_share)):
            incumbent.elites[name] = np.concatenate(kept)


def run_parts(
    incumbent: MappingIncumbent,
    run: Callable[[SearchPart], Assignment | None],
    parts: Sequence[tuple[int, int]],
    executor: Executor | None,
    stop: Deadline,
) -> list[IntArray]:
    """Run a search from the best mapping for every pair (effort, seed), offer what it finds, and return its elites."""
    made = [
        SearchPart(incumbent.problem, incumbent.places, *part, stop, spare=number > 0)
        for number, part in enumerate(parts)
    ]
    found = (executor.map if executor else map)(run, made)
    answers = [answer for answer in found if answer is not None]
    for answer in answers:
        incumbent.offer(answer.places)
        incumbent.proved |= answer.proved
    return [answer.elites for answer in answers if answer.elites is not None]


def _shares(effort: int, parts: int) -> list[int]:
    """Return the efforts of parts, as equal as may be, the larger ones first; fewer parts where effort is scarce."""
    count = min(parts, effort)
    return [effort // count + (number < effort % count) for number in range(count)]
