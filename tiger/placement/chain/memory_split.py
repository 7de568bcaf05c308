"""The split in proportion to memory, which serving systems make by default, as a baseline."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from tiger.model.arrays import FloatArray
from tiger.training.models.layers import Layers


class Split(NamedTuple):
    """Hold the positions that have layers, in order, and the cuts between them."""

    positions: tuple[int, ...]
    cuts: tuple[int, ...]


def split_by_memory(layers: Layers, room_bytes: FloatArray, first: int = 0) -> Split:
    """Return layers from number `first` on, cut among positions in order in proportion to their memory.

    Without a limit of memory all positions count alike. The embedding goes with the layer behind it, and the head
    counts as one layer, as llama.cpp has it: layer i of n goes to the first position up to which there is more than a
    share i / n of the memory.
    """
    counted = [k for k in range(first, layers.size) if layers.kinds[k] != "embedding"] or list(
        range(first, layers.size)
    )
    finite = all(room < float("inf") for room in room_bytes.tolist()) and room_bytes.sum() > 0
    shares = room_bytes.tolist() if finite else [1.0] * len(room_bytes)
    ahead = list(accumulate(share / sum(shares) for share in shares))
    # Rounding of the last sum must not leave the last layer without a position.
    places = [min(bisect_right(ahead, k / len(counted)), len(ahead) - 1) for k in range(len(counted))]
    return _runs(places, counted, (first, layers.size))


def _runs(places: Sequence[int], counted: Sequence[int], ends: tuple[int, int]) -> Split:
    """Return the positions of runs of layers, and their cuts."""
    begins = [k for k in range(len(places)) if not k or places[k] != places[k - 1]]
    cuts = (ends[0], *(counted[k] for k in begins[1:]), ends[1])
    return Split(tuple(places[k] for k in begins), cuts)
