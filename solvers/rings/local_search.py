"""Iterated local search over rings: reversals, moves of short segments and exchanges with free slots, then a kick.

Source: D. S. Johnson, L. A. McGeoch, The traveling salesman problem: a case study, in: Local Search in Combinatorial
Optimization, Wiley 1997 (2-opt and Or-opt with don't-look bits, segment double bridges).
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BitArray, FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

# Segments of this many tasks move as a whole.
SEGMENT = 3
# A kick exchanges two neighbouring segments that together hold at most this many tasks.
KICKED = 50
# Kinds of move, numbered as codes that a kernel can compare.
REVERSE, INSERT, INSERT_REVERSED, EXCHANGE = 1, 2, 3, 4


class RingState(NamedTuple):
    """Hold a ring of n tasks over h hosts, and how far its improvement has come.

    `ring[n]` are tasks in order, `where[n]` their positions, `host[n]` their hosts, `spare[h]` free slots, `hop[h, h]`
    lengths of hops. `ahead[n]` and `behind[n]` add up the hops from position 0 to each, and those of the way back.
    `waiting[n]` is a stack of `height[0]` tasks whose moves have yet to be looked at, `waits[n]` whether one is on it.
    `scratch[n]` is for new orders, `move[4]` holds the kind of a move and its positions.
    """

    ring: IntArray
    where: IntArray
    host: IntArray
    spare: IntArray
    hop: FloatArray
    ahead: FloatArray
    behind: FloatArray
    waiting: IntArray
    waits: BitArray
    height: IntArray
    scratch: IntArray
    move: IntArray


@inner_kernel
def copy(target: IntArray, source: IntArray) -> None:
    """Copy an array, as a slice would create one."""
    for k in range(len(source)):
        target[k] = source[k]


@inner_kernel
def span(state: RingState, left: int, right: int) -> float:
    """Return the length of the hop from the task at one position to that at another, each counted around the ring."""
    size = len(state.ring)
    return float(state.hop[state.host[state.ring[left % size]], state.host[state.ring[right % size]]])


@inner_kernel
def settle(state: RingState) -> None:
    """Bring positions and sums up to date with the ring; O(n)."""
    state.where[state.ring[0]] = 0
    state.ahead[0] = state.behind[0] = 0.0
    for k in range(1, len(state.ring)):
        state.where[state.ring[k]] = k
        state.ahead[k] = state.ahead[k - 1] + span(state, k - 1, k)
        state.behind[k] = state.behind[k - 1] + span(state, k, k - 1)


@inner_kernel
def wake(state: RingState, position: int) -> None:
    """Have the moves of the task at a position looked at."""
    task = state.ring[position % len(state.ring)]
    if not state.waits[task]:
        state.waits[task] = True
        state.waiting[state.height[0]] = task
        state.height[0] += 1


@inner_kernel
def find_reversal(state: RingState, low: int, gain: float) -> float:
    """Look for the best reversal that breaks the hop after position `low`; return its gain if that is larger."""
    size = len(state.ring)
    for other in range(size):
        p, q = min(low, other), max(low, other)
        if q - p < 2 or q - p == size - 1:
            continue
        change = span(state, p, q) + span(state, p + 1, q + 1) - span(state, p, p + 1) - span(state, q, q + 1)
        change += (state.behind[q] - state.behind[p + 1]) - (state.ahead[q] - state.ahead[p + 1])
        if -change > gain:
            gain = -change
            state.move[0], state.move[1], state.move[2] = REVERSE, p + 1, q
    return gain


@inner_kernel
def find_insertion(state: RingState, begin: int, count: int, gain: float) -> float:
    """Look for the best new place of the segment of `count` tasks from position `begin`, either way around."""
    size = len(state.ring)
    end = begin + count - 1
    # Or-opt: what the ring saves where the segment is cut out and the gap closed.
    freed = span(state, begin - 1, begin) + span(state, end, end + 1) - span(state, begin - 1, end + 1)
    # Distances may differ by direction, so a segment that is reversed changes its own hops too.
    turned = 0.0
    for k in range(begin, end):
        turned += span(state, k + 1, k) - span(state, k, k + 1)
    # Every hop outside may be broken to take the segment in; the gap itself is left out.
    for after in range(end + 1, begin + size - 1):
        broken = span(state, after, after + 1)
        straight = freed - (span(state, after, begin) + span(state, end, after + 1) - broken)
        if straight > gain:
            gain = straight
            state.move[0], state.move[1], state.move[2], state.move[3] = INSERT, begin, count, after
        reversed_ = freed - (span(state, after, end) + span(state, begin, after + 1) - broken) - turned
        if reversed_ > gain:
            gain = reversed_
            state.move[0], state.move[1], state.move[2], state.move[3] = INSERT_REVERSED, begin, count, after
    return gain


@inner_kernel
def find_exchange(state: RingState, position: int, gain: float) -> float:
    """Look for the best host with a free slot for the task at a position."""
    size = len(state.ring)
    left = state.host[state.ring[(position - 1) % size]]
    right = state.host[state.ring[(position + 1) % size]]
    now = span(state, position - 1, position) + span(state, position, position + 1)
    for h in range(len(state.spare)):
        if state.spare[h] > 0:
            change = state.hop[left, h] + state.hop[h, right] - now
            if -change > gain:
                gain = -change
                state.move[0], state.move[1], state.move[2] = EXCHANGE, position, h
    return gain


@inner_kernel
def apply_insertion(state: RingState, begin: int, count: int, after: int, kind: int) -> None:
    """Write the ring with a segment moved behind the task at position `after`, from that segment's successor on."""
    size, k = len(state.ring), 0
    for position in range(begin + count, after + 1):
        state.scratch[k] = state.ring[position % size]
        k += 1
    for number in range(count):
        position = begin + count - 1 - number if kind == INSERT_REVERSED else begin + number
        state.scratch[k] = state.ring[position % size]
        k += 1
    for position in range(after + 1, begin + size):
        state.scratch[k] = state.ring[position % size]
        k += 1
    copy(state.ring, state.scratch)


@inner_kernel
def apply_move(state: RingState) -> None:
    """Change the ring by the move found, and wake the tasks beside what it broke."""
    # Don't-look bits (Bentley 1992): only tasks beside a hop that changes are looked at again.
    move = state.move
    if move[0] == EXCHANGE:
        position, task = move[1], state.ring[move[1] % len(state.ring)]
        state.spare[state.host[task]] += 1
        state.host[task] = move[2]
        state.spare[move[2]] -= 1
        for beside in range(position - 1, position + 2):
            wake(state, beside)
    elif move[0] == REVERSE:
        low, high = move[1], move[2]
        for beside in (low - 1, low, high, high + 1):
            wake(state, beside)
        # 2-opt: the tasks between the two broken hops come in reverse order.
        while low < high:
            state.ring[low], state.ring[high] = state.ring[high], state.ring[low]
            low += 1
            high -= 1
    else:
        begin, count, after = move[1], move[2], move[3]
        for beside in (begin - 1, begin, begin + count - 1, begin + count, after, after + 1):
            wake(state, beside)
        apply_insertion(state, begin, count, after, move[0])
    # Positions and prefix sums follow from the new order.
    settle(state)


@inner_kernel
def descend(state: RingState, least: float) -> None:
    """Take the best move of every waiting task that gains more than `least`, until none waits; O(n + h) a look."""
    size = len(state.ring)
    while state.height[0]:
        state.height[0] -= 1
        task = state.waiting[state.height[0]]
        state.waits[task] = False
        position = state.where[task]
        # 2-opt: reversals that break the hop after the task, or the one before it.
        gain = find_reversal(state, position, least)
        gain = find_reversal(state, (position - 1) % size, gain)
        # Or-opt: segments that begin with the task, and those that end with it.
        for count in range(1, min(SEGMENT, size - 3) + 1):
            gain = find_insertion(state, position, count, gain)
            if count > 1:
                gain = find_insertion(state, (position - count + 1) % size, count, gain)
        gain = find_exchange(state, position, gain)
        # Best improvement of one task, which then waits again, as it may have another.
        if gain > least:
            wake(state, position)
            apply_move(state)


@inner_kernel
def kick(state: RingState) -> None:
    """Move a random task to a random host with a free slot, or exchange two neighbouring segments of random lengths."""
    size, host = len(state.ring), np.random.randint(len(state.spare))
    reach = min(KICKED, size - 2)
    # To a random host if it has a free slot; else segments change places, unless the ring is too short for them.
    if state.spare[host] > 0 or reach < 2:
        state.move[0], state.move[1], state.move[2] = EXCHANGE, np.random.randint(size), host
        if state.spare[host] > 0:
            apply_move(state)
        return
    # Segment double bridge (Johnson and McGeoch 1997): short neighbouring segments, so that the change stays local.
    first = np.random.randint(1, reach)
    second = np.random.randint(1, reach - first + 1)
    begin = np.random.randint(size)
    # Tasks at the three hops that break are looked at again.
    for beside in (
        begin - 1,
        begin,
        begin + first - 1,
        begin + first,
        begin + first + second - 1,
        begin + first + second,
    ):
        wake(state, beside)
    apply_insertion(state, begin, first, begin + first + second - 1, INSERT)
    settle(state)


@kernel
def improve_ring(
    state: RingState,
    best_ring: IntArray,
    best_host: IntArray,
    best_spare: IntArray,
    kicks: int,
    least: float,
    seed: int,
) -> float:
    """Improve a ring by descents and kicks, and return the length of the best.

    A ring no longer than the best so far becomes the one that is kicked next.

    :param best_ring: its tasks [n] in order, with `best_host[n]` and `best_spare[h]` as in RingState; filled
    :param kicks: the most kicks
    :param least: the smallest gain that counts
    """
    np.random.seed(seed)
    size = len(state.ring)
    settle(state)
    # All tasks wait, that at position 0 on top of the stack.
    for position in range(size - 1, -1, -1):
        wake(state, position)
    best = np.inf
    # Iterated local search (Lourenço, Martin, Stützle 2003): kick the best ring, descend, and compare.
    for number in range(kicks + 1):
        if number:
            kick(state)
        descend(state, least)
        length = state.ahead[size - 1] + span(state, size - 1, 0)
        # A ring as long as the best replaces it, which leads across plateaus.
        if length <= best:
            best = length
            copy(best_ring, state.ring)
            copy(best_host, state.host)
            copy(best_spare, state.spare)
        else:
            copy(state.ring, best_ring)
            copy(state.host, best_host)
            copy(state.spare, best_spare)
            settle(state)
    return best
