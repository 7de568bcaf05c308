"""Tests of clusters from a description of a network and of one machine."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.jsontext import read_json
from tiger.pipeline.hardware.nvidia import cluster_of_topo
from tiger.pipeline.hardware.reading import cluster_of_document, read_cluster, read_cluster_document

EXAMPLES = Path(__file__).parents[3] / "examples"
DUMP = (EXAMPLES / "nvlinks4.xml").read_text(encoding="utf-8")
TREE = {"file": "a.conf", "text": "SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c\nSwitchName=top Switches=s[0-1]\n"}
MACHINE = {"devices": 2, "bandwidth": 1e11, "memory_bytes": 8e9, "speed": 0.5}
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
        ({"devices": []}, ""),
    ],
)
def test_what_is_malformed_is_named(changed, field):
    """The error has the field."""
    with pytest.raises(InputError) as caught:
        cluster_of_document(document(**changed))
    assert caught.value.field == f"cluster{field}"


@cases(quick=300, long=2_000)
@given(data=st.data())
def test_damaged_documents_are_read_or_refused(data):
    """Nothing but a cluster or bad input comes of one."""
    whole = document(machine={"nccl_topo": DUMP}) if data.draw(st.booleans()) else document()
    text = data.draw(damaged(json.dumps(whole)))
    with suppress(InputError):
        assert cluster_of_document(read_json(text, "cluster")).size > 0


def test_too_many_devices_are_refused():
    """Tests a limit between two and three hosts."""
    with pytest.raises(InputError, match="expected 1 to 2 devices, got 3"):
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
