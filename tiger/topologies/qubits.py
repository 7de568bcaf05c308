"""Coupling graphs of quantum devices."""

import numpy as np

from tiger.errors import InputError
from tiger.model.metrics import DENSE_LIMIT
from tiger.model.topology import Links, Topology
from tiger.topologies.coordinates import check_count, coordinate_names


def heavy_hex(distance: int) -> Topology:
    """Build the heavy-hexagon lattice of an odd code distance d, from 1 to 57: (5 d^2 - 2 d - 1) / 2 qubits.

    d rows of 2 d - 1 qubits in a line, with (d + 1) / 2 bridge qubits between neighbouring rows; numbered in reading
    order, each row before the bridges under it. Source: Chamberland et al., Phys. Rev. X 10, 011022 (2020),
    doi:10.1103/PhysRevX.10.011022.
    """
    if distance < 1 or distance % 2 == 0:
        raise InputError("topology", f"expected an odd code distance >= 1, got {distance}")
    qubits = (5 * distance**2 - 2 * distance - 1) // 2
    check_count(qubits, DENSE_LIMIT)
    width, bridges = 2 * distance - 1, (distance + 1) // 2
    pairs = []
    for row in range(distance):
        start = row * (width + bridges)
        pairs += [(q, q + 1) for q in range(start, start + width - 1)]
        if row < distance - 1:
            for bridge, column in enumerate(_bridge_columns(width, row), start + width):
                pairs += [(start + column, bridge), (bridge, start + width + bridges + column)]
    return Topology.from_links(coordinate_names((qubits,)), Links.unit(np.array(pairs, np.int64)))


def _bridge_columns(width: int, row: int) -> list[int]:
    """Return the columns of the bridges under a row: every fourth, and one at an end, shifted from row to row."""
    return [*range(1, width, 4), width - 1] if row % 2 else [0, *range(3, width, 4)]
