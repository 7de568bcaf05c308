"""The heavy-hexagon lattice."""

from collections import Counter

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.topologies.qubits import heavy_hex, heavy_hex_rows
from tiger.topologies.spec import build

DISTANCE_THREE = "0-1 1-2 2-3 3-4 0-5 5-7 3-6 6-10 7-8 8-9 9-10 10-11 8-12 12-15 11-13 13-18 14-15 15-16 16-17 17-18"


def test_distance_three_has_these_links():
    """19 qubits: three rows of five, joined by two bridges each."""
    links = heavy_hex(3).links
    assert sorted(f"{u}-{v}" for u, v in zip(links.u, links.v, strict=True)) == sorted(DISTANCE_THREE.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distance", "qubits", "couplings", "degrees"),
    [
        (1, 1, 0, {0: 1}),
        (3, 19, 20, {1: 2, 2: 13, 3: 4}),
        (5, 57, 64, {1: 2, 2: 39, 3: 16}),
        (7, 115, 132, {1: 2, 2: 77, 3: 36}),
        (21, 1081, 1280, {1: 2, 2: 679, 3: 400}),
    ],
)
def test_sizes_and_degrees(distance, qubits, couplings, degrees):
    """(5 d^2 - 2 d - 1) / 2 qubits, of which (d - 1)^2 have three neighbours."""
    topology = heavy_hex(distance)
    count = np.bincount(np.concatenate([topology.links.u, topology.links.v]), minlength=topology.size)
    assert (topology.size, len(topology.links.u), dict(Counter(count.tolist()))) == (qubits, couplings, degrees)


def test_the_lattice_is_connected_and_two_coloured():
    """Every cycle is even: qubits at odd distance from the first are linked to those at even distance alone."""
    topology = heavy_hex(5)
    colour = topology.metric.table[0] % 2
    assert np.isfinite(topology.metric.table).all()
    assert (colour[topology.links.u] != colour[topology.links.v]).all()


@pytest.mark.parametrize("distance", [-1, 0, 2, 4, 59, 10**9 + 1])
def test_distances_out_of_range_are_refused(distance):
    """An even, negative or huge code distance is bad input."""
    with pytest.raises(InputError, match=r"^topology: expected"):
        heavy_hex(distance)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "width", "qubits", "couplings"), [(7, 15, 127, 144), (13, 27, 433, 504), (21, 43, 1121, 1320)]
)
def test_rows_make_the_processors(rows, width, qubits, couplings):
    """Eagle, Osprey and Condor: connected, with at most three neighbours each."""
    topology = heavy_hex_rows(rows, width)
    count = np.bincount(np.concatenate([topology.links.u, topology.links.v]), minlength=topology.size)
    assert (topology.size, len(topology.links.u), int(count.max())) == (qubits, couplings, 3)
    assert build(f"heavy-hex:{rows}x{width}").size == qubits
    assert np.isfinite(topology.metric.table).all()


def test_eagle_is_numbered_as_ibm_does():
    """Row by row, each before its bridges."""
    links = heavy_hex_rows(7, 15).links
    pairs = {(min(u, v), max(u, v)) for u, v in zip(links.u.tolist(), links.v.tolist(), strict=True)}
    assert {(0, 14), (14, 18), (4, 15), (12, 13), (20, 33), (33, 39), (112, 126), (108, 112)} <= pairs


@pytest.mark.parametrize("text", ["4x15", "7x14", "1x3", "7x15x2", "x", "7x"])
def test_rows_of_another_kind_are_refused(text):
    """By a message with the syntax."""
    with pytest.raises(InputError, match="heavy-hex:RxW"):
        build(f"heavy-hex:{text}")
