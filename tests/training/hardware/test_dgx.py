"""Tests of the SPECs of DGX machines."""

import re

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.topologies.trees import DGX_DISTANCES, dgx
from tiger.training.hardware.dgx import DGX_1V_LANES, KINDS, cluster_of_spec


def test_dgx():
    """Two machines of eight GPUs of 80 GB, 450 GB/s within and 50 GB/s between."""
    cluster = cluster_of_spec("dgx:2")
    assert (cluster.size, cluster.memory_bytes[0], cluster.names[9]) == (16, 80e9, "m1.gpu1")
    assert float(cluster.seconds(0, 7, 450e9)) == pytest.approx(1, rel=1e-5)
    assert float(cluster.seconds(0, 8, 50e9)) == pytest.approx(1, rel=2e-5)


def test_dgx_agrees_with_the_topology_of_that_name():
    """Seconds per byte stand in the ratio of the topology's distances."""
    seconds = cluster_of_spec("dgx:2").table_s(1e15)
    gpus = np.arange(16)
    distance = dgx(2).metric.between(gpus[:, None], gpus)
    assert np.allclose(seconds / seconds[0, 1] * DGX_DISTANCES[0], distance)


def test_every_v100_of_a_dgx_1_has_six_lanes():
    """The lanes of each GPU are used up, and there is a ring of double lanes over all eight."""
    used = [sum(lanes for pair, lanes in DGX_1V_LANES.items() if gpu in pair) for gpu in range(8)]
    assert used == [6] * 8
    ring = [0, 3, 2, 1, 5, 6, 7, 4]
    assert all(DGX_1V_LANES[min(a, b), max(a, b)] == 2 for a, b in zip(ring, ring[1:] + ring[:1], strict=True))


def test_dgx_1v():
    """Pairs of two lanes, of one, of none and of two machines take ever longer."""
    cluster = cluster_of_spec("dgx-1v:2")
    seconds = [float(cluster.seconds(0, b, 50e9)) for b in (3, 1, 8, 5)]
    assert seconds == pytest.approx([1, 2, 4, 5], rel=1e-4)


def test_dgx_a100():
    """Twelve lanes of 25 GB/s."""
    assert float(cluster_of_spec("dgx-a100:1").seconds(0, 1, 300e9)) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize(
    ("spec", "gpus", "memory", "inside", "between"),
    [
        ("dgx-h100:2", 8, 80e9, 450e9, 50e9),
        ("dgx-h200:2", 8, 141e9, 450e9, 50e9),
        ("dgx-b200:2", 8, 180e9, 900e9, 50e9),
        ("gb200-nvl72:2", 72, 186e9, 900e9, 50e9),
    ],
)
def test_switched_machines(spec, gpus, memory, inside, between):
    """As many GPUs, their memory, and bytes per second within and between machines."""
    cluster = cluster_of_spec(spec)
    assert (cluster.size, cluster.memory_bytes[0]) == (2 * gpus, memory)
    assert float(cluster.seconds(0, gpus - 1, inside)) == pytest.approx(1, rel=1e-4)
    assert float(cluster.seconds(0, gpus, between)) == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_describe_themselves(kind):
    """The syntax of a kind is its name and a number of machines."""
    assert KINDS[kind].syntax == f"{kind}:n"
    assert re.fullmatch(r"n (DGX|GB200).* machines of \d+ .*", KINDS[kind].description)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("dgx", "cluster"),
        ("dgx:", "cluster"),
        ("dgx:-1", "cluster"),
        ("dgx:2.0", "cluster"),
        ("dgx:²", "cluster"),
        ("dgx:2x4", "cluster"),
        ("torus:4", "cluster"),
        ("", "cluster"),
        ("dgx:" + "9" * 5000, "cluster"),
        ("dgx:0", "cluster"),
        ("dgx:1025", "cluster"),
    ],
)
def test_other_texts_are_refused(spec, field):
    """Anything but a kind and a whole number is bad input, and so are no machines or too many."""
    with pytest.raises(InputError) as caught:
        cluster_of_spec(spec)
    assert (caught.value.field, len(caught.value.reason) < 250) == (field, True)
