"""Tests of the SPECs of clusters."""

from pathlib import Path

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.topologies.trees import DGX_DISTANCES, dgx
from tiger.training.hardware.collectives import RingTable
from tiger.training.hardware.kinds import DGX_1V_LANES, KINDS
from tiger.training.hardware.ring_links import RingLinks
from tiger.training.hardware.spec import cluster_of_spec

LISTED = (Path(__file__).parents[3] / "examples/clusters/README.md").read_text().splitlines()


def test_dgx():
    """Two machines of eight GPUs of 80 GB, 370.8 GB/s within and 50 GB/s between."""
    cluster = cluster_of_spec("dgx:2")
    assert (cluster.size, cluster.memory_bytes[0], cluster.names[9]) == (16, 80e9, "m1.gpu1")
    assert float(cluster.seconds(0, 7, 370.8e9)) == pytest.approx(1, rel=1e-5)
    assert float(cluster.seconds(0, 8, 50e9)) == pytest.approx(1, rel=2e-5)


def test_dgx_agrees_with_the_topology_of_that_name():
    """Seconds per byte stand in the ratio of the topology's distances, which are those of links on paper."""
    seconds = cluster_of_spec("dgx:2").table_s(1e15)
    seconds[:8, :8] *= 370.8 / 450
    seconds[8:, 8:] *= 370.8 / 450
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
    """Twelve lanes of 20 GB/s."""
    assert float(cluster_of_spec("dgx-a100:1").seconds(0, 1, 240e9)) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize(
    ("spec", "gpus", "memory", "inside", "between"),
    [
        ("dgx-h100:2", 8, 80e9, 370.8e9, 50e9),
        ("dgx-h200:2", 8, 141e9, 370.8e9, 50e9),
        ("dgx-b200:2", 8, 180e9, 721.8e9, 50e9),
        ("gb200-nvl72:2", 72, 186e9, 721.8e9, 50e9),
    ],
)
def test_switched_machines(spec, gpus, memory, inside, between):
    """As many GPUs, their memory, and bytes per second within and between machines."""
    cluster = cluster_of_spec(spec)
    assert (cluster.size, cluster.memory_bytes[0]) == (2 * gpus, memory)
    assert float(cluster.seconds(0, gpus - 1, inside)) == pytest.approx(1, rel=1e-4)
    assert float(cluster.seconds(0, gpus, between)) == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_listed(kind):
    """The page of clusters has a row of each, with its devices, memory, speed and NICs."""
    row = next(line for line in LISTED if line.startswith(f"| `{kind}`"))
    machine, network = KINDS[kind].machine, KINDS[kind].network
    joined = machine.inside or machine.links[0, 1]
    inside = max(link.bandwidth for link in (joined, *machine.links.values())) / 1e9
    between = f"{machine.nics or machine.devices} x {network.bandwidth / 1e9:g}"
    cells = (machine.devices, machine.device.memory_bytes / 1e9, machine.device.speed, inside, between)
    assert [cell.strip() for cell in row.split("|")[2:-1]] == [
        str(cells[0]),
        *(f"{cell:g}" for cell in cells[1:4]),
        between,
    ]


def test_kinds_may_be_mixed():
    """Two machines of eight H100 and one of four L40S, each kind by its own network, both by that of the SPEC."""
    cluster = cluster_of_spec("dgx-h100:2+l40s:1x4,nics=2@100Gb/s")
    assert (cluster.size, cluster.machines, cluster.own_nics) == (20, 3, False)
    assert cluster.speed[[0, 16]].tolist() == [1, 0.3659]
    assert cluster.nics[[0, 16]].tolist() == [0, 2]
    assert cluster.reduces[[0, 16]].tolist() == [0.85, 0]
    rates = [1 / float(cluster.seconds(0, other, 1e12)) for other in (1, 8, 16)]
    assert rates == pytest.approx([370.8e9 / 1e12, 50e9 / 1e12, 12.5e9 / 1e12], rel=1e-3)
    assert 1e9 / float(cluster_of_spec("dgx:2@200Gb/s").seconds(0, 8, 1e9)) == pytest.approx(25e9, rel=1e-3)
    slowest = cluster_of_spec("rtx4090:1x2+rtx3060:1")
    assert 1e9 / float(slowest.seconds(0, 2, 1e9)) == pytest.approx(1.25e9, rel=1e-3)


def test_wires_beside_each_other_carry_as_much():
    """Seven links of 64 GB/s of each MI300X make seven rings; four devices have three."""
    cluster = cluster_of_spec("mi300x:1")
    for ranks in (8, 4):
        table = RingTable(cluster=cluster, size_bytes=np.array([1e9]), ranks=ranks)
        spent = table.seconds(RingLinks.of(cluster, np.arange(ranks)))
        assert spent == pytest.approx((ranks - 1) * (3.4e-6 + 1e9 / ranks / (64e9 * (ranks - 1))))


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("dgx", "cluster"),
        ("dgx:", "cluster"),
        ("dgx:-1", "cluster"),
        ("dgx:2.0", "cluster"),
        ("dgx:²", "cluster"),
        ("dgx:2x9", "cluster"),
        ("dgx:2x0", "cluster"),
        ("dgx:2,nics=0", "cluster"),
        ("dgx:2+", "cluster"),
        ("dgx:1+l40s:1@", "cluster"),
        ("dgx:1+l40s:1@4", "cluster"),
        ("dgx:1+l40s:1@0GB/s", "cluster"),
        ("dgx:1+l40s:1@1e308GB/s", "cluster"),
        ("dgx:1+l40s:1@1e-300B/s", "cluster"),
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
