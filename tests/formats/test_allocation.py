"""The nodes of a job as text."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.formats.allocation import list_nodes, resolve_names
from tiger.formats.hostfile import HostSlots
from tiger.model.text import FileText
from tiger.topologies.spec import build

NAMES = (*(f"n{k}" for k in range(10)), "n007", "n008", "gpu[0]", "r0n1", "r0n2", "r1n1", "r1n2")


def read(text, known=NAMES):
    """Return the nodes of a text, and their slots as a list."""
    names, slots, _ = list_nodes(text, known)
    return list(names), None if slots is None else slots.tolist()


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
    assert read(text) == (names, None)


@pytest.mark.parametrize(
    ("text", "names"), [("0,0 1,1", ["0,0", "1,1"]), ("1,0;0,1", ["1,0", "0,1"]), ("[0-1],1", ["0,1", "1,1"])]
)
def test_commas_belong_to_names_that_hold_them(text, names):
    """Nodes of a grid are named by their coordinates."""
    assert read(text, build("grid:2x2").names) == (names, None)


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
        list_nodes(text, NAMES)
    assert caught.value.field == field


def test_long_lists_are_read_quickly():
    """Sixteen thousand names between commas, and as many in brackets."""
    known = build("ring:16384").names
    assert list_nodes(",".join(known), known).names == known
    assert list_nodes("[0-8191],[8192-16383]", known).names == known
    assert read("\n".join(name for name in known for _ in range(4)), known)[1] == [4] * len(known)


def test_a_file_lists_names_and_comments(tmp_path, monkeypatch):
    """By its path, or by its name where no node is called so."""
    (tmp_path / "nodes.txt").write_text("# rack 1\nn1 n3 # two\n\nn[5-6]\n")
    monkeypatch.chdir(tmp_path)
    assert read("nodes.txt") == read(tmp_path / "nodes.txt") == (["n1", "n3", "n5", "n6"], None)


def test_a_file_that_cannot_be_read_is_bad_input(tmp_path):
    """It is the allocation's fault."""
    with pytest.raises(InputError, match="allocation: cannot read"):
        list_nodes(tmp_path / "missing.txt", NAMES)


def test_several_words_are_never_a_file():
    """The message speaks of the first unknown one alone."""
    with pytest.raises(InputError, match=r"got 'm1'$"):
        list_nodes("m1 m2", NAMES)


def test_bug_wrong_names_in_a_file_are_told_as_such(tmp_path):
    """Tests that a file given as text is not said to be missing."""
    (tmp_path / "nodes.txt").write_text("0,0,1 zz1\n")
    with pytest.raises(InputError, match="zz1") as caught:
        list_nodes(str(tmp_path / "nodes.txt"), build("torus:2x2x2").names)
    assert (caught.value.field, "no file" in caught.value.reason) == ("allocation/1", False)


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("n1 n2 n1", [2, 1]),
        ("n1:4 n2", [4, 1]),
        ("n1:4,n2:8", [4, 8]),
        ("n[1-2]:4", [4, 4]),
        ("n1 slots=4 n2 slots=8 max_slots=16", [4, 8]),
        ("n1 slots=4;n2 slots=2;n1 slots=1", [5, 2]),
        ("n1 4 all.q@n1 UNDEFINED\nn2 2 all.q@n2 <NULL>", [4, 2]),
        ("n1,n2 SLURM_TASKS_PER_NODE=48,20", [48, 20]),
        ("SLURM_TASKS_PER_NODE=3(x2)\nSLURM_JOB_NODELIST=n[1-2]", [3, 3]),
    ],
)
def test_slots_are_those_of_the_text(text, slots):
    """In every form that launchers and batch systems have; those of a host that comes again add up."""
    assert read(text) == (["n1", "n2"], slots)


def test_names_may_end_like_slots():
    """A node that is called so is meant, and else the part behind the colon counts."""
    assert read("a:1 a:2", ["a", "a:1"]) == (["a:1", "a"], [1, 2])
    assert read("0,0:3", build("grid:2x2").names) == (["0,0"], [3])


def test_the_variables_of_slurm_are_read_when_they_are_asked_for(monkeypatch):
    """By the word alone, and where no node is called so; never by themselves."""
    monkeypatch.delenv("SLURM_TASKS_PER_NODE", raising=False)
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    assert read("slurm") == (["n1", "n2"], None)
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "4,2")
    assert read("slurm") == (["n1", "n2"], [4, 2])
    assert read("slurm", ["slurm", "n1"]) == (["slurm"], None)
    monkeypatch.delenv("SLURM_JOB_NODELIST")
    for text in ("slurm", FileText("allocation", "slurm")):
        with pytest.raises(InputError, match=r"SLURM_JOB_NODELIST in the env|expected nodes of the topology"):
            read(text)


def test_slurm_says_how_many_cores_a_task_has(monkeypatch):
    """Beside the tasks of nodes, without which a slot is a host."""
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "8")
    monkeypatch.delenv("SLURM_TASKS_PER_NODE", raising=False)
    assert list_nodes("slurm", ["n1", "n2"]) == HostSlots(("n1", "n2"))
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "4,2")
    found = list_nodes("slurm", ["n1", "n2"])
    assert (found.cores, found.slots.tolist(), found.by_cores().slots.tolist()) == (8, [4, 2], [32, 16])


def test_a_text_is_never_opened_as_a_file(tmp_path, monkeypatch):
    """Not where it comes with a request."""
    (tmp_path / "nodes.txt").write_text("n1")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"got 'nodes\.txt'$"):
        list_nodes(FileText("allocation", "nodes.txt"), NAMES)


def test_names_alone_have_no_slots():
    """What is inside hosts is said of names."""
    with pytest.raises(InputError, match="node_topology: expected names without slots, got 'n1:4'"):
        resolve_names("node_topology", "n1:4", NAMES)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(pieces=st.lists(st.sampled_from([*"nr0179[]-,; \n\0\u0663", "n[", "gpu[0]", "[0-", "99999999999"]), max_size=12))
def test_any_text_is_read_or_refused(pieces):
    """Names are those of nodes, or the text is bad input."""
    with suppress(InputError):
        assert set(resolve_names("allocation", "".join(pieces), NAMES)) <= set(NAMES)
