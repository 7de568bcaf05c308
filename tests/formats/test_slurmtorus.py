"""Slurm's tori."""

from pathlib import Path

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.formats.files import read_hardware
from tiger.formats.slurmyaml import read_network
from tiger.model.metrics import GridMetric
from tiger.model.text import FileText

EXAMPLE = (Path(__file__).resolve().parents[2] / "examples" / "topologies" / "torus.yaml").read_text("utf-8")
WHOLE = """- topology: t
  torus3d:
    toruses:
      - name: pod
        dims: {x: 4, y: 3, z: 2}
        nodes: n[01-24]
"""


def test_a_torus_is_a_grid_with_x_fastest():
    """The neighbour in x is the next one, in y four later, in z twelve."""
    topology = read_hardware(FileText("topology.yaml", WHOLE)).topology({})
    assert topology.names[0] == "n01"
    assert topology.metric == GridMetric((2, 3, 4), (True, True, True))
    assert topology.metric.between(0, np.array([1, 3, 4, 8, 12, 2])).tolist() == [1, 1, 1, 1, 1, 2]


def test_regions_leave_points_without_hosts():
    """Which forward traffic; the hosts of the second plane are one step behind those of the first."""
    topology = read_network(EXAMPLE).topology({})
    names = [topology.names[k] for k in topology.hosts]
    assert sorted(names) == [f"t{k:02d}" for k in range(1, 11)]
    assert [name for name, slots in zip(topology.names, topology.slots, strict=True) if not slots] == [
        "pod1:1,0,2",
        "pod1:1,1,2",
    ]
    at = {name: k for k, name in enumerate(topology.names)}
    assert topology.metric.between(at["t01"], np.array([at["t03"], at["t07"], at["t10"]])).tolist() == [1, 1, 3]
    assert topology.remarks == ()


def test_tori_do_not_reach_each_other():
    """As separate trees do not."""
    two = WHOLE + "      - name: q\n        dims: {x: 1, y: 1, z: 2}\n        nodes: m[1-2]\n"
    topology = read_network(two).topology({"node": 2.0})
    assert topology.metric.between(0, np.array([1, 24])).tolist() == [2, np.inf]
    assert topology.metric.between(24, 25) == 2


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("toruses", "tori", "line 4: expected a key out of toruses, got 'tori'"),
        (
            "name: pod",
            "named: pod",
            "line 4: expected a key out of name, dims, nodes, regions, placements, got 'named'",
        ),
        ("- name: pod\n       ", "-", "line 4: expected name, got none"),
        ("n[01-24]", "n[01-23]", "line 6: nodes: expected 24 hosts, one at every point, got 23"),
        ("n[01-24]", "n[01-23],n01", "line 6: nodes: expected hosts once, got 'n01' on line 6 too"),
        ("n[01-24]", "[n01]", "line 6: expected nodes as text"),
        ("        nodes: n[01-24]\n", "", "line 4: expected nodes or regions in 'pod', got neither"),
        ("z: 2", "z: 0", "line 5: dims: expected 1 to 1048576 points, got 0"),
        ("z: 2", "z: 200000", "line 5: dims: expected 1 to 1048576 points, got 2400000"),
        ("z: 2", "z: a", "line 5: dims: expected numbers, got 'a'"),
        ("z: 2", "t: 2", "line 5: expected a key out of x, y, z, got 't'"),
        (", z: 2", "", "line 5: dims: expected z, got none"),
        ("{x: 4, y: 3, z: 2}", "4x3x2", "line 5: expected an object that states dims as x, y and z"),
        ("toruses:\n", "toruses: []\n", "line 4: expected YAML"),
    ],
)
def test_bad_tori_are_named(old, new, reason):
    """By line and key."""
    text = WHOLE.replace(old, new, 1)
    assert text != WHOLE
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_network(text)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "anchor: {x: 0, y: 0, z: 1}",
            "anchor: {x: 2, y: 0, z: 1}",
            "line 13: dims: expected a region inside .* of 3x2x2",
        ),
        ("dims: {x: 2, y: 2, z: 1}", "dims: {x: 2, y: 2, z: 0}", "line 13: dims: expected a region inside"),
        (
            "anchor: {x: 0, y: 0, z: 1}",
            "anchor: {x: 0, y: 0, z: 0}",
            "line 14: nodes: expected regions that do not overlap",
        ),
        ("t[07-10]", "t[06-09]", "line 14: nodes: expected hosts once, got 't06' on line 11 too"),
        ("            nodes: t[07-10]\n", "", "line 12: expected nodes, got none"),
        (
            "        regions:",
            "        nodes: t1\n        regions:",
            "line 6: expected nodes or regions in 'pod1', got both",
        ),
    ],
)
def test_bad_regions_are_named(old, new, reason):
    """By line and key."""
    text = EXAMPLE.replace(old, new, 1)
    assert text != EXAMPLE
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_network(text)


def test_names_and_sizes_of_tori_are_bounded():
    """Two of one name, and more points than distances have room for."""
    again = WHOLE[WHOLE.index("      - name") :]
    with pytest.raises(InputError, match=r"^topology: line 7: name: expected different names, got 'pod' again"):
        read_network(WHOLE + again.replace("n[", "m["))
    far = again.replace("pod", "q").replace("z: 2", "z: 999").replace("n[01-24]", "m[1-11988]")
    with pytest.raises(InputError, match=r"at most 8192 points, got 12012 in 2 tori"):
        read_network(WHOLE + far)
