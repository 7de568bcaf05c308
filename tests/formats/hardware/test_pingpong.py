"""Outputs of OSU micro-benchmarks and nccl-tests."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_hardware, read_topology
from tiger.formats.text import FileText

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "topologies"
OSU = (FOLDER / "osu4.txt").read_text("utf-8")
# As `tail -v -n +1` prints two files, with more than the tables in them.
BANDWIDTHS = """==> out/n-0,n-1.txt <==
WARNING: no such device
# OSU MPI Bandwidth Test v5.9
# Size      Bandwidth (MB/s)
1                       3.45
[n-0:77] 1 more process has sent help message help-mca-var.txt
4194304             20000.00

==> out/n-0,n-2.txt <==
# OSU MPI Multiple Bandwidth / Message Rate Test v5.9
# [ pairs: 1 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                       3.45        3450000.00
4194304              5000.00           1192.09

==> n-1,n-2.out <==
# Size      Bandwidth (MB/s)
4194304             10000.00
"""
NCCL = """# pair g0 g1
# nThread 1 nGpus 1 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   1234 on         g0 device  0 [0x31] NVIDIA A40
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    34.24    0.00    0.00      0    33.65    0.00    0.00    N/A
     1048576        262144     float              -1    99.00   10.60   10.60      0    98.00   10.70   10.70    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 5.3
"""


def read(text):
    """Return the topology of a text."""
    return read_hardware(FileText("pairs.txt", text)).topology({})


def table(topology):
    """Return the distances of a topology."""
    return topology.metric.arrays().table.tolist()


def test_latencies_of_the_smallest_message_count():
    """Nodes are in the order in which they come."""
    written = read_topology(str(FOLDER / "measured4.csv"))
    assert (read(OSU).names, table(read(OSU))) == (written.names, table(written))


def test_bandwidths_of_the_largest_message_count():
    """Names of files may name the pairs, and other lines may stand between rows."""
    assert read(BANDWIDTHS).names == ("n-0", "n-1", "n-2")
    assert table(read(BANDWIDTHS)) == [[0, 1, 4], [1, 0, 2], [4, 2, 0]]


def test_bus_bandwidths_of_the_first_buffers_count():
    """Both ways may be measured, and columns may be blank."""
    assert table(read(NCCL + NCCL.replace("g0 g1", "g1 g0").replace("10.60", "5.30"))) == [[0, 1], [2, 0]]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("# pair n0 n1", "n0 n1"), "line 1: expected a line `# pair A B` above what is printed for nodes A and B"),
        (("# pair n0 n1", "# pair n0"), "line 1: expected two nodes, as in `# pair A B` or in the name of a file"),
        (("# pair n0 n1", "==> gpu-n0-n1.txt <=="), "line 1: expected two nodes, .* got '==> gpu-n0-n1.txt <=='"),
        (("# pair n0 n2\n", ""), "line 12: expected one table for two nodes, got another"),
        (("n0 n2", "n0 n1"), "line 9: expected each two nodes once, got 'n0' and 'n1'"),
        (("# Size       Avg Latency(us)", "# Size"), "line 6: expected rows below the title of their columns"),
        (("1024     ", "1        "), "line 7: expected each size once, got 1 again"),
        (("2.90", "nan"), "line 6: expected numbers, got 'nan'"),
        (("2.90", "0.00"), "expected a value above 0 for every two nodes, got 0 from 'n0' to 'n1'"),
        (("\n1    ", "\n2    "), "line 9: expected us for 2 bytes as below line 1, got us for 1"),
        (("Avg Latency(us)", "MB/s"), "line 9: expected MB/s for 65536 bytes as below line 1, got us for 1"),
    ],
)
def test_what_is_wrong_is_named(change, reason):
    """By its line."""
    text = OSU.replace(*change, 1)
    assert text != OSU
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read(text)


def test_bug_rows_that_were_cut_off_were_left_out():
    """A job that is stopped ends within a row, and the row before it is no bandwidth of the largest message."""
    with pytest.raises(InputError, match=r"^topology: line 4: expected a value in every row, got 1 columns$"):
        read("# pair a b\n# Size      Bandwidth (MB/s)\n1   10\n1024")


@pytest.mark.parametrize(
    "title", ["# OSU MPI Bi-Directional Bandwidth Test v7.4", "# [ pairs: 2 ] [ window size: 64 ]"]
)
def test_bug_sums_over_directions_or_pairs_counted_as_bandwidths(title):
    """A link does not carry what both directions, or several pairs, do together."""
    text = f"# pair a b\n{title}\n# Size      Bandwidth (MB/s)\n4194304  10000.00\n"
    with pytest.raises(InputError, match=r"^topology: line 2: expected the bandwidth of one pair in one direction"):
        read_hardware(FileText("osu.txt", text), "node")


def test_missing_pairs_are_named():
    """And those whose benchmark printed nothing."""
    part = "\n".join(OSU.split("\n")[:24])
    with pytest.raises(InputError, match=r"got nothing from 'n1' to 'n2', from 'n1' to 'n3', from 'n2' to 'n3'$"):
        read(part)
    with pytest.raises(InputError, match=r"line 25: expected what osu_latency, .* for 'n2' and 'n3', got no table"):
        read(part + "\n# pair n2 n3\nsrun: error: Unable to allocate resources")


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_outputs_are_read_or_refused(data):
    """Nothing but nodes or bad input comes of one."""
    text = data.draw(damaged(data.draw(st.sampled_from([OSU, BANDWIDTHS, NCCL]))))
    with suppress(InputError):
        assert read(text).size > 0
