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


def heavy_hex_rows(rows: int, width: int) -> Topology:
    """Build the heavy-hexagon lattice of IBM's processors: rows of qubits in a line, joined by bridge qubits.

    Bridges are in every fourth column, from the first on under even rows and from the third on under odd ones; the
    first row lacks its last qubit and the last row its first. 7 x 15 is Eagle's 127 qubits, 13 x 27 Osprey's 433 and
    21 x 43 Condor's 1,121. `rows` is odd, from 3, and `width` 4 k + 3.
    """
    if rows < 3 or rows % 2 == 0 or width < 3 or width % 4 != 3:
        raise InputError(
            "topology", f"expected an odd number of rows from 3 and a width of 4 k + 3, got {rows}x{width}"
        )
    bridges = (width + 1) // 4
    check_count(rows * (width + bridges) - bridges - 2, DENSE_LIMIT)
    pairs: list[tuple[int, int]] = []
    above: dict[int, int] = {}
    start = 0
    for row in range(rows):
        columns = range(int(row == rows - 1), width - int(row == 0))
        number = {column: start + k for k, column in enumerate(columns)}
        start += len(columns)
        pairs += [(number[column], number[column] + 1) for column in columns[:-1]]
        pairs += [(bridge, number[column]) for column, bridge in above.items()]
        under = range(2 * (row % 2), width, 4) if row < rows - 1 else range(0)
        above = {column: start + k for k, column in enumerate(under)}
        pairs += [(number[column], bridge) for column, bridge in above.items()]
        start += len(above)
    return Topology.from_links(coordinate_names((start,)), Links.unit(np.array(pairs, np.int64)))


def _bridge_columns(width: int, row: int) -> list[int]:
    """Return the columns of the bridges under a row: every fourth, and one at an end, shifted from row to row."""
    return [*range(1, width, 4), width - 1] if row % 2 else [0, *range(3, width, 4)]
