"""Tests of clusters: times of messages, equal devices, connected parts."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.hardware.cluster import DEVICE_LIMIT, NO_LINK, Cluster, Curve, check_device_count

FAST = Curve.affine(4.0, 1.0)
SLOW = Curve.affine(1.0, 2.0)


def cluster_of(link, curves=(FAST, SLOW), speed=None, **rest):
    """Return a cluster of a table of links."""
    size = len(link)
    return Cluster(
        names=tuple(map(str, range(size))),
        speed=np.ones(size) if speed is None else np.array(speed),
        memory_bytes=np.full(size, np.inf),
        curves=curves,
        link=np.array(link),
        **rest,
    )


@st.composite
def clusters(draw):
    """Draw a cluster of few devices of two speeds with few curves, so that equal devices are common."""
    size = draw(st.integers(1, 7))
    numbers = st.integers(NO_LINK, 2)
    link = np.full((size, size), NO_LINK)
    for a, b in itertools.combinations(range(size), 2):
        link[a, b] = link[b, a] = draw(numbers)
    speed = [draw(st.sampled_from([1.0, 2.0])) for _ in range(size)]
    kinds = tuple(draw(st.sampled_from(["accelerator", "accelerator", "cpu"])) for _ in range(size))
    return cluster_of(link, curves=(FAST, SLOW, Curve.affine(4.0, 1.0)), speed=speed, kinds=kinds)


def are_exchangeable(cluster, a, b):
    """Return whether exchanging two devices leaves every table as it is."""
    order = np.arange(cluster.size)
    order[[a, b]] = b, a
    same = [np.array_equal(values[order], values) for values in (cluster.speed, cluster.memory_bytes)]
    return (
        all(same)
        and cluster.kinds[a] == cluster.kinds[b]
        and np.array_equal(cluster.link[np.ix_(order, order)], cluster.link)
    )


def test_affine_curve_is_latency_plus_size_over_bandwidth():
    """A message of 8 bytes at 4 bytes per second after 1 second takes 3 seconds, however large."""
    assert FAST.of([0.0, 8.0, 4e12]).tolist() == [0.0, 3.0, 1e12 + 1]


def test_bug_a_latency_hides_no_digit_of_what_large_messages_take() -> None:
    """A second beside a picosecond for a gigabyte, and messages of many more."""
    sizes = np.array([1e9, 6e18, 1e21, 1e25])
    assert Curve.affine(1e21, 1.0).of(sizes) == pytest.approx(1.0 + sizes / 1e21, rel=1e-14)


def test_table_interpolates_and_continues():
    """Before the table its first time holds, in between a line, beyond it the line of the last two."""
    curve = Curve(size_bytes=np.array([10.0, 20.0, 30.0]), seconds=np.array([1.0, 2.0, 5.0]))
    assert curve.of([0, 1, 10, 15, 30, 40]).tolist() == [0, 1, 1, 1.5, 5, 8]


def test_curve_stays_silent_at_the_end_of_float64():
    """Sizes and slopes near the largest number overflow to infinity without a warning."""
    steep = Curve(size_bytes=np.array([0.0, 5e-324]), seconds=np.array([0.0, 1e308]))
    assert steep.of([5e-324, 1e308]).tolist() == [1e308, np.inf]


@pytest.mark.parametrize(
    ("sizes", "times", "reason"),
    [
        ([1.0], [1.0], "at least two"),
        ([1.0, 1.0], [1.0, 1.0], "sizes that rise"),
        ([1.0, 2.0], [2.0, 1.0], "times that do not fall"),
        ([1.0, 2.0], [2.0, np.nan], "finite"),
        ([1.0, 2.0], [2.0], "2 numbers"),
    ],
)
def test_curve_refuses(sizes, times, reason):
    """Tables that are no function of the size are bad input."""
    with pytest.raises(InputError, match=reason):
        Curve(size_bytes=np.array(sizes), seconds=np.array(times))


def test_seconds_within_over_and_without_a_link():
    """Messages take no time within a device, the curve's over a link, for ever without one."""
    cluster = cluster_of([[-1, 1, -1], [1, -1, -1], [-1, -1, -1]])
    assert cluster.seconds(0, 0, [5.0]).tolist() == [0]
    assert cluster.seconds(0, 1, [0.0, 5.0]).tolist() == [0, 7]
    assert cluster.seconds(0, 2, [0.0, 5.0]).tolist() == [0, np.inf]


@given(clusters(), st.sampled_from([0.0, 3.0, 1e10]))
def test_table_of_one_size_is_seconds_of_every_pair(cluster, size):
    """The table holds for every two devices what `seconds` says of them."""
    pairs = itertools.product(range(cluster.size), repeat=2)
    assert cluster.table_s(size).ravel().tolist() == [float(cluster.seconds(a, b, size)) for a, b in pairs]


def test_equal_curves_become_one():
    """Curves of one table share a number, the first; -0.0 is 0.0."""
    negative = Curve(size_bytes=np.array([-0.0, 1e9]), seconds=FAST.seconds)
    cluster = cluster_of([[-1, 0, 2], [0, -1, 1], [2, 1, -1]], curves=(FAST, SLOW, negative))
    assert cluster.curves == (FAST, SLOW)
    assert cluster.link.tolist() == [[-1, 0, 0], [0, -1, 1], [0, 1, -1]]


def test_diagonal_is_cleared():
    """Whatever the diagonal says, a device has no link to itself."""
    table = np.zeros((2, 2), np.int64)
    assert cluster_of(table).link.tolist() == [[-1, 0], [0, -1]]
    assert table.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"link": np.array([[-1, 0], [1, -1]])}, "cluster/links"),
        ({"link": np.array([[-1, 2], [2, -1]])}, "cluster/links"),
        ({"link": np.array([[-1, -2], [-2, -1]])}, "cluster/links"),
        ({"link": np.array([[-1]])}, "cluster/links"),
        ({"speed": np.array([1.0, 0.0])}, "cluster/devices/speed"),
        ({"memory_bytes": np.array([1.0, np.nan])}, "cluster/devices/memory_bytes"),
        ({"kinds": ("cpu", "abacus")}, "cluster/devices/kind"),
        ({"machine": np.array([0, 0, 1])}, "cluster/devices/machine"),
        ({"names": ("a", "a")}, "cluster/devices"),
    ],
)
def test_cluster_refuses(change, field):
    """Tables that do not fit each other are bad input, by name."""
    good = {"names": ("a", "b"), "speed": np.ones(2), "memory_bytes": np.ones(2), "link": np.full((2, 2), -1)}
    with pytest.raises(InputError) as caught:
        Cluster(**{**good, "curves": (FAST, SLOW), **change})
    assert caught.value.field == field


@pytest.mark.parametrize("count", [0, DEVICE_LIMIT + 1, 10**400])
def test_numbers_of_devices_are_bounded(count):
    """None and more than the limit are refused before anything is made."""
    with pytest.raises(InputError, match="1 to 8,192 devices"):
        check_device_count(count)


def test_ends_of_a_path_are_exchangeable():
    """In a path of three the ends are alike; one of another speed is not."""
    path = [[-1, 0, -1], [0, -1, 0], [-1, 0, -1]]
    assert cluster_of(path).device_types().tolist() == [0, 1, 0]
    assert cluster_of(path, speed=[1.0, 1.0, 2.0]).device_types().tolist() == [0, 1, 2]


def test_machines_do_not_tell_devices_apart():
    """Devices of several machines with equal links are alike."""
    assert cluster_of(np.zeros((3, 3), int), machine=np.array([0, 0, 1])).device_types().tolist() == [0, 0, 0]


@given(clusters())
def test_labels_agree_exactly_where_exchanges_change_nothing(cluster):
    """Two devices share a label if and only if exchanging them leaves all tables as they are."""
    label = cluster.device_types()
    for a, b in itertools.combinations(range(cluster.size), 2):
        assert (label[a] == label[b]) == are_exchangeable(cluster, a, b)


def test_many_devices_are_labelled_block_by_block():
    """Machines of 100 devices, 700 in all, are one class each, numbered as they come."""
    machine = np.arange(700) // 100
    cluster = cluster_of(np.where(machine[:, None] == machine, 0, 1))
    assert cluster.device_types().tolist() == machine.tolist()
    assert cluster.parts().tolist() == [0] * 700


@given(clusters())
def test_parts_are_connected_components(cluster):
    """Labels of parts are those of the graph of links, rising from 0."""
    graph = nx.from_numpy_array((cluster.link != NO_LINK).astype(int))
    part = cluster.parts()
    found = [set(np.flatnonzero(part == number).tolist()) for number in range(part.max() + 1)]
    assert found == sorted(nx.connected_components(graph), key=min)
