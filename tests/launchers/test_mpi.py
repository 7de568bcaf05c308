"""Rank orders taken by real programs: the rank file by Open MPI's mpirun, the permutation by mpi4py and by C."""

import re
import sys
from pathlib import Path

import networkx as nx
import pytest

import tiger
from tests.launchers import mpi

EXAMPLES = Path(__file__).parents[2] / "examples"
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
