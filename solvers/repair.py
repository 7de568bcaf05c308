"""Repair a mapping that gives nodes more than their memory or uses forbidden pairs, at little cost."""

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Stop
from tiger.solvers.annealing import moves
from tiger.solvers.annealing.cost_changes import move_change, swap_change
from tiger.solvers.annealing.moves import can_move, is_open_to
from tiger.solvers.instance import Instance, State, mark_fixed, state_of
from tiger.solvers.kernel import inner_kernel, kernel

# Pairs of tasks that may be looked at in a round.
SCANS = 1 << 26


def repair_mapping(problem: Problem, inst: Instance, places: IntArray, stop: Stop) -> IntArray | None:
    """Return a feasible mapping near `places[n]`, which keeps pins and slots, or None where none is found so.

    Misplaced tasks make the cheapest move that helps, one after another. O(n degree) a task.
    """
    if problem.tasks.memory is None and not len(problem.banned):
        return places
    state, fixed = state_of(problem, places), mark_fixed(inst)
    misplaced = _find_misplaced(problem, inst, state)
    while len(misplaced):
        if len(misplaced) * len(places) > SCANS:
            return None
        for t in misplaced[np.argsort(-inst.memory[misplaced], kind="stable")]:
            if stop():
                return None
            if is_misplaced(inst, state, int(t)):
                _move(inst, state, *cheapest_move(inst, state, fixed, int(t)))
        before, misplaced = len(misplaced), _find_misplaced(problem, inst, state)
        if len(misplaced) >= before:
            return None
    return state.place


def _find_misplaced(problem: Problem, inst: Instance, state: State) -> IntArray:
    """Return the tasks without a pin on a node that is forbidden for them or too full."""
    # All at once: `is_misplaced` called for each of 50,000 tasks took 0.2 s, up to three times a mapping.
    places, banned = state.place, problem.banned
    wrong = (inst.slots[places] == 0) | (inst.memory > inst.room[places])
    wrong |= (inst.group_of < 0) & (state.used > inst.room)[places]
    wrong[banned[places[banned[:, 0]] == banned[:, 1], 0]] = True
    return np.flatnonzero(wrong & (problem.pins < 0))


def _move(inst: Instance, state: State, t: int, q: int, u: int) -> None:
    """Swap task t with u, or relocate it to q where u is -1; do nothing where q is -1 too."""
    if u >= 0:
        moves.swap(inst, state, t, u)
    elif q >= 0:
        moves.relocate(inst, state, t, q)


@kernel
def is_misplaced(inst: Instance, state: State, t: int) -> bool:
    """Return whether a task is on a node forbidden for it or, by its own memory or that of all there, too full."""
    p = state.place[t]
    return not is_open_to(inst, t, p) or (inst.group_of[t] < 0 and state.used[p] > inst.room[p])


@kernel
def cheapest_move(inst: Instance, state: State, fixed: IntArray, t: int) -> tuple[int, int, int]:
    """Return task t, and the node or the node and partner of its cheapest move that helps, -1 for none."""
    best, node, partner = np.inf, -1, -1
    # The cheapest move helps, not the first: costs grow least, and the multilevel search has made a good mapping.
    for q in inst.hosts:
        if q == state.place[t] or not is_open_to(inst, t, q):
            continue
        # Relocation to a node with room.
        if can_move(inst, state, t, q):
            change = move_change(inst, state.place, t, q, -1)
            if change < best:
                best, node, partner = change, q, -1
        # Exchange with the one task of the group on that node, or with each task of a shared node.
        grouped = inst.group_of[t] >= 0
        for slot in range(1 if grouped else state.occupied[q]):
            u = state.occupant[inst.group_of[t], q] if grouped else state.slot_task[state.slot_start[q] + slot]
            if u >= 0 and fixed[u] == 0 and helps(inst, state, t, u):
                change = swap_change(inst, state.place, t, u)
                if change < best:
                    best, node, partner = change, q, u
    return t, node, partner


@inner_kernel
def helps(inst: Instance, state: State, t: int, u: int) -> bool:
    """Return whether a swap gives tasks t and u nodes open to them, or lowers the overload of the node of t."""
    p, q = state.place[t], state.place[u]
    if not is_open_to(inst, u, p):
        return False
    more = inst.memory[t] - inst.memory[u]
    if inst.group_of[t] >= 0:
        return True
    # Either node p then holds no more than its room, or less than before: overload falls with every swap.
    fits = state.used[p] - more <= inst.room[p] or (more > 0 and is_open_to(inst, t, p))
    return bool(fits and state.used[q] + more <= inst.room[q])
