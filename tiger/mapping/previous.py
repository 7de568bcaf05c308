"""Mapping anew after tasks or hardware have changed, with few moves away from the mapping that was in use.

Tasks whose node is still there stay, unless moving them pays: those without a node are placed around the others, in
a mapping with the fewest moves that are feasible, and then a search moves others where that gains more than it costs.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import LinearConstraint, linear_sum_assignment

from tiger.errors import InputError
from tiger.feasibility import milp
from tiger.feasibility.start import LIMIT_S, launch_order
from tiger.mapping.options import SolveArguments, Start
from tiger.mapping.start import name_start
from tiger.model.arrays import BoolArray, IntArray, freeze
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.objectives.cost import cost_of, violations
from tiger.run.moves import MoveReason, TaskMove

FIELD = "previous"
# Pairs of tasks and slots up to which the fewest moves are counted exactly, by assignment and where memory counts by a
# mixed-integer program: 1,000 tasks on as many nodes take 0.1 s.
PAIRS, PROGRAM_PAIRS = 4_000_000, 100_000
Search = Callable[[Problem], IntArray | tuple[Violation, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Homes:
    """Hold where tasks were: `home[n]` the node of those that may stay there, -1 for all others.

    `before[n]` are the names of nodes, None for a new task, and `lost[n]` says of which these are gone or without
    slots.
    """

    home: IntArray
    before: tuple[str | None, ...]
    lost: BoolArray

    def count_moves(self, places: IntArray) -> int:
        """Return how many tasks are elsewhere that might have stayed."""
        return int(((self.home >= 0) & (places != self.home)).sum())

    def count_left(self, places: IntArray) -> int:
        """Return how many tasks that are not new are elsewhere."""
        return sum(node is not None for node, place in zip(self.before, places == self.home, strict=True) if not place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anew:
    """Hold a mapping `places[n]` with few moves from homes, how many, and whether no other has fewer."""

    homes: Homes
    places: IntArray
    moves: int
    fewest: bool


def homes_of(problem: Problem, arguments: SolveArguments) -> Homes | None:
    """Return where tasks were in a mapping in use before a change, None without one.

    Raises InputError of `previous`, and of `move_cost` without one.
    """
    if arguments.previous is None:
        if arguments.move_cost is not None:
            raise InputError("move_cost", "expected a mapping as `previous` beside it, got none")
        return None
    if arguments.nodes is not None:
        raise InputError(FIELD, f"expected no number of nodes beside it, got {arguments.nodes}")
    return find_homes(problem, arguments.previous)


def find_homes(problem: Problem, source: Start) -> Homes:
    """Return where the tasks of a problem were in a mapping of any tasks and nodes.

    Raises InputError of `previous` for one that has none of the tasks.
    """
    named = name_start(source, FIELD)
    if not any(task in named for task in problem.tasks.names):
        raise InputError(FIELD, "expected a mapping of tasks of the graph, got none of them")
    nodes = {name: k for k, name in enumerate(problem.topology.names)}
    before = tuple(named.get(task) for task in problem.tasks.names)
    home = np.array([-1 if node is None else nodes.get(node, -1) for node in before], np.int64)
    home[(home >= 0) & (problem.topology.slots[home] == 0)] = -1
    lost = (home < 0) & np.array([node is not None for node in before])
    home[(problem.pins >= 0) & (problem.pins != home)] = -1
    home[problem.banned[home[problem.banned[:, 0]] == problem.banned[:, 1], 0]] = -1
    need, room = problem.tasks.memory, problem.topology.memory
    if need is not None and room is not None:
        home[(home >= 0) & (need > room[home])] = -1
    return Homes(home=freeze(home), before=before, lost=freeze(lost))


def place_anew(problem: Problem, homes: Homes, limit_s: float | None) -> Anew | tuple[Violation, ...]:
    """Return a feasible mapping with the fewest moves of tasks that might stay, or what cannot be met.

    Where all of them can, the others are placed around them as a launcher would. Else the fewest moves are an
    assignment of tasks to slots, or with memory a mixed-integer program. What neither decides, by its size or as
    traffic may not cross disconnected parts, gets any feasible mapping, which a search brings nearer.
    """
    until_s = time.monotonic() + (LIMIT_S if limit_s is None else min(limit_s, LIMIT_S))
    places = launch_order(keep_home(problem, homes.home), limit_s)
    if isinstance(places, tuple):
        found = _move_fewest(problem, homes.home, until_s)
        if found is not None and not violations(problem, found):
            return Anew(homes=homes, places=found, moves=homes.count_moves(found), fewest=True)
        places = launch_order(problem, max(until_s - time.monotonic(), 0.0))
        if isinstance(places, tuple):
            return places
    moves = homes.count_moves(places)
    return Anew(homes=homes, places=places, moves=moves, fewest=not moves)


def keep_home(problem: Problem, home: IntArray) -> Problem:
    """Return the problem with all tasks pinned that have a home."""
    names, kept = problem.tasks.names, np.flatnonzero(home >= 0)
    pins = {names[task]: problem.topology.names[home[task]] for task in kept.tolist()}
    return replace(problem, pinned={**problem.pinned, **pins}, forbidden=problem.forbidden)


def improve_kept(problem: Problem, anew: Anew, search: Search) -> IntArray:
    """Return cheap places of the tasks that have to move, with all others where they are in a mapping."""
    stay = np.where(anew.places == anew.homes.home, anew.places, -1)
    found = search(keep_home(problem, stay))
    return anew.places if isinstance(found, tuple) else found


def list_moves(problem: Problem, anew: Anew, places: IntArray) -> tuple[TaskMove, ...]:
    """Return the moves of a mapping, in the order of tasks, and why each is made."""
    names, nodes, moves = problem.tasks.names, problem.topology.names, []
    for task, place in enumerate(places.tolist()):
        before = anew.homes.before[task]
        if before != nodes[place]:
            why = _find_reason(anew, task)
            moves.append(TaskMove(task=names[task], before=before, after=nodes[place], why=why))
    return tuple(moves)


def price_moves(problem: Problem, homes: Homes, price: float) -> Callable[[IntArray], float]:
    """Return what measures a mapping: its cost, and a price for every task that might have stayed."""
    return lambda places: cost_of(problem, places).total + price * homes.count_moves(places)


def _find_reason(anew: Anew, task: int) -> MoveReason:
    """Return why a task has moved."""
    homes = anew.homes
    if homes.before[task] is None:
        return "new"
    if homes.lost[task]:
        return "lost"
    if homes.home[task] < 0:
        return "forbidden"
    return "room" if anew.fewest and anew.places[task] != homes.home[task] else "gain"


def _move_fewest(problem: Problem, home: IntArray, until_s: float) -> IntArray | None:
    """Return places[n] with the fewest moves, None where there are none or pairs are too many.

    They may have traffic across disconnected parts.
    """
    opened, hosts = _open_pairs(problem), problem.topology.hosts
    moves = opened & (home >= 0)[:, None] & (home[:, None] != hosts)
    if not problem.groups and problem.tasks.memory is not None and problem.topology.memory is not None:
        return _solve_program(problem, opened, moves, until_s)
    places = problem.pins.copy()
    for group in problem.groups or (np.arange(problem.tasks.size),):
        slots = 1 if problem.groups else np.minimum(problem.topology.slots[hosts], len(group))
        column = np.repeat(np.arange(hosts.size), slots)
        if len(group) > len(column) or len(group) * len(column) > PAIRS:
            return None
        price = np.where(opened[group], moves[group], np.inf)[:, column]
        try:
            rows, chosen = linear_sum_assignment(price)
        except ValueError:
            # Some task has no node left.
            return None
        places[group[rows]] = hosts[column[chosen]]
    return places


def _open_pairs(problem: Problem) -> BoolArray:
    """Return opened[n, h], whether a task by itself may go to a host."""
    hosts = problem.topology.hosts
    opened: BoolArray = (problem.pins < 0)[:, None] | (problem.pins[:, None] == hosts)
    column = np.full(problem.topology.size, -1)
    column[hosts] = np.arange(hosts.size)
    banned = problem.banned[column[problem.banned[:, 1]] >= 0]
    opened[banned[:, 0], column[banned[:, 1]]] = False
    need, room = problem.tasks.memory, problem.topology.memory
    if need is not None and room is not None:
        opened &= need[:, None] <= room[hosts]
    return opened


def _solve_program(problem: Problem, opened: BoolArray, moves: BoolArray, until_s: float) -> IntArray | None:
    """Return places[n] with the fewest moves within slots and memory, None where none are found in time."""
    tasks, hosts = np.nonzero(opened)
    size, count, nodes = len(tasks), problem.tasks.size, problem.topology.hosts
    if size > PROGRAM_PAIRS or problem.tasks.memory is None or problem.topology.memory is None:
        return None
    cells = np.arange(size)
    slots = problem.topology.slots[nodes]
    rows = [
        LinearConstraint(milp.sum_matrix(tasks, cells, size, count), 1, 1),
        LinearConstraint(milp.sum_matrix(hosts, cells, size, len(nodes)), -np.inf, slots),
    ]
    load, room = problem.tasks.memory[tasks, None], problem.topology.memory[nodes, None]
    within = next(milp.limits(load, hosts, room, size))
    x, _ = milp.solve([*rows, *within], np.ones(size, np.int64), until_s, price=moves[tasks, hosts].astype(float))
    if x is None:
        return None
    chosen = np.flatnonzero(x > 0.5)
    places = np.empty(count, np.int64)
    places[tasks[chosen]] = nodes[hosts[chosen]]
    return places
