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

EXAMPLE = (Path(__file__).resolve().parents[3] / "examples" / "two_sockets.xml").read_text(encoding="utf-8")
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


def test_distances_may_be_stated():
    """Of levels that the machine lacks too."""
    stated = {"core": 1.0, "numa": 3.0, "socket": 9.0, "node": 50.0}
    assert read_xml(EXAMPLE).topology(stated).metric == TreeMetric((2, 2, 4), (1.0, 3.0, 9.0))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SUBNUMA.replace("2.0", "3.0"), "line 3: expected XML of hwloc 2, got version '3.0'"),
        (SUBNUMA.replace(' version="2.0"', ""), "line 3: expected XML of hwloc 2, got version '1'"),
        (SUBNUMA.replace("Core", "Misc"), "expected objects of type Core, got none"),
        ("\n<svg/>", "line 2: expected <topology>.* around all, got 'svg'"),
    ],
)
def test_other_files_are_refused(text, reason):
    """Each in its words."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_xml(text)


@pytest.mark.slow
@cases(quick=300, long=2_000)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data):
    """Nothing but cores or bad input comes of one."""
    text = data.draw(damaged(data.draw(st.sampled_from([EXAMPLE, SUBNUMA]))))
    with suppress(InputError):
        assert re.fullmatch(r"core\d+", read_xml(text).topology({}).names[-1])
