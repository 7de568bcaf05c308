"""Tests of types of devices."""

import pytest

from tests.placement.chain.instances import cluster_of, layers_of
from tiger.placement.chain import device_types as module
from tiger.placement.chain.device_types import (
    device_types_of,
    group_equal_devices,
    group_similar_devices,
    join_exchangeable,
)
from tiger.placement.chain.params import LineParams

PAIRS = [[-1, 2, 0, 0], [2, -1, 0, 0], [0, 0, -1, 2], [0, 0, 2, -1]]


def test_devices_of_an_island_are_equivalent() -> None:
    """Two islands of two; a pin sets a device apart."""
    cluster = cluster_of([1.0] * 4, PAIRS)
    assert group_equal_devices(cluster, LineParams()) == ((0, 1), (2, 3))
    assert group_equal_devices(cluster, LineParams(pinned={5: 1})) == ((0,), (1,), (2, 3))


def test_like_islands_are_joined() -> None:
    """A third of another speed is not, nor one with a pin."""
    link = [[*row, 0, 0] for row in PAIRS] + [[0, 0, 0, 0, -1, 2], [0, 0, 0, 0, 2, -1]]
    cluster = cluster_of([1.0, 1.0, 1.0, 1.0, 2.0, 2.0], link)
    groups = group_equal_devices(cluster, LineParams())
    assert join_exchangeable(cluster, groups, LineParams()) == (((0, 1, 2, 3), (4, 5)), (2, 1))
    pinned = LineParams(pinned={0: 2})
    assert join_exchangeable(cluster, group_equal_devices(cluster, pinned), pinned)[1] == (1, 1, 1, 1)


def test_very_many_types_are_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of them would take too long."""
    monkeypatch.setattr(module, "MOST_TYPES", 1)
    assert join_exchangeable(cluster_of([1.0] * 4, PAIRS), ((0, 1), (2, 3)), LineParams()) == (((0, 1), (2, 3)), (1, 1))


def test_merged_devices_are_as_good_as_the_best() -> None:
    """In speed, memory, and links, of which one may be best for small and another for large messages."""
    cluster = cluster_of([1.0, 3.0, 1.0], [[-1, 0, -1], [0, -1, 2], [-1, 2, -1]], [5.0, 1.0, 2.0])
    classes = device_types_of(layers_of([1.0, 1.0], sent=[4.0]), cluster, ((0, 1, 2),))
    assert (classes.speed.tolist(), classes.memory_bytes.tolist()) == ([3.0], [5.0])
    assert classes.sent_s[classes.link[0, 0]].tolist() == [0.0, 2.0, 0.0]


def test_islands_have_links_of_their_own() -> None:
    """Four bytes a second on one, one between two of them."""
    cluster = cluster_of([1.0] * 4, PAIRS)
    classes = device_types_of(layers_of([1.0, 1.0], sent=[4.0]), cluster, ((0, 1, 2, 3),), (2,))
    assert classes.sent_s[classes.link[0, 0], 1] == 2.0
    assert classes.sent_s[classes.across[0], 1] == 8.0


@pytest.mark.parametrize(("count", "groups"), [(3, ((0,), (1, 2), (3,))), (2, ((0, 1, 2), (3,))), (1, ((0, 1, 2, 3),))])
def test_like_devices_are_merged(count: int, groups: tuple[tuple[int, ...], ...]) -> None:
    """By speed, near ones first."""
    assert group_similar_devices(cluster_of([1.0, 2.0, 2.0, 4.0]), count) == groups
