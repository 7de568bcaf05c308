"""Files by their ending."""

import pytest

from tiger.errors import InputError
from tiger.formats.files import TaskFile, is_pattern, read_tasks, read_topology
from tiger.model.text import FileText

GRAPH = '{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}'
XML = (
    '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
)
TASKS = {
    "x.json": GRAPH,
    "X.JSON": GRAPH,
    "x.graph": "2 1\n2\n1\n",
    "x.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n",
    "x.csv": "0,1\n0,0\n",
    "x.graphml": XML,
    "x.dat": "2 0 1 1 0 0 1 0 0",
    "x.ram": "AppName x\n2 1\n0\n0\n0 0 1 1 1\n1 0 1 1 1\n0 0 1 1\n",
}


@pytest.mark.parametrize(("name", "text"), TASKS.items(), ids=TASKS)
def test_the_ending_chooses_the_reader(tmp_path, name, text):
    """Every format says the same: two tasks, one unit of traffic from the first to the second."""
    path = tmp_path / name
    path.write_text(text)
    found = read_tasks(path)
    assert found.tasks.traffic.toarray().tolist() == [[0, 1], [0, 0]]
    assert (found.rule, found.topology is None) == ("levels" if name == "x.ram" else None, name != "x.dat")
    at_hand = read_tasks(FileText(name, text))
    assert (at_hand.tasks.names, at_hand.rule) == (found.tasks.names, found.rule)


def test_a_task_file_may_be_tasks_alone(tmp_path):
    """Topology and rule are extras of some formats."""
    path = tmp_path / "x.csv"
    path.write_text("1")
    tasks = read_tasks(path).tasks
    assert TaskFile(tasks) == TaskFile(tasks, None, None)


@pytest.mark.parametrize("source", ["ring:2*1.5", "tree-allreduce:2"])
def test_tasks_may_be_a_specification(source):
    """A kind, a colon, and no known ending."""
    assert is_pattern(source)
    assert read_tasks(source).tasks.names == ("0", "1")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("halo", "the syntax is halo:AxBx.."),
        ("hallo:4x4", "expected KIND:.. with a kind out of halo"),
        ("halo:4x4.json", "cannot read 'halo:4x4.json': No such file"),
        ("a/halo:4x4", "or a SPEC such as halo:8x8, got 'a/halo:4x4'"),
    ],
)
def test_other_texts_are_no_tasks(source, reason):
    """A text is a SPEC, a file of a known ending, or bad input."""
    with pytest.raises(InputError) as caught:
        read_tasks(source)
    assert caught.value.field == "tasks"
    assert reason in caught.value.reason


@pytest.mark.parametrize("name", ["x", "x.txt", "json", "x.json.gz", ".json"])
def test_unknown_endings_of_task_files_are_refused(tmp_path, name):
    """The message lists the known ones."""
    with pytest.raises(InputError, match=r"^tasks: expected a file ending in one of .json, .graph, .*, got '.*'"):
        read_tasks(tmp_path / name)


@pytest.mark.parametrize("name", TASKS)
def test_files_that_are_missing_or_empty_are_refused(tmp_path, name):
    """Whatever the format, the path is named."""
    path = tmp_path / name
    with pytest.raises(InputError, match=r"^tasks: cannot read .*: No such file"):
        read_tasks(path)
    path.write_text("\n")
    with pytest.raises(InputError, match=r"^tasks: cannot read .*: expected text, got an empty file"):
        read_tasks(path)


@pytest.mark.parametrize(("source", "size"), [("torus:4x4", 16), ("tree:2x2@0.5,1", 4), ("complete:3", 3)])
def test_a_specification_is_built(source, size):
    """A kind, a colon, and no known ending."""
    assert read_topology(source).size == size


def test_topology_files_are_read(tmp_path):
    """Node-link JSON, meshes of the original tool, and Slurm's switches."""
    (tmp_path / "a.json").write_text(GRAPH)
    (tmp_path / "b.arc").write_text("TotalProcNum 1\nRowNum 1\nColumnNum 1\nProcCost 0 1\nCommCost 0 1\n")
    assert read_topology(str(tmp_path / "a.json")).size == 2
    (tmp_path / "c.conf").write_text("SwitchName=s Nodes=n[0-1]\n")
    assert read_topology(str(tmp_path / "b.arc")).names == ("0,0",)
    assert read_topology(str(tmp_path / "c.conf")).names == ("n0", "n1")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("moon:4", "expected KIND:.. with a kind out of grid"),
        ("torus", "the syntax is torus:AxBx.."),
        ("torus:4y4", "the syntax is torus:AxBx.."),
        ("hardware", "expected a SPEC such as torus:4x4 or a file ending in .json, .arc, .conf, "),
        ("a/torus:4x4", "expected a SPEC such as torus:4x4 or a file ending in"),
        ("machine.doc", "expected a SPEC such as torus:4x4 or a file ending in"),
        ("", "expected a SPEC such as torus:4x4 or a file ending in"),
        ("missing.arc", "cannot read 'missing.arc': No such file"),
        ("torus:4x4.json", "cannot read 'torus:4x4.json': No such file"),
        ("nul\0.json", r"cannot read 'nul\x00.json'"),
        ("x" * 10**5, "expected a SPEC such as torus:4x4 or a file ending in"),
    ],
    ids=lambda value: value[:20].replace("\0", "0"),
)
def test_other_topologies_are_refused(source, reason):
    """A text is a SPEC, a file of a known ending, or bad input."""
    with pytest.raises(InputError) as caught:
        read_topology(source)
    assert caught.value.field == "topology"
    assert reason in caught.value.reason
