"""Tests of what documents say of a connection."""

import pytest

from tiger.errors import InputError
from tiger.training.hardware.cluster import Curve
from tiger.training.hardware.connection import Affine, Catalogue, connection

CSV = "bytes,seconds,kind\n1,1,x\n2,3,x\n1,5,y\n2,7,y\n"


def test_latency_defaults_to_none():
    """A bandwidth alone is enough, and neither is no connection."""
    assert connection("cluster", {"bandwidth": 5}) == Affine(5.0, 0.0)
    assert connection("cluster", {}) is None


def test_prefix():
    """Fields of a prefix are read, others are not."""
    assert connection("cluster", {"lane_bandwidth": 5, "bandwidth": 6}, "lane_") == Affine(5.0)


def test_table_of_csv():
    """A series of a CSV text is taken by the text in a column; numbers stand for their text."""
    curve = connection("cluster", {"table": {"csv": CSV, "where": {"kind": "y"}}})
    assert isinstance(curve, Curve)
    assert curve.seconds.tolist() == [5, 7]
    assert connection("cluster", {"table": {"csv": "bytes,seconds,n\n1,1,1\n2,2,1\n1,3,2\n", "where": {"n": 1}}})


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"latency": 1}, "at/bandwidth"),
        ({"bandwidth": 1, "latency": 1e30}, None),
        ({"bandwidth": 1, "latency": 1.7e308}, "at/latency"),
        ({"bandwidth": 1e-299}, "at/bandwidth"),
        ({"table": [[0, 1], [1, 2]], "latency": 1}, "at/table"),
        ({"table": 5}, "at/table"),
        ({"table": {}}, "at/table/csv"),
        ({"table": [[0, 1], [1e308, 2]]}, "at/table"),
        ({"table": [[0, 1], [1e-300, 2]]}, "at/table"),
        ({"table": {"csv": "size(kb),time(us)\n1,1\n1e308,2\n"}}, "at/table/csv"),
        ({"table": {"csv": " "}}, "at/table/csv"),
        ({"table": {"csv": CSV}}, "at/table/csv"),
        ({"table": {"csv": CSV, "where": 5}}, "at/table/where"),
        ({"table": {"csv": CSV, "where": {"kind": None}}}, "at/table/where/kind"),
        ({"table": {"csv": CSV, "column": "x"}}, "at/table"),
    ],
)
def test_malformed_connections(fields, field):
    """Both ways at once, half of one and odd tables are bad input."""
    if field is None:
        assert connection("at", fields) is not None
        return
    with pytest.raises(InputError) as caught:
        connection("at", fields)
    assert caught.value.field == field


def test_catalogue_numbers_equal_connections_alike():
    """Equal affine connections, and equal tables, share a number; none is -1."""
    table = Curve.affine(3.0, 1.0)
    catalogue = Catalogue()
    stated = [Affine(4.0, 1.0), None, table, Affine(4.0, 1.0), Curve.affine(3.0, 1.0)]
    assert [catalogue.number(each) for each in stated] == [0, -1, 1, 0, 1]
    assert float(catalogue.curves[0].of(8)) == 3
