"""Whether launchers start ranks where orders say: each with the command that is printed, on four hosts of this machine.

Hosts are names alone (benchmarks.hosts), all with the cores of this machine; those of the simulator of PRRTE, which
maps and starts nothing, have sixteen cores. Launchers of PyPI are looked for in build/launchers, where `make launchers`
puts them, or in the folder that TIGER_LAUNCHERS names; Open MPI 4.1 and Slurm on the path.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import networkx as nx

import tiger
from benchmarks import slurm
from benchmarks.hosts import can_name_hosts, describe_machine, list_cores, write_agent
from benchmarks.peers import is_installed
from tiger.errors import InputError
from tiger.launchers.check import RankPlace, list_differences, read_places
from tiger.launchers.formats import LauncherName, describe_use
from tiger.launchers.order import RankBinding
from tiger.run.report import Report

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("TIGER_LAUNCHERS", ROOT / "build" / "launchers"))
HEAD = ("launcher", "job", "ranks", "ranks where the order says")
SEED, LIMIT_S = 1, 120
# Open MPI refuses to run as root unless it is told twice.
ROOTED = {f"{name}_ALLOW_RUN_AS_ROOT{more}": "1" for name in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}
# Names that PRRTE's simulator gives its nodes.
SIMULATED_CORES = 16
SIMULATED = tuple(f"nodeA{k}" for k in range(4))
HOSTS = tuple(f"n{k}" for k in range(4))
GPUS = 2
MISSING, NAMELESS = "not found", "not started: hosts on one machine need names (unshare --uts)"
# What a rank says: rank, host, cores, devices and its number among the ranks of its host.
SAY = """#!/bin/sh
echo "$({python} {where}) ${{CUDA_VISIBLE_DEVICES:--}} ${{LOCAL_RANK:-0}}"
"""


class Job(NamedTuple):
    """Name a job: its ranks, and the options of `tiger.assign` beside hosts and their inside."""

    name: str
    ranks: int
    options: Mapping[str, object]
    gpus: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Hold a launcher: its title, what it emits, and the words in place of `executable` in the command that is printed.

    `read` makes places out of what is printed, in a folder.
    """

    title: str
    emit: LauncherName
    executable: str = ""
    words: tuple[str, ...] = ()
    read: Callable[[str, Path], dict[int, RankPlace]]
    environment: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = HOSTS
    cores: int | None = None
    missing: str | None = None


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield a row for every launcher and job."""
    yield HEAD
    with TemporaryDirectory() as folder, open_programs(Path(folder)) as programs:
        for program in programs:
            if program.missing is not None:
                yield program.title, "", "", program.missing
                continue
            for job in list_jobs(program):
                say(f"{job.name} by {program.title}")
                yield program.title, job.name, str(job.ranks), describe_run(program, job, Path(folder))


def list_jobs(program: Program) -> list[Job]:
    """Return the jobs that a launcher starts: plain, uneven, of several cores a rank, and on GPUs."""
    cores, hosts = program.cores or len(list_cores()), len(program.hosts)
    plain, uneven = Job("plain", hosts * cores, {}), Job("uneven", hosts * cores - 1, {})
    if program.emit == "permutation":
        return [plain, uneven]
    each = min(cores, 4)
    hybrid = Job(f"hybrid, {each} cores a rank", hosts * cores // each, {"cores_per_rank": each})
    return [plain, uneven, hybrid, Job("GPUs", hosts * GPUS, {}, gpus=True)]


def describe_run(program: Program, job: Job, folder: Path) -> str:
    """Return where the ranks of a job run: all where the order says, or how many do not, or why none can be started."""
    try:
        report = solve_job(program, job)
        printed = run_order(program, report, folder)
    except InputError as error:
        return f"not stated: {error.reason}"
    except subprocess.SubprocessError as error:
        return f"failed: {describe_failure(error)}"
    order = report.rank_order
    wrong = list_differences(order, program.read(printed, folder))
    if wrong:
        return f"{job.ranks - len(wrong)}: {wrong[0]}"
    return f"all{describe_devices(order.bindings, printed) if job.gpus else ''}"


def solve_job(program: Program, job: Job) -> Report:
    """Return the order of a ring whose ranks are numbered at random, so that no simple order is as good."""
    numbers = list(range(job.ranks))
    random.Random(SEED).shuffle(numbers)
    ring = nx.Graph(zip(numbers, numbers[1:] + numbers[:1], strict=True))
    tasks = nx.Graph()
    tasks.add_nodes_from(range(job.ranks))
    tasks.add_edges_from(ring.edges)
    if job.gpus:
        units = nx.complete_graph([f"{host}/gpu{k}" for host in program.hosts for k in range(GPUS)])
        for a, b, edge in units.edges(data=True):
            edge["weight"] = 1 if a.partition("/")[0] == b.partition("/")[0] else 9
        return tiger.assign(tasks, units, emit=program.emit, **job.options)
    with TemporaryDirectory() as folder:
        machine = Path(folder, "machine.xml")
        machine.write_text(describe_machine(describe_packages(program)))
        network = nx.path_graph(list(program.hosts))
        return tiger.assign(tasks, network, node_topology=machine, emit=program.emit, **job.options)


def describe_packages(program: Program) -> list[list[list[int]]]:
    """Return packages of cores of processors: those of this machine, or two packages that are simulated."""
    if program.cores is None:
        return [list_cores()]
    half = program.cores // 2
    return [[[2 * core, 2 * core + 1] for core in range(half * k, half * (k + 1))] for k in range(2)]


def run_order(program: Program, report: Report, folder: Path) -> str:
    """Return what the ranks print that the command printed for an order starts."""
    file, script = folder / "order", folder / "say"
    file.write_text(report.emit(program.emit))
    script.write_text(SAY.format(python=sys.executable, where=ROOT / "examples" / "where.py"))
    script.chmod(0o755)
    command = describe_use(program.emit, report.rank_order).splitlines()[0]
    if program.emit == "torchrun":
        lines = [line.split(maxsplit=1) for line in file.read_text().splitlines()]
        return "".join(run_words([*program.words, host, f"env {words} {script}"], program) for host, words in lines)
    command = re.sub(rf"\b{program.executable}\b", " ".join(program.words), command, count=1)
    command = re.sub(r"\bFILE\b", str(file), command).replace("PROGRAM", str(script))
    command = command.replace("python examples", f"{sys.executable} {ROOT}/examples")
    return run_words(["sh", "-c", command], program)


def run_words(words: list[str], program: Program) -> str:
    """Return what a command prints; raise SubprocessError where it fails or takes long."""
    environment = os.environ | ROOTED | dict(program.environment)
    made = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return made.stdout


def describe_failure(error: subprocess.SubprocessError) -> str:
    """Return the last line that a program complained in."""
    said = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
    lines = [line.strip() for line in str(said).splitlines() if re.search("[a-z]", line)]
    return lines[-1] if lines else str(error)


def describe_devices(bindings: Sequence[RankBinding], printed: str) -> str:
    """Say of ranks that are on their hosts whether they have their GPUs."""
    seen = dict[int, str]()
    for rank, _, _, visible, local in map(str.split, printed.splitlines()):
        seen[int(rank)] = visible if visible == "-" else visible.split(",")[int(local)]
    if set(seen.values()) == {"-"}:
        return ", the GPU being left to the program"
    wrong = sum(seen[rank] != str(binding.number("gpu")) for rank, binding in enumerate(bindings))
    return ", each with its GPU" if not wrong else f", {wrong} with another GPU"


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


@contextmanager
def open_programs(folder: Path) -> Iterator[list[Program]]:
    """Yield the launchers, the daemons of Slurm running; those that are not here say so."""
    agent, named = write_agent(folder), None if can_name_hosts() else NAMELESS
    with open_slurm(folder) as configuration:
        programs = [
            *_list_openmpi(agent, folder),
            *_list_hydra(agent),
            Program(
                title=f"Slurm {_find_version(slurm.find_daemon("slurmd") or "", "-V")}",
                emit="slurm",
                executable="srun",
                words=("srun",),
                read=read_said,
                environment={} if configuration is None else {"SLURM_CONF": str(configuration)},
                missing=MISSING if configuration is None else None,
            ),
            Program(title="ssh, as torchrun", emit="torchrun", words=(str(agent),), read=read_said),
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
        four, title=f"{four.title} and mpi4py", emit="permutation", read=read_reordered, missing=four.missing or bare
    )
    path = FOLDER / "openmpi" / "bin" / "mpirun"
    five = Program(
        title=f"Open MPI {_find_version(str(path), '--version') or 5}",
        emit="prrte",
        executable="mpirun",
        words=(str(path), "--prtemca", "plm_ssh_agent", str(agent)),
        read=read_said,
        missing=None if path.exists() else MISSING,
    )
    yield five
    simulated = replace(five, title=f"{five.title}, simulated", read=read_map, hosts=SIMULATED, cores=SIMULATED_CORES)
    machine = folder / "simulated.xml"
    machine.write_text(describe_machine(describe_packages(simulated)))
    settings = {
        "ras": "simulator",
        "ras_simulator_num_nodes": len(SIMULATED),
        "ras_simulator_slots": SIMULATED_CORES,
        "ras_simulator_topo_files": machine,
        "hwloc_use_topo_file": machine,
    }
    options = [word for name, value in settings.items() for word in ("--prtemca", name, str(value))]
    yield replace(simulated, words=(str(path), *options, "--do-not-launch", "--display", "map"))


def _list_hydra(agent: Path) -> Iterator[Program]:
    """Yield MPICH and Intel MPI."""
    mpich, intel = (FOLDER / name / "bin" / "mpiexec" for name in ("mpich", "impi-rt"))
    yield Program(
        title=f"MPICH {_find_version(str(mpich), '--version') or 5}",
        emit="mpich",
        executable="mpiexec",
        words=(str(mpich), "-launcher", "ssh", "-launcher-exec", str(agent)),
        read=read_said,
        missing=None if mpich.exists() else MISSING,
    )
    yield Program(
        title=f"Intel MPI {_find_version(str(intel), '--version') or 2021}",
        emit="intel",
        executable="mpiexec",
        words=(str(intel), "-bootstrap", "ssh", "-bootstrap-exec", str(agent)),
        read=read_said,
        missing=None if intel.exists() else MISSING,
    )


def _find_version(*words: str) -> str:
    """Return the version that a program prints, nothing where it is not there."""
    if shutil.which(words[0]) is None:
        return ""
    said = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False).stdout
    found = re.search(r"\d+\.\d+(\.\d+)?", said)
    return found[0] if found else ""
