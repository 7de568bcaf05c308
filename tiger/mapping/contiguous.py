"""The rule that the ranks of every host are consecutive, which some launchers need, and the search by it."""

import time
from collections.abc import Iterator

import numpy as np

from tiger.errors import InputError
from tiger.launchers.formats import find_launcher
from tiger.mapping.blocks import list_ranks, number_hosts, place_blocks
from tiger.mapping.options import MappingOptions
from tiger.mapping.part_search import PartSearch
from tiger.mapping.remarks import warn_of_time
from tiger.mapping.request import Request
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.objectives.cost import violations
from tiger.objectives.selection import resolve_objective
from tiger.run.baselines import Orders
from tiger.run.mapping import MappingIncumbent

FIELD = "contiguous_hosts"


def need_contiguity(problem: Problem, options: MappingOptions, emit: str | None, before: object) -> bool:
    """Return whether the rule holds: as asked, else where a launcher needs it and nothing stands against it.

    A mapping to start from or in use before, None without one, stands against it.
    """
    if options.contiguous_hosts is not None:
        return options.contiguous_hosts
    if emit is None or not find_launcher(emit).contiguous or before is not None:
        return False
    return _find_obstacle(problem, options) is None


def check_contiguity(problem: Problem, request: Request) -> None:
    """Raise InputError where the rule is asked for beside what it does not go with."""
    given = "start" if request.home is not None else "previous" if request.homes is not None else None
    obstacle = _find_obstacle(problem, request) if given is None else f"a mapping as `{given}`"
    if request.contiguous_hosts and obstacle is not None:
        raise InputError(FIELD, f"expected it without {obstacle}, got both")


def _find_obstacle(problem: Problem, options: MappingOptions) -> str | None:
    """Return what the rule does not go with, None where nothing stands against it."""
    objective = resolve_objective(options.objective, problem)
    known = {
        "another objective than the cost": objective != "cost",
        "the rule levels": problem.rule == "levels",
        "pinned tasks": bool(problem.pinned),
        "forbidden pairs": len(problem.banned) > 0,
        "memory limits": problem.tasks.memory is not None and problem.topology.memory is not None,
    }
    return next((what for what, given in known.items() if given), None)


def is_contiguous(problem: Problem, places: IntArray) -> bool:
    """Return whether the ranks of every host are consecutive."""
    host = number_hosts(problem.topology)[places[list_ranks(problem)]]
    return int((np.diff(host) != 0).sum()) + 1 == len(np.unique(host))


def list_contiguous(problem: Problem, orders: Orders) -> Orders:
    """Return the simple orders without those that break the rule."""
    kept = (None if places is None or not is_contiguous(problem, places) else places for places in orders)
    return Orders(*kept)


def search_contiguous(
    incumbent: MappingIncumbent, request: Request, orders: Orders
) -> MappingIncumbent | tuple[Violation, ...]:
    """Return the cheapest mapping found that keeps to the rule, from what was found without it on.

    It shares the record and the bound of the search before. Without any such mapping, return that none was found.
    """
    problem, search = incumbent.problem, PartSearch(request)
    if is_contiguous(problem, incumbent.places):
        return incumbent
    begun, together, tried = time.perf_counter(), None, 0
    for places in _list_candidates(problem, search, orders):
        if together is None and not violations(problem, places):
            together = _continue_from(incumbent, places, request)
        elif together is not None:
            together.offer(places)
        tried += 1
        if together is not None and together.ended:
            break
    if together is None:
        return (Violation(kind="undecided", message="no mapping was found with consecutive ranks on every host"),)
    together.put_off(search.loading_s)
    warn_of_time(together, request)
    together.record("contiguous", time.perf_counter() - begun - search.loading_s, {"tried": tried})
    return together


def _list_candidates(problem: Problem, search: PartSearch, orders: Orders) -> Iterator[IntArray]:
    """Yield mappings that keep to the rule, the simple orders among them."""
    yield from (places for places in orders if places is not None)
    yield from place_blocks(problem, search)


def _continue_from(incumbent: MappingIncumbent, places: IntArray, request: Request) -> MappingIncumbent:
    """Return an incumbent of the same problem with another mapping, until time is up."""
    return MappingIncumbent(
        problem=incumbent.problem,
        solution=places,
        stop=request.deadline(incumbent.loading_s),
        watch=incumbent.watch,
        bound=incumbent.cost if incumbent.optimal else incumbent.bound,
        stages=incumbent.stages,
        warnings=incumbent.warnings,
        loading_s=incumbent.loading_s,
    )
