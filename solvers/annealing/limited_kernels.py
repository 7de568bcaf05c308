"""Compiled annealing among the mappings that differ from a given one in few tasks, by a limit or a price for each."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.cost_changes import move_change, smallest_gain, swap_change, total
from tiger.solvers.annealing.moves import can_move, can_swap, copy, partner_at, propose, relocate, swap
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import inner_kernel, kernel

# Share of the proposals of a task that has moved to go home. With 0, 32 moves of an 8 x 8 halo on a torus end 2 %
# higher and of a 16 x 16 halo on a tree 0.2 %, four seeds each; drawing such tasks more often gains nothing.
HOME = 0.25
# Moves that are made together, all but the last one of tasks that go home to make room for it within the limit. With 1,
# 8 and 32 moves of sko100a end 0.8 and 0.5 % higher; with 5 everything is the same.
TOGETHER = 3


class Moved(NamedTuple):
    """Hold which tasks are not at their `home[n]`: `tasks[: number[0]]`, where task t is at `at[t]`, else -1.

    A task whose home is -1 has none, and is never among them.
    `made[k, 3]` are moves to be taken back, each as task, partner or -1, and the node that the task came from.
    """

    home: IntArray
    tasks: IntArray
    at: IntArray
    number: IntArray
    made: IntArray


class LimitedSchedule(NamedTuple):
    """Hold what one call does: `moves` at each of `temperatures[h]`, with at most `most` tasks not at home.

    Each of these costs `price` beside what the mapping does.
    """

    temperatures: FloatArray
    moves: int
    most: int
    price: float
    seed: int


def find_moves(home: IntArray, place: IntArray) -> Moved:
    """Return which tasks of a mapping `place[n]` are not at home."""
    tasks, at = np.zeros(len(home), np.int64), np.full(len(home), -1, np.int64)
    moved = np.flatnonzero((home != place) & (home >= 0))
    tasks[: len(moved)], at[moved] = moved, np.arange(len(moved))
    return Moved(home, tasks, at, np.array([len(moved)]), np.zeros((TOGETHER, 3), np.int64))


@inner_kernel
def count_moves(moved: Moved, place: IntArray) -> int:
    """Return how many tasks of a mapping `place[n]` are not at home."""
    count = 0
    for t in range(len(place)):
        count += int(moved.home[t] >= 0 and place[t] != moved.home[t])
    return count


@inner_kernel
def count_change(moved: Moved, t: int, u: int, p: int, q: int) -> int:
    """Return how many tasks more are not at home once task t is at q in place of p, and task u, if any, at p."""
    change = int(moved.home[t] == p) - int(moved.home[t] == q)
    if u >= 0:
        change += int(moved.home[u] == q) - int(moved.home[u] == p)
    return change


@inner_kernel
def note_move(moved: Moved, state: State, t: int) -> None:
    """Set down whether task t is at home, where it is now."""
    k, count = moved.at[t], moved.number[0]
    if moved.home[t] < 0:
        return
    if state.place[t] != moved.home[t] and k < 0:
        moved.tasks[count] = t
        moved.at[t] = count
        moved.number[0] = count + 1
    elif state.place[t] == moved.home[t] and k >= 0:
        # The last one takes the place that falls free.
        last = moved.tasks[count - 1]
        moved.tasks[k] = last
        moved.at[last] = k
        moved.at[t] = -1
        moved.number[0] = count - 1


@inner_kernel
def move_and_note(inst: Instance, state: State, moved: Moved, t: int, u: int, q: int) -> None:
    """Move task t to node q, or swap it with task u there, and set down which are at home."""
    if u >= 0:
        swap(inst, state, t, u)
        note_move(moved, state, u)
    else:
        relocate(inst, state, t, q)
    note_move(moved, state, t)


@inner_kernel
def price_legal(inst: Instance, state: State, fixed: IntArray, t: int, u: int, q: int) -> float:
    """Return the cost change of a move of task t to node q, or a swap with task u there, infinite if illegal."""
    if u >= 0:
        return float(swap_change(inst, state.place, t, u)) if can_swap(inst, state, fixed, t, u) else np.inf
    return float(move_change(inst, state.place, t, q, -1)) if can_move(inst, state, t, q) else np.inf


@inner_kernel
def try_within(
    inst: Instance, state: State, fixed: IntArray, moved: Moved, schedule: LimitedSchedule, temperature: float
) -> float:
    """Draw a move of a task and make it by Metropolis' rule; return the change of cost and prices made.

    Where it would move too many tasks, others that have moved go home with it.
    """
    most, before = schedule.most, moved.number[0]
    t = inst.movable[np.random.randint(len(inst.movable))]
    p, home = state.place[t], moved.home[t]
    q = home if home >= 0 and p != home and np.random.random() < HOME else propose(inst, state, t)
    if q == p:
        return 0.0
    u = partner_at(inst, state, t, q)
    more, made, change = count_change(moved, t, u, p, q), 0, 0.0
    while moved.number[0] + more > most and moved.number[0] > 0 and made < TOGETHER - 1 and change < np.inf:
        v = moved.tasks[np.random.randint(moved.number[0])]
        h, r = moved.home[v], state.place[v]
        w = partner_at(inst, state, v, h)
        # What the move was drawn for stays as it is, and every return home is to count.
        apart = v != t and v != u and w != t and (w != u or w < 0)
        cost = np.inf
        if apart and count_change(moved, v, w, r, h) < 0:
            cost = price_legal(inst, state, fixed, v, w, h)
        change += cost
        if cost < np.inf:
            move_and_note(inst, state, moved, v, w, h)
            moved.made[made, 0], moved.made[made, 1], moved.made[made, 2] = v, w, r
            made += 1
    if moved.number[0] + more <= most and change < np.inf:
        change += price_legal(inst, state, fixed, t, u, q) + schedule.price * (moved.number[0] + more - before)
        if change <= 0.0 or (change < np.inf and np.random.random() < np.exp(-change / temperature)):
            move_and_note(inst, state, moved, t, u, q)
            return float(change)
    # Taken back in reverse order.
    for k in range(made - 1, -1, -1):
        move_and_note(inst, state, moved, moved.made[k, 0], moved.made[k, 1], moved.made[k, 2])
    return 0.0


@kernel
def anneal_within(
    inst: Instance, state: State, fixed: IntArray, moved: Moved, best: IntArray, schedule: LimitedSchedule
) -> None:
    """Anneal within the limit, and leave the mapping of least cost and prices in `best`; O(degree) a proposal.

    Simulated annealing, S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi 1983, doi:10.1126/science.220.4598.671, on the
    mappings at a Hamming distance of at most `most` from home.

    :param state: the mapping to start from, changed in place as `moved` is
    :param fixed: 1 for tasks [n] that stay
    :param best: a mapping [n] within the limit, replaced by cheaper ones
    """
    np.random.seed(schedule.seed)
    lowest = total(inst, best) + schedule.price * count_moves(moved, best)
    tolerance = smallest_gain(inst, lowest)
    for temperature in schedule.temperatures:
        current = total(inst, state.place) + schedule.price * moved.number[0]
        for _ in range(schedule.moves):
            change = try_within(inst, state, fixed, moved, schedule, temperature)
            current += change
            if change < 0.0 and current < lowest - tolerance:
                lowest = current
                copy(state.place, best)
        tolerance = smallest_gain(inst, lowest)
