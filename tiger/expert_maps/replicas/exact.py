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


def solve_exactly(pool: Pools, reached: float, most: int) -> Solved:
    """Return the best solution of one pool that is better than a load reached, if one is, and whether it is the best.

    Each program asks for a largest load below the one reached: which numbers of replicas, and how many GPUs hold which
    of the patterns, whose loads lie between that and what the other GPUs leave. When none is left, the last is optimal.
    More than `most` patterns, or a program that branch and bound do not decide soon, leave the question open.
    """
    if pool.slots > SLOTS:
        return Solved(None, proven=False)
    best: IntArray | None = None
    while True:
        limit = reached * (1 - LEAST)
        if limit == reached:
            # Below the normal numbers there are too few digits to tell loads apart.
            return Solved(best, proven=False)
        if bool(rule_out(pool, np.array([limit]))[0]):
            return Solved(best, proven=True)
        pieces = _list_pieces(pool, limit)
        patterns = _list_patterns(pool, pieces, limit, most)
        if patterns is None:
            return Solved(best, proven=False)
        chosen = _choose(pool, pieces, patterns)
        if chosen is None or not len(chosen):
            return Solved(best, proven=chosen is not None)
        best = np.array([[pieces[k].expert for k in patterns[at]] for at in chosen.tolist()], np.int64)
        reached = max(sum(pieces[k].load for k in patterns[at]) for at in chosen.tolist())


def _list_pieces(pool: Pools, limit: float) -> list[Piece]:
    """Return the replicas that a GPU may hold, largest first."""
    weight = pool.weight[0].tolist()
    pieces = [
        Piece(expert, replicas, load / replicas)
        for expert, load in enumerate(weight)
        for replicas in range(1, pool.most + 1)
        if load / replicas <= limit
    ]
    return sorted(pieces, key=lambda piece: -piece.load)


def _list_patterns(pool: Pools, pieces: list[Piece], limit: float, most: int) -> list[tuple[int, ...]] | None:
    """Return what a GPU may hold, as places of pieces, or None where that is more than `most`.

    Its load is at most the limit, and at least what is left when all other GPUs are at the limit.
    """
    least = (float(pool.weight[0].sum()) - (pool.gpus - 1) * limit) * (1 - LEAST)
    found: list[tuple[int, ...]] = []
    for pattern in _extend(pool, pieces, (least, limit), ()):
        found.append(pattern)
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


def _choose(pool: Pools, pieces: list[Piece], patterns: list[tuple[int, ...]]) -> IntArray | None:
    """Return the pattern of each GPU, none where no choice is possible, or None where that was not decided."""
    if not patterns:
        return np.empty(0, np.int64)
    from scipy.optimize import LinearConstraint, milp  # which takes longer to import than all the rest

    columns = len(patterns) + len(pieces)
    rows, at, values = _constraints(pool, pieces, patterns)
    matrix = coo_array((values, (rows, at)), shape=(len(pieces) + pool.experts + 1, columns)).tocsr()
    equal = np.concatenate([np.zeros(len(pieces)), np.ones(pool.experts), [float(pool.gpus)]])
    highest = np.concatenate([np.full(len(patterns), float(pool.gpus)), np.ones(len(pieces))])
    found = milp(
        np.zeros(columns),
        integrality=np.ones(columns),
        bounds=(0.0, highest),
        constraints=LinearConstraint(matrix, equal, equal),
        options={"node_limit": NODES},
    )
    if found.status == 2:
        return np.empty(0, np.int64)
    if found.x is None:
        return None
    return np.repeat(np.arange(len(patterns)), np.rint(found.x[: len(patterns)]).astype(np.int64))


def _constraints(
    pool: Pools, pieces: list[Piece], patterns: list[tuple[int, ...]]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return rows, columns and values of what holds with equality.

    All replicas of a number that is chosen are held, each expert has one number, and each GPU one pattern.
    """
    held, number = np.array(patterns), len(patterns) + np.arange(len(pieces))
    expert = len(pieces) + np.array([piece.expert for piece in pieces])
    last = np.full(len(patterns), len(pieces) + pool.experts)
    rows = np.concatenate([held.ravel(), np.arange(len(pieces)), expert, last])
    columns = np.concatenate([np.repeat(np.arange(len(patterns)), pool.size), number, number, np.arange(len(patterns))])
    replicas = np.array([float(piece.replicas) for piece in pieces])
    values = np.concatenate([np.ones(held.size), -replicas, np.ones(len(pieces) + len(patterns))])
    return rows, columns, values
