"""Tests of clusters that are listed device by device."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.hardware.document import cluster_of_devices

PAIR = [{"name": "a"}, {"name": "b"}]
LINK = {"a": "a", "b": "b", "bandwidth": 4, "latency": 1}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "name"]), inner, max_size=3),
    max_leaves=8,
)


def refusal(document):
    """Return the error of a document that is bad input."""
    with pytest.raises(InputError) as caught:
        cluster_of_devices(document)
    return caught.value


def test_defaults():
    """A device alone is an accelerator of speed 1 without a limit of memory, and needs no link."""
    cluster = cluster_of_devices({"devices": [{"name": "a"}]})
    assert (cluster.names, cluster.kinds) == (("a",), ("accelerator",))
    assert (cluster.speed.tolist(), cluster.memory_bytes.tolist()) == ([1.0], [math.inf])


def test_all_fields_of_a_device():
    """Kind, memory and speed are taken as stated; numbers are names too, and machines are numbered as they come."""
    devices = [
        {"name": 7, "kind": "cpu", "memory_bytes": 0, "speed": 0.5, "machine": "z"},
        {"name": "b", "machine": 1},
        {"name": "c", "machine": "z"},
    ]
    cluster = cluster_of_devices({"devices": devices, "uniform_bandwidth": 1})
    assert (cluster.names, cluster.kinds[0]) == (("7", "b", "c"), "cpu")
    assert (cluster.speed[0], cluster.memory_bytes[0], cluster.machine.tolist()) == (0.5, 0, [0, 1, 0])


def test_links_win_over_uniform_values_both_ways():
    """A listed pair has its own times in both directions, every other pair the uniform ones."""
    devices = [*PAIR, {"name": "c"}]
    cluster = cluster_of_devices(
        {"devices": devices, "uniform_bandwidth": 2, "uniform_latency": 3, "links": [{**LINK, "a": "c"}]}
    )
    assert [float(cluster.seconds(x, y, 8)) for x, y in [(1, 2), (2, 1), (0, 1), (0, 2)]] == [3, 3, 7, 7]


def test_unlisted_pairs_have_no_link_without_uniform_values():
    """A device that nothing reaches is well-formed."""
    cluster = cluster_of_devices({"devices": [*PAIR, {"name": "c"}], "links": [LINK]})
    assert cluster.link.tolist() == [[-1, 0, -1], [0, -1, -1], [-1, -1, -1]]
    assert cluster_of_devices({"devices": PAIR, "links": []}).link.tolist() == [[-1, -1], [-1, -1]]


def test_links_and_uniform_values_may_be_tables():
    """Measured times stand where bandwidth and latency do."""
    link = {"a": "a", "b": "b", "table": [[1, 1], [3, 2]]}
    document = {"devices": [*PAIR, {"name": "c"}], "links": [link], "uniform_table": [[0, 1], [1, 9]]}
    cluster = cluster_of_devices(document)
    assert (float(cluster.seconds(0, 1, 2)), float(cluster.seconds(0, 2, 1))) == (1.5, 9)


def test_the_same_link_twice():
    """A link listed from both ends is fine; with other values it is bad input."""
    back = {"a": "b", "b": "a", "bandwidth": 4.0, "latency": 1.0}
    assert len(cluster_of_devices({"devices": PAIR, "links": [LINK, back]}).curves) == 1
    error = refusal({"devices": PAIR, "links": [LINK, {**back, "latency": 0}]})
    assert (error.field, "again" in error.reason) == ("cluster/links/1", True)


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, True, "4", None, [4], 10**400, 1e-320])
def test_odd_numbers(number):
    """Bandwidths and speeds are finite and positive, and no truth values."""
    assert refusal({"devices": PAIR, "links": [{**LINK, "bandwidth": number}]}).field == "cluster/links/0/bandwidth"
    assert refusal({"devices": PAIR, "uniform_bandwidth": number}).field == "cluster/uniform_bandwidth"
    if number != 1e-320:
        assert refusal({"devices": [{"name": "a", "speed": number}]}).field == "cluster/devices/0/speed"


@pytest.mark.parametrize("number", [-1, math.nan, math.inf, True, "4", None, {}])
def test_odd_amounts(number):
    """Latencies and memories may be 0, but no less."""
    assert refusal({"devices": PAIR, "links": [{**LINK, "latency": number}]}).field == "cluster/links/0/latency"
    assert refusal({"devices": [{"name": "a", "memory_bytes": number}]}).field == "cluster/devices/0/memory_bytes"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({}, "cluster/devices"),
        ({"devices": []}, "cluster/devices"),
        ({"devices": {}}, "cluster/devices"),
        ({"devices": ["a"]}, "cluster/devices/0"),
        ({"devices": [{}]}, "cluster/devices/0/name"),
        ({"devices": [{"name": " "}]}, "cluster/devices/0/name"),
        ({"devices": [{"name": None}]}, "cluster/devices/0/name"),
        ({"devices": [{"name": "a", "kind": "gpu"}]}, "cluster/devices/0/kind"),
        ({"devices": [{"name": "a", "kind": []}]}, "cluster/devices/0/kind"),
        ({"devices": [{"name": 1}, {"name": "1"}], "links": []}, "cluster/devices/1/name"),
        ({"devices": [{"name": "a", "machine": 1}, {"name": "b"}], "links": []}, "cluster/devices/1/machine"),
        ({"devices": PAIR}, "cluster/links"),
        ({"devices": PAIR, "uniform_latency": 1}, "cluster/uniform_bandwidth"),
        ({"devices": PAIR, "uniform_bandwidth": 1, "uniform_table": [[0, 1], [1, 2]]}, "cluster/uniform_table"),
        ({"devices": PAIR, "links": 5}, "cluster/links"),
        ({"devices": PAIR, "links": [5]}, "cluster/links/0"),
        ({"devices": PAIR, "links": [{"a": "a"}]}, "cluster/links/0/b"),
        ({"devices": PAIR, "links": [{**LINK, "b": "c"}]}, "cluster/links/0/b"),
        ({"devices": PAIR, "links": [{**LINK, "b": "a"}]}, "cluster/links/0/b"),
        ({"devices": PAIR, "links": [{"a": "a", "b": "b"}]}, "cluster/links/0/bandwidth"),
        ({"devices": PAIR, "links": [{**LINK, "bandwith": 3}]}, "cluster/links/0"),
        ({"devices": [{"name": "a", "memory": 3}]}, "cluster/devices/0"),
        ({"devices": PAIR, "uniform_bandwith": 3}, "cluster"),
    ],
)
def test_malformed_documents(document, field):
    """Whatever is wrong is refused by the field at fault."""
    assert refusal(document).field == field


def test_an_unknown_field_is_named_with_those_that_are_known():
    """A misspelt field is refused by its name."""
    reason = refusal({"devices": PAIR, "links": [{**LINK, "bandwith": 3}]}).reason
    assert "'bandwith'" in reason
    assert "bandwidth" in reason


def test_more_devices_than_asked_for():
    """The limit of the caller counts."""
    with pytest.raises(InputError, match="1 to 1 devices"):
        cluster_of_devices({"devices": PAIR, "uniform_bandwidth": 1}, 1)


@pytest.mark.slow
def test_thousands_of_devices_share_one_curve():
    """Uniform values of 3000 devices are one curve."""
    names = [{"name": f"gpu{k}"} for k in range(3000)]
    cluster = cluster_of_devices({"devices": names, "uniform_bandwidth": 12e9, "uniform_latency": 0})
    assert (cluster.size, len(cluster.curves)) == (3000, 1)


@given(st.data())
def test_written_links_are_read_back(data):
    """Bandwidth and latency of every link come back as times, in any order of ends, through JSON."""
    size = data.draw(st.integers(2, 5))
    rate = st.tuples(st.floats(1e3, 1e12), st.floats(0, 1))
    pairs = {(a, b): data.draw(rate) for a in range(size) for b in range(a) if data.draw(st.booleans())}
    links = [{"a": a, "b": b, "bandwidth": rate, "latency": late} for (a, b), (rate, late) in pairs.items()]
    document = {"devices": [{"name": k} for k in range(size)], "links": links}
    cluster = cluster_of_devices(json.loads(json.dumps(document)))
    for (a, b), (rate, late) in pairs.items():
        assert np.allclose(cluster.seconds(b, a, [1e6, 1e11]), [late + 1e6 / rate, late + 1e11 / rate])
    assert (cluster.link >= 0).sum() == 2 * len(pairs)


@given(st.lists(JSON, max_size=2), st.lists(JSON, max_size=2), JSON)
def test_hostile_documents(devices, links, uniform):
    """Anything else ends as a cluster or as bad input of `cluster`."""
    document = {"devices": [*PAIR, *devices], "links": [LINK, *links], "uniform_table": uniform}
    assert refusal(document).field.startswith("cluster")
