"""A first feasible mapping, or the reasons why there is none."""

import time

import numpy as np

from tiger.feasibility import reasons
from tiger.feasibility.assignment_milp import solve_assignment
from tiger.feasibility.components import (
    ComponentSplit,
    Residual,
    Shortage,
    add_amount,
    keep_apart,
    level_parts,
    match_hosts,
    parts_of,
    reachability,
    residual_of,
    split_of,
)
from tiger.feasibility.firstfit import first_fit
from tiger.feasibility.packing import Packing, pack
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.objectives.cost import violations

# Larger tables are not built: this many variables of a program, 100 MB of pairs of kinds and hosts, 160 MB of classes
# and parts.
MILP_CELLS, OPEN_CELLS, SPLIT_CELLS = 2_000_000, 100_000_000, 20_000_000
# All that is not first fit ends after so long without a limit of the caller's; users wait for it before any search.
LIMIT_S = 30.0
# A distribution that has been cut so often is not going to be found.
ROUNDS = 200
# Parts are filled up to this many times the mean level in turns with filling them as far as they go.
SHARES = (1.01, 1.05, 1.2)


def launch_order(problem: Problem, limit_s: float | None = None) -> IntArray | tuple[Violation, ...]:
    """Return places[n] as a launcher would choose them, or what cannot be met.

    Tasks in input order take the first node, in the order in which launchers fill them, that pins, forbidden pairs,
    groups, slots and memory leave open to them. Where that ends in a dead end, the connected components of the tasks
    are packed into the connected parts of the hardware by their sizes, and first fit, a maximum flow or a packing
    places them inside each part. Only where that fails a mixed-integer program over all task-node pairs decides, up to
    2 million of them. All of it gives up after 30 s, or `limit_s` where that is less, with the one violation
    "undecided"; any other violation is proved.
    """
    seconds = LIMIT_S if limit_s is None else max(min(LIMIT_S, limit_s), 0.0)
    until_s = time.monotonic() + seconds
    blocked = reasons.name_obvious(problem)
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
    residual, reachable = residual_of(problem, OPEN_CELLS), reachability(problem)
    if residual is None:
        return None
    part = np.zeros(len(residual.hosts), np.int64) if reachable is None else parts_of(reachable)
    violation = reasons.name_conflict(problem, residual, part)
    if violation is not None:
        return violation
    found = _place_by_parts(problem, residual, part, until_s)
    if isinstance(found, Violation) or (found is not None and not violations(problem, found)):
        return found
    if reachable is None or problem.free.size * len(residual.hosts) > MILP_CELLS or time.monotonic() >= until_s:
        return None
    places, proved = solve_assignment(problem, residual, part, reachable, until_s)
    return reasons.say_unplaceable(problem) if places is None and proved else places


def _place_by_parts(
    problem: Problem, residual: Residual, part: IntArray, until_s: float
) -> IntArray | Violation | None:
    """Pack the components of the tasks into the parts of the hardware, and place them there.

    What a part turns out not to hold becomes a constraint of the next packing, a cut of logic-based Benders
    decomposition (Hooker and Ottosson, Mathematical Programming 96 (2003), doi:10.1007/s10107-003-0375-9). Where memory
    does not fit, packings of several degrees of evenness alternate. The mapping may need a link that is missing inside
    a part.
    """
    split = split_of(problem, residual, part, SPLIT_CELLS)
    if split is None:
        return None
    shares: list[float | None] = [None, *(SHARES if part.any() and residual.load.shape[1] > 1 else ())]
    for number in range(ROUNDS):
        share = shares[number % len(shares)]
        packed = pack(split.packing if share is None else level_parts(split, share), until_s)
        if packed.bins is None and share is None:
            return reasons.name_overfull_parts(problem, residual, split, until_s) if packed.proved else None
        cuts = None if packed.bins is None else _place_components(problem, residual, split, packed.bins, until_s)
        if cuts is not None and not isinstance(cuts, list):
            return cuts
        for label, load, room in cuts or ():
            split = add_amount(split, label, load, room)
        if not cuts:
            shares.remove(share)
        if not shares:
            return None
    return None


def _place_components(
    problem: Problem, residual: Residual, split: ComponentSplit, bins: IntArray, until_s: float
) -> IntArray | Violation | list[tuple[int, IntArray, int]]:
    """Place the components in the parts `bins[c]` they were assigned to.

    Where a part cannot hold what it was assigned, return cuts (part, load[k], room) that every mapping keeps and these
    bins do not, if there are any; hardware of one part gives a violation.
    """
    assigned_part = np.empty(len(bins), np.int64)
    assigned_part[split.order] = bins
    part, parts = assigned_part[split.component], int(split.part.max()) + 1
    # On hardware of one part, first fit has failed before.
    places, failed = first_fit(problem, part, split.part) if parts > 1 else (problem.pins.copy(), {0})
    cuts, lost = [], False
    for label in sorted(failed):
        tasks, hosts = np.flatnonzero(part == label), np.flatnonzero(split.part == label)
        inside = _place_inside(residual, tasks, hosts, until_s)
        if isinstance(inside, Shortage) and parts == 1:
            return reasons.name_shortage(problem, residual, inside)
        if inside is True and parts == 1:
            return reasons.say_memory_short(problem, residual)
        if isinstance(inside, Shortage):
            cuts.append((label, split.mix @ inside.kinds.astype(np.int64), inside.room))
        elif isinstance(inside, bool):
            lost, apart = True, keep_apart(split, bins == label) if inside else None
            cuts += [] if apart is None else [(label, *apart)]
        else:
            places[residual.tasks[tasks]] = residual.hosts[inside]
    return cuts if cuts or lost else places


def _place_inside(residual: Residual, tasks: IntArray, hosts: IntArray, until_s: float) -> IntArray | Shortage | bool:
    """Return a host for each task of a part, what it is short of, or whether its memory is proved too little."""
    inside = match_hosts(residual, tasks, hosts)
    if isinstance(inside, Shortage) or residual.load.shape[1] < 2:
        return inside
    key = np.column_stack([residual.kind[tasks], residual.load[tasks]])
    classes, label, count = np.unique(key, axis=0, return_inverse=True, return_counts=True)
    kind, load = classes[:, 0], classes[:, 1:]
    packed = pack(
        Packing(load=load, count=count, room=residual.room[hosts], kind=kind, open=residual.open[:, hosts]), until_s
    )
    if packed.bins is None:
        return packed.proved
    inside[np.argsort(label.ravel(), kind="stable")] = hosts[packed.bins]
    return inside
