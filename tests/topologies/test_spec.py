"""From the text of a SPEC to a topology."""

import contextlib
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.topologies.spec import _BUILDERS, KINDS, build

REFUSED = """
    none torus grid grid: :4 grid:4x grid:x4 grid:-4 grid:+4 grid:4.0 grid:4X4 grid:1e3 grid:0x4 grid:4,4 GRID:4x4
    hypercube:64 hypercube:0 hypercube:2x2 torus:99999x99999x99999 torus:0x0 ring:0 ring:2x2 complete:4096 complete:0
    fat-tree:3 fat-tree:1000000 fat-tree:4,4 dragonfly:1,1,999999999 dragonfly:2,2 dragonfly:2,2,2,2 dragonfly:2,2,6
    tree:4x8 tree:4x8@1 tree:4x8@1,2,3 tree:4x8@10,1 tree:4x8@1,nan tree:4x8@1,inf tree:4x8@1,1e999 tree:4x8@-1,1
    tree:9x9x9x9x9x9x9x9x9x9@1,2 tree:@ tree:4@0x1 heavy-hex:4 heavy-hex:59 dgx:0 dgx:131073 dgx:8,8
    grid:\u0663x\u0663 grid:4\u00d74"""


def test_kinds_are_those_that_can_be_built():
    """The list of kinds and the table of builders agree."""
    assert [kind.name for kind in KINDS] == list(_BUILDERS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_example_builds(kind):
    """The example of a kind is a SPEC of that kind with the syntax shown."""
    assert kind.example.startswith(f"{kind.name}:")
    assert kind.syntax.startswith(f"{kind.name}:")
    assert build(kind.example).hosts.size >= 8


@pytest.mark.parametrize(
    ("spec", "nodes", "hosts", "last"),
    [
        ("grid:4x4", 16, 16, "3,3"),
        ("torus:8x8x8", 512, 512, "7,7,7"),
        ("hypercube:3", 8, 8, "1,1,1"),
        ("ring:8", 8, 8, "7"),
        ("complete:8", 8, 8, "7"),
        ("fat-tree:4", 36, 16, "core:3"),
        ("dragonfly:4,2,9", 108, 72, "router:8,3"),
        ("tree:4x8x8@1,10,100", 256, 256, "3,7,7"),
        ("tree:2x2@0.5,1e1", 4, 4, "1,1"),
        ("heavy-hex:3", 19, 19, "18"),
        ("dgx:2", 16, 16, "1,7"),
    ],
)
def test_sizes_and_names(spec, nodes, hosts, last):
    """Each kind has the nodes its SPEC says."""
    topology = build(spec)
    assert (topology.size, topology.hosts.size, topology.names[-1]) == (nodes, hosts, last)


def test_tree_distances_may_be_decimals():
    """Distances are read innermost first."""
    assert build("tree:2x2@0.5,1e1").metric.between(np.array(0), np.array([1, 2])).tolist() == [0.5, 10]


@pytest.mark.parametrize("spec", REFUSED.split())
def test_malformed_specs_are_refused(spec):
    """Wrong syntax and numbers out of range name the topology, the syntax or the kinds."""
    with pytest.raises(InputError) as caught:
        build(spec)
    assert caught.value.field == "topology"
    assert "dragonfly" in caught.value.reason


def test_the_message_shows_syntax_and_kinds():
    """A malformed SPEC is answered with the syntax of its kind."""
    with pytest.raises(
        InputError, match=r"got 'a' in 'grid:a'; the syntax is grid:AxBx\.\. \(such as grid:4x4; kinds: gr"
    ):
        build("grid:a")


@pytest.mark.parametrize(
    "spec", ["grid:" + "9" * 10**6, "grid:" + "1x" * 10**5 + "1", "x" * 10**6, "tree:2@" + "9" * 10**6]
)
def test_long_specs_are_refused_at_once_and_briefly(spec):
    """Digits by the million cost no time, and are not repeated in the message."""
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        build(spec)
    assert time.process_time() - start < 2
    assert len(str(caught.value)) < 500


@given(kind=st.sampled_from(KINDS), text=st.text(alphabet="012x,@.-e \n", max_size=8))
def test_any_text_is_built_or_refused(kind, text):
    """Nothing but InputError escapes, whatever follows the colon."""
    with contextlib.suppress(InputError):
        assert build(f"{kind.name}:{text}").size >= 1
