"""Rank orders taken by real programs: the rank file by Open MPI's mpirun, the permutation by mpi4py and by C."""

import os
import re
import socket
import sys
from pathlib import Path

import networkx as nx
import pytest

import tiger
from benchmarks.hosts import can_name_hosts, write_agent
from tests.launchers import mpi
from tiger.launchers.check import list_differences, read_places
from tiger.launchers.formats import describe_use
from tiger.launchers.permutation import describe_permutation

EXAMPLES = Path(__file__).parents[2] / "examples"
WHERE = EXAMPLES / "where.py"
HERE = socket.gethostname()
HOSTS = ("n0", "n1", "n2", HERE)
DATA = Path(__file__).parents[1] / "data" / "hwloc"
pytestmark = pytest.mark.slow
# What every rank says, a line at once, as lines of others come between: its number, and the processors it is bound to.
SAY = (
    "import os, sys; own = sorted(os.sched_getaffinity(0)); "
    "sys.stdout.write(' '.join([os.environ['OMPI_COMM_WORLD_RANK'], *map(str, own)]) + chr(10))"
)
MACHINE = '<topology version="2.0"><object type="Machine">{}</object></topology>'
REPORTED = re.compile(r"MCW rank (\d+) bound to socket \d+\[core (\d+)\[")


@pytest.mark.parametrize("kind", ["graph", "machine"])
def test_mpirun_binds_ranks_to_the_cores_of_a_rank_file(tmp_path, kind):
    """Up to four ranks on the cores of this machine, in reverse: mpirun and every rank say where that is."""
    mpi.require()
    count = min(mpi.count_cores(), 4)
    cores = [f"localhost/core{core}" if kind == "graph" else f"core{core}" for core in range(count)]
    pins = {str(rank): core for rank, core in enumerate(reversed(cores))}
    (tmp_path / "machine.xml").write_text(MACHINE.format('<object type="Core"/>' * count))
    hardware = nx.complete_graph(cores) if kind == "graph" else tmp_path / "machine.xml"
    report = tiger.assign(f"ring:{count}", hardware, pinned=pins)
    (tmp_path / "ranks").write_text(report.emit("openmpi"))
    words = ("--rankfile", tmp_path / "ranks", "-n", len(cores), "--report-bindings", sys.executable, "-c", SAY)
    made = mpi.run("mpirun", *words)
    assert dict(REPORTED.findall(made.stderr)) == {
        str(rank): str(core) for rank, core in enumerate(reversed(range(len(cores))))
    }
    bound = {int(rank): set(own) for rank, *own in map(str.split, made.stdout.splitlines())}
    assert sorted(bound) == list(range(len(cores)))
    assert len(set.union(*bound.values())) == sum(map(len, bound.values()))


def test_mpirun_starts_ranks_on_stated_slots(tmp_path):
    """Without cores in the hardware, slot k of a stated number is core k."""
    mpi.require()
    count = min(mpi.count_cores(), 4)
    report = tiger.assign(f"ring:{count}", nx.empty_graph(["localhost"]), slots=count)
    (tmp_path / "ranks").write_text(report.emit("openmpi"))
    made = mpi.run("mpirun", "--rankfile", tmp_path / "ranks", "-n", count, "--report-bindings", "true")
    assert dict(REPORTED.findall(made.stderr)) == {str(rank): str(rank) for rank in range(count)}


@pytest.mark.parametrize("machine", [DATA / "two_numa.xml", EXAMPLES / "two_sockets.xml"])
def test_prrte_binds_ranks_of_mpi_and_openmp_to_their_cores(tmp_path, machine):
    """Four ranks of four cores on each of four hosts, in the map of Open MPI 5 itself."""
    (tmp_path / "hosts.txt").write_text("".join(f"nodeA{host}\n" for host in range(4)))
    ask = {"node_topology": machine, "cores_per_rank": 4}
    report = tiger.assign("halo:4x4", tmp_path / "hosts.txt", **ask)
    (tmp_path / "ranks").write_text(report.emit("prrte"))
    made = mpi.simulate(machine, 16, 4, 16, "--map-by", f"rankfile:file={tmp_path / 'ranks'}")
    found = {int(rank): (host, cores) for host, rank, cores in read_map(made)}
    wanted = [(at.host, f"{at.cores[0]}-{at.cores[-1]}") for at in report.rank_order.bindings]
    assert [found[rank] for rank in range(16)] == wanted
    assert sorted(found.values()) == [(f"nodeA{k}", own) for k in range(4) for own in ("0-3", "12-15", "4-7", "8-11")]


@pytest.mark.parametrize("units", ["socket", "host"])
def test_bug_prrte_refused_cores_that_ranks_share(tmp_path, units):
    """They have to be meant, as the command says; the map has them as the order."""
    (tmp_path / "hosts.txt").write_text("nodeA0\nnodeA1\n")
    ask = {"node_topology": EXAMPLES / "two_sockets.xml", "units": units, "cores_per_rank": 4}
    report = tiger.assign("ring:8", tmp_path / "hosts.txt", **ask)
    (tmp_path / "ranks").write_text(report.emit("prrte"))
    words = describe_use("prrte", report.rank_order).split()
    meant = words[words.index("--bind-to") :][:2]
    made = mpi.simulate(
        EXAMPLES / "two_sockets.xml", 8, 2, 16, "--map-by", f"rankfile:file={tmp_path / 'ranks'}", *meant
    )
    found = [host for host, _, _ in read_map(made)]
    assert sorted(found) == ["nodeA0"] * 4 + ["nodeA1"] * 4


def read_map(made):
    """Yield host, rank and cores of every process in the map of PRRTE."""
    host, rank = "", ""
    for line in made.splitlines():
        if found := re.search(r"Data for node: (\S+)", line):
            host = found[1]
        elif found := re.search(r"Data for proc: \[.*,(\d+)\]", line):
            rank = found[1]
        elif found := re.search(r"Binding: .*\[core:L([0-9,-]+)\]", line):
            yield host, rank, found[1]


def test_the_wrapper_binds_under_mpirun(tmp_path):
    """Every rank is on the processors that it is mapped to, in reverse."""
    mpi.require()
    cpus = sorted(os.sched_getaffinity(0))[:4]
    cores = "".join(f'<object type="Core"><object type="PU" os_index="{cpu}"/></object>' for cpu in cpus)
    (tmp_path / "machine.xml").write_text(MACHINE.format(cores))
    pins = {str(rank): f"core{core}" for rank, core in enumerate(reversed(range(len(cpus))))}
    report = tiger.assign(f"ring:{len(cpus)}", tmp_path / "machine.xml", pinned=pins)
    (tmp_path / "wrapper").write_text(report.emit("wrapper"))
    words = ("--bind-to", "none", "-n", len(cpus), "sh", tmp_path / "wrapper", sys.executable, "-c", SAY)
    bound = [line.split() for line in mpi.run("mpirun", "--oversubscribe", *words).stdout.splitlines()]
    assert {int(rank): own for rank, *own in bound} == {k: [str(cpu)] for k, cpu in enumerate(reversed(cpus))}


@pytest.fixture
def agent(tmp_path):
    """Return what stands for ssh: it starts commands on this machine, under the names of other hosts."""
    mpi.require()
    if not can_name_hosts():
        pytest.skip("processes may not have host names of their own here (unshare --uts)")
    return write_agent(tmp_path)


def test_mpirun_starts_a_rank_file_on_its_hosts(tmp_path, agent):
    """Every rank says where it is, and the check agrees."""
    pins = {str(rank): f"n{rank % 3}" for rank in range(6)}
    report = tiger.assign("ring:6", nx.path_graph(["n0", "n1", "n2"]), slots=2, pinned=pins)
    (tmp_path / "ranks").write_text(report.emit("openmpi"))
    words = ("--mca", "plm_rsh_agent", agent, "--rankfile", tmp_path / "ranks", "-n", 6, sys.executable, WHERE)
    (tmp_path / "said").write_text(mpi.run("mpirun", *words).stdout)
    places = read_places(tmp_path / "said")
    assert [places[rank].host for rank in range(6)] == [f"n{rank % 3}" for rank in range(6)]
    assert list_differences(report.rank_order, places) == []


@pytest.fixture
def permutation(tmp_path):
    """Return file and command of the permutation of eight ranks on four hosts, the last of which is this one."""
    pins = {str(rank): HOSTS[rank % 4] for rank in range(8)}
    report = tiger.assign("ring:8", nx.path_graph(HOSTS), slots=2, pinned=pins)
    file = tmp_path / "ranks"
    file.write_text(report.emit("permutation"))
    assert file.read_text().split()[::2] == ["0", "4", "1", "5", "2", "6", "3", "7"]
    return file, describe_permutation(report.rank_order).split()[:5]


def read_hosts(made):
    """Return the hosts of the new ranks that the processes of a program have said they have."""
    said = re.findall(r"^process \d+ on (\S+) is rank (\d+)$", made.stdout, re.MULTILINE)
    return [host for host, _ in sorted(said, key=lambda pair: int(pair[1]))]


@pytest.fixture(params=["python", "c"])
def reorder(request, tmp_path):
    """Return the words that start a program which reorders its communicator."""
    mpi.require(*["mpi4py"] * (request.param == "python"))
    if request.param == "python":
        return sys.executable, EXAMPLES / "reorder.py"
    mpi.run("mpicc", "-Wall", "-Wextra", "-Werror", EXAMPLES / "reorder.c", "-o", tmp_path / "reorder")
    return (tmp_path / "reorder",)


def test_bug_ranks_came_to_other_hosts_where_mpirun_starts_with_its_own(permutation, reorder, agent):
    """The one that is listed last has the first processes; they find their ranks by its name."""
    file, (mpirun, *options) = permutation
    made = mpi.run(mpirun, "--mca", "plm_rsh_agent", agent, *options, "-n", 8, *reorder, file)
    assert re.search(rf"^process 0 on {HERE} is rank 3$", made.stdout, re.MULTILINE)
    assert read_hosts(made) == [HOSTS[rank % 4] for rank in range(8)]
    assert "other hosts" not in made.stderr


def test_processes_on_hosts_that_are_not_planned_take_what_is_left(permutation, reorder):
    """All on this one, which has two of the eight ranks: they have all ranks, and the rest is told."""
    file, _ = permutation
    made = mpi.run("mpirun", "--oversubscribe", "-n", 8, *reorder, file)
    ranks = re.findall(r"is rank (\d+)$", made.stdout, re.MULTILINE)
    assert sorted(map(int, ranks)) == list(range(8))
    assert re.search(rf"^process 0 on {HERE} is rank 3$", made.stdout, re.MULTILINE)
    assert "6 of 8 processes are on other hosts than planned" in made.stderr
