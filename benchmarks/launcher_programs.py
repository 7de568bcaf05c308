"""The launchers of this machine, how each is called, and what is read from what it prints.

Launchers of PyPI are looked for in build/launchers, where `make launchers` puts them, or in the folder that
TIGER_LAUNCHERS names; Open MPI 4.1 and Slurm on the path.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks import slurm
from benchmarks.hosts import can_name_hosts, describe_machine, list_cores, write_agent
from benchmarks.peers import is_installed
from tiger.launchers.check import RankPlace, read_places
from tiger.launchers.formats import LauncherName

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("TIGER_LAUNCHERS", ROOT / "build" / "launchers"))
LIMIT_S = 120
# Open MPI refuses to run as root unless it is told twice.
ROOTED = {f"{name}_ALLOW_RUN_AS_ROOT{more}": "1" for name in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}
HOSTS = tuple(f"n{k}" for k in range(4))
# Names that PRRTE's simulator gives its nodes.
SIMULATED = tuple(f"nodeA{k}" for k in range(4))
SIMULATED_CORES = 16
MISSING, NAMELESS = "not found", "not started: hosts on one machine need names (unshare --uts)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Hold a launcher: its name and title, what it emits, and the words in place of `executable` in its command.

    The command runs `inside` of others, and starts ranks by the wrapper of the order where one is `wrapped`. `read`
    makes places out of what is printed, in a folder. The hosts have so many `cores`, those of this machine with None.
    What is `missing` says why nothing can be started.
    """

    name: str
    title: str
    emit: LauncherName
    executable: str = ""
    words: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    wrapped: bool = False
    read: Callable[[str, Path], dict[int, RankPlace]]
    environment: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = HOSTS
    cores: int | None = None
    missing: str | None = None

    @property
    def packages(self) -> list[list[list[int]]]:
        """Return packages of cores of processors: those of this machine, or two that are simulated."""
        if self.cores is None:
            return [list_cores()]
        half = self.cores // 2
        return [[[2 * core, 2 * core + 1] for core in range(half * k, half * (k + 1))] for k in range(2)]


def list_absent() -> list[str]:
    """Return the launchers that are not found here."""
    packages = [name for name in ("openmpi", "mpich", "impi-rt") if not (FOLDER / name / "bin" / "mpiexec").exists()]
    system = {"Open MPI 4.1": shutil.which("mpirun") is not None, "Slurm": slurm.is_installed()}
    return [*packages, *(name for name, here in system.items() if not here)]


@contextmanager
def open_programs(folder: Path) -> Iterator[list[Program]]:
    """Yield the launchers, the daemons of Slurm running; those that are not here say so."""
    agent, named = write_agent(folder), None if can_name_hosts() else NAMELESS
    with open_slurm(folder) as configuration:
        programs = [
            *_list_openmpi(agent, folder),
            *_list_hydra(agent),
            *_list_slurm(configuration),
            Program(name="torchrun", title="ssh, as torchrun", emit="torchrun", words=(str(agent),), read=read_said),
        ]
        yield [each if each.missing or each.cores else replace(each, missing=named) for each in programs]


@contextmanager
def open_slurm(folder: Path) -> Iterator[Path | None]:
    """Yield the configuration of a cluster of Slurm, None where that cannot be started."""
    if not slurm.is_installed() or os.geteuid() != 0 or not can_name_hosts():
        yield None
        return
    own = folder / "slurm"
    own.mkdir()
    with slurm.start_cluster(HOSTS, len(list_cores()), own) as configuration:
        yield configuration


def _list_openmpi(agent: Path, folder: Path) -> Iterator[Program]:
    """Yield Open MPI 4.1 with a rank file and a permutation, and 5 on hosts with names and on those it simulates."""
    version = _find_version("mpirun", "--version") if shutil.which("mpirun") else None
    old = version is not None and version.startswith("4.")
    words = ("mpirun", "--mca", "plm_rsh_agent", str(agent))
    four = Program(
        name="openmpi",
        title=f"Open MPI {version if old else '4.1'}",
        emit="openmpi",
        executable="mpirun",
        words=words,
        read=read_said,
        missing=None if old else MISSING,
    )
    yield four
    bare = None if is_installed("mpi4py") else f"{MISSING}: mpi4py"
    yield replace(
        four,
        name="permutation",
        title=f"{four.title} and mpi4py",
        emit="permutation",
        read=read_reordered,
        missing=four.missing or bare,
    )
    path = FOLDER / "openmpi" / "bin" / "mpirun"
    five = Program(
        name="prrte",
        title=f"Open MPI {_find_version(str(path), '--version') or 5}",
        emit="prrte",
        executable="mpirun",
        words=(str(path), "--prtemca", "plm_ssh_agent", str(agent)),
        read=read_said,
        missing=None if path.exists() else MISSING,
    )
    yield five
    simulated = replace(
        five, name="simulated", title=f"{five.title}, simulated", read=read_map, hosts=SIMULATED, cores=SIMULATED_CORES
    )
    machine = folder / "simulated.xml"
    machine.write_text(describe_machine(simulated.packages))
    yield replace(simulated, words=(str(path), *simulate_hosts(machine, len(SIMULATED), SIMULATED_CORES)))


def simulate_hosts(machine: Path, hosts: int, slots: int) -> list[str]:
    """Return the options by which PRRTE shows its map of hosts that are all like a machine, and starts nothing."""
    settings = {
        "ras": "simulator",
        "ras_simulator_num_nodes": hosts,
        "ras_simulator_slots": slots,
        "ras_simulator_topo_files": machine,
        "hwloc_use_topo_file": machine,
    }
    options = [word for name, value in settings.items() for word in ("--prtemca", name, str(value))]
    return [*options, "--do-not-launch", "--display", "map"]


def _list_hydra(agent: Path) -> Iterator[Program]:
    """Yield MPICH and Intel MPI, each as it binds itself and with the wrapper."""
    mpich, intel = (FOLDER / name / "bin" / "mpiexec" for name in ("mpich", "impi-rt"))
    five = Program(
        name="mpich",
        title=f"MPICH {_find_version(str(mpich), '--version') or 5}",
        emit="mpich",
        executable="mpiexec",
        words=(str(mpich), "-launcher", "ssh", "-launcher-exec", str(agent)),
        read=read_said,
        missing=None if mpich.exists() else MISSING,
    )
    newest = Program(
        name="intel",
        title=f"Intel MPI {_find_version(str(intel), '--version') or 2021}",
        emit="intel",
        executable="mpiexec",
        words=(str(intel), "-bootstrap", "ssh", "-bootstrap-exec", str(agent)),
        read=read_said,
        missing=None if intel.exists() else MISSING,
    )
    yield from (five, _wrap(five))
    yield from (newest, replace(_wrap(newest), environment={"I_MPI_PIN": "0"}))


def _list_slurm(configuration: Path | None) -> Iterator[Program]:
    """Yield Slurm in an allocation of whole hosts, as it binds itself and with the wrapper."""
    daemon = slurm.find_daemon("slurmd")
    program = Program(
        name="slurm",
        title=f"Slurm {_find_version(daemon, '-V') if daemon else ''}".rstrip(),
        emit="slurm",
        executable="srun",
        words=("srun",),
        inside=("salloc", "--quiet", f"--nodes={len(HOSTS)}", "--exclusive"),
        read=read_said,
        environment={} if configuration is None else {"SLURM_CONF": str(configuration)},
        missing=MISSING if configuration is None else None,
    )
    yield from (program, replace(_wrap(program), words=("srun", "--cpu-bind=none")))


def _wrap(program: Program) -> Program:
    """Return a launcher that leaves the binding to the wrapper of an order."""
    return replace(program, name=f"{program.name}-wrapper", title=f"{program.title}, wrapper", wrapped=True)


def _find_version(*words: str) -> str:
    """Return the version that a program prints, nothing where it is not there."""
    if shutil.which(words[0]) is None:
        return ""
    said = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False).stdout
    found = re.search(r"\d+\.\d+(\.\d+)?", said)
    return found[0] if found else ""


def read_said(printed: str, folder: Path) -> dict[int, RankPlace]:
    """Return the places of lines of ranks."""
    file = folder / "said"
    file.write_text("".join(f"{' '.join(line.split()[:3])}\n" for line in printed.splitlines()))
    return read_places(file)


def read_reordered(printed: str, _: Path) -> dict[int, RankPlace]:
    """Return the places of the new ranks that processes say they are."""
    found = re.findall(r"^process \d+ on (\S+) is rank (\d+)$", printed, re.MULTILINE)
    return {int(rank): RankPlace(host, None) for host, rank in found}


def read_map(printed: str, _: Path) -> dict[int, RankPlace]:
    """Return the places of a map that PRRTE displays."""
    places, host, rank = dict[int, RankPlace](), "", 0
    for line in printed.splitlines():
        if found := re.search(r"Data for node: (\S+)", line):
            host = found[1]
        elif found := re.search(r"Data for proc: \[.*,(\d+)\]", line):
            rank = int(found[1])
        elif found := re.search(r"Binding: .*core:L([0-9,-]+)\]", line):
            ends = [[int(end) for end in part.split("-")] for part in found[1].split(",")]
            places[rank] = RankPlace(host, frozenset(core for pair in ends for core in range(pair[0], pair[-1] + 1)))
    return places
