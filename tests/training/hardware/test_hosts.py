"""Tests of clusters from a description of a network and of one machine."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiger
from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.hardware import infiniband
from tiger.model.jsontext import read_json
from tiger.training.hardware import host_connections
from tiger.training.hardware.kinds import NETWORK_LATENCY_S
from tiger.training.hardware.nvidia import cluster_of_topo
from tiger.training.hardware.reading import cluster_of_document, read_cluster, read_cluster_document

EXAMPLES = Path(__file__).parents[3] / "examples"
DUMP = (EXAMPLES / "nvlinks4.xml").read_text(encoding="utf-8")
TOPOLOGIES = EXAMPLES / "topologies"
LAYERS = [{"name": "a", "forward_s": 1, "backward_s": 1, "parameter_bytes": 1, "activation_bytes": 1}]
TREE = {"file": "a.conf", "text": "SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c\nSwitchName=top Switches=s[0-1]\n"}
MACHINE = {"devices": 2, "bandwidth": 1e11, "memory_bytes": 8e9, "speed": 0.5}
LEVELS = {"node": {"bandwidth": "50GB/s"}, "layer3": {"bandwidth": 1e9, "latency": "5us"}}
NETWORKS = [{"bandwidth": 2e9, "latency": 1e-6}, {"bandwidth": 1e9}]


def document(**changed):
    """Return a document of three hosts of two devices, with other fields."""
    return {"hosts": TREE, "machine": MACHINE, "networks": NETWORKS} | changed


def test_hosts_are_joined_by_distance():
    """Two hosts share a switch, the third is farther; inside each there is the machine."""
    cluster = cluster_of_document(document())
    assert cluster.names == ("a.gpu0", "a.gpu1", "b.gpu0", "b.gpu1", "c.gpu0", "c.gpu1")
    assert cluster.machine.tolist() == [0, 0, 1, 1, 2, 2]
    seconds = [float(cluster.seconds(0, k, 1e9)) for k in (1, 2, 3, 4, 5)]
    assert seconds == pytest.approx([0.01, 0.500001, 0.500001, 1, 1])
    assert float(cluster.seconds(4, 5, 1e9)) == pytest.approx(0.01)
    assert set(cluster.memory_bytes.tolist()) == {8e9}


def test_networks_are_stated_by_level():
    """A level that is not stated is the one inside it, and a latency that is not stated is NCCL's."""
    one = cluster_of_document(document(networks={"node": {"bandwidth": 2e9}}))
    two = cluster_of_document(document(networks={"node": {"bandwidth": 2e9}, "rack": NETWORKS[1] | {"latency": 0}}))
    assert [float(one.seconds(0, k, 2e9)) for k in (2, 4)] == pytest.approx([1 + NETWORK_LATENCY_S] * 2)
    assert [float(two.seconds(0, k, 2e9)) for k in (2, 4)] == pytest.approx([1 + NETWORK_LATENCY_S, 2])


def test_levels_of_a_tree_that_is_not_regular():
    """The switch at which two hosts meet counts, not the number of links on the way."""
    text = "SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c\nSwitchName=m Switches=s0\nSwitchName=t Switches=m,s1\n"
    networks = {"node": {"bandwidth": 2e9, "latency": 0}, "tier3": {"bandwidth": 1e9, "latency": 0}}
    cluster = cluster_of_document(document(hosts={"file": "a.conf", "text": text}, networks=networks))
    assert [float(cluster.seconds(0, k, 2e9)) for k in (2, 4)] == pytest.approx([1, 2])


def test_hosts_of_separate_trees_do_not_reach_each_other():
    """Whatever is stated of their levels."""
    hosts = {"file": "a.conf", "text": "SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c,d\n"}
    cluster = cluster_of_document(document(hosts=hosts, networks={"node": {"bandwidth": 2e9}}))
    assert cluster.parts().tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_network_that_states_bandwidths_needs_no_others():
    """Those of InfiniBand, and measured ones; stated ones win."""
    for name, rate in (("fabric4.ibnet", 4 * 53.125e9 / 8), ("pairs.csv", 3e9)):
        text = "a,b,GB/s\nn0,n1,3\n" if name == "pairs.csv" else (TOPOLOGIES / name).read_text(encoding="utf-8")
        whole = {"hosts": {"file": name, "text": text}, "machine": {"devices": 1}}
        cluster, stated = map(cluster_of_document, (whole, whole | {"networks": {"node": {"bandwidth": 1e9}}}))
        assert cluster.names[:2] == ("n0.gpu0", "n1.gpu0")
        assert float(cluster.seconds(0, 1, rate)) == pytest.approx(1 + NETWORK_LATENCY_S)
        assert float(stated.seconds(0, 1, 1e9)) == pytest.approx(1 + NETWORK_LATENCY_S)


def test_measured_latencies_count_beside_stated_bandwidths():
    """Each two hosts have theirs, unless a latency is stated."""
    text = (TOPOLOGIES / "measured4.csv").read_text(encoding="utf-8")
    whole = {"hosts": {"file": "a.csv", "text": text}, "machine": {"devices": 1}}
    cluster = cluster_of_document(whole | {"networks": {"node": {"bandwidth": 1e9}}})
    assert [float(cluster.seconds(0, k, 1)) for k in (1, 2)] == pytest.approx([2.9e-6 + 1e-9, 1.4e-6 + 1e-9])
    stated = cluster_of_document(whole | {"networks": {"node": {"bandwidth": 1e9, "latency": 1e-3}}})
    assert [float(stated.seconds(0, k, 1)) for k in (1, 2)] == pytest.approx([1e-3, 1e-3])


def test_too_many_measured_connections_are_refused(monkeypatch):
    """Each has a curve of its own."""
    monkeypatch.setattr(host_connections, "PAIR_LIMIT", 1)
    text = "a,b,GB/s\nn0,n1,3\nn0,n2,4\nn1,n2,5\n"
    with pytest.raises(InputError, match="at most 1 different connections between hosts, got 3"):
        cluster_of_document({"hosts": {"file": "a.csv", "text": text}, "machine": {"devices": 1}})


@pytest.mark.parametrize(("table", "stated"), [("a,b,GB/s\nx,y,1e-320\n", False), ("a,b,us\nx,y,1e300\n", True)])
def test_bug_measured_values_out_of_bounds_were_blamed_on_networks(table, stated):
    """Which nobody may have stated."""
    networks = {"networks": {"node": LEVELS["node"]}} if stated else {}
    with pytest.raises(InputError, match=r"expected .* s, got") as caught:
        cluster_of_document({"hosts": {"file": "a.csv", "text": table}, "machine": {"devices": 1}} | networks)
    assert caught.value.field.startswith("cluster/hosts/")


def test_errors_of_a_network_are_those_of_its_field(monkeypatch):
    """Also where they are found late."""
    monkeypatch.setattr(infiniband, "WIDTH_LIMIT", 1)
    text = (TOPOLOGIES / "fabric4.ibnet").read_text(encoding="utf-8")
    with pytest.raises(InputError) as caught:
        cluster_of_document({"hosts": {"file": "a.ibnet", "text": text}, "machine": {"devices": 1}})
    assert caught.value.field == "cluster/hosts"


def test_hosts_differ_inside():
    """Devices are called as in their machine, and have its kinds, memory and links."""
    pair = {"devices": [{"name": "x"}, {"name": "y", "kind": "cpu", "memory_bytes": 5}], "uniform_bandwidth": 7e9}
    inside = [{"hosts": "a,c", "machine": MACHINE}, {"hosts": "b", "machine": pair}]
    cluster = cluster_of_document(document(machine=inside))
    assert cluster.names == ("a.gpu0", "a.gpu1", "b.x", "b.y", "c.gpu0", "c.gpu1")
    assert cluster.kinds[2:4] == ("accelerator", "cpu")
    assert cluster.memory_bytes.tolist() == [8e9, 8e9, float("inf"), 5, 8e9, 8e9]
    assert [float(cluster.seconds(*pair, 7e9)) for pair in ((0, 1), (2, 3))] == pytest.approx([0.07, 1])


def test_machines_have_a_specification():
    """Of one machine, whose devices they get with its links."""
    cluster = cluster_of_document(document(machine="dgx-1v:1"))
    assert (cluster.size, cluster.names[8]) == (24, "b.gpu0")
    assert (cluster.table_s(1e6)[8:16, 8:16] == cluster_of_document("dgx-1v:1").table_s(1e6)).all()
    assert cluster_of_document(document(machine={"machines": [MACHINE]})).names == cluster_of_document(document()).names


def test_nodes_of_kubernetes_that_lack_a_label_are_named():
    """In the remarks of the cluster, which reports repeat."""
    text = (TOPOLOGIES / "kube_nodes.json").read_text(encoding="utf-8")
    whole = {"hosts": {"file": "k.json", "text": text}, "machine": "dgx:1", "labels": ["example.com/rack"]}
    cluster = cluster_of_document(whole | {"networks": {"node": {"bandwidth": 5e10}, "rack": {"bandwidth": 4e10}}})
    assert "left out" in cluster.remarks[0]
    assert cluster.remarks[0] in tiger.place({"layers": LAYERS}, cluster).warnings


def test_files_stand_in_for_their_texts():
    """Tests the example, whose document is the same cluster without the files."""
    path = EXAMPLES / "clusters" / "racks.json"
    cluster = read_cluster(path)
    assert cluster.size == 64
    assert cluster.names[:2] == ("n00.gpu0", "n00.gpu1")
    again = cluster_of_document(json.loads(json.dumps(read_cluster_document(path))))
    assert again.names == cluster.names
    assert (again.table_s(1e6) == cluster.table_s(1e6)).all()


def test_a_dump_of_nccl_is_what_nvidia_smi_would_print():
    """Tests four GPUs in a ring of NVLinks against the matrix written by hand."""
    printed = """     GPU0 GPU1 GPU2 GPU3
GPU0  X    NV2  NV1  SYS
GPU1  NV2  X    SYS  NV1
GPU2  NV1  SYS  X    NV2
GPU3  SYS  NV1  NV2  X
"""
    dumped = cluster_of_topo({"nccl_topo": DUMP, "classes": {"SYS": {"bandwidth": 5e9}}})
    matrix = cluster_of_topo({"nvidia_smi_topo": printed, "classes": {"SYS": {"bandwidth": 5e9}}})
    assert dumped.names == matrix.names
    assert (dumped.table_s(1e6) == matrix.table_s(1e6)).all()
    assert (read_cluster(EXAMPLES / "nvlinks4.xml").table_s(1e6)[0, 1:3] == matrix.table_s(1e6)[0, 1:3]).all()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"hosts": "topology.conf"}, "/hosts"),
        ({"hosts": {"file": "a.conf"}}, "/hosts/text"),
        ({"hosts": {"file": "a.exe", "text": "x"}}, "/hosts"),
        ({"hosts": {"file": "a.conf", "text": "SwitchName=s0"}}, "/hosts"),
        ({"machine": "m.xml"}, "/machine"),
        ({"machine": MACHINE | {"count": 2}}, "/machine"),
        ({"machine": {"nccl_topo": "<topology/>"}}, "/machine/nccl_topo"),
        ({"machine": {"nccl_topo": DUMP, "nvidia_smi_topo": "GPU0"}}, "/machine/nccl_topo"),
        ({"machine": {"nccl_topo": DUMP, "lanes": []}}, "/machine/lanes"),
        ({"networks": NETWORKS[:1]}, "/networks"),
        ({"networks": [*NETWORKS[:1], {}]}, "/networks/1/bandwidth"),
        ({"networks": None}, "/networks"),
        ({"networks": {"rack": NETWORKS[0]}}, "/networks"),
        ({"networks": {"node": NETWORKS[0], "zone": NETWORKS[0]}}, "/networks"),
        ({"networks": {"node": {"latency": 1}}}, "/networks/node/bandwidth"),
        ({"networks": {"node": {"speed": 1}}}, "/networks/node"),
        ({"labels": ["rack"]}, "/labels"),
        ({"labels": "rack"}, "/labels"),
        ({"machine": "dgx:2"}, "/machine"),
        ({"machine": "torus:2x2"}, "/machine"),
        ({"machine": []}, "/machine"),
        ({"machine": {"devices": [{"nam": "a"}]}}, "/machine/devices/0"),
        ({"machine": {"machines": [{"devices": 1, "count": 0}]}}, "/machine/machines/0/count"),
        ({"machine": [{"machine": MACHINE}]}, "/machine/0/hosts"),
        ({"machine": [{"hosts": "a", "machine": MACHINE}]}, "/machine"),
        ({"machine": [{"hosts": "a,b", "machine": MACHINE}, {"hosts": "b,c", "machine": MACHINE}]}, "/machine"),
        ({"machine": [{"hosts": "z", "machine": MACHINE}]}, "/machine/0"),
        ({"devices": []}, ""),
    ],
)
def test_what_is_malformed_is_named(changed, field):
    """The error has the field."""
    with pytest.raises(InputError) as caught:
        cluster_of_document(document(**changed))
    assert caught.value.field == f"cluster{field}"


@cases(quick=50, long=2_000)
@given(data=st.data())
def test_damaged_documents_are_read_or_refused(data):
    """Nothing but a cluster or bad input comes of one."""
    name = data.draw(st.sampled_from(["fabric4.ibnet", "measured4.csv", "instances4.json"]))
    hosts = {"file": name, "text": (TOPOLOGIES / name).read_text(encoding="utf-8")}
    listed = [{"hosts": "a,c", "machine": MACHINE}, {"hosts": "b", "machine": "dgx-1v:1"}]
    changes = [{}, {"machine": {"nccl_topo": DUMP}}, {"machine": listed}, {"hosts": hosts, "networks": LEVELS}]
    text = data.draw(damaged(json.dumps(document(**data.draw(st.sampled_from(changes))))))
    with suppress(InputError):
        assert cluster_of_document(read_json(text, "cluster")).size > 0


def test_too_many_devices_are_refused():
    """Tests a limit between two and three hosts."""
    with pytest.raises(InputError, match="expected 1 to 5 devices, got 6"):
        cluster_of_document(document(), 5)
    assert cluster_of_document(document(), 6).size == 6


@pytest.mark.parametrize("stated", [{"hosts": "none.conf"}, {"machine": "m.json"}, {"machine": "none.xml"}])
def test_files_that_are_not_there(stated, tmp_path):
    """The error names the field of the file."""
    path = tmp_path / "c.json"
    path.write_text(json.dumps(document(**stated)))
    with pytest.raises(InputError) as caught:
        read_cluster(path)
    assert caught.value.field == f"cluster/{next(iter(stated))}"
