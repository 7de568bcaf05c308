"""Tests of documents of node groups."""

import pytest

from tiger.errors import InputError
from tiger.training.hardware.machines import cluster_of_machines

TOPO = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV2\t0-3\nGPU1\tNV2\t X \t0-3\n"
PAIR = {"devices": 2, "bandwidth": 100}
LANES = {**PAIR, "lane_bandwidth": 20, "lane_latency": 1}
NICS = {"ib": {"bandwidth": 50}, "roce": {"bandwidth": 25}, "ethernet": {"bandwidth": 3, "latency": 2}}


def refusal(document):
    """Return the error of a document that is bad input."""
    with pytest.raises(InputError) as caught:
        cluster_of_machines(document)
    return caught.value


def test_one_machine():
    """A node group alone needs no network; its count is 1."""
    cluster = cluster_of_machines({"machines": [{**PAIR, "latency": 1, "speed": 0.5, "memory_bytes": 7}]})
    assert (cluster.names, cluster.speed.tolist()) == (("m0.gpu0", "m0.gpu1"), [0.5, 0.5])
    assert (cluster.memory_bytes.tolist(), float(cluster.seconds(0, 1, 200))) == ([7, 7], 3)


def test_lanes_carry_multiples():
    """Two lanes carry twice as much; pairs without lanes use the bandwidth, or have no link where there is none."""
    group = {"devices": 3, "lanes": [[2, 0, 2]], "lane_bandwidth": 20, "lane_latency": 1}
    cluster = cluster_of_machines({"machines": [{**group, "bandwidth": 4}]})
    assert [float(cluster.seconds(0, b, 40)) for b in (1, 2)] == [10, 2]
    assert cluster_of_machines({"machines": [group]}).link.tolist() == [[-1, -1, 0], [-1, -1, -1], [0, -1, -1]]


def test_networks_between_machines():
    """The same network is used at its rate, different ones meet over the fallback."""
    groups = [{"count": 2, "devices": 1, "nic": "ib"}, {"devices": 1, "nic": "roce"}]
    cluster = cluster_of_machines({"machines": groups, "nics": NICS, "fallback": "ethernet"})
    assert [float(cluster.seconds(0, b, 150)) for b in (1, 2)] == [3, 52]


def test_a_machine_as_it_is_printed():
    """The matrix of nvidia-smi gives the number of devices and their connections, with other rates where stated."""
    classes = {"NV#": {"bandwidth": 5}}
    groups = [{"count": 2, "nvidia_smi_topo": TOPO, "nic": "ib"}, {"nvidia_smi_topo": TOPO, "classes": classes}]
    cluster = cluster_of_machines({"machines": groups, "nics": NICS})
    assert cluster.machine.tolist() == [0, 0, 1, 1, 2, 2]
    assert [float(cluster.seconds(a, a + 1, 50e9)) for a in (2, 4)] == [1 + 3.4e-6, 5e9]


@pytest.mark.parametrize(
    ("group", "field"),
    [
        (5, ""),
        ({**PAIR, "gpus": 5}, ""),
        ({"bandwidth": 5}, "/devices"),
        ({**PAIR, "devices": 0}, "/devices"),
        ({**PAIR, "devices": 1.5}, "/devices"),
        ({**PAIR, "count": True}, "/count"),
        ({**PAIR, "count": 0}, "/count"),
        ({"devices": 2}, "/bandwidth"),
        ({**PAIR, "kind": "tpu"}, "/kind"),
        ({**PAIR, "lanes": [[0, 1, 1]]}, "/lanes"),
        ({**PAIR, "lane_bandwidth": 1}, "/lanes"),
        ({**PAIR, "lane_latency": 1}, "/lane_bandwidth"),
        ({**LANES, "lanes": 5}, "/lanes"),
        ({**LANES, "lanes": [5]}, "/lanes/0"),
        ({**LANES, "lanes": [[0, 1]]}, "/lanes/0"),
        ({**LANES, "lanes": [[0, 0, 1]]}, "/lanes/0"),
        ({**LANES, "lanes": [[0, 2, 1]]}, "/lanes/0"),
        ({**LANES, "lanes": [[0, 1, 0]]}, "/lanes/0"),
        ({**LANES, "lanes": [[0, 1, -1]]}, "/lanes/0"),
        ({**LANES, "lanes": [[0, 1, 1], [1, 0, 1]]}, "/lanes/1"),
        ({**PAIR, "classes": {}}, "/classes"),
        ({"nvidia_smi_topo": TOPO, "devices": 2}, "/devices"),
        ({"nvidia_smi_topo": "x"}, "/nvidia_smi_topo"),
        ({"nvidia_smi_topo": None}, "/nvidia_smi_topo"),
        ({"nvidia_smi_topo": TOPO, "classes": {"TIN": {}}}, "/classes"),
        ({**PAIR, "nic": "tin"}, "/nic"),
        ({**PAIR, "nic": None}, "/nic"),
    ],
)
def test_malformed_groups(group, field):
    """Whatever is wrong in a node group is refused by the field at fault."""
    assert refusal({"machines": [group], "nics": NICS}).field == f"cluster/machines/0{field}"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"machines": 5}, "cluster/machines"),
        ({"machines": []}, "cluster/machines"),
        ({"machines": [{**PAIR, "count": 2**52}], "nics": NICS}, "cluster/machines"),
        ({"machines": [PAIR, PAIR]}, "cluster/nics"),
        ({"machines": [PAIR], "nics": []}, "cluster/nics"),
        ({"machines": [PAIR], "nics": {"ib": {}}}, "cluster/nics/ib/bandwidth"),
        ({"machines": [PAIR], "nics": {"ib": {"bandwidth": 0}}}, "cluster/nics/ib/bandwidth"),
        ({"machines": [PAIR], "nics": {"ib": {"rate": 5}}}, "cluster/nics/ib"),
        ({"machines": [PAIR], "fallback": "ib"}, "cluster/fallback"),
        ({"machines": [PAIR], "network": "ib"}, "cluster"),
    ],
)
def test_malformed_documents(document, field):
    """Whatever is wrong around node groups is refused by the field at fault."""
    assert refusal(document).field == field


def test_the_limit_of_the_caller_counts():
    """More devices than allowed are refused."""
    with pytest.raises(InputError, match="1 to 3 devices, got 4"):
        cluster_of_machines({"machines": [{**PAIR, "count": 2, "nic": "ib"}], "nics": NICS}, 3)
