"""The order of Chimera: two pipelines in opposite directions over the same positions."""

from heapq import heappop, heappush

from tiger.training.schedules.passes import BACKWARD, FORWARD, Pass

# Seconds of passes by which the two pipelines are merged: a backward pass has two products for each of a forward one.
SECONDS = {FORWARD: 1.0, BACKWARD: 2.0}


def chimera_orders(positions: int, microbatches: int) -> tuple[list[Pass], ...]:
    """Return the passes of p positions, p even, in the schedule Chimera of Li and Hoefler (arXiv:2107.06925).

    The stages 0 to p - 1 are a pipeline from the first position to the last, p to 2 p - 1 one of the same layers from
    the last to the first; each runs half of the microbatches. A position runs what is ready, backward passes first and
    then what came first, and begins no more microbatches of a stage than 1F1B does: this merges the two greedily. With
    equal stages, B = 2 F and p microbatches an iteration takes p F + (2 p - 2) B, as Chimera's own order; of more
    microbatches the backward passes leave bubbles between groups of p. O(p m log m).
    """
    last, half = 2 * positions - 1, microbatches // 2
    orders: list[list[Pass]] = [[] for _ in range(positions)]
    # Backward passes that are ready, and forward ones by stage: moments, microbatches and stages.
    backward: list[list[tuple[float, int, int]]] = [[] for _ in range(positions)]
    forward: dict[int, list[tuple[float, int]]] = {stage: [] for stage in range(2 * positions)}
    under_way = dict.fromkeys(forward, 0)
    free = [0.0] * positions
    for first in (0, positions):
        forward[first] = [(0.0, microbatch) for microbatch in range(half)]
    events = [(0.0, 0), (0.0, positions - 1)]
    while events:
        now, at = heappop(events)
        if now < free[at]:
            continue
        open_ = [s for s in (at, last - at) if forward[s] and under_way[s] < positions - s % positions]
        arrived = [(*forward[s][0], s) for s in open_ if forward[s][0][0] <= now]
        if backward[at] and backward[at][0][0] <= now:
            kind, (_, microbatch, stage) = BACKWARD, heappop(backward[at])
        elif arrived:
            kind, (_, microbatch, stage) = FORWARD, min(arrived)
            heappop(forward[stage])
        else:
            continue
        orders[at].append((kind, microbatch, stage))
        under_way[stage] += 1 if kind == FORWARD else -1
        free[at] = end = now + SECONDS[kind]
        heappush(events, (end, at))
        turn = stage % positions == positions - 1
        if kind == BACKWARD and stage % positions:
            other = stage - 1
            heappush(backward[min(other, last - other)], (end, microbatch, other))
        elif kind == FORWARD:
            other = stage if turn else stage + 1
            if turn:
                heappush(backward[at], (end, microbatch, other))
            else:
                heappush(forward[other], (end, microbatch))
        else:
            continue
        heappush(events, (end, min(other, last - other)))
    return tuple(orders)
