"""The inputs that users can run at once."""

from pathlib import Path

import pytest

from tiger.formats.allocation import list_nodes
from tiger.formats.files import read_tasks, read_topology
from tiger.model.problem import Problem

FOLDER = Path(__file__).resolve().parents[2] / "examples"
PROFILES = set(FOLDER.glob("*.ipm.xml"))
TOPOLOGIES = sorted(
    {*FOLDER.glob("*.arc"), *FOLDER.glob("*.conf"), *FOLDER.glob("*.xml"), FOLDER / "two_switches.json"} - PROFILES
)
ENDINGS = {
    ".json",
    ".graph",
    ".hgr",
    ".mtx",
    ".csv",
    ".graphml",
    ".dat",
    ".ram",
    ".prof",
    ".grf",
    ".xml",
    ".log",
    ".mpiP",
}
TASKS = sorted(path for path in FOLDER.iterdir() if path.suffix in ENDINGS and path not in TOPOLOGIES)


def test_every_format_has_an_example():
    """One of each ending at least."""
    assert {path.suffix for path in TASKS} == ENDINGS


def test_every_file_is_described():
    """The list names each file."""
    text = (FOLDER / "README.md").read_text()
    assert [
        path.name
        for path in [*TASKS, *TOPOLOGIES, FOLDER / "allocation.txt", FOLDER / "hostfile.txt"]
        if f"`{path.name}`" not in text
    ] == []


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.name)
def test_task_examples_are_read(path):
    """None is malformed."""
    assert read_tasks(path).tasks.traffic.nnz > 0


@pytest.mark.parametrize("path", TOPOLOGIES, ids=lambda path: path.name)
def test_topology_examples_are_read(path):
    """None is malformed."""
    assert read_topology(str(path)).hosts.size >= 4


def test_the_allocation_is_four_rows_of_the_torus():
    """Sixteen nodes in two pieces."""
    hardware = read_topology("torus:4x4x4")
    part = hardware.allocated(list_nodes(FOLDER / "allocation.txt", hardware.names).names)
    assert (part.hosts.size, part.names[part.hosts[-1]]) == (16, "2,3,3")


def test_the_host_file_is_of_four_hosts():
    """Their slots are uneven."""
    names, slots, _ = list_nodes(FOLDER / "hostfile.txt", read_topology(str(FOLDER / "topology.conf")).names)
    assert (names, slots.tolist()) == (("n02", "n03", "n08", "n09"), [8, 8, 6, 2])


def test_the_example_of_the_original_tool():
    """Eleven tasks of work 228, fifteen edges of traffic 74."""
    tasks = read_tasks(FOLDER / "butko11.ram").tasks
    assert (tasks.size, tasks.work.sum(), tasks.traffic.nnz, tasks.traffic.sum()) == (11, 228, 15, 74)


def test_the_stencil_has_all_neighbours():
    """8 x 8 tasks and 112 edges, counted once."""
    tasks = read_tasks(FOLDER / "stencil8x8.json").tasks
    assert (tasks.names[-1], tasks.traffic.nnz, tasks.traffic.sum(), tasks.directed) == ("7,7", 112, 112, False)


@pytest.mark.parametrize(
    ("file", "hardware", "rule", "best"),
    [
        ("house5.graph", "grid:2x3", "one-to-one", 17),
        ("house5.graph", "ring:5", "one-to-one", 18),
        ("ring6.mtx", "grid:2x3", "one-to-one", 6),
        ("ranks4.csv", "tree:2x2@1,10", "one-to-one", 800),
        ("diamond4.graphml", "mesh_2x2_het.arc", "one-to-one", 57),
        ("diamond4.graphml", "mesh_2x2_het.arc", "levels", 28),
        ("square4.dat", None, "one-to-one", 20),
    ],
)
def test_the_smallest_costs_are_as_stated(brute_force, file, hardware, rule, best):
    """The figures of the list, by complete enumeration."""
    found = read_tasks(FOLDER / file)
    source = str(FOLDER / str(hardware)) if str(hardware).endswith(".arc") else str(hardware)
    topology = found.topology or read_topology(source)
    cost, _ = brute_force(Problem(tasks=found.tasks, topology=topology, rule=rule))
    assert cost == best
