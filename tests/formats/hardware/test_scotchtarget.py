"""Target architectures of Scotch."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_hardware
from tiger.formats.hardware.scotchtarget import OTHERS, read_target
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.text import FileText

EXAMPLE = (Path(__file__).resolve().parents[3] / "examples" / "topologies" / "racks.tgt").read_text("utf-8")
# A row of three processors, the middle one labelled 9.
ROW = "deco 0\n3 5\n4 1 4\n9 1 5\n7 1 3\n1\n2 1\n"


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("cmplt 5\n", TreeMetric((5,), (1.0,))),
        ("cmpltw 3\n2 2 2\n", TreeMetric((3,), (1.0,))),
        ("hcub 3", GridMetric((2, 2, 2), (False,) * 3)),
        ("mesh2D 4 3", GridMetric((3, 4), (False,) * 2)),
        ("MESH3D 4 3 2", GridMetric((2, 3, 4), (False,) * 3)),
        ("meshXD 4 5 4 3 2", GridMetric((2, 3, 4, 5), (False,) * 4)),
        ("torus2D 4 3", GridMetric((3, 4), (True,) * 2)),
        ("torus3D 4 3 2", GridMetric((2, 3, 4), (True,) * 3)),
        ("torusXD 1 8", GridMetric((8,), (True,))),
        ("tleaf 3 3 20 2 7 2 2", TreeMetric((3, 2, 2), (2.0, 9.0, 29.0))),
        ("deco 0 3 5 0 1 4 1 1 5 2 1 3 6 6 6", TreeMetric((3,), (6.0,))),
    ],
)
def test_architectures_have_the_distances_of_scotch(text, metric):
    """The first coordinate varies fastest, and costs of levels add up."""
    topology = read_target(text)
    assert topology.metric == metric
    assert topology.names == tuple(map(str, range(topology.size)))


def test_stated_distances_are_those_of_labels():
    """In the order of the file, whatever the numbers of its decomposition."""
    topology = read_target(ROW)
    assert topology.names == ("4", "9", "7")
    assert isinstance(topology.metric, DenseMetric)
    assert topology.metric.table.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_the_ending_says_what_it_is():
    """Distances may be stated as of other hardware."""
    hardware = read_hardware(FileText("Racks.TGT", EXAMPLE))
    assert hardware.distances == {"node": 1.0}
    assert hardware.topology({"node": 2.0}).metric == TreeMetric((2, 4), (2.0, 22.0))


@pytest.mark.parametrize("name", OTHERS)
def test_other_architectures_are_refused_by_name(name):
    """With the reason."""
    with pytest.raises(InputError, match=rf"^topology: expected an architecture .* tleaf, deco, got '{name}', .+"):
        read_target(f"{name} 2 1 1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" ", "expected an architecture of Scotch out of cmplt, .*, got ''"),
        ("mesh4D 1", "expected an architecture of Scotch out of cmplt, .*, got 'mesh4D'"),
        ("cmplt", "cmplt: expected a size, 1 numbers, got 0"),
        ("cmplt 0", "expected at least 1 node, got 0"),
        ("cmplt x", "cmplt: expected numbers, got 'x'"),
        ("cmplt 2000000", "expected at most 1,048,576 nodes, got 2,000,000"),
        ("cmpltw 2 1 3", "cmpltw: expected equal weights of processors, .*, got 1 to 3"),
        ("cmpltw 2 0 0", "cmpltw: expected equal weights of processors, .*, got 0 to 0"),
        ("cmpltw", "cmpltw: expected a size and as many weights, 1 numbers, got 0"),
        ("hcub 0", "expected 1 to 32 extents, got 0"),
        ("hcub 21", "expected at most 1,048,576 nodes, got 2,097,152"),
        ("hcub 99999999999", "expected 1 to 32 extents, got 99"),
        ("mesh2D 3", "mesh2D: expected 2 extents, 2 numbers, got 1"),
        ("torus3D 3 3 0", "expected extents >= 1, got 0"),
        ("meshXD 2 3", "meshXD: expected a number of extents and the extents, 3 numbers, got 2"),
        ("tleaf 2 3 1", "tleaf: expected a number of levels, and a size and a cost of each, 5 numbers, got 3"),
        ("tleaf 0", "tleaf: expected levels of a size from 2 on and a cost from 1 on, got others"),
        ("tleaf 1 4 0", "tleaf: expected levels of a size from 2 on and a cost from 1 on, got others"),
        ("deco 2 1 1 1", "deco: expected format 0, got 2"),
        ("deco", "deco: expected format 0, got none"),
        ("deco 0 9000 9000", "expected at most 8,192 nodes, got 9,000"),
        ("deco 0 2 3 0 1 2 1 1 3", "deco: expected 0, a size, .*, 10 numbers, got 9"),
        ("deco 0 2 3 0 1 2 1 1 3 0", "deco: expected distances from 1 on, got 0"),
        ("deco 0 2 3 0 1 2 1 2 3 1", "deco: expected equal weights of processors, .*, got 1 to 2"),
        ("deco 0 2 3 0 1 2 0 1 3 1", "expected different names"),
    ],
)  # fmt: skip
def test_bad_targets_are_named(text, reason):
    """By their architecture."""
    with pytest.raises(InputError, match=f"^topology.*: {reason}"):
        read_target(text)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_targets_are_read_or_refused(data):
    """Nothing but processors or bad input comes of one."""
    text = data.draw(damaged(data.draw(st.sampled_from([EXAMPLE, ROW, "torus3D 4 3 2", "hcub 4", "cmpltw 2 3 3"]))))
    with suppress(InputError):
        assert read_target(text).size > 0
