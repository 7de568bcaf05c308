"""Node names by coordinates, and the bounds that keep a short text from asking for a huge machine."""

import math
from itertools import product

from tiger.errors import InputError

# A few words of text must not ask for more: a torus of this many nodes takes 250 MB.
NODE_LIMIT = 1_048_576
# As many axes as numpy arrays have had at most.
AXIS_LIMIT = 32


def check_count(nodes: int, limit: int = NODE_LIMIT) -> None:
    """Raise InputError unless 1 <= nodes <= limit; called before anything is allocated."""
    if nodes < 1:
        raise InputError("topology", f"expected at least 1 node, got {nodes}")
    if nodes > limit:
        raise InputError("topology", f"expected at most {limit:,} nodes, got {nodes:,}")


def check_extents(extents: tuple[int, ...]) -> None:
    """Raise InputError unless there are 1 to 32 extents >= 1 whose product is within the node limit."""
    if not 1 <= len(extents) <= AXIS_LIMIT:
        raise InputError("topology", f"expected 1 to {AXIS_LIMIT} extents, got {len(extents)}")
    if min(extents) < 1:
        raise InputError("topology", f"expected extents >= 1, got {min(extents)}")
    check_count(math.prod(extents))


def coordinate_names(extents: tuple[int, ...]) -> tuple[str, ...]:
    """Return the coordinates of every point as text, the last axis varying fastest: `1,2,3`, or `3` on one axis."""
    axes = ([str(position) for position in range(extent)] for extent in extents)
    return tuple(map(",".join, product(*axes)))
