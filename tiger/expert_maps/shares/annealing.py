"""Compiled annealing of a layer's map by the largest loads of many batches, with shares that follow each change."""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tiger.expert_maps.shares.balancing import SAME, ShareBoard, balance_batch, balance_board
from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

# Of ten proposals, this number give a slot to another expert, where some expert has two: the others exchange two slots.
REPLACE = 4
# How replicas share tokens: as many to each, or so that devices are even.
EQUAL, BALANCED = 0, 1
# The second slot of a change that gives the first one to an expert.
NO_SLOT = -1

Number = TypeVar("Number", np.int64, np.float64)


class ShareState(NamedTuple):
    """Hold the board of a layer's present map, the `best[S]` so far, and what changes are judged by.

    `held[E, G]` are replicas of experts on devices, `receipts[E, G]` the prices of moves and `moved[E, G]` is 1 where
    one counts. `prices[K]` are those of the largest load of a batch over its mean, and `total[2]` has the present cost
    and the least. `limits[5]` are replicas of an expert on a device, slots of a node, moves, of which the present map
    has `moves[1]`, the expert that stands where a device has no slot, and how replicas share tokens. `order[K]` are
    batches, those first that rule out changes. The rest is what batches were before a change.
    """

    board: ShareBoard
    best: IntArray
    held: IntArray
    receipts: FloatArray
    moved: IntArray
    prices: FloatArray
    total: FloatArray
    limits: IntArray
    moves: IntArray
    order: IntArray
    old_share: FloatArray
    old_load: FloatArray
    old_peak: FloatArray
    old_tight: IntArray


class SlotChange(NamedTuple):
    """Hold a change: slots a of expert e on device p and b of f on q exchange these, or a is given to f, without b."""

    a: int
    b: int
    e: int
    f: int
    p: int
    q: int


def start_annealing(
    board: ShareBoard, receipts: FloatArray, moved: IntArray, prices: FloatArray, limits: tuple[int, int, int, int, int]
) -> ShareState:
    """Return the state of a board, with prices and marks of moves [E, G], prices of batches' loads [K], and limits."""
    if limits[4] == EQUAL:
        board.peak[:] = (board.load / board.speed).max(axis=1)
    else:
        balance_board(board)
    held = np.zeros_like(moved)
    np.add.at(held, (board.slots, np.arange(len(board.slots)) // board.size[0]), 1)
    cost = float(prices @ (board.peak - 1.0)) + float((receipts * (held > 0)).sum())
    return ShareState(
        board=board,
        best=board.slots.copy(),
        held=held,
        receipts=receipts,
        moved=moved,
        prices=prices,
        total=np.array([cost, cost]),
        limits=np.array(limits),
        moves=np.array([int(moved[held > 0].sum())]),
        order=np.arange(len(board.share)),
        old_share=np.empty_like(board.share),
        old_load=np.empty_like(board.load),
        old_peak=np.empty_like(board.peak),
        old_tight=np.empty_like(board.tight),
    )


@kernel
def anneal_shares(state: ShareState, temperature: float, proposals: int, seed: int) -> None:
    """Propose random changes of a map at a temperature under Metropolis' rule, and keep the best map.

    The rule's random number is drawn first, so that a change is dropped at the first batches that rule it out.
    """
    np.random.seed(seed)
    board, held = state.board, state.held
    slots, node, size = len(board.slots), state.limits[1], board.size[0]
    replicas, least = slots > len(board.number), SAME * state.prices.sum()
    for _ in range(proposals):
        a = np.random.randint(slots)
        b = a // node * node + np.random.randint(node)
        given = replicas and np.random.randint(10) < REPLACE
        limit = state.total[0] - temperature * np.log(1.0 - np.random.random())
        change = SlotChange(a, NO_SLOT if given else b, board.slots[a], board.slots[b], a // size, b // size)
        if not _keeps_limits(state, change):
            continue
        moves, price = _price_moves(state, change)
        if moves > 0 and state.moves[0] + moves > state.limits[2]:
            continue
        _set_slots(board, change, change.f)
        if not _try_change(state, change, price, limit):
            _set_slots(board, change, change.e)
            continue
        state.moves[0] += moves
        held[change.e, change.p] -= 1
        held[change.f, change.p] += 1
        if change.b != NO_SLOT:
            held[change.f, change.q] -= 1
            held[change.e, change.q] += 1
        if state.total[0] < state.total[1] - least:
            state.total[1] = state.total[0]
            _copy(board.slots, state.best)


@inner_kernel
def _keeps_limits(state: ShareState, change: SlotChange) -> bool:
    """Return whether a change leaves every expert a slot, no device with too many of one, and slots that are none."""
    e, f, copies, blank = change.e, change.f, state.limits[0], state.limits[3]
    if e in (f, blank) or f == blank or state.held[f, change.p] >= copies:
        return False
    if change.b == NO_SLOT:
        return bool(state.board.number[e] > 1)
    return bool(change.p != change.q and state.held[e, change.q] < copies)


@inner_kernel
def _price_moves(state: ShareState, change: SlotChange) -> tuple[int, float]:
    """Return how many more experts move with a change, and what these cost."""
    e, f, p, q = change.e, change.f, change.p, change.q
    held, moved, receipts = state.held, state.moved, state.receipts
    # A device receives an expert with the first of its replicas there, and is spared that without the last one.
    f_come, e_gone = held[f, p] == 0, held[e, p] == 1
    moves, price = moved[f, p] * f_come - moved[e, p] * e_gone, receipts[f, p] * f_come - receipts[e, p] * e_gone
    if change.b != NO_SLOT:
        e_come, f_gone = held[e, q] == 0, held[f, q] == 1
        moves += moved[e, q] * e_come - moved[f, q] * f_gone
        price += receipts[e, q] * e_come - receipts[f, q] * f_gone
    return moves, price


@inner_kernel
def _set_slots(board: ShareBoard, change: SlotChange, expert: int) -> None:
    """Give slot a to one of the two experts of a change and b, where there is one, to the other, in the lists."""
    a, b, other = change.a, change.b, board.slots[change.a]
    if b != NO_SLOT:
        board.slots[a], board.slots[b] = expert, other
        board.where[other, board.rank[a]], board.where[expert, board.rank[b]] = b, a
        board.rank[a], board.rank[b] = board.rank[b], board.rank[a]
        return
    gap = board.rank[a]
    board.number[other] -= 1
    last = board.where[other, board.number[other]]
    board.where[other, gap], board.rank[last] = last, gap
    board.where[expert, board.number[expert]], board.rank[a] = a, board.number[expert]
    board.number[expert] += 1
    board.slots[a] = expert


@inner_kernel
def _try_change(state: ShareState, change: SlotChange, price: float, limit: float) -> bool:
    """Balance the batches of a changed map, and undo that where it costs more than the limit; return whether it holds.

    A batch costs at least its mean, 1, before it is looked at, and nothing where it has no tokens.
    """
    board, batches = state.board, len(state.order)
    others = state.total[0] + price
    for k in range(batches):
        others -= state.prices[k] * (board.peak[k] - 1.0)
    above, done, taken = 0.0, 0, others <= limit
    while done < batches and taken:
        k = state.order[done]
        done += 1
        _copy(board.share[k], state.old_share[k])
        _copy(board.load[k], state.old_load[k])
        _copy(board.tight[k], state.old_tight[k])
        state.old_peak[k] = board.peak[k]
        if state.limits[4] == EQUAL:
            _change_equally(board, k, change)
        else:
            _change_batch(board, k, change)
        above += state.prices[k] * (board.peak[k] - 1.0)
        taken = others + above <= limit
    if taken:
        state.total[0] = others + above
        return True
    for i in range(done):
        k = state.order[i]
        _copy(state.old_share[k], board.share[k])
        _copy(state.old_load[k], board.load[k])
        _copy(state.old_tight[k], board.tight[k])
        board.peak[k] = state.old_peak[k]
    if done > 1:
        state.order[done - 1], state.order[done - 2] = state.order[done - 2], state.order[done - 1]
    return False


@inner_kernel
def _copy(source: NDArray[Number], target: NDArray[Number]) -> None:
    """Copy a row."""
    for i in range(len(source)):
        target[i] = source[i]


@inner_kernel
def _change_batch(board: ShareBoard, k: int, change: SlotChange) -> None:
    """Let shares follow a change of the map, and balance them where some device is then too full, or may be less so."""
    a, b, p, q = change.a, change.b, change.p, change.q
    share, load, tight, speed = board.share[k], board.load[k], board.tight[k], board.speed
    if b != NO_SLOT:
        more = share[b] - share[a]
        share[a], share[b] = share[b], share[a]
        # Experts that full devices alone have stay with them, unless just one of the slots is with them.
        eased = tight[p] != tight[q]
    else:
        into, eased = board.where[change.e, 0], tight[p] == 1
        size = board.size[0]
        # What the slot carried goes to the least full device that still has the expert.
        for j in range(1, board.number[change.e]):
            other = board.where[change.e, j]
            if load[other // size] * speed[into // size] < load[into // size] * speed[other // size]:
                into = other
        more, q = -share[a], into // size
        share[into] += share[a]
        share[a] = 0.0
        for j in range(board.number[change.f]):
            eased = eased or tight[board.where[change.f, j] // size] == 1
    load[p] += more
    load[q] -= more
    peak = board.peak[k]
    if eased and peak > 1.0:
        balance_batch(board, k, 1.0)
    elif load[p] > (peak + SAME) * speed[p] or load[q] > (peak + SAME) * speed[q]:
        balance_batch(board, k, peak)


@inner_kernel
def _change_equally(board: ShareBoard, k: int, change: SlotChange) -> None:
    """Let equal shares follow a change of the map, and find the largest load."""
    a, b, share, load = change.a, change.b, board.share[k], board.load[k]
    if b != NO_SLOT:
        more = share[b] - share[a]
        share[a], share[b] = share[b], share[a]
        load[change.p] += more
        load[change.q] -= more
    else:
        fewer, number = board.number[change.e], board.number[change.f]
        lost, gained = share[a] / fewer, 0.0
        for j in range(number):
            other = board.where[change.f, j]
            if other != a:
                gained += share[other] / number
                load[other // board.size[0]] -= share[other] / number
                share[other] -= share[other] / number
        for j in range(fewer):
            other = board.where[change.e, j]
            share[other] += lost
            load[other // board.size[0]] += lost
        load[change.p] += gained - share[a]
        share[a] = gained
    peak = 0.0
    for g in range(len(load)):
        peak = max(peak, load[g] / board.speed[g])
    board.peak[k] = peak
