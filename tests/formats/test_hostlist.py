"""Lists of nodes as text."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.formats.hostlist import list_nodes, resolve_names
from tiger.model.metrics import GridMetric
from tiger.model.topology import Topology
from tiger.topologies.spec import build

NAMES = (*(f"n{k}" for k in range(10)), "n007", "n008", "gpu[0]", "r0n1", "r0n2", "r1n1", "r1n2")
CLUSTER = Topology(names=NAMES, metric=GridMetric((len(NAMES),), (False,)))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("n1 n3", ["n1", "n3"]),
        ("n1;n3\n\tn2 ", ["n1", "n3", "n2"]),
        ("n1,n3,", ["n1", "n3"]),
        ("n[0-2,7]", ["n0", "n1", "n2", "n7"]),
        ("n[0-1],n[3-4],n9", ["n0", "n1", "n3", "n4", "n9"]),
        ("n[007-008]", ["n007", "n008"]),
        ("r[0-1]n[1-2]", ["r0n1", "r0n2", "r1n1", "r1n2"]),
        ("gpu[0]", ["gpu[0]"]),
    ],
)
def test_names_and_brackets_are_read(text, names):
    """In the order in which they stand; a name of the topology is never taken apart."""
    assert list_nodes(text, CLUSTER) == names


@pytest.mark.parametrize(
    ("text", "names"), [("0,0 1,1", ["0,0", "1,1"]), ("1,0;0,1", ["1,0", "0,1"]), ("[0-1],1", ["0,1", "1,1"])]
)
def test_commas_belong_to_names_that_hold_them(text, names):
    """Nodes of a grid are named by their coordinates."""
    assert list_nodes(text, build("grid:2x2")) == names


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("n1 m2 n3", "allocation/1", "expected nodes of the topology, separated .* got 'm2'"),
        ("0,3", "allocation/0", "got '0,3'; there"),
        ("n[8-10]", "allocation/2", r"got 'n10' in 'n\[8-10\]'"),
        ("n[0-999999999999]", "allocation", "expected at most the 17 nodes of the topology, got 1000000000000"),
        ("n[0-99999999999999999999]", "allocation", "expected brackets"),
        ("n[a-b]", "allocation", r"expected brackets such as \[0-3,7\], got 'n\[a-b\]'"),
        ("n[]", "allocation", "expected brackets"),
        ("n[3-1]", "allocation", "expected brackets"),
        ("n[3", "allocation/0", r"got 'n\[3'; there is no file of that name either"),
        ("nodes.txt", "allocation/0", "there is no file of that name either"),
        ("x" * 5000, "allocation/0", "there is no file"),
        ("n\0", "allocation/0", "there is no file"),
    ],
)
def test_what_is_wrong_is_named(text, field, reason):
    """The position counts the names before."""
    with pytest.raises(InputError, match=reason) as caught:
        list_nodes(text, CLUSTER)
    assert caught.value.field == field


def test_long_lists_are_read_quickly():
    """Sixteen thousand names between commas, and as many in brackets."""
    hardware = build("ring:16384")
    assert list_nodes(",".join(hardware.names), hardware) == list(hardware.names)
    assert list_nodes("[0-8191],[8192-16383]", hardware) == list(hardware.names)


def test_a_file_lists_names_and_comments(tmp_path, monkeypatch):
    """By its path, or by its name where no node is called so."""
    (tmp_path / "nodes.txt").write_text("# rack 1\nn1 n3 # two\n\nn[5-6]\n")
    monkeypatch.chdir(tmp_path)
    assert list_nodes("nodes.txt", CLUSTER) == list_nodes(tmp_path / "nodes.txt", CLUSTER) == ["n1", "n3", "n5", "n6"]


def test_a_file_that_cannot_be_read_is_bad_input(tmp_path):
    """It is the allocation's fault."""
    with pytest.raises(InputError, match="allocation: cannot read"):
        list_nodes(tmp_path / "missing.txt", CLUSTER)


def test_several_words_are_never_a_file():
    """The message speaks of the first unknown one alone."""
    with pytest.raises(InputError, match=r"got 'm1'$"):
        list_nodes("m1 m2", CLUSTER)


def test_bug_wrong_names_in_a_file_are_told_as_such(tmp_path):
    """Tests that a file given as text is not said to be missing."""
    (tmp_path / "nodes.txt").write_text("0,0,1 zz1\n")
    with pytest.raises(InputError, match="zz1") as caught:
        list_nodes(str(tmp_path / "nodes.txt"), build("torus:2x2x2"))
    assert (caught.value.field, "no file" in caught.value.reason) == ("allocation/1", False)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(pieces=st.lists(st.sampled_from([*"nr0179[]-,; \n\0\u0663", "n[", "gpu[0]", "[0-", "99999999999"]), max_size=12))
def test_any_text_is_read_or_refused(pieces):
    """Names are those of nodes, or the text is bad input."""
    with suppress(InputError):
        assert set(resolve_names("allocation", "".join(pieces), CLUSTER)) <= set(NAMES)
