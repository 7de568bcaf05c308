"""The messages of patterns: how many there are by formula, and from which rank to which, by array slices."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray

# As many as a SPEC of hardware may have nodes.
RANK_LIMIT = 1_048_576
# All-to-all among 4,096 ranks has a few less, and takes 1 GB and 4 s.
MESSAGE_LIMIT = 2**24
# A halo with corners has 3^d - 1 messages a rank: 728 of them.
AXIS_LIMIT = 6

# Messages of one volume: their sources, their targets, the volume of each.
Block = tuple[IntArray, IntArray, float]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Hold the number of `ranks` and of `messages`, and the way to list the messages, which takes memory."""

    ranks: int
    messages: int
    blocks: Callable[[], Iterator[Block]]

    def __post_init__(self) -> None:
        """Raise InputError for too many ranks or messages, before any of them is made."""
        if not 1 <= self.ranks <= RANK_LIMIT:
            raise InputError("tasks", f"expected 1 to {RANK_LIMIT:,} ranks, got {self.ranks:,}")
        if self.messages > MESSAGE_LIMIT:
            raise InputError("tasks", f"expected at most {MESSAGE_LIMIT:,} messages, got {self.messages:,}")


def halo(extents: tuple[int, ...], *, faces: float = 1.0, corners: float = 0.0, wrap: bool = False) -> Pattern:
    """Exchange among neighbours of a grid: one message of volume `faces` in each direction along each axis.

    Diagonal neighbours get `corners`. On an axis of extent 2 that wraps, both neighbours are one rank, which gets both
    messages; an axis of extent 1 has no neighbours. Raises InputError of `tasks` for more than 6 extents, and for more
    ranks or messages than there may be.
    """
    if not 1 <= len(extents) <= AXIS_LIMIT:
        raise InputError("tasks", f"expected 1 to {AXIS_LIMIT} extents, got {len(extents)}")
    ranks = math.prod(extents)
    # Pairs of neighbours along an axis, in both directions.
    moves = [0 if extent == 1 else 2 * (extent if wrap else extent - 1) for extent in extents]
    straight = sum(ranks // extent * pairs for extent, pairs in zip(extents, moves, strict=True) if pairs)
    diagonal = math.prod(extent + pairs for extent, pairs in zip(extents, moves, strict=True)) - ranks - straight
    messages = (straight if faces else 0) + (diagonal if corners else 0)

    def list_blocks() -> Iterator[Block]:
        index = np.arange(ranks).reshape(extents)
        for step in product(*((-1, 0, 1) if pairs else (0,) for pairs in moves)):
            volume = faces if np.count_nonzero(step) == 1 else corners
            if volume and any(step):
                yield *_shift(index, step, wrap=wrap), volume

    return Pattern(ranks, messages, list_blocks)


def ring(ranks: int) -> Pattern:
    """Send a message of volume 1 from each rank to the next, and from the last to the first.

    Raises InputError of `tasks` for more ranks than there may be.
    """

    def list_blocks() -> Iterator[Block]:
        index = np.arange(ranks)
        yield index, np.roll(index, -1), 1.0

    return Pattern(ranks, ranks, list_blocks) if ranks > 1 else Pattern(ranks, 0, lambda: iter(()))


def fft(rows: int, columns: int) -> Pattern:
    """Transpose the pencils of a decomposition in two dimensions: all-to-all inside each row and each column.

    All messages have volume 1. Raises InputError of `tasks` for more ranks or messages than there may be.
    """
    ranks = rows * columns

    def list_blocks() -> Iterator[Block]:
        index = np.arange(ranks).reshape(rows, columns)
        for groups in (index, index.T):
            yield *pair_all(groups), 1.0

    return Pattern(ranks, ranks * (rows + columns - 2), list_blocks)


def all_to_all(ranks: int) -> Pattern:
    """Send a message of volume 1 from each rank to every other one: the row of an `fft` of one row.

    Raises InputError of `tasks` for more ranks or messages than there may be.
    """
    return fft(1, ranks)


def tree_allreduce(ranks: int) -> Pattern:
    """Reduce up and broadcast down a binary tree, in which the parent of rank k is (k - 1) // 2.

    All messages have volume 1. Raises InputError of `tasks` for more ranks than there may be.
    """

    def list_blocks() -> Iterator[Block]:
        children = np.arange(1, ranks)
        parents = (children - 1) // 2
        yield children, parents, 1.0
        yield parents, children, 1.0

    return Pattern(ranks, 2 * (ranks - 1), list_blocks)


def _shift(index: IntArray, step: tuple[int, ...], *, wrap: bool) -> tuple[IntArray, IntArray]:
    """Return the ranks that have a neighbour at a step of -1, 0 or 1 along each axis, and those neighbours."""
    if wrap:
        return index.ravel(), np.roll(index, [-move for move in step], tuple(range(index.ndim))).ravel()
    inner = {-1: slice(1, None), 0: slice(None), 1: slice(None, -1)}
    source = index[tuple(inner[move] for move in step)]
    target = index[tuple(inner[-move] for move in step)]
    return source.ravel(), target.ravel()


def pair_all(groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return all ordered pairs of two ranks of a group, for groups of one size as rows."""
    size = groups.shape[1]
    place = np.arange(size)[:, None]
    others = np.arange(size - 1)[None, :]
    # The k-th other one is k below the rank's own place, and k + 1 from there on.
    target = groups[:, others + (others >= place)]
    return np.repeat(groups, size - 1, axis=1).ravel(), target.ravel()
