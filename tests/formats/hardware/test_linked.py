"""Hardware of nodes and links."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.formats.hardware.linked import LinkedHardware, find_nearest_linked
from tiger.formats.hardware.plain import find_nearest
from tiger.formats.nodelink import read_wiring
from tiger.model.topology import Links
from tiger.model.wiring import Wiring


@cases(quick=60, long=2_000)
@given(seed=st.integers(0, 10**9), links=st.integers(0, 20))
def test_the_nearest_two_are_those_of_all_distances(seed, links):
    """Of graphs in several parts, with parallel links and nodes that hold no tasks."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, 10, links), rng.integers(1, 10, links)
    joined = Links(u=u, v=(u + v) % 10, weight=rng.integers(1, 9, links), bandwidth=np.ones(links))
    wiring = Wiring(names=tuple("abcdefghij"), links=joined, slots=rng.integers(0, 2, 10))
    assert find_nearest_linked(wiring) == find_nearest(wiring.measure())


def star(leaves):
    """Return hosts at the leaves of a star, of which the first is twice as near as the others."""
    names = [*map(str, range(leaves)), "hub"]
    nodes = [{"id": name, "slots": int(name != "hub")} for name in names]
    edges = [{"source": k, "target": "hub", "weight": 2 if k else 1} for k in range(leaves)]
    return LinkedHardware(read_wiring({"nodes": nodes, "edges": edges}), "node")


def test_a_part_keeps_its_proportion_to_the_whole():
    """Its nearest two need not be the nearest."""
    part = star(4).cut({"2", "3"})
    assert (part.names, part.distances) == (("2", "3", "hub"), {"node": 3.0})
    assert part.topology({}).metric.between(0, 1) == 4
    assert part.topology({"node": 30.0}).metric.between(0, 1) == 40
    assert part.cut({"2"}).distances == {"node": 3.0}


def test_only_what_is_needed_has_to_be_small():
    """The whole is refused when it is to be measured, and not before."""
    whole = star(9_000)
    assert whole.distances == {"node": 3.0}
    assert whole.cut({"0", "8999"}).topology({}).metric.between(0, 1) == 3
    with pytest.raises(InputError, match="expected at most 8192 nodes"):
        whole.topology({})
