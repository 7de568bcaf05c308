"""InfiniBand fabrics as ibnetdiscover prints them."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_hardware
from tiger.formats.hardware import infiniband
from tiger.formats.hardware.infiniband import read_network
from tiger.model.text import FileText
from tiger.model.topology import Topology

FOLDER = Path(__file__).resolve().parents[3]
EXAMPLE = (FOLDER / "examples" / "topologies" / "fabric4.ibnet").read_text("utf-8")
GROUPED = (FOLDER / "tests" / "data" / "infiniband" / "grouped.txt").read_text("utf-8")


def read_fabric(text: str) -> Topology:
    """Return the whole of a fabric, measured."""
    return read_network(text).topology({})


def test_adapters_of_a_host_are_one_node():
    """Switches, and the node that aggregates for one, hold no tasks."""
    topology = read_fabric(EXAMPLE)
    assert [topology.names[k] for k in topology.hosts] == ["n0", "n1", "n2", "n3"]
    assert topology.remarks == ()
    assert topology.metric.between(np.array([0, 0, 2]), np.array([1, 2, 3])).tolist() == [2, 3, 2]


def test_links_carry_what_their_lanes_do():
    """Parallel links and adapters add up: 4 lanes of 53.125 Gbit/s are 26.5625 GB/s."""
    topology = read_fabric(EXAMPLE)
    assert topology.links is not None
    name = topology.names
    carried = {
        frozenset((name[u], name[v])): width
        for u, v, width in zip(topology.links.u, topology.links.v, topology.links.bandwidth, strict=True)
    }
    leaves = "S-b8cef60300aa0001", "S-b8cef60300aa0002"
    assert carried[frozenset(leaves)] == carried[frozenset(("n2", leaves[1]))] == 53.125
    assert carried[frozenset(("n0", leaves[0]))] == 26.5625
    assert carried[frozenset(("n3", leaves[1]))] == 12.890625


def test_what_ibnetdiscover_prints_is_read():
    """Four hosts, the first with two ports, on two switches with two links between them; 4 lanes carry 1.25 GB/s."""
    topology = read_hardware(str(FOLDER / "tests" / "data" / "infiniband" / "fabric.txt")).topology({})
    assert [topology.names[k] for k in topology.hosts] == ["n3", "n2", "n1", "n0"]
    assert topology.metric.between(np.array([0, 0, 2]), np.array([1, 2, 3])).tolist() == [2, 3, 2]
    assert topology.links is not None
    assert sorted(topology.links.bandwidth.tolist()) == [1.25, 1.25, 1.25, 2.5, 2.5]


def test_bug_adapters_that_name_no_host_were_hosts():
    """They are called after their model, keep their links and hold no tasks, with a remark."""
    topology = read_fabric(EXAMPLE.replace("n3 HCA-1", "MT4129 ConnectX7   Mellanox Technologies"))
    assert [topology.names[k] for k in topology.hosts] == ["n0", "n1", "n2"]
    assert "H-0c42a10300000005" in topology.names
    assert topology.remarks == ("adapters that name no host hold no tasks, 1 of them: H-0c42a10300000005",)


def test_many_adapters_that_name_no_host_are_counted():
    """The first five by their names."""
    more = "".join(f'\nCa\t1 "H-{k}"\t\t# "MT4129 ConnectX7 Mellanox Technologies"\n' for k in range(69))
    assert read_network(EXAMPLE + more).wiring.remarks[0].endswith("69 of them: H-0, H-1, H-2, H-3, H-4 and 64 more")


def test_a_fabric_without_a_host_is_refused():
    """Nothing could be started there."""
    text = GROUPED.replace("n1 mlx5", "MT4129 ConnectX7 1").replace("n2 mlx5", "MT4129 ConnectX7 2")
    with pytest.raises(InputError, match=r"^topology: expected adapters that name their host, .*, got none of 4"):
        read_fabric(text)


def test_groups_and_standard_error_are_read():
    """Adapters of a host count as a chassis there; the host that did not answer is missing, with a remark."""
    topology = read_hardware(FileText("fabric.txt", GROUPED)).topology({})
    assert [topology.names[k] for k in topology.hosts] == ["n1", "n2"]
    nameless, faults = topology.remarks
    assert nameless.startswith("adapters that name no host hold no tasks, 1 of them: H-0000000000400030")
    assert faults.startswith(
        "lines of errors, so that parts of the fabric may be missing, 1 of them, the first on line 1: "
    )


def test_ports_outside_of_a_chassis_have_two_numbers():
    """The inner one counts."""
    text = EXAMPLE.replace('[21]\t"S-b8cef60300aa0002"[21]\t', '[21][ext 3]\t"S-b8cef60300aa0002"[21][ext 4]\t')
    text = "ibwarn: [7] mad_rpc: _do_madrpc failed\nibwarn: [7] again: failed\nChassis 2\n" + text
    topology = read_fabric(text)
    assert topology.metric.table.tolist() == read_fabric(EXAMPLE).metric.table.tolist()
    assert "2 of them, the first on line 1: 'ibwarn: [7] mad_rpc" in topology.remarks[0]


def test_a_fabric_without_widths_has_equal_links():
    """And is recognised among what commands print."""
    bare = EXAMPLE.replace(" 4xHDR", "").replace(" 4xEDR", "")
    topology = read_hardware(FileText("fabric.txt", bare)).topology({})
    assert topology.links is not None
    assert sorted(topology.links.bandwidth.tolist()) == [1, 1, 1, 1, 2, 2]


def test_messages_take_the_widest_of_the_shortest_ways():
    """Over one of two parallel links at a time; an adapter of 4xEDR is narrower than the links of 4xHDR."""
    rates = read_network(EXAMPLE).find_rates().bandwidth
    assert rates[0, 2] == rates[2, 0] == pytest.approx(4 * 53.125e9 / 8)
    assert rates[0, 3] == pytest.approx(4 * 25.78125e9 / 8)
    assert read_network(EXAMPLE.replace("4xHDR", "").replace("4xEDR", "")).find_rates().bandwidth is None


def test_too_many_widths_are_refused(monkeypatch):
    """Each takes a search of all ways."""
    monkeypatch.setattr(infiniband, "WIDTH_LIMIT", 1)
    with pytest.raises(InputError, match="at most 1 different widths of links, got 2"):
        read_network(EXAMPLE).find_rates()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("lid 11 4xHDR", "lid 11"), "line 10: expected lanes and a speed such as 4xHDR as elsewhere, got none"),
        (("lid 11 4xHDR", "lid 11 4xZDR"), "line 10: expected lanes and a speed out of SDR, .*, got '4xZDR'"),
        (("lid 11 4xHDR", "lid 11 0xHDR"), "line 10: expected lanes and a speed out of SDR"),
        (('[2]\t"H-0c42a10300000002"', '[1]\t"H-0c42a10300000002"'), "line 11: expected each port once"),
        (
            ('[2]\t"H-0c42a10300000002"', '[2]\t"H-ff"'),
            "line 11: expected a switch or an adapter of the text, got",
        ),
        (
            ('"S-b8cef60300aa0002"[21]', '"S-b8cef60300aa0002"[22]'),
            "line 12: expected the port that leads back",
        ),
        (('Ca\t1 "H-0c42a10300000002"', 'Ca\t1 "H-0c42a10300000001"'), "line 35: expected each node once"),
        (("[41]\t", "[41] to "), "line 14: expected a switch, an adapter or a port"),
    ],
)
def test_bad_lines_are_named(change, reason):
    """By their number."""
    text = EXAMPLE.replace(*change, 1)
    assert text != EXAMPLE
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_network(text).topology({})


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data):
    """Nothing but hosts or bad input comes of one."""
    with suppress(InputError):
        text = data.draw(damaged(data.draw(st.sampled_from([EXAMPLE, GROUPED]))))
        assert read_fabric(text).hosts.size > 0
