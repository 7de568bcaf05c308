"""Rank orders taken by real programs: the rank file by Open MPI's mpirun, the permutation by mpi4py and by C."""

import os
import re
import sys
from pathlib import Path

import networkx as nx
import pytest

import tiger
from tests.launchers import mpi

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = Path(__file__).parents[1] / "data" / "hwloc"
pytestmark = pytest.mark.slow
# What every rank says: its number, and the processors that it is bound to.
SAY = "import os; print(os.environ['OMPI_COMM_WORLD_RANK'], *sorted(os.sched_getaffinity(0)))"
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
def permutation(tmp_path):
    """Return a file with the permutation of eight ranks on four hosts, which is another than the usual order."""
    pins = {str(rank): f"n{rank % 4}" for rank in range(8)}
    report = tiger.assign("ring:8", nx.path_graph([f"n{k}" for k in range(4)]), slots=2, pinned=pins)
    file = tmp_path / "ranks"
    file.write_text(report.emit("permutation"))
    assert file.read_text().split() == ["0", "4", "1", "5", "2", "6", "3", "7"]
    return file


def read_ranks(made):
    """Return the new ranks that the processes of a program have said they have, in the order of processes."""
    said = re.findall(r"^process (\d+) is rank (\d+)$", made.stdout, re.MULTILINE)
    return [new for _, new in sorted(said, key=lambda pair: int(pair[0]))]


def test_a_program_of_mpi4py_reorders_its_communicator(permutation):
    """Every process has the rank in its line of the file."""
    mpi.require("mpi4py")
    made = mpi.run("mpirun", "--oversubscribe", "-n", 8, sys.executable, EXAMPLES / "reorder.py", permutation)
    assert read_ranks(made) == permutation.read_text().split()


def test_a_program_in_c_reorders_its_communicator(permutation, tmp_path):
    """As that of mpi4py."""
    mpi.require()
    mpi.run("mpicc", "-Wall", "-Werror", EXAMPLES / "reorder.c", "-o", tmp_path / "reorder")
    made = mpi.run("mpirun", "--oversubscribe", "-n", 8, tmp_path / "reorder", permutation)
    assert read_ranks(made) == permutation.read_text().split()
