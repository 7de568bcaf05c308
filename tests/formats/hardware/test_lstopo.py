"""The inside of machines as lstopo writes it."""

import re
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

FOLDER = Path(__file__).resolve().parents[3]
EXAMPLE = (FOLDER / "examples" / "two_sockets.xml").read_text(encoding="utf-8")
GPU_NODE = (FOLDER / "examples" / "topologies" / "gpu_node.xml").read_text(encoding="utf-8")
WRITTEN = (FOLDER / "tests" / "data" / "hwloc" / "epyc2.xml").read_text(encoding="utf-8")
# Three cores of which the last may not be used, memory behind a cache, and two ports, of version 3.
THREE = (FOLDER / "tests" / "data" / "hwloc" / "allowed3.xml").read_text(encoding="utf-8")
# As of a machine with memory in the other order: two NUMA nodes under one cache, uneven in cores.
SUBNUMA = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine"><object type="Package"><object type="L3Cache">
<object type="Group"><object type="NUMANode"/><object type="Core"><object type="PU"/></object></object>
<object type="Group"><object type="NUMANode"/><object type="L2Cache"><object type="Core"/></object><object type="Core"/>
</object></object></object><object type="Bridge"><object type="PCIDev"/></object></object></topology>
"""


def test_cores_are_counted_through_all_packages():
    """Four cores on each of two NUMA nodes of two sockets, as hwloc numbers them."""
    topology = read_xml(EXAMPLE).topology({})
    assert topology.names == tuple(f"core{k}" for k in range(16))
    assert topology.slots.tolist() == [1] * 16
    assert topology.metric == TreeMetric((2, 2, 4), (1.0, 2.0, 4.0))


def test_memory_may_be_inside_a_cache():
    """Sub-NUMA clusters share the cache of the socket."""
    topology = read_xml(SUBNUMA).topology({})
    assert topology.metric.between(topology.hosts[:, None], topology.hosts).tolist() == [
        [0, 2, 2],
        [2, 0, 1],
        [2, 1, 0],
    ]


def test_gpus_are_counted_by_bus_id_and_lie_behind_ports():
    """Two behind a PCIe switch, two behind ports of their own on the other socket; no adapter of a controller."""
    topology = read_xml(GPU_NODE, "gpu").topology({"gpu": 1.0, "pci": 3.0})
    assert (topology.names, topology.host) == (("gpu0", "gpu1", "gpu2", "gpu3"), "g01")
    assert topology.metric.between(topology.hosts[:, None], topology.hosts).tolist() == [
        [0, 1, 6, 6],
        [1, 0, 6, 6],
        [6, 6, 0, 3],
        [6, 6, 3, 0],
    ]


def test_nics_are_adapters_of_fabrics_if_there_are_any():
    """Other network cards count without them."""
    assert read_xml(GPU_NODE, "nic").topology({}).names == ("nic0",)
    other = GPU_NODE.replace("0300 [1a03", "0200 [1a03")
    assert read_xml(other, "nic").topology({}).names == ("nic0",)
    assert read_xml(other.replace('osdev_type="3"', 'osdev_type="2"'), "nic").topology({}).names == ("nic0", "nic1")


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("(cuda|nvml)[0-9]", "card7", 4),
        ("<object type=.OSDev[^>]*>", "", 4),
        ("0302 .10de:20b5.", "0300 [10de:2204]", 4),
        ("0302 .10de:20b5.", "0380 [1002:740c]", 4),
        ("(cuda|nvml)[0-3]|0302 .10de:20b5.", "0380 [8086:0bd5]", 4),
        ("(cuda|nvml)[12]", "card7", 2),
    ],
)
def test_gpus_are_found_with_and_without_libraries(old, new, count):
    """What libraries list counts alone; otherwise classes, vendors and drivers say what computes."""
    assert read_xml(re.sub(old, new, GPU_NODE), "gpu").topology({}).size == count


def test_machines_without_a_name_are_local():
    """A description that was made up has none."""
    assert read_xml(EXAMPLE).topology({}).host == "localhost"


def test_nvlinks_are_not_passed_over_in_silence():
    """They are in other descriptions."""
    text = GPU_NODE.replace("</topology>", '<distances2hetero name="NVLinkBandwidth"/></topology>')
    assert read_xml(text, "gpu").topology({}).remarks[0].startswith("NVLinks in the file play no part")
    assert read_xml(text).topology({}).remarks == ()


def test_distances_may_be_stated():
    """Of levels that the machine lacks too."""
    stated = {"core": 1.0, "numa": 3.0, "socket": 9.0, "node": 50.0}
    assert read_xml(EXAMPLE).topology(stated).metric == TreeMetric((2, 2, 4), (1.0, 3.0, 9.0))


def test_what_lstopo_writes_is_read():
    """Two cores under one cache, beside bridges, network cards and disks."""
    topology = read_xml(WRITTEN).topology({})
    assert (topology.names, topology.metric) == (("core0", "core1"), TreeMetric((2,), (1.0,)))
    assert read_xml(WRITTEN, "nic").topology({}).names == ("nic0",)


def test_version_3_is_read_and_cores_that_are_not_allowed_are_left_out():
    """Two of three cores, in NUMA nodes behind a memory-side cache each; the adapter is one by its bits."""
    topology = read_xml(THREE).topology({})
    assert topology.names == ("core0", "core1")
    assert topology.metric.between(topology.hosts[:1], topology.hosts).tolist() == [0, 2]
    assert topology.remarks == ("cores that allowed_cpuset leaves out are not used: 1 of 3",)
    assert (topology.host, read_xml(THREE, "nic").topology({}).names) == ("c01", ("nic0",))


def test_bug_version_3_was_refused_and_allowed_cpuset_ignored():
    """The same machine may use all cores where all are allowed."""
    topology = read_xml(THREE.replace('allowed_cpuset="0x0000000f"', 'allowed_cpuset="0xf...f"')).topology({})
    assert (topology.size, topology.remarks) == (3, ())


@pytest.mark.parametrize(
    ("allowed", "processors", "last"),
    [("0xffff0000", {16, 17}, 0), ("0x55555555", {0}, 1), ("0x5555ff00", {8, 9}, 1), ("0xf...f", {0, 1}, 1)],
)
def test_bug_packages_and_threads_that_are_not_allowed_were_counted(allowed, processors, last):
    """Open MPI refused `slot=1:0` where only one package of two has cores; taskset got threads of others."""
    text = re.sub('allowed_cpuset="[^"]*"', f'allowed_cpuset="{allowed}"', EXAMPLE, count=1)
    resources = read_xml(text).topology({}).resources
    assert (set(resources[0].cpus), resources[0].package) == (processors, (0, 0))
    assert resources[-1].package == (last, len(resources) - 8)


def test_bug_processors_with_endless_numbers_were_read():
    """A mask of one would take all memory."""
    text = EXAMPLE.replace('type="PU" os_index="0"', f'type="PU" os_index="{1 << 20}"')
    with pytest.raises(InputError, match=r"^topology: line [0-9]+: os_index: expected a number below 1048576"):
        read_xml(text)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            'allowed_cpuset="0x0000000f"',
            'allowed_cpuset="0x"',
            "allowed_cpuset: expected a set such as 0x000000ff, got '0x'",
        ),
        ('allowed_cpuset="0x0000000f"', 'allowed_cpuset="0x0"', "allowed_cpuset: expected threads of a core, got none"),
        (' cpuset="0x00000003"', ' cpuset=""', "cpuset: expected a set such as 0x000000ff, got ''"),
    ],
)
def test_sets_of_threads_that_say_nothing_are_refused(old, new, reason):
    """With the line."""
    text = THREE.replace(old, new)
    assert text != THREE
    with pytest.raises(InputError, match=f"^topology: line [0-9]+: {reason}"):
        read_xml(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SUBNUMA.replace("2.0", "4.0"), "line 3: expected XML of hwloc 2 or 3, got version '4.0'"),
        (SUBNUMA.replace("2.0", "3."), "line 3: expected XML of hwloc 2 or 3, got version '3.'"),
        (SUBNUMA.replace(' version="2.0"', ""), "line 3: expected XML of hwloc 2 or 3, got version '1'"),
        (SUBNUMA.replace("Core", "Misc"), "expected objects of type Core, got none"),
        ("\n<svg/>", "line 2: expected <topology>.* around all, got 'svg'"),
    ],
)
def test_other_files_are_refused(text, reason):
    """Each in its words."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_xml(text)


@pytest.mark.parametrize(
    ("text", "units", "reason"),
    [
        (SUBNUMA, "gpu", "expected GPUs among the objects of type PCIDev, got none"),
        (SUBNUMA, "nic", "expected network cards among the objects of type PCIDev, got none"),
        (
            GPU_NODE.replace("0000:1b:00.0", "1b"),
            "gpu",
            "line 24: pci_busid: expected one such as 0000:3b:00.0, got '1b'",
        ),
    ],
)
def test_devices_that_are_not_there_are_refused(text, units, reason):
    """Each in its words."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_xml(text, units)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data):
    """Nothing but units or bad input comes of one."""
    text = data.draw(damaged(data.draw(st.sampled_from([EXAMPLE, SUBNUMA, GPU_NODE, WRITTEN, THREE]))))
    # Others are made of cores, for whoever asks for them.
    units = data.draw(st.sampled_from(("core", "gpu", "nic")))
    with suppress(InputError):
        assert re.fullmatch(rf"{units}\d+", read_xml(text, units).topology({}).names[-1])
