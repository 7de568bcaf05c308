"""Tests of clusters from what nccl-tests print."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.collectives import Collective, RingTable
from tiger.training.hardware.reading import cluster_of_document, read_cluster
from tiger.training.hardware.ring_links import WHOLE, RingLinks, nic_shares

HEADER = "# nThread 1 nGpus 8 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n"
TITLES = "#   size   count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
SUMMED = (
    HEADER
    + TITLES
    + (
        "#    (B)  (elements)                 (us) (GB/s) (GB/s)         (us) (GB/s) (GB/s)\n"
        "  1048576  262144  float  sum  -1    40.0  26.21  45.87  0  40.0  26.21  45.87  0\n"
        " 16777216 4194304  float  sum  -1   120.0 139.81 244.67  0 120.0 139.81 244.67  0\n"
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 145.27\n"
    )
)
GATHERED = (
    HEADER
    + TITLES
    + (
        " 16777216 4194304  float  none  -1   80.0 209.72 183.50  0  80.0 209.72 183.50  0\n"
        " 33554432 8388608  float  none  -1  140.0 239.67 209.72  0 140.0 239.67 209.72  0\n"
    )
)
RANKS = "".join(
    f"#  Rank  {k} Group  0 Pid  1{k} on  node{k // 4} device  {k % 4} [0x07] NVIDIA A100\n" for k in range(8)
)


def seconds_of(cluster: Cluster, size: float, collective: Collective) -> float:
    """Return the seconds of a collective among all devices."""
    devices = np.arange(cluster.size)
    table = RingTable(cluster=cluster, size_bytes=np.array([size]), ranks=cluster.size, collective=collective)
    return float(table.seconds(RingLinks.of(cluster, devices))[0])


@pytest.mark.parametrize(
    ("text", "collective", "known"),
    [
        (SUMMED, "all-reduce", {1048576: 40e-6, 16777216: 120e-6}),
        (GATHERED, "gather", {16777216: 80e-6, 33554432: 140e-6}),
    ],
)
def test_a_collective_takes_as_long_as_measured(text, collective, known, tmp_path):
    """As a file, as a document, and as the table of a machine and of a host; between sizes it is interpolated."""
    (tmp_path / "run.txt").write_text(text)
    (tmp_path / "hosts.conf").write_text("NodeName=n[0-1]\nSwitchName=s0 Nodes=n[0-1]\n")
    machine = {"devices": 8, "table": {"nccl_tests": text}}
    clusters = [
        read_cluster(tmp_path / "run.txt"),
        cluster_of_document({"nccl_tests": text, "memory_bytes": 8e10}),
        cluster_of_document({"machines": [machine]}),
        cluster_of_document({"file": "run.txt", "text": text}),
    ]
    for cluster in clusters:
        for size, spent in known.items():
            assert seconds_of(cluster, size, collective) == pytest.approx(spent)
    sizes, times = list(known), list(known.values())
    assert seconds_of(clusters[0], sum(sizes) / 2, collective) == pytest.approx(sum(times) / 2)
    assert clusters[1].memory_bytes.tolist() == [8e10] * 8


def test_runs_on_hosts_are_networks():
    """Eight ranks on two hosts say nothing of one of them, but what goes between two."""
    text = RANKS + TITLES + SUMMED.partition(TITLES)[2]
    with pytest.raises(InputError, match="got one on 2 hosts"):
        cluster_of_document({"nccl_tests": text})
    for nics in (None, 2):
        own = {} if nics is None else {"nics": nics}
        machine = {"count": 2, "devices": 4, "bandwidth": 1e15, "nic": "ib", **own}
        table = {"nccl_tests": text, **own}
        cluster = cluster_of_document({"machines": [machine], "nics": {"ib": {"table": table}}})
        assert float(cluster.seconds(0, 4, 16777216 / 8 / (nics or 4))) == pytest.approx(120e-6 / 14)
        # Those of seven steps that stay inside a machine start at once there.
        ranks, start = np.arange(8), 40e-6 / 14
        links = RingLinks.of(cluster, ranks, nic_shares(cluster, ranks[None])[0] if nics else WHOLE)
        table_s = RingTable(cluster=cluster, size_bytes=np.array([16777216.0]), ranks=8, collective="both")
        assert table_s.seconds(links) == pytest.approx(120e-6 - 2 * 6 * start, rel=1e-4)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEADER + TITLES, "expected two sizes or more, got 0"),
        (SUMMED + SUMMED, "expected one run, whose sizes rise"),
        (SUMMED.replace("nGpus 8", "nGpus 1"), "expected two ranks or more"),
        (SUMMED.replace("nGpus 8", "nGpus 4"), "expected a bus bandwidth of an operation among 4 ranks, got 244.67"),
        (SUMMED.replace("120.0", "oops"), "line 5: expected a number in column 6, got 'oops'"),
        ("size time", "expected what nccl-tests print"),
    ],
)
def test_other_texts_are_refused(text, reason):
    """Each says what is wrong, and where."""
    with pytest.raises(InputError, match="nccl_tests") as caught:
        cluster_of_document({"nccl_tests": text})
    assert reason in caught.value.reason
