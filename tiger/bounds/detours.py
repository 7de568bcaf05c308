"""Compiled detours around the edges of a graph that flows load most.

What flows send over an edge may as well take any other path between its ends, whosever flow it is: distances keep the
triangle inequality, so that loads times distances add up to no less. The loads alone say what can be moved.
"""

from tiger.bounds.flows import CLOSED, DISTANCE, CsrGraph, FlowSearch, forget, is_downhill, settle
from tiger.model.arrays import FloatArray
from tiger.solvers.kernel import inner_kernel, kernel

# Edges are from 4 to 16 long by load and closed at 0.99 of the goal: short detours first, but not over full edges. With
# lengths from 1 to 20 a search for a detour of three edges in a stencil settled thousands of tasks.
LEAST, MORE, POWER, FULL = 4, 12.0, 4, 0.99


@kernel
def lower_loads(graph: CsrGraph, search: FlowSearch, load: FloatArray, goal: float, budget: int) -> tuple[int, bool]:
    """Move what edges have above the goal, as a share of their volume, to detours with room below it.

    Return how many were taken, and whether that was enough: not where an edge has none left, or where `budget` entries
    of neighbour lists have been read. `load[e]` is changed in place, and no edge ends above both goal and its load.
    """
    size, taken, end = len(graph.first) - 1, 0, search.work[0] + budget
    # Detours are shortest paths by load: the fuller an edge, the longer it is, and full ones are closed.
    for e in range(len(load)):
        search.length[e] = _length(load[e], goal * graph.volume[e])
    for task in range(size):
        for k in range(graph.first[task], graph.first[task + 1]):
            e, other = graph.edge[k], graph.near[k]
            # Each edge once, from its lower end: detours until it is no longer above the goal.
            while task < other and load[e] > goal * graph.volume[e]:
                if search.work[0] >= end:
                    return taken, False
                # The edge itself is closed, for it is full.
                search.order[0] = task
                _, many = settle(graph, search, 1, size, -1, other)
                moved = _take_detour(graph, search, load, task, other, e, goal)
                forget(search, many)
                # No path between the ends has room left: give this goal up.
                if not moved:
                    return taken, False
                taken += 1
    return taken, True


@inner_kernel
def _length(load: float, goal: float) -> int:
    """Return the length of an edge for the search for detours."""
    full = load / goal
    return LEAST + int(MORE * full**POWER) if full < FULL else CLOSED


@inner_kernel
def _take_detour(
    graph: CsrGraph, search: FlowSearch, load: FloatArray, start: int, end: int, edge: int, goal: float
) -> bool:
    """Move what an edge has above the goal, or fits, to the shortest path from start to end; return if any fits."""
    room = load[edge] - goal * graph.volume[edge]
    # The path takes as much as the fullest of its edges has room for.
    task = end
    while task != start:
        k = _step_back(graph, search, task)
        if k < 0:
            return False
        e, task = graph.edge[k], graph.near[k]
        room = min(room, goal * graph.volume[e] - load[e])
    if not room > 0.0:
        return False
    # The same path again: edges whose lengths change lie behind the task, and steps look at those before it.
    task = end
    while task != start:
        k = _step_back(graph, search, task)
        e, task = graph.edge[k], graph.near[k]
        load[e] += room
        search.length[e] = _length(load[e], goal * graph.volume[e])
    load[edge] -= room
    return True


@inner_kernel
def _step_back(graph: CsrGraph, search: FlowSearch, task: int) -> int:
    """Return where the neighbour lists have the step before a task on a shortest path, -1 if it was not reached."""
    for k in range(graph.first[task], graph.first[task + 1]):
        far = search.task[graph.near[k], DISTANCE] + search.length[graph.edge[k]]
        if is_downhill(graph, search, task, k) and far == search.task[task, DISTANCE]:
            return k
    return -1
