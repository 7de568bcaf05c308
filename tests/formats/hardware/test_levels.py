"""Levels of groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats.hardware.levels import Level, LevelHardware, fill_distances
from tiger.model.metrics import DenseMetric, TreeMetric
from tiger.model.topology import Topology


def units(*groups: tuple[str, float, list[int]]) -> LevelHardware:
    """Return units in groups of some levels, outermost first."""
    levels = tuple(Level(name, distance, np.array(group)) for name, distance, group in groups)
    return LevelHardware(names=tuple(f"u{k}" for k in range(len(groups[0][2]))), levels=levels)


REGULAR = units(("far", 4.0, [0, 0, 1, 1]), ("same", 3.0, [7, 7, 7, 7]), ("near", 1.0, [0, 1, 2, 3]))


def test_equal_groups_are_a_tree():
    """A level that separates nothing of its own is left out."""
    assert REGULAR.distances == {"near": 1.0, "same": 3.0, "far": 4.0}
    assert REGULAR.topology({}).metric == TreeMetric((2, 2), (1.0, 4.0))
    assert REGULAR.topology({"same": 9.0, "far": 5.0}).metric == TreeMetric((2, 2), (1.0, 5.0))


def test_uneven_groups_are_a_matrix():
    """Also equal ones that are not listed one after another; inner groups do not cross outer ones."""
    uneven = units(("far", 4.0, [0, 1, 0, 1]), ("mid", 2.0, [0, 0, 0, 1]), ("near", 1.0, [0, 1, 2, 3])).topology({})
    assert isinstance(uneven.metric, DenseMetric)
    assert uneven.metric.table.tolist() == [[0, 4, 1, 4], [4, 0, 4, 2], [1, 4, 0, 4], [4, 2, 4, 0]]


@given(seed=st.integers(0, 2**32 - 1))
def test_links_between_groups_add_up_to_the_distances(seed):
    """Whatever lies in what, also where levels are as far as others; the shortest paths are those by the switches."""
    rng = np.random.default_rng(seed)
    count, far = int(rng.integers(2, 9)), np.sort(rng.integers(1, 4, 3))[::-1]
    groups = [rng.integers(0, 3, count), rng.integers(0, 4, count), np.arange(count)]
    hardware = units(*zip(("c", "b", "a"), map(float, far), groups, strict=True))
    topology = hardware.topology({})
    wired = topology.with_links()
    assert wired is not None or isinstance(topology.metric, TreeMetric)
    if wired is not None:
        whole = Topology.from_links(wired.names + wired.switches, wired.links)
        nodes = np.arange(count)
        assert np.array_equal(whole.metric.table[:count, :count], topology.metric.between(nodes[:, None], nodes))


def test_groups_are_called_by_their_titles():
    """A title of two groups, or of a unit, is none; nor has anything a name where that is a unit's."""
    titles = ("r0", "r1"), ("x", "x", "u0")
    levels = (
        Level("rack", 4.0, np.array([0, 0, 1, 1, 1]), titles[0]),
        Level("box", 2.0, np.array([0, 1, 1, 2, 2]), titles[1]),
        Level("node", 1.0, np.arange(5), tuple(f"u{k}" for k in range(5))),
    )
    names = tuple(f"u{k}" for k in range(5))
    made = LevelHardware(names=names, levels=levels).topology({})
    assert made.switches == ("box:0", "box:1", "box:2", "box:3", "r0", "r1", "top")
    assert LevelHardware(names=(*names[:4], "top"), levels=levels).topology({}).links is None


def test_units_at_no_distance_have_no_links():
    """A link has a length."""
    uneven = units(("far", 4.0, [0, 0, 1]), ("near", 0.0, [0, 1, 2])).topology({})
    assert (uneven.links, uneven.switches) == (None, ())


def test_a_level_that_is_not_stated_keeps_its_proportion():
    """To the next one inside it; those inside a stated one stay."""
    usual = {"a": 1.0, "b": 2.0, "c": 6.0}
    assert fill_distances(usual, {"b": 20.0, "other": 5.0}) == {"a": 1.0, "b": 20.0, "c": 60.0}
    assert fill_distances(usual, {"c": 7.0}) == {"a": 1.0, "b": 2.0, "c": 7.0}


def test_distances_may_not_fall_outwards():
    """The level at fault is named."""
    with pytest.raises(InputError, match=r"^levels/far: expected at least 5, the distance of near inside it, got 4$"):
        REGULAR.topology({"near": 5.0, "far": 4.0})


def test_uneven_groups_are_as_many_as_a_matrix_takes():
    """More are refused before any is made."""
    many = units(("far", 2.0, [0] * 9_000 + [1]), ("near", 1.0, list(range(9_001))))
    with pytest.raises(InputError, match=r"^topology: expected a regular tree, .* at most 8192 units, .* got 9001 in"):
        many.topology({})


def test_bug_a_distance_that_overflows_had_no_level():
    """Levels in proportion to the one that is stated are named."""
    with pytest.raises(InputError, match=r"levels/rack: expected a finite distance, got 4 \* 1e\+308"):
        fill_distances({"node": 1.0, "rack": 4.0}, {"node": 1e308})
