"""GPUs of a machine as NCCL dumps them."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.hardware.description import read_xml
from tiger.model.metrics import TreeMetric

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
EXAMPLE = (EXAMPLES / "nvlinks4.xml").read_text(encoding="utf-8")
XGMI = (EXAMPLES / "topologies" / "xgmi4.xml").read_text(encoding="utf-8")
# Listed in another order than by number; the second switch and six lanes of gpu1 are broken.
SWITCHED = """<system version="1">
<cpu numaid="1" host_hash="0x1"><pci busid="0000:0F:00.0"><gpu dev="1">
<nvlink target="0000:C4:00.0" count="6" tclass="0x068000"/></gpu></pci></cpu>
<cpu numaid="0" host_hash="0x1"><pci busid="0000:07:00.0"><gpu dev="0">
<nvlink target="0000:c4:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c5:00.0" count="6" tclass="0x068000"/>
</gpu></pci></cpu></system>
"""
# Devices a, b behind one PCIe switch, c behind another one below it, d on the same NUMA node, e on another.
BRIDGES = """<system version="1"><cpu><pci busid="s"><pci busid="a"><gpu dev="0"/></pci>
<pci busid="b"><gpu dev="1"/></pci>
<pci busid="t"><pci busid="c"><gpu dev="2"/></pci></pci></pci><pci busid="d"><gpu dev="3"/></pci></cpu>
<cpu><pci busid="e"><gpu dev="4"/></pci></cpu></system>
"""


def test_nvlinks_are_bonded():
    """Two carry 50 GB/s and one 25; GPUs without any reach each other between sockets, at 10."""
    topology = read_xml(EXAMPLE).topology({})
    assert topology.names == ("gpu0", "gpu1", "gpu2", "gpu3")
    assert topology.metric.between(topology.hosts[:, None], topology.hosts).tolist() == [
        [0, 1, 2, 5],
        [1, 0, 5, 2],
        [2, 5, 0, 1],
        [5, 2, 1, 0],
    ]


def test_switches_reach_all_gpus():
    """Over as many lanes as both have; a lane alone takes six times as long."""
    hardware = read_xml(SWITCHED)
    assert hardware.topology({}).names == ("gpu0", "gpu1")
    assert hardware.topology({}).metric == TreeMetric((2,), (1.0,))
    assert hardware.distances["NV"] == 6.0


def test_bridges_are_told_apart():
    """12 GB/s over PCIe switches, 10 beyond; each may be stated."""
    stated = {"PIX": 1.0, "PXB": 2.0, "PHB": 3.0, "SYS": 4.0}
    topology = read_xml(BRIDGES).topology(stated)
    assert topology.metric.between(topology.hosts[:, None], topology.hosts).tolist() == [
        [0, 1, 2, 3, 4],
        [1, 0, 2, 3, 4],
        [2, 2, 0, 3, 4],
        [3, 3, 3, 0, 4],
        [4, 4, 4, 4, 0],
    ]


def test_infinity_fabric_of_amd_is_read():
    """Two links of 50 GB/s inside a socket, one to the other; the diagonals of the ring go between sockets."""
    hardware = read_xml(XGMI)
    topology = hardware.topology({})
    assert hardware.distances["XGMI"] == 2.0
    assert topology.metric.between(topology.hosts[:, None], topology.hosts).tolist() == [
        [0, 1, 10, 2],
        [1, 0, 2, 10],
        [10, 2, 0, 1],
        [2, 10, 1, 0],
    ]
    assert topology.links.bandwidth.max() == 100


@pytest.mark.parametrize(
    ("processor", "rate"), [("gfx906", 46), ("910", 50), ("gfx942", 64), ("gfx950", 76.8), ("gfx1100", 46)]
)
def test_links_of_amd_carry_what_their_processors_do(processor, rate):
    """By the name of the processor."""
    topology = read_xml(XGMI.replace("gfx90a", processor).replace('count="2"', 'count="1"')).topology({})
    assert topology.links.bandwidth.max() == pytest.approx(rate)


def test_bug_version_2_of_rccl_was_refused():
    """NVLinks are no links of version 2, nor those of AMD ones of version 1: PCIe is left."""
    pairs = read_xml(EXAMPLE.replace('version="1"', 'version="2"')).topology({})
    assert pairs.metric == TreeMetric((2, 2), (1.0, 1.2))
    assert read_xml(XGMI.replace('version="2"', 'version="1"')).topology({}).metric == TreeMetric((4,), (1.0,))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            SWITCHED.replace('version="1"', 'version="3"'),
            "line 1: expected XML of NCCL, version 1, or of RCCL, .*, got '3'",
        ),
        (
            XGMI.replace('count="2"', 'count="3"', 1),
            "line 4: expected as many links to gpu1 as it has to gpu0, 2, got 3",
        ),
        (SWITCHED.replace('numaid="0" host_hash="0x1"', 'numaid="0" host_hash="0x2"'), "line 4: expected one host, as"),
        (SWITCHED.replace("gpu", "net"), "expected elements <gpu>, got none"),
        (SWITCHED.replace('dev="1"', 'dev="0"'), "line 4: dev: expected different numbers, got 0 on line 2 too"),
        (SWITCHED.replace('dev="1"', ""), "line 2: dev: expected numbers, got ''"),
        (SWITCHED.replace("0000:0F", "0000:07"), "line 2: busid: expected one of its own for every GPU, got '0000:07"),
        ('<system version="1">\n<gpu dev="0"/></system>', "line 2: expected <gpu> inside the <pci> of its device"),
        (SWITCHED.replace('"6"', '"60000"'), "line 3: count: expected at most 9999 links, got 60000"),
        (EXAMPLE.replace('count="2"', 'count="3"', 1), "line 5: expected as many links to gpu1 as it has to gpu0, 2"),
    ],
)
def test_faults_are_found_by_line(text, reason):
    """With what was expected there."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_xml(text)


@pytest.mark.slow
def test_too_many_gpus_are_refused():
    """More than a machine has."""
    many = "".join(f'<pci busid="{k}"><gpu dev="{k}"/></pci>' for k in range(1025))
    with pytest.raises(InputError, match=r"^topology: line 1: expected at most 1,024 GPUs, got more"):
        read_xml(f'<system version="1">{many}</system>')


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data):
    """Nothing but GPUs or bad input comes of one."""
    text = data.draw(damaged(data.draw(st.sampled_from([EXAMPLE, SWITCHED, BRIDGES, XGMI]))))
    with suppress(InputError):
        assert read_xml(text).topology({}).names[0].startswith("gpu")
