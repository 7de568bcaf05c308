"""Target architectures of Scotch (`.tgt`): complete graphs, hypercubes, meshes, tori, trees, and stated distances.

Source: Pellegrini, Scotch and libScotch 7.0 User's Guide, section 6.4, https://gitlab.inria.fr/scotch/scotch. Distances
are those that Scotch 7.0.3 itself counts, but for `meshXD`, which wraps around there and not in the guide; in trees,
of which the guide counts the outermost cost alone, they add up (archTleafDomDist of arch_tleaf.c).
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.pairs import find_tree
from tiger.model.arrays import lock
from tiger.model.metrics import DENSE_LIMIT, DenseMetric, GridMetric, Metric, TreeMetric
from tiger.model.text import read_wholes
from tiger.model.topology import Topology
from tiger.model.wording import describe
from tiger.topologies.coordinates import check_count, check_extents

FIELD = "topology"
# What Scotch knows beside what is read, and why it is not.
OTHERS: Mapping[str, str] = {
    "ltleaf": "a tree whose leaves are numbered in another order: state tleaf",
    "sub": "a part of another architecture: state that one, and the part as an allocation",
    "dist": "distances that are scaled: state the architecture itself",
    "varcmplt": "which has no size",
    "varhcub": "which has no size",
}


def read_target(text: str) -> Topology:
    """Return the processors of an architecture, called by their numbers, at the distances that Scotch counts.

    Raises InputError of `topology` that names the architecture.
    """
    kind, *words = text.split() or [""]
    names = {name.lower(): name for name in (*_READERS, *OTHERS)}
    name = names.get(kind.lower())
    if name in OTHERS or name is None:
        known, why = ", ".join(_READERS), f", {OTHERS[name]}" if name else ""
        raise InputError(FIELD, f"expected an architecture of Scotch out of {known}, got {describe(kind)}{why}")
    numbers = read_wholes(FIELD, name, words).tolist()
    return _READERS[name](name, numbers)


def _read_complete(name: str, numbers: Sequence[int]) -> Topology:
    """Return `cmplt SIZE`, processors that are all 1 apart."""
    _check_length(name, "a size", numbers, 1)
    return _make_complete(numbers[0])


def _read_weighted(name: str, numbers: Sequence[int]) -> Topology:
    """Return `cmpltw SIZE WEIGHT ..`, whose weights must be equal."""
    size = numbers[0] if numbers else 0
    _check_length(name, "a size and as many weights", numbers, 1 + size)
    _check_weights(name, numbers[1:])
    return _make_complete(size)


def _read_cube(name: str, numbers: Sequence[int]) -> Topology:
    """Return `hcub DIMENSION`, numbers that differ in a bit being 1 apart."""
    _check_length(name, "a dimension", numbers, 1)
    # No more axes than the check of extents refuses.
    return _make_grid([2] * min(numbers[0], 99), wrap=False)


def _read_grid(name: str, numbers: Sequence[int]) -> Topology:
    """Return `mesh2D X Y`, `torus3D X Y Z` or the like, X varying fastest."""
    count = int(name[-2])
    _check_length(name, f"{count} extents", numbers, count)
    return _make_grid(numbers[::-1], wrap=name.startswith("torus"))


def _read_any_grid(name: str, numbers: Sequence[int]) -> Topology:
    """Return `meshXD COUNT X Y ..` or `torusXD COUNT X Y ..`."""
    _check_length(name, "a number of extents and the extents", numbers, 1 + (numbers[0] if numbers else 0))
    return _make_grid(numbers[:0:-1], wrap=name.startswith("torus"))


def _read_leaves(name: str, numbers: Sequence[int]) -> Topology:
    """Return `tleaf LEVELS SIZE COST ..`, outermost first; the costs of all levels that two leaves climb add up."""
    levels = numbers[0] if numbers else 0
    _check_length(name, "a number of levels, and a size and a cost of each", numbers, 1 + 2 * levels)
    sizes, costs = numbers[1::2], numbers[2::2]
    if not levels or min(sizes) < 2 or min(costs) < 1:
        raise InputError(FIELD, f"{name}: expected levels of a size from 2 on and a cost from 1 on, got others")
    check_extents(tuple(sizes))
    return _name_nodes(TreeMetric(tuple(sizes), tuple(map(float, accumulate(reversed(costs))))))


def _read_decomposition(name: str, numbers: Sequence[int]) -> Topology:
    """Return `deco 0 SIZE LARGEST`, then LABEL WEIGHT NUMBER of each processor and the lower triangle of distances.

    Numbers say how Scotch cuts the processors, and play no part. O(n^2).
    """
    if numbers[:1] != [0]:
        raise InputError(FIELD, f"{name}: expected format 0, got {numbers[0] if numbers else 'none'}")
    size = numbers[1] if len(numbers) > 1 else 0
    check_count(size, DENSE_LIMIT)
    expected = "0, a size, the largest number, three numbers of each processor, and the distances of each two"
    _check_length(name, expected, numbers, 3 + 3 * size + size * (size - 1) // 2)
    processors = np.array(numbers[3 : 3 + 3 * size]).reshape(size, 3)
    _check_weights(name, processors[:, 1].tolist())
    table = np.zeros((size, size))
    table[np.tril_indices(size, -1)] = numbers[3 + 3 * size :]
    table += table.T
    if (table + np.eye(size) < 1).any():
        raise InputError(FIELD, f"{name}: expected distances from 1 on, got 0")
    labels = tuple(map(str, processors[:, 0].tolist()))
    return Topology(names=labels, metric=find_tree(table) or DenseMetric(lock(table)))


def _check_length(name: str, expected: str, numbers: Sequence[int], count: int) -> None:
    """Raise InputError unless there are as many numbers as an architecture has."""
    if len(numbers) != count:
        raise InputError(FIELD, f"{name}: expected {expected}, {count} numbers, got {len(numbers)}")


def _check_weights(name: str, weights: Sequence[int]) -> None:
    """Raise InputError for processors that are to take shares of the work by different weights."""
    if len(set(weights)) > 1 or 0 in weights:
        what = "expected equal weights of processors, as none takes a share of the work by its weight"
        raise InputError(FIELD, f"{name}: {what}, got {min(weights)} to {max(weights)}")


def _make_complete(size: int) -> Topology:
    """Return processors that are all 1 apart."""
    check_count(size)
    return _name_nodes(TreeMetric((size,), (1.0,)))


def _make_grid(extents: Sequence[int], *, wrap: bool) -> Topology:
    """Return a mesh or a torus, the last axis varying fastest."""
    check_extents(tuple(extents))
    return _name_nodes(GridMetric(tuple(extents), (wrap,) * len(extents)))


def _name_nodes(metric: Metric) -> Topology:
    """Return processors by number."""
    return Topology(names=tuple(map(str, range(metric.size))), metric=metric)


_READERS: Mapping[str, Callable[[str, Sequence[int]], Topology]] = {
    "cmplt": _read_complete,
    "cmpltw": _read_weighted,
    "hcub": _read_cube,
    "mesh2D": _read_grid,
    "mesh3D": _read_grid,
    "meshXD": _read_any_grid,
    "torus2D": _read_grid,
    "torus3D": _read_grid,
    "torusXD": _read_any_grid,
    "tleaf": _read_leaves,
    "deco": _read_decomposition,
}
