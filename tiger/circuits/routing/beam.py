"""A compiled beam search over SWAPs and BRIDGEs: many routings advance side by side, and the most promising go on.

All of them have paid the same at any time; what they still have to pay is guessed from the distances of the gates that
wait and come soon, and from how many gates are left. Equal states are merged. A heuristic: not optimal.
"""

from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import IndexArray
from tiger.circuits.routing.frontier import (
    ACTIVE,
    COST,
    DICE_SIZE,
    FRONT,
    HIGH,
    KNOBS,
    LEFT,
    LINKS,
    LOW,
    NEVER,
    STEPS,
    TOO_MUCH,
    WEIGHT,
    WORK,
    Kit,
    State,
    ready,
    roll,
    settle,
)
from tiger.circuits.routing.lookahead import change, look
from tiger.circuits.routing.router import act, nearer_neighbour
from tiger.circuits.routing.selection import select
from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

OPTIONS = 6
F_ROW, L_ROW, LOW_ROW, HIGH_ROW, HASH_ROW, CARDS = range(6)
PRICE, NOISE, WIDTH, SETTINGS = range(KNOBS, KNOBS + 4)
PATIENCE = 8
PRIMES = (48_271, 16_807, 69_621)


class Beam(NamedTuple):
    """Hold the states of a beam, three rows for each that goes on, allocated once and used for many.

    A row has the mapping `place[r, N]`, the counts `need[r, g]` within a range, the `front[r, f]`, numbers on its
    `card[r, 5]`, and its best options `gain[r, o]`, `option[r, o, 2]`. `fresh[g]` and `start[N]` are the counts and the
    mapping at the beginning. `alive` and `free` are rows. `keys` and `order` serve to select. `origin[l, b]` and
    `taken[l, b, 2]` say for the states that level l leaves which state of the level before they come from, and by which
    step. `seen[t]` are hashes.
    """

    place: IndexArray
    need: IndexArray
    front: IndexArray
    card: IntArray
    value: FloatArray
    gain: FloatArray
    option: IndexArray
    fresh: IndexArray
    start: IndexArray
    alive: IndexArray
    free: IndexArray
    keys: FloatArray
    order: IndexArray
    origin: IndexArray
    taken: IndexArray
    seen: IntArray


def beam_of(kit: Kit, width: int, most: int) -> Beam:
    """Allocate a beam of up to `width` states for up to `most` levels."""
    count, size, rows = len(kit.pairs), len(kit.hops), 3 * width

    def whole(*shape: int) -> IndexArray:
        return np.zeros(shape, np.int32)

    return Beam(
        place=whole(rows, size),
        need=whole(rows, count),
        front=whole(rows, count + 1),
        card=np.zeros((rows, CARDS), np.int64),
        value=np.zeros(rows),
        gain=np.zeros((rows, OPTIONS)),
        option=whole(rows, OPTIONS, 2),
        fresh=whole(count),
        start=whole(size),
        alive=whole(width),
        free=whole(rows),
        keys=np.zeros(rows * OPTIONS),
        order=whole(rows * OPTIONS),
        origin=whole(most + 1, width),
        taken=whole(most + 1, width, 2),
        seen=np.zeros(8 * width, np.int64),
    )


@kernel
def sweep(kit: Kit, state: State, beam: Beam, knobs: FloatArray, limit: int) -> int:
    """Route what is not done yet from the mapping in `state` by a beam; return as `route` does, with the same results.

    `knobs[SETTINGS]` are those of `route`, then the price of a gate not looked at, the noise of the guesses, and how
    many states go on at every level. O(levels * width * (front * degree + g)) at worst.
    """
    tally = state.tally
    limit = min(limit, len(beam.origin) - 1)
    open_beam(kit, state, beam, knobs)
    count, level, stalled, fewest, weight = 1, 0, 0, tally[LEFT], knobs[WEIGHT]
    width = int(min(knobs[WIDTH], len(beam.alive)))
    best = leader(beam, count)
    while beam.card[beam.alive[best], F_ROW] > 0:
        if level >= limit:
            break
        stalled += 1
        knobs[WEIGHT] = weight if stalled < PATIENCE else 0.0
        children = spread(kit, state, beam, knobs, shortlist(beam, count, 2 * width))
        count = keep(beam, level, children, width)
        level += 1
        best = leader(beam, count)
        if beam.card[beam.alive[best], L_ROW] < fewest:
            fewest, stalled = beam.card[beam.alive[best], L_ROW], 0
    knobs[WEIGHT] = weight
    if beam.card[beam.alive[best], F_ROW] > 0:
        return TOO_MUCH
    retrace(kit, state, beam, level, best)
    return int(tally[COST])


@inner_kernel
def leader(beam: Beam, count: int) -> int:
    """Return the first of the states that go on with the fewest gates left."""
    best = 0
    for i in range(1, count):
        if beam.card[beam.alive[i], L_ROW] < beam.card[beam.alive[best], L_ROW]:
            best = i
    return best


@kernel
def open_beam(kit: Kit, state: State, beam: Beam, knobs: FloatArray) -> None:
    """Make the state the only one of the beam."""
    tally = state.tally
    for v in range(len(state.need)):
        beam.fresh[v] = state.need[v]
    for v in range(len(state.place)):
        beam.start[v] = state.place[v]
    tally[LOW] = len(state.need)
    tally[HIGH] = 0
    settle(kit, state)
    for r in range(len(beam.free)):
        beam.free[r] = r
    beam.card[0, HASH_ROW] = 0
    beam.alive[0] = 0
    look(kit, state, knobs)
    store(kit, state, beam, knobs, 0)


@inner_kernel
def shortlist(beam: Beam, count: int, most: int) -> int:
    """Order the most promising options of all states that go on, up to `most`; return how many."""
    found = 0
    for i in range(count):
        r = beam.alive[i]
        for o in range(OPTIONS):
            if beam.gain[r, o] < NEVER:
                beam.keys[found] = beam.value[r] + beam.gain[r, o]
                beam.order[found] = i * OPTIONS + o
                found += 1
    select(beam.keys, beam.order, found, most)
    return min(found, most)


@kernel
def spread(kit: Kit, state: State, beam: Beam, knobs: FloatArray, chosen: int) -> int:
    """Try the options in order, each in a free row; return how many different states there are."""
    rows, made, spots = len(beam.free), 0, 4 * chosen
    for i in range(spots):
        beam.seen[i] = -1
    for i in range(chosen):
        parent, o = beam.order[i] // OPTIONS, beam.order[i] % OPTIONS
        r = beam.alive[parent]
        load(state, beam, r)
        here, there = beam.option[r, o, 0], beam.option[r, o, 1]
        mark = move(kit, state, here, there) ^ beam.card[r, HASH_ROW]
        if is_new(beam, mark, spots):
            look(kit, state, knobs)
            row = beam.free[rows - 1 - made]
            beam.card[row, HASH_ROW] = mark
            store(kit, state, beam, knobs, row)
            beam.order[made] = beam.order[i]
            made += 1
    return made


@kernel
def load(state: State, beam: Beam, r: int) -> None:
    """Take up a state of the beam."""
    tally, low, high = state.tally, beam.card[r, LOW_ROW], beam.card[r, HIGH_ROW]
    for v in range(tally[LOW], tally[HIGH]):
        state.need[v] = beam.fresh[v]
    for v in range(low, high):
        state.need[v] = beam.need[r, v]
    for v in range(len(state.place)):
        state.place[v] = beam.place[r, v]
        state.holds[beam.place[r, v]] = v
    for i in range(beam.card[r, F_ROW]):
        state.front[i] = beam.front[r, i]
    tally[FRONT] = beam.card[r, F_ROW]
    tally[LEFT] = beam.card[r, L_ROW]
    tally[LOW] = low
    tally[HIGH] = high
    tally[STEPS] = 0


@kernel
def move(kit: Kit, state: State, here: int, there: int) -> int:
    """Carry out a SWAP or BRIDGE and all that it makes possible; return what that changes in the hash."""
    tally, mark = state.tally, 0
    if here < 0:
        p, q = -1 - here, there
        a, b = state.holds[p], state.holds[q]
        mark = hash_of(a, p) ^ hash_of(b, q) ^ hash_of(a, q) ^ hash_of(b, p)
    act(kit, state, here, there)
    settle(kit, state)
    for i in range(tally[STEPS]):
        if state.steps[i, 0] >= 0:
            mark ^= hash_of(-1, state.steps[i, 0])
    return mark


@inner_kernel
def hash_of(a: int, p: int) -> int:
    """Return a number for circuit qubit a on device qubit p, or for node p when a is -1."""
    mixed = (int(a) + 2) * PRIMES[0] % DICE_SIZE + (int(p) + 1) * PRIMES[1]
    return mixed % DICE_SIZE * PRIMES[2] % DICE_SIZE * PRIMES[0] % DICE_SIZE


@kernel
def is_new(beam: Beam, mark: int, spots: int) -> bool:
    """Return whether no state of this level has this hash, and note it."""
    i = mark % spots
    while beam.seen[i] >= 0:
        if beam.seen[i] == mark:
            return False
        i = (i + 1) % spots
    beam.seen[i] = mark
    return True


@kernel
def store(kit: Kit, state: State, beam: Beam, knobs: FloatArray, r: int) -> None:
    """Keep the state in a row, with its value and its best options."""
    tally, need = state.tally, state.need
    low, high = tally[LOW], tally[HIGH]
    while low < high and need[low] < 0:
        low += 1
    while high > low and need[high - 1] < 0:
        high -= 1
    for v in range(low, high):
        beam.need[r, v] = need[v]
    for v in range(len(state.place)):
        beam.place[r, v] = state.place[v]
    for i in range(tally[FRONT]):
        beam.front[r, i] = state.front[i]
    beam.card[r, F_ROW] = tally[FRONT]
    beam.card[r, L_ROW] = tally[LEFT]
    beam.card[r, LOW_ROW] = low
    beam.card[r, HIGH_ROW] = high
    beam.value[r] = guess(kit, state, knobs) + knobs[NOISE] * roll(tally, 1024) / 1024
    tally[WORK] += (len(state.place) + high - low) // 2 + 2 * tally[FRONT]
    weigh(kit, state, beam, r)


@inner_kernel
def guess(kit: Kit, state: State, knobs: FloatArray) -> float:
    """Return the guess of what is still to pay."""
    price = knobs[PRICE]
    total = price * state.tally[LEFT]
    for i in range(0, state.tally[LINKS], 2):
        a, b = state.other[i], state.other[i + 1]
        total += state.weight[i] * (kit.hops[state.place[a], state.place[b]] - 1 - price)
    return float(total)


@kernel
def weigh(kit: Kit, state: State, beam: Beam, r: int) -> None:
    """Note the best options of the state in its row: SWAPs next to the front, and BRIDGEs."""
    tally = state.tally
    for o in range(OPTIONS):
        beam.gain[r, o] = NEVER
    for i in range(tally[ACTIVE]):
        p = state.place[state.active[i]]
        for k in range(kit.neighbours.shape[1]):
            q = kit.neighbours[p, k]
            if q < 0:
                break
            if q > p or state.mark[state.holds[q]] < 0:
                offer(beam, r, change(kit, state, p, q), -1 - p, q)
        tally[WORK] += kit.neighbours.shape[1]
    for i in range(tally[FRONT]):
        v = state.front[i]
        p, q = state.place[kit.pairs[v, 0]], state.place[kit.pairs[v, 1]]
        if kit.bridge[v] != 0 and kit.hops[p, q] == 2:
            offer(beam, r, -state.weight[2 * i], v, nearer_neighbour(kit, p, q))


@kernel
def offer(beam: Beam, r: int, gain: float, here: int, there: int) -> None:
    """Insert an option if it is among the best of its state."""
    o = OPTIONS - 1
    if gain >= beam.gain[r, o]:
        return
    while o > 0 and beam.gain[r, o - 1] > gain:
        beam.gain[r, o] = beam.gain[r, o - 1]
        beam.option[r, o, 0] = beam.option[r, o - 1, 0]
        beam.option[r, o, 1] = beam.option[r, o - 1, 1]
        o -= 1
    beam.gain[r, o] = gain
    beam.option[r, o, 0] = here
    beam.option[r, o, 1] = there


@kernel
def keep(beam: Beam, level: int, children: int, width: int) -> int:
    """Let the best children go on, note where they come from, and free all other rows; return how many."""
    rows = len(beam.free)
    for i in range(children):
        beam.keys[i] = beam.value[beam.free[rows - 1 - i]]
        beam.seen[i] = beam.order[i]
        beam.order[i] = i
    select(beam.keys, beam.order, children, width)
    count = min(children, width)
    for i in range(count):
        source = beam.seen[beam.order[i]]
        r = beam.alive[source // OPTIONS]
        beam.origin[level, i] = source // OPTIONS
        beam.taken[level, i, 0] = beam.option[r, source % OPTIONS, 0]
        beam.taken[level, i, 1] = beam.option[r, source % OPTIONS, 1]
    for i in range(count):
        beam.order[i] = beam.free[rows - 1 - beam.order[i]]
    for i in range(count):
        beam.alive[i] = beam.order[i]
    release(beam, count)
    return count


@kernel
def release(beam: Beam, count: int) -> None:
    """List all rows but those of the states that go on as free, these first."""
    for r in range(len(beam.free)):
        beam.order[r] = 0
    for i in range(count):
        beam.order[beam.alive[i]] = 1
    low, high = 0, len(beam.free) - 1
    for r in range(len(beam.free)):
        if beam.order[r] == 1:
            beam.free[low] = r
            low += 1
        else:
            beam.free[high] = r
            high -= 1


@inner_kernel
def retrace(kit: Kit, state: State, beam: Beam, level: int, best: int) -> None:
    """Carry out the steps that led to a state, from the beginning."""
    for k in range(level - 1, -1, -1):
        beam.taken[k, 0, 0], beam.taken[k, 0, 1] = beam.taken[k, best, 0], beam.taken[k, best, 1]
        best = beam.origin[k, best]
    restart(kit, state, beam)
    for k in range(level):
        act(kit, state, beam.taken[k, 0, 0], beam.taken[k, 0, 1])
        settle(kit, state)


@inner_kernel
def restart(kit: Kit, state: State, beam: Beam) -> None:
    """Return to the beginning."""
    for v in range(len(beam.fresh)):
        state.need[v] = beam.fresh[v]
    for v in range(len(beam.start)):
        state.place[v] = beam.start[v]
        state.holds[beam.start[v]] = v
    for k in (STEPS, COST, FRONT):
        state.tally[k] = 0
    ready(state)
    settle(kit, state)
