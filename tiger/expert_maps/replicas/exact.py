"""The least largest load of a pool with few slots, by integer programs over what a GPU can hold."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array

from tiger.expert_maps.replicas.bounds import rule_out
from tiger.expert_maps.replicas.pools import Pools
from tiger.model.arrays import FloatArray, IntArray

# More slots are left to the search: they can be filled in too many ways.
SLOTS = 32
# Nodes of branch and bound for one program: what it cannot decide in so many is not proven, whatever the machine.
NODES = 200
# Loads that differ by less are the same; a better one differs by more.
LEAST = 1e-9


class Solved(NamedTuple):
    """Hold the experts of each slot, [GPUs, slots of a GPU], None where none are better, and whether that is proven."""

    slots: IntArray | None
    proven: bool


class Piece(NamedTuple):
    """Hold a replica of an expert that has so many, and its load."""

    expert: int
    replicas: int
    load: float


class GpuPattern(NamedTuple):
    """Hold what a GPU of a kind, of one speed and number of slots, holds, as places of pieces."""

    kind: int
    held: tuple[int, ...]


class GpuKinds(NamedTuple):
    """Hold the speed and the slots of each kind of GPU, how many there are, and the kind of every GPU."""

    speed: list[float]
    room: list[int]
    number: IntArray
    kind: IntArray


def solve_exactly(pool: Pools, reached: float, most: int) -> Solved:
    """Return the best solution of one pool that is better than a load reached, if one is, and whether it is the best.

    Each program asks for a largest load over speed below the one reached: which numbers of replicas, and how many GPUs
    of each kind hold which of the patterns, whose loads lie between that and what the other GPUs leave. When none is
    left, the last is optimal. Slots that a GPU lacks are filled with the number behind the last expert.
    More than `most` patterns, or a program that branch and bound do not decide soon, leave the question open.
    """
    if pool.slots > SLOTS:
        return Solved(None, proven=False)
    best: IntArray | None = None
    kinds = _list_kinds(pool)
    while True:
        limit = reached * (1 - LEAST)
        if limit == reached:
            # Below the normal numbers there are too few digits to tell loads apart.
            return Solved(best, proven=False)
        if bool(rule_out(pool, np.array([limit]))[0]):
            return Solved(best, proven=True)
        pieces = _list_pieces(pool, limit)
        patterns = _list_patterns(pool, kinds, pieces, (limit, most))
        if patterns is None:
            return Solved(best, proven=False)
        chosen = _choose(pool, kinds, pieces, patterns)
        if not chosen:
            return Solved(best, proven=chosen is not None)
        best = np.full((pool.gpus, pool.size), pool.experts)
        for gpu, pattern in enumerate(chosen):
            best[gpu, : len(pattern)] = [pieces[k].expert for k in pattern]
        times = zip(chosen, pool.speeds[0].tolist(), strict=True)
        reached = max(sum(pieces[k].load for k in pattern) / speed for pattern, speed in times)


def _list_kinds(pool: Pools) -> GpuKinds:
    """Return the kinds of the GPUs of a pool."""
    pairs = np.stack([pool.speeds[0], pool.rooms[0].astype(np.float64)])
    kinds, kind, number = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
    return GpuKinds(kinds[0].tolist(), kinds[1].astype(np.int64).tolist(), number, kind.ravel())


def _list_pieces(pool: Pools, limit: float) -> list[Piece]:
    """Return the replicas that a GPU may hold, largest first."""
    weight, fastest = pool.weight[0].tolist(), float(pool.speeds.max())
    pieces = [
        Piece(expert, replicas, load / replicas)
        for expert, load in enumerate(weight)
        for replicas in range(1, pool.most + 1)
        if load / replicas <= limit * fastest
    ]
    return sorted(pieces, key=lambda piece: -piece.load)


def _list_patterns(
    pool: Pools, kinds: GpuKinds, pieces: list[Piece], limits: tuple[float, int]
) -> list[GpuPattern] | None:
    """Return what GPUs of each kind may hold below a limit on loads over speed, or None where that is too much.

    The load of one is at most the limit, and at least what is left when all other GPUs are at the limit. The second
    limit is one on patterns.
    """
    limit, most = limits
    found: list[GpuPattern] = []
    every = float(pool.speeds.sum())
    for kind, (speed, room) in enumerate(zip(kinds.speed, kinds.room, strict=True)):
        gpu = pool._replace(size=room, room=None)
        least = (float(pool.weight[0].sum()) - (every - speed) * limit) * (1 - LEAST)
        for held in _extend(gpu, pieces, (least, limit * speed), ()):
            found.append(GpuPattern(kind, held))
            if len(found) > most:
                return None
    return found


def _extend(
    pool: Pools, pieces: list[Piece], loads: tuple[float, float], held: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Yield the patterns that begin with the pieces held and go on with smaller ones, within a range of loads."""
    left = pool.size - len(held)
    if not left:
        if loads[0] <= 0:
            yield held
        return
    for at in range(held[-1] if held else 0, len(pieces)):
        piece = pieces[at]
        if piece.load > loads[1]:
            continue
        if piece.load * left < loads[0]:
            return
        others = [k for k in held if pieces[k].expert == piece.expert]
        if others and (others[0] != at or len(others) >= min(pool.copies, piece.replicas)):
            continue
        yield from _extend(pool, pieces, (loads[0] - piece.load, loads[1] - piece.load), (*held, at))


def _choose(
    pool: Pools, kinds: GpuKinds, pieces: list[Piece], patterns: list[GpuPattern]
) -> list[tuple[int, ...]] | None:
    """Return the pattern of each GPU, none where no choice is possible, or None where that was not decided."""
    if not patterns:
        return []
    from scipy.optimize import LinearConstraint, milp  # which takes longer to import than all the rest

    columns = len(patterns) + len(pieces)
    rows, at, values = _constraints(pool, pieces, patterns)
    matrix = coo_array((values, (rows, at)), shape=(len(pieces) + pool.experts + len(kinds.number), columns)).tocsr()
    equal = np.concatenate([np.zeros(len(pieces)), np.ones(pool.experts), kinds.number.astype(np.float64)])
    highest = np.concatenate([np.full(len(patterns), float(pool.gpus)), np.ones(len(pieces))])
    found = milp(
        np.zeros(columns),
        integrality=np.ones(columns),
        bounds=(0.0, highest),
        constraints=LinearConstraint(matrix, equal, equal),
        options={"node_limit": NODES},
    )
    if found.status == 2:
        return []
    if found.x is None:
        return None
    times = np.rint(found.x[: len(patterns)]).astype(np.int64)
    chosen = [patterns[k].held for k in np.repeat(np.arange(len(patterns)), times).tolist()]
    # Patterns come kind by kind, and so do GPUs in this order.
    order = np.argsort(np.argsort(kinds.kind, kind="stable"))
    return [chosen[k] for k in order.tolist()]


def _constraints(pool: Pools, pieces: list[Piece], patterns: list[GpuPattern]) -> tuple[IntArray, IntArray, FloatArray]:
    """Return rows, columns and values of what holds with equality.

    All replicas of a number that is chosen are held, each expert has one number, and each GPU one pattern of its kind.
    """
    held = np.concatenate([np.array(pattern.held, np.int64) for pattern in patterns])
    each, number = [len(pattern.held) for pattern in patterns], len(patterns) + np.arange(len(pieces))
    expert = len(pieces) + np.array([piece.expert for piece in pieces])
    last = len(pieces) + pool.experts + np.array([pattern.kind for pattern in patterns])
    rows = np.concatenate([held, np.arange(len(pieces)), expert, last])
    columns = np.concatenate([np.repeat(np.arange(len(patterns)), each), number, number, np.arange(len(patterns))])
    replicas = np.array([float(piece.replicas) for piece in pieces])
    values = np.concatenate([np.ones(held.size), -replicas, np.ones(len(pieces) + len(patterns))])
    return rows, columns, values
