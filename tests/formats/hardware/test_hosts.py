"""Lists of hosts as hardware."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.formats.files import read_hardware
from tiger.model.metrics import TreeMetric
from tiger.model.text import FileText


def read(text):
    """Return the topology of a text by the name that `scontrol show hostnames > hosts.txt` gives it."""
    return read_hardware(FileText("hosts.txt", text)).topology({})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n03\nn01\r\n\nn02\n", "n03 n01 n02"),
        ("n[00-02,12]", "n00 n01 n02 n12"),
        ("# rack 1\ngpu[1-2]-ib,a.b # two\nr[0-1]n[7]\n", "gpu1-ib gpu2-ib a.b r0n7 r1n7"),
    ],
)
def test_hosts_are_in_the_order_of_the_list(text, names):
    """And as near each other as any two."""
    topology = read(text)
    assert topology.names == tuple(names.split())
    assert topology.metric == TreeMetric((topology.size,), (1.0,))


def test_what_scontrol_prints_is_read():
    """A host a line."""
    path = Path(__file__).resolve().parents[2] / "data" / "slurm" / "hosts.txt"
    assert read_hardware(str(path)).topology({}).names == ("n00", "n01", "n02", "n05")


def test_the_distance_may_be_stated():
    """It is that of nodes."""
    hardware = read_hardware(FileText("hosts.txt", "a\nb\n"))
    assert hardware.topology({"node": 7.0}).metric == TreeMetric((2,), (7.0,))


@pytest.mark.parametrize(
    "text",
    [
        "n01 slots=4 # first\nn02 slots=8\n",
        "n01:4\nn02:8",
        "n01\n" * 4 + "n02\n" * 8,
        "n01 4 all.q@n01 UNDEFINED\nn02 8 all.q@n02 UNDEFINED\n",
        "n[01-02] SLURM_TASKS_PER_NODE=4,8",
    ],
)
def test_hosts_come_with_their_slots(text):
    """However a launcher or a batch system writes them."""
    topology = read(text)
    assert (topology.names, topology.slots.tolist()) == (("n01", "n02"), [4, 8])
    assert (topology.slots_stated, topology.slots_granted) == (True, True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("n0\nn1:0", "expected slots of a host from 1 to 2**53 - 1, got 0"),
        ("n0:2 slots=2", "line 1: expected slots of a host once, got 'slots=2' again"),
        ("n0\nn[1-", "line 2: expected names and brackets such as n[0-3,7], got 'n[1-'"),
        ("n[3-1]", "line 1: expected brackets such as [0-3,7], got 'n[3-1]'"),
        ("n0\n,", "line 2: expected names, got ','"),
        ("n[0-9][0-999999]", "line 1: expected at most 1,048,576 names in all lists, got 10000000 or more"),
        ("n0:8:", "line 1: expected a host of letters, digits, '.', '-' and '_', got 'n0:8:'"),
        ("n0\nn1 n2", "line 2: expected hosts, one a line, or what `nvidia-smi topo -m`, "),
        ("# none", "expected hosts, got none"),
    ],
)
def test_what_is_wrong_is_named(text, reason):
    """By its line."""
    with pytest.raises(InputError) as caught:
        read(text)
    assert (caught.value.field, caught.value.reason[: len(reason)]) == ("topology", reason)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(pieces=st.lists(st.sampled_from([*"n019[]-,; \n\r\0#", "n[", "[0-1]", "0-", "99999999999"]), max_size=12))
def test_any_text_is_read_or_refused(pieces):
    """Nothing but hosts or bad input comes of one."""
    with suppress(InputError):
        assert read("".join(pieces)).size > 0
