"""A first feasible mapping, or the reasons why there is none."""

import time

import numpy as np

from tiger.feasibility import reasons
from tiger.feasibility.assignment_milp import pair
from tiger.feasibility.components import (
    Board,
    Shortage,
    Split,
    add_amount,
    board_of,
    keep_apart,
    level_parts,
    match_hosts,
    parts_of,
    split_of,
    ways,
)
from tiger.feasibility.firstfit import first_fit
from tiger.feasibility.packing import Packing, pack
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.objectives.cost import violations

CELLS, OPEN_CELLS, DEAL_CELLS = 2_000_000, 100_000_000, 20_000_000
MILP_LIMIT_S = 30.0
ROUNDS = 200
SHARES = (1.01, 1.05, 1.2)


def launch_order(problem: Problem, limit_s: float | None = None) -> IntArray | tuple[Violation, ...]:
    """Return places[n] as a launcher would choose them, or what cannot be met.

    Tasks in input order take the first node, in node order, that pins, forbidden pairs, groups, slots and memory leave
    open to them. Where that ends in a dead end, the connected components of the tasks are dealt out to the connected
    parts of the hardware by their sizes, and first fit, a maximum flow or a packing places them inside each part. Only
    where that fails a programme over all task-node pairs decides, up to 2 million of them. All of it gives up after
    30 s, or `limit_s` where that is less, with the one violation "undecided"; any other violation is proved.
    """
    seconds = MILP_LIMIT_S if limit_s is None else max(min(MILP_LIMIT_S, limit_s), 0.0)
    until_s = time.monotonic() + seconds
    blocked = reasons.name_evicted(problem) or violations(problem, problem.pins) or reasons.shortages(problem)
    if blocked:
        return blocked
    hosts = problem.topology.hosts
    places, failed = first_fit(problem, np.zeros(problem.free.size, np.int64), np.zeros(hosts.size, np.int64))
    if not failed and not violations(problem, places):
        return places
    found = _decide(problem, until_s)
    if found is None:
        return (reasons.say_undecided(problem, seconds if time.monotonic() >= until_s else None),)
    return (found,) if isinstance(found, Violation) else found


def _decide(problem: Problem, until_s: float) -> IntArray | Violation | None:
    """Return a feasible mapping, what cannot be met, or None where neither is found."""
    board, way = board_of(problem, OPEN_CELLS), ways(problem)
    if board is None:
        return None
    stuck = reasons.name_stuck(problem, board) or reasons.name_crowded(problem, board)
    if stuck is not None:
        return stuck
    part = np.zeros(len(board.hosts), np.int64) if way is None else parts_of(way)
    found = _deal(problem, board, part, until_s)
    if isinstance(found, Violation) or (found is not None and not violations(problem, found)):
        return found
    if way is None or problem.free.size * len(board.hosts) > CELLS or time.monotonic() >= until_s:
        return None
    places, proved = pair(problem, board, part, way, until_s)
    return reasons.say_unplaceable(problem) if places is None and proved else places


def _deal(problem: Problem, board: Board, part: IntArray, until_s: float) -> IntArray | Violation | None:
    """Deal the connected components of the tasks out to the parts of the hardware, and place them there.

    What a part turns out not to hold counts when they are dealt out again. Where it is memory that does not fit, they
    are dealt out more and less evenly by turns. The mapping may need a way that is missing inside a part.
    """
    torn = reasons.name_torn(problem, board, part)
    if torn is not None:
        return torn
    split = split_of(problem, board, part, DEAL_CELLS)
    if split is None:
        return None
    shares: list[float | None] = [None, *(SHARES if part.any() and board.load.shape[1] > 1 else ())]
    for turn in range(ROUNDS):
        share = shares[turn % len(shares)]
        packed = pack(split.ask if share is None else level_parts(split, share), until_s)
        if packed.bins is None and share is None:
            return reasons.name_overfull(problem, board, split, until_s) if packed.proved else None
        dealt = None if packed.bins is None else _place_components(problem, board, split, packed.bins, until_s)
        if dealt is not None and not isinstance(dealt, list):
            return dealt
        for label, load, room in dealt or ():
            split = add_amount(split, label, load, room)
        if not dealt:
            shares.remove(share)
        if not shares:
            return None
    return None


def _place_components(
    problem: Problem, board: Board, split: Split, bins: IntArray, until_s: float
) -> IntArray | Violation | list[tuple[int, IntArray, int]]:
    """Place the components in the parts `bins[c]` they were dealt to.

    Where a part cannot hold what it was dealt, return (part, load[k], room) that every mapping keeps and these do not,
    if there are any; hardware of one part gives a violation.
    """
    dealt = np.empty(len(bins), np.int64)
    dealt[split.order] = bins
    part, parts = dealt[split.component], int(split.part.max()) + 1
    # On hardware of one part, first fit has been tried and has led nowhere.
    places, failed = first_fit(problem, part, split.part) if parts > 1 else (problem.pins.copy(), {0})
    cuts, lost = [], False
    for label in sorted(failed):
        tasks, hosts = np.flatnonzero(part == label), np.flatnonzero(split.part == label)
        inside = _place_inside(board, tasks, hosts, until_s)
        if isinstance(inside, Shortage) and parts == 1:
            return reasons.name_short(problem, board, inside)
        if inside is True and parts == 1:
            return reasons.say_undivided(problem, board)
        if isinstance(inside, Shortage):
            cuts.append((label, split.mix @ inside.kinds.astype(np.int64), inside.room))
        elif isinstance(inside, bool):
            lost, apart = True, keep_apart(split, bins == label) if inside else None
            cuts += [] if apart is None else [(label, *apart)]
        else:
            places[board.tasks[tasks]] = board.hosts[inside]
    return cuts if cuts or lost else places


def _place_inside(board: Board, tasks: IntArray, hosts: IntArray, until_s: float) -> IntArray | Shortage | bool:
    """Return a host for each task of a part, what it is short of, or whether its memory is proved too little."""
    inside = match_hosts(board, tasks, hosts)
    if isinstance(inside, Shortage) or board.load.shape[1] < 2:
        return inside
    key = np.column_stack([board.kind[tasks], board.load[tasks]])
    classes, label, count = np.unique(key, axis=0, return_inverse=True, return_counts=True)
    kind, load = classes[:, 0], classes[:, 1:]
    packed = pack(
        Packing(load=load, count=count, room=board.room[hosts], kind=kind, open=board.open[:, hosts]), until_s
    )
    if packed.bins is None:
        return packed.proved
    inside[np.argsort(label.ravel(), kind="stable")] = hosts[packed.bins]
    return inside
