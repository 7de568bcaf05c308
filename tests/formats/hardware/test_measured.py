"""Tables of measured latencies and bandwidths."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.hardware.measured import read_network, read_nodes
from tiger.formats.hardware.plain import MessageRates

EXAMPLE = (Path(__file__).resolve().parents[3] / "examples" / "topologies" / "measured4.csv").read_text("utf-8")
MATRIX = "us,a,b,c\na,,2,4\nb,3,9,8\nc,4,8,\n"


def table(text):
    """Return the distances of a text."""
    return read_nodes(text).metric.arrays().table.tolist()


def test_latencies_are_relative_to_the_least():
    """The diagonal plays no part, and the two directions may differ."""
    assert read_nodes(MATRIX).names == ("a", "b", "c")
    assert table(MATRIX) == [[0, 1, 2], [1.5, 0, 4], [2, 4, 0]]


def test_bandwidths_are_relative_to_the_largest():
    """The unit cancels."""
    assert table("GB/s,a,b,c\na,0,20,5\nb,20,0,10\nc,5,10,0") == [[0, 1, 4], [1, 0, 2], [4, 2, 0]]
    assert table("Gib/s;a;b\na;;2\nb;4;") == [[0, 2], [1, 0]]


def test_pairs_count_both_ways_unless_both_are_stated():
    """Nodes are in the order in which they come."""
    assert table("from,to,ms\nb,a,1\na,b,2\nb,c,4\nc,a,4") == [[0, 1, 4], [2, 0, 4], [4, 4, 0]]
    assert read_nodes(EXAMPLE).names == ("n0", "n1", "n2", "n3")


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("us,a,b\na,,2\nb,3,\n", MessageRates(latency_s=np.array([[1, 3], [3, 1]]) * 1e-6)),
        ("GB/s,a,b\na,,2\nb,3,\n", MessageRates(bandwidth=np.array([[1, 2], [2, 1]]) * 1e9)),
        ("kib/s,a,b\na,,2\nb,3,\n", MessageRates(bandwidth=np.array([[1, 2], [2, 1]]) * 128.0)),
    ],
)
def test_tables_state_rates(text, unit):
    """Of the two directions the slower one counts, in the units of clusters."""
    found = read_network(text).find_rates()
    for one, other in ((found.latency_s, unit.latency_s), (found.bandwidth, unit.bandwidth)):
        assert (one is None) == (other is None)
        if one is not None:
            assert one[0, 1] == one[1, 0] == pytest.approx(other[0, 1])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\na,1", "expected a unit such as us or GB/s in the first cell of a matrix, .* got 'a'"),
        ("us,a,b\na,0,1", "expected a square matrix, got 1 rows of 2 values"),
        ("us,a,b\nb,0,1\na,1,0", "matrix row 1: expected 'a' as in the first row, got 'b'"),
        ("us,a,b\na,0,x\nb,1,0", "matrix row 1: expected numbers, got 'x'"),
        ("us,a,b\na,0,0\nb,1,0", "expected a value above 0 for every two nodes, got 0 from 'a' to 'b'"),
        ("us,a\na,0", "expected 2 to 8192 nodes, got 1"),
        ("us,a,a\na,0,1\na,1,0", "expected"),
        ("a,b,us\na,b,1\na,c,1", "expected a value above 0 for every two nodes, got nothing from 'b' to 'c'"),
        ("a,b,us\na,b,1\nc,d,1\ne,f,1", ".* got nothing from 'a' to 'c', .*, from 'a' to 'f' and 8 more$"),
        ("a,b,us\na,b,1\na,b,2", "pair 2: expected each two nodes once, got 'a' and 'b'"),
        ("a,b,us\na,a,1\na,b,2", "pair 1: expected each two nodes once, got 'a' and 'a'"),
        ("a,b,us\na,b,fast", "pair 1: expected a number, got 'fast'"),
        ("a,b,us", "expected 2 to 8192 nodes, got 0"),
    ],
)
def test_bad_tables_are_named(text, reason):
    """By the row or the pair at fault."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_nodes(text)


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("us,a,b,c\na,,5e-324,4\nb,3,9,8\nc,4,8,\n", "4.94066e-324 from 'a' to 'b' and 8 from 'b' to 'c'"),
        ("GB/s,a,b,c\na,,1e308,4\nb,3,9,1e-5\nc,4,8,\n", "1e-05 from 'b' to 'c' and 1e\\+308 from 'a' to 'b'"),
    ],
)
def test_bug_values_too_far_apart_were_taken_as_no_connection(text, got):
    """Tests that those whose ratio leaves the range of float64 are named, without a warning."""
    with pytest.raises(InputError, match=f"^topology: expected values at most 1e\\+300 times each other, got {got}"):
        read_nodes(text)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_tables_are_read_or_refused(data):
    """Nothing but nodes or bad input comes of one."""
    text = data.draw(damaged(data.draw(st.sampled_from([EXAMPLE, MATRIX]))))
    with suppress(InputError):
        assert read_nodes(text).size > 1
