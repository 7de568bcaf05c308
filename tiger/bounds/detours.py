"""Compiled detours around the edges of a graph that flows load most.

What flows send over an edge may as well take any other path between its ends, whosever flow it is: the loads alone
say what can be moved.
"""

from tiger.bounds.flows import CLOSED, Search, Web, forget, is_downhill, settle
from tiger.model.arrays import FloatArray
from tiger.solvers.kernel import inner_kernel

# The peak is lowered to so much of itself at a time.
LOWERED = 0.99
# Edges are from 4 to 16 long by load and closed at 0.99 of the goal: short detours first, but not over full edges.
LEAST, MORE, STEEP, FULL = 4, 12.0, 4, 0.99


@inner_kernel
def peak_of(web: Web, load: FloatArray) -> float:
    """Return the greatest load of an edge over its volume."""
    peak = 0.0
    for e in range(len(load)):
        peak = max(peak, load[e] / web.volume[e])
    return peak


@inner_kernel
def relieve(web: Web, search: Search, load: FloatArray, peak: float, budget: int) -> int:
    """Lower the peak by detours until an edge has none left or `budget` tasks are settled; return how many are taken.

    `load[e]` is changed in place, and ends nowhere above the peak it had.
    """
    size, taken, settled, goal = len(web.first) - 1, 0, 0, peak
    while peak > 0.0:
        goal *= LOWERED
        for e in range(len(load)):
            search.length[e] = _length(load[e], goal * web.volume[e])
        for task in range(size):
            for k in range(web.first[task], web.first[task + 1]):
                e, other = web.edge[k], web.near[k]
                while task < other and load[e] > goal * web.volume[e]:
                    if settled >= budget:
                        return taken
                    search.order[0] = task
                    count, many = settle(web, search, 1, size, -1, other)
                    settled += count
                    moved = _detour(web, search, load, task, other, e, goal)
                    forget(search, many)
                    if not moved:
                        return taken
                    taken += 1
    return taken


@inner_kernel
def _length(load: float, goal: float) -> int:
    """Return the length of an edge for the search for detours."""
    full = load / goal
    return LEAST + int(MORE * full**STEEP) if full < FULL else CLOSED


@inner_kernel
def _detour(web: Web, search: Search, load: FloatArray, start: int, end: int, edge: int, goal: float) -> bool:
    """Move what an edge has above the goal, or fits, to the shortest path from start to end; return if any fits."""
    room = load[edge] - goal * web.volume[edge]
    task = end
    while task != start:
        k = _step_back(web, search, task)
        if k < 0:
            return False
        e, task = web.edge[k], web.near[k]
        room = min(room, goal * web.volume[e] - load[e])
    if not room > 0.0:
        return False
    task = end
    while task != start:
        k = _step_back(web, search, task)
        e, task = web.edge[k], web.near[k]
        load[e] += room
        search.length[e] = _length(load[e], goal * web.volume[e])
    load[edge] -= room
    return True


@inner_kernel
def _step_back(web: Web, search: Search, task: int) -> int:
    """Return where the neighbour lists have the step before a task on a shortest path, -1 if it was not reached."""
    for k in range(web.first[task], web.first[task + 1]):
        far = search.distance[web.near[k]] + search.length[web.edge[k]]
        if is_downhill(web, search, task, k) and far == search.distance[task]:
            return k
    return -1
