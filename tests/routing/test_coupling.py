"""Tests of coupling maps."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.routing.coupling import FAR, Coupling


def test_edges_count_once_in_any_direction() -> None:
    """Repeats, both directions and self loops leave each pair once, the lower qubit first."""
    assert Coupling.of(3, [(2, 1), (1, 2), (0, 1), (1, 1)]).edges.tolist() == [[0, 1], [1, 2]]


def test_neighbours_are_padded() -> None:
    """A star's centre has all the others, its rays have one neighbour and padding."""
    assert Coupling.of(4, [(0, 1), (0, 2), (3, 0)]).neighbours.tolist() == [
        [1, 2, 3],
        [0, -1, -1],
        [0, -1, -1],
        [0, -1, -1],
    ]


def test_hops_are_shortest_paths_and_far_between_parts() -> None:
    """A path of three and a lone qubit are two parts."""
    coupling = Coupling.of(4, [(0, 1), (1, 2)])
    assert coupling.hops.tolist() == [[0, 1, 2, FAR], [1, 0, 1, FAR], [2, 1, 0, FAR], [FAR, FAR, FAR, 0]]
    assert coupling.part.tolist() == [0, 0, 0, 1]


def test_a_device_without_edges_has_lone_qubits() -> None:
    """Nothing is adjacent to anything."""
    coupling = Coupling.of(2, [])
    assert (coupling.neighbours == -1).all()
    assert coupling.hops[0, 1] == FAR


@pytest.mark.parametrize("pair", [(0, 3), (-1, 0)])
def test_a_qubit_out_of_range_is_refused(pair: tuple[int, int]) -> None:
    """The message says which qubits there are."""
    with pytest.raises(InputError, match="from 0 to 2"):
        Coupling.of(3, [pair])


def test_arrays_are_read_only() -> None:
    """Several threads read them."""
    coupling = Coupling.of(3, [(0, 1)])
    for array in (coupling.edges, coupling.neighbours, coupling.hops, coupling.part):
        with pytest.raises(ValueError, match="read-only"):
            np.copyto(array, 0)


def test_one_device_is_one_coupling_map() -> None:
    """What is derived from its edges is derived once, in whatever order they come."""
    one, other = Coupling.of(3, [(0, 1), (1, 2)]), Coupling.of(3, [(2, 1), (1, 0)])
    assert one is other
    assert Coupling.of(4, [(0, 1), (1, 2)]) is not one
