"""What two colours show of graphs that embed nowhere: a graph with an odd cycle does not embed in one without.

Where the vertices of a device fall into two sides with all edges between them, those of a connected graph in it do,
too, and its sides are on different sides of the device. A path of 100 qubits does not fit a heavy-hexagon lattice of
115, of which one side has 48: searches for such a layout took 13 of 16 s at level 3.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import IntArray
from tiger.routing.coupling import Coupling, IndexArray


def refuses_colours(pairs: IndexArray, coupling: Coupling) -> bool:
    """Return whether two colours show that the pairs `[e, 2]` are adjacent in no layout; False says nothing.

    O(e + N) and the sums of the sides of the parts, bit by bit.
    """
    device = _find_sides(coupling.edges)
    if device is None or not len(pairs):
        return False
    circuit = _find_sides(pairs)
    if circuit is None:
        return True
    # With several parts of the device either might have any part of the circuit.
    if len(device) > 1:
        return False
    # Bit k: so many qubits may be on the first side.
    sums = 1
    for one, other in circuit.tolist():
        sums = sums << one | sums << other
    room, other_room = device[0].tolist()
    least = max(int(circuit.sum()) - other_room, 0)
    return least > room or not sums >> least & (1 << (room - least + 1)) - 1


def _find_sides(pairs: IndexArray) -> IntArray | None:
    """Return how many vertices `[parts, 2]` of a graph's parts are on either side, None where it has an odd cycle."""
    vertices, ends = np.unique(pairs, return_inverse=True)
    (a, b), count = ends.reshape(-1, 2).T, len(vertices)
    # Twice the graph, with every edge between the two: an odd cycle joins a vertex with itself.
    doubled = coo_array(
        (np.ones(2 * len(a), np.bool_), (np.append(a, a + count), np.append(b + count, b))), (2 * count,) * 2
    )
    _, label = connected_components(doubled, directed=False)
    first, second = label[:count], label[count:]
    if (first == second).any():
        return None
    _, part = np.unique(np.minimum(first, second), return_inverse=True)
    sizes = np.zeros((int(part.max(initial=-1)) + 1, 2), np.int64)
    np.add.at(sizes, (part, (first < second).astype(np.int64)), 1)
    return sizes
