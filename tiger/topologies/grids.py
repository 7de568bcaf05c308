"""Meshes and tori of any dimension, hypercubes and rings: distances by formula, links by array slices."""

import math

import numpy as np

from tiger.errors import InputError
from tiger.model.metrics import GridMetric
from tiger.model.topology import Links, Topology
from tiger.topologies.coordinates import NODE_LIMIT, check_extents, coordinate_names


def grid(dims: tuple[int, ...]) -> Topology:
    """Build a mesh of the given extents, without wrap-around."""
    check_extents(dims)
    return _build(dims, wrap=(False,) * len(dims))


def torus(dims: tuple[int, ...]) -> Topology:
    """Build a mesh that wraps around along every axis."""
    check_extents(dims)
    return _build(dims, wrap=(True,) * len(dims))


def hypercube(dimension: int) -> Topology:
    """Build the hypercube of 2^dimension nodes: a mesh with that many axes of extent 2."""
    most = NODE_LIMIT.bit_length() - 1
    if not 1 <= dimension <= most:
        raise InputError("topology", f"expected a dimension from 1 to {most}, got {dimension}")
    return grid((2,) * dimension)


def ring(nodes: int) -> Topology:
    """Build a ring: a torus of one axis."""
    return torus((nodes,))


def grid_links(dims: tuple[int, ...], wrap: tuple[bool, ...], length: float = 1.0) -> Links:
    """Return the links between grid neighbours, axis by axis, all of one length and of bandwidth 1.

    Two nodes have one link at most: an axis of extent 2 that wraps around has the link of one that does not. O(m d) for
    m nodes on d axes.
    """
    index = np.arange(math.prod(dims)).reshape(dims)
    ends = [np.zeros((0, 2), np.int64)]
    for axis, (extent, around) in enumerate(zip(dims, wrap, strict=True)):
        slab = np.moveaxis(index, axis, 0)
        ends.append(np.stack([slab[:-1].ravel(), slab[1:].ravel()], axis=1))
        if around and extent > 2:
            ends.append(np.stack([slab[-1].ravel(), slab[0].ravel()], axis=1))
    pairs = np.concatenate(ends)
    return Links(u=pairs[:, 0], v=pairs[:, 1], weight=np.full(len(pairs), length), bandwidth=np.ones(len(pairs)))


def _build(dims: tuple[int, ...], wrap: tuple[bool, ...]) -> Topology:
    """Build the topology of checked extents."""
    return Topology(names=coordinate_names(dims), metric=GridMetric(dims, wrap), links=grid_links(dims, wrap))
