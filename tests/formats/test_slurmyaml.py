"""Slurm's descriptions of several topologies."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.slurmyaml import read_network
from tiger.model.metrics import GridMetric, TreeMetric

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "topologies"
EXAMPLE = (EXAMPLES / "topology.yaml").read_text("utf-8")
TREE = "- topology: t\n  tree:\n    switches:\n      - switch: s\n        nodes: n[0-1]\n"
RING = "- topology: t\n  ring:\n    rings:\n      - ring: r\n        nodes: n[1-4]\n"
TORUS = (EXAMPLES / "torus.yaml").read_text("utf-8")


def metric(text):
    """Return the metric of a text."""
    return read_network(text).topology({}).metric


def test_the_default_topology_counts():
    """Hosts under two leaf switches are 2 and 4 links apart."""
    assert metric(EXAMPLE) == TreeMetric((2, 4), (2.0, 4.0))
    assert read_network(EXAMPLE).topology({}).names == tuple(f"n{k}" for k in range(8))


def test_without_a_default_the_first_counts():
    """Hosts of a block are 1 apart, those of a pair of blocks 2."""
    assert metric(EXAMPLE.replace("true", "false")) == TreeMetric((2, 4), (1.0, 2.0))


def test_rings_are_read():
    """As those of topology.conf are."""
    assert metric(RING) == GridMetric((4,), (True,))


def test_a_flat_default_gives_way_to_one_that_lists_hosts():
    """With a remark that names it, whatever that is."""
    flat = "- topology: f\n  cluster_default: true\n  flat:\n    alpha_step_rank: true\n"
    (remark,) = read_network(flat + TREE).topology({}).remarks
    assert remark == "the default topology is flat and lists no hosts: the topology 't' counts in its place"
    assert (
        read_network(flat + RING.replace("topology: t\n  ", "")).topology({}).remarks[0].endswith("counts in its place")
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1", "line 1: expected a list of topologies"),
        ("[]", "line 1: expected a list of topologies"),
        ("- 3", "line 1: expected an object that states a topology"),
        (
            "- topology: f\n  flat: true",
            "line 2: flat: expected a topology that lists hosts, which a flat one does not",
        ),
        (
            "- topology: f\n  cube: true",
            "expected tree, block, ring or torus3d in the topology that counts, got 'topol",
        ),
        ("# none\n", "expected YAML, got none"),
        (RING.replace("rings", "wheels"), "line 3: expected rings, got none"),
        (RING.replace("n[1-4]", "n[1-40]"), "line 4: nodes: expected at most 16 hosts in a ring, got more"),
        (TREE + "---\n- 3", "line 7: expected one document, got another"),
        (TREE.replace("n[0-1]", "&x n0"), "line 5: expected values without anchors and aliases"),
        (TREE.replace("n[0-1]", "*x"), "line 5: expected values without anchors and aliases"),
        (
            TREE.replace("nodes", "hosts"),
            "line 5: expected a key out of switch, children, nodes, link_speed, got",
        ),
        (TREE.replace("- switch: s\n       ", "-"), "line 4: expected switch, the name, got none"),
        (TREE.replace("n[0-1]", "[n0, n1]"), "line 5: expected nodes as text"),
        (TREE.replace("n[0-1]", "n[3-1]"), "line 4: nodes: expected brackets such as"),
        ("\ud800" + TREE, "expected YAML, got text that is no Unicode"),
        (TREE + "        nodes: n3\n", "line 6: expected different keys in an object, got 'nodes'"),
        (TREE.replace("switches:", "nothing:"), "line 3: expected switches, got none"),
        ("[" * 20, "line 1: expected at most 4194304 values, 16 inside each other, got more"),
        ("- a: b: c", "line 1: expected YAML, got 'mapping values are not allowed in this context'"),
        ("a\0b", "expected YAML"),
    ],
)
def test_bad_texts_are_named(text, reason):
    """By the line at fault."""
    with pytest.raises(InputError) as caught:
        read_network(text)
    assert (caught.value.field, reason in str(caught.value)) == ("topology", True), str(caught.value)


BLOCK = "- topology: b\n  block:\n    block_sizes: [2, 6]\n    blocks:\n      - block: x\n        nodes: n[0-1]\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            TREE.replace("        nodes: n[0-1]\n", ""),
            "line 4: switch: expected nodes or children below 's', got neither",
        ),
        (TREE + "        children: s\n", "line 4: nodes: expected nodes or children, got both"),
        (TREE.replace("n[0-1]", "n[0"), "line 4: nodes: expected names and brackets"),
        (BLOCK.replace("        nodes: n[0-1]\n", ""), "line 5: block: expected nodes in 'x', got none"),
        (BLOCK.replace("2, 6", "x"), "line 3: block_sizes: expected numbers, got 'x'"),
        (BLOCK, "line 3: block_sizes: expected a size and rising powers of two times it, got '2,6'"),
    ],
)
def test_bug_keys_were_called_as_in_another_file(text, reason):
    """Tests that errors have the words of this file, not those of `topology.conf`."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_network(text)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data):
    """Nothing but hosts or bad input comes of one."""
    with suppress(InputError):
        assert (
            read_network(data.draw(damaged(data.draw(st.sampled_from([EXAMPLE, RING, TORUS]))))).topology({}).size > 0
        )
