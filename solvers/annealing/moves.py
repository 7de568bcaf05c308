"""Compiled moves: a task swaps with another or relocates, at a cost change in O(degree).

Every function is compiled by numba on first use and kept in its cache; `.py_func` is the plain Python one. Randomness
comes from numpy's generator inside numba, seeded by the caller's `seed`.
"""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.cost_changes import move_change, smallest_gain, swap_change, total
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import inner_kernel, kernel

# Rounds of a descent after a kick, which ends by itself long before.
KICK_SWEEPS = 1000
# Shares of the proposals that go near the node of a neighbour, and, of these, to that node itself. With 0 in place of
# 0.5 annealing ends 4.2 % higher at effort 1 (mean of five QAPLIB instances of 30 to 64 tasks and three sparse graphs
# of up to 192, three seeds each), 30 to 49 % on a grid of 160 tasks.
BESIDE, SAME = 0.5, 0.25
# Tasks up to which every new best mapping is kept; beyond, one a temperature, as a copy takes as long as many moves.
KEPT_TASKS = 256


@inner_kernel
def is_open_to(inst: Instance, t: int, q: int) -> bool:
    """Return whether task t may be on node q as far as slots, its own memory and forbidden pairs go."""
    if inst.slots[q] == 0 or inst.memory[t] > inst.room[q]:
        return False
    # Binary search among the nodes forbidden to the task.
    low, high = inst.ban_start[t], inst.ban_start[t + 1]
    while low < high:
        middle = (low + high) // 2
        if inst.ban_node[middle] == q:
            return False
        if inst.ban_node[middle] < q:
            low = middle + 1
        else:
            high = middle
    return True


@inner_kernel
def can_move(inst: Instance, state: State, t: int, q: int) -> bool:
    """Return whether task t may relocate to node q, nobody else moving."""
    if not is_open_to(inst, t, q):
        return False
    group = inst.group_of[t]
    if group >= 0:
        return bool(state.occupant[group, q] < 0)
    return bool(state.occupied[q] < inst.slots[q] and state.used[q] + inst.memory[t] <= inst.room[q])


@inner_kernel
def can_swap(inst: Instance, state: State, fixed: IntArray, t: int, u: int) -> bool:
    """Return whether tasks t and u, of one group or on shared nodes, may change places."""
    p, q = state.place[t], state.place[u]
    if fixed[u] != 0 or p == q or not (is_open_to(inst, t, q) and is_open_to(inst, u, p)):
        return False
    if inst.group_of[t] >= 0:
        return True
    more = inst.memory[t] - inst.memory[u]
    return bool(state.used[q] + more <= inst.room[q] and state.used[p] - more <= inst.room[p])


@kernel
def relocate(inst: Instance, state: State, t: int, q: int) -> None:
    """Move task t to node q."""
    p, group = state.place[t], inst.group_of[t]
    # Of a group a node holds at most one task, found by a table; the tasks of shared nodes sit in slots.
    if group >= 0:
        state.occupant[group, p] = -1
        state.occupant[group, q] = t
    else:
        # The last task of the node takes the slot that falls free, so that slots stay without gaps.
        last = state.slot_task[state.slot_start[p] + state.occupied[p] - 1]
        state.slot_task[state.slot_of[t]] = last
        state.slot_of[last] = state.slot_of[t]
        state.slot_of[t] = state.slot_start[q] + state.occupied[q]
        state.slot_task[state.slot_of[t]] = t
        state.used[p] -= inst.memory[t]
        state.used[q] += inst.memory[t]
    state.occupied[p] -= 1
    state.occupied[q] += 1
    state.place[t] = q


@kernel
def swap(inst: Instance, state: State, t: int, u: int) -> None:
    """Let tasks t and u change places."""
    p, q = state.place[t], state.place[u]
    group = inst.group_of[t]
    if group >= 0:
        state.occupant[group, p] = u
        state.occupant[group, q] = t
    else:
        state.slot_task[state.slot_of[t]] = u
        state.slot_task[state.slot_of[u]] = t
        state.slot_of[t], state.slot_of[u] = state.slot_of[u], state.slot_of[t]
        state.used[p] += inst.memory[u] - inst.memory[t]
        state.used[q] += inst.memory[t] - inst.memory[u]
    state.place[t] = q
    state.place[u] = p


@inner_kernel
def best_move(inst: Instance, state: State, fixed: IntArray, t: int, tolerance: float) -> tuple[float, int, int]:
    """Return task t's best move as (change, node, partner), partner -1 for a relocation.

    Node is -1 where none gains more than the tolerance.
    """
    best, node, partner = -tolerance, -1, -1
    # The whole neighbourhood of one task: every node with room, and every task to swap with.
    for q in inst.hosts:
        if q == state.place[t]:
            continue
        if can_move(inst, state, t, q):
            change = move_change(inst, state.place, t, q, -1)
            if change < best:
                best, node, partner = change, q, -1
        if inst.group_of[t] >= 0:
            u = state.occupant[inst.group_of[t], q]
            if u >= 0 and can_swap(inst, state, fixed, t, u):
                change = swap_change(inst, state.place, t, u)
                if change < best:
                    best, node, partner = change, q, u
        else:
            # On a shared node every task there is a partner.
            for slot in range(state.slot_start[q], state.slot_start[q] + state.occupied[q]):
                u = state.slot_task[slot]
                if can_swap(inst, state, fixed, t, u):
                    change = swap_change(inst, state.place, t, u)
                    if change < best:
                        best, node, partner = change, q, u
    return best, node, partner


@kernel
def descend(inst: Instance, state: State, fixed: IntArray, sweeps: int) -> bool:
    """Give each movable task in turn its best swap or relocation until none gains, at most `sweeps` times round.

    Return whether the last round gained. O(m degree) a task and round in groups, O((n + m) degree) on shared nodes.
    """
    moved = False
    # Best improvement for each task in turn, round after round, until a round makes no move (2-exchange local optimum).
    for _ in range(sweeps):
        moved = False
        # Gains that rounding could fake don't count, or a descent might never end.
        tolerance = smallest_gain(inst, total(inst, state.place))
        for t in inst.movable:
            _, q, u = best_move(inst, state, fixed, t, tolerance)
            if q >= 0:
                moved = True
                if u >= 0:
                    swap(inst, state, t, u)
                else:
                    relocate(inst, state, t, q)
        if not moved:
            break
    return moved


@inner_kernel
def propose(inst: Instance, state: State, t: int) -> int:
    """Draw a node for task t: half the time next to or on the node of a neighbour, else any host."""
    degree = inst.indptr[t + 1] - inst.indptr[t]
    if degree > 0 and np.random.random() < BESIDE:
        u = inst.indices[inst.indptr[t] + np.random.randint(degree)]
        r = state.place[u]
        if np.random.random() < SAME:
            return int(r)
        q = inst.near[r, np.random.randint(inst.near.shape[1])]
        if q >= 0:
            return int(q)
    return int(inst.hosts[np.random.randint(len(inst.hosts))])


@inner_kernel
def partner_at(inst: Instance, state: State, t: int, q: int) -> int:
    """Return a task on node q that task t may try to swap with, -1 to try a relocation."""
    if inst.group_of[t] >= 0:
        return int(state.occupant[inst.group_of[t], q])
    if state.occupied[q] == 0 or (state.occupied[q] < inst.slots[q] and np.random.random() < 0.5):
        return -1
    return int(state.slot_task[state.slot_start[q] + np.random.randint(state.occupied[q])])


@inner_kernel
def try_move(inst: Instance, state: State, fixed: IntArray, t: int, temperature: float) -> float:
    """Draw a move of task t and make it by Metropolis' rule at a temperature; return the cost change made."""
    # Proposal and its price first: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi 1983, with the rule of Metropolis et al.
    q = propose(inst, state, t)
    if q == state.place[t]:
        return 0.0
    u = partner_at(inst, state, t, q)
    change = swap_change(inst, state.place, t, u) if u >= 0 else move_change(inst, state.place, t, q, -1)
    if change > 0.0 and (temperature <= 0.0 or np.random.random() >= np.exp(-change / temperature)):
        return 0.0
    # Most moves cost too much, so whether one is legal is looked at last.
    if u >= 0:
        if not can_swap(inst, state, fixed, t, u):
            return 0.0
        swap(inst, state, t, u)
    else:
        if not can_move(inst, state, t, q):
            return 0.0
        relocate(inst, state, t, q)
    return change


@kernel
def anneal(
    inst: Instance,
    state: State,
    fixed: IntArray,
    best: IntArray,
    temperatures: FloatArray,
    moves: int,
    seed: int,
) -> None:
    """Anneal, and leave the cheapest mapping seen in `best`.

    :param state: the mapping to start from, changed in place
    :param fixed: 1 for tasks [n] that stay
    :param best: a mapping [n] of the same problem, replaced by cheaper ones
    :param temperatures: an infinite one accepts everything and so shuffles
    :param moves: tried at each of the temperatures
    """
    np.random.seed(seed)
    lowest = total(inst, best)
    tolerance = smallest_gain(inst, lowest)
    # Small mappings are copied whenever they are the best so far, large ones at the end of a temperature.
    keep_every = len(state.place) <= KEPT_TASKS
    for temperature in temperatures:
        # The cost is computed again at each temperature: a sum of changes that went through huge costs lost small ones.
        current = total(inst, state.place)
        for _ in range(moves):
            change = try_move(inst, state, fixed, inst.movable[np.random.randint(len(inst.movable))], temperature)
            current += change
            if keep_every and change < 0.0 and current < lowest - tolerance:
                lowest = current
                copy(state.place, best)
        if current < lowest - tolerance:
            lowest = current
            copy(state.place, best)
        tolerance = smallest_gain(inst, lowest)


@inner_kernel
def copy(place: IntArray, to: IntArray) -> None:
    """Copy a mapping."""
    for t in range(len(place)):
        to[t] = place[t]


@inner_kernel
def copy_state(state: State, to: State) -> None:
    """Copy a state into another of the same problem."""
    copy(state.place, to.place)
    copy(state.occupied, to.occupied)
    copy(state.used, to.used)
    copy(state.slot_task, to.slot_task)
    copy(state.slot_of, to.slot_of)
    for group in range(len(state.occupant)):
        copy(state.occupant[group], to.occupant[group])


@kernel
def iterate_local_search(inst: Instance, state: State, spare: State, fixed: IntArray, kicks: int, seed: int) -> None:
    """Kick a local optimum by a few random legal moves and descend, `kicks` times, going on from what costs no more.

    `spare` is another state of the same problem, overwritten. The state ends at the cheapest mapping seen. Source:
    iterated local search, H. R. Lourenco, O. C. Martin, T. Stuetzle, doi:10.1007/0-306-48056-5_11.
    """
    np.random.seed(seed)
    copy_state(state, spare)
    cost = total(inst, state.place)
    most = max(3, len(inst.movable) // 2)
    for _ in range(kicks):
        # Perturbation: enough random moves that the descent does not simply undo them.
        for _ in range(np.random.randint(2, most + 1)):
            try_move(inst, state, fixed, inst.movable[np.random.randint(len(inst.movable))], np.inf)
        descend(inst, state, fixed, KICK_SWEEPS)
        # Acceptance: a local optimum as cheap is taken, which leads across plateaus.
        found = total(inst, state.place)
        if found > cost + smallest_gain(inst, cost):
            copy_state(spare, state)
        else:
            copy_state(state, spare)
            cost = found


@kernel
def sample_moves(inst: Instance, state: State, fixed: IntArray, changes: FloatArray, seed: int) -> None:
    """Draw a move for each entry of `changes[k]` and put the size of its cost change there, 0 for an illegal one.

    No move is made.
    """
    np.random.seed(seed)
    for k in range(len(changes)):
        # The same proposals as in annealing, so that the scale is that of its moves.
        changes[k] = 0.0
        t = inst.movable[np.random.randint(len(inst.movable))]
        q = propose(inst, state, t)
        if q == state.place[t]:
            continue
        u = partner_at(inst, state, t, q)
        if u >= 0:
            if can_swap(inst, state, fixed, t, u):
                changes[k] = abs(swap_change(inst, state.place, t, u))
        elif can_move(inst, state, t, q):
            changes[k] = abs(move_change(inst, state.place, t, q, -1))
