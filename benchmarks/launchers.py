"""Whether launchers start ranks where orders say: each with the command that is printed, on four hosts of this machine.

Hosts are names alone (benchmarks.hosts), all with the cores of this machine; those of the simulator of PRRTE, which
maps and starts nothing, have sixteen cores.
"""

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import networkx as nx

import tiger
from benchmarks.hosts import describe_machine, list_cores
from benchmarks.launcher_programs import LIMIT_S, ROOT, ROOTED, Program, open_programs
from tiger.errors import InputError
from tiger.launchers.check import RankPlace, list_differences
from tiger.launchers.formats import describe_use, find_launcher
from tiger.launchers.order import RankBinding
from tiger.run.report import Report

HEAD = ("launcher", "job", "ranks", "ranks where the order says")
SEED = 1
GPUS = 2
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
        # It binds nothing, so that cores play no part.
        return [plain, uneven]
    each = min(cores, 4)
    hybrid = Job(f"hybrid, {each} cores a rank", hosts * cores // each, {"cores_per_rank": each})
    return [plain, uneven, hybrid, Job("GPUs", hosts * GPUS, {"units": "gpu"}, gpus=True)]


def describe_run(program: Program, job: Job, folder: Path) -> str:
    """Return where the ranks of a job run: all where the order says, or how many do not, or why none can be started."""
    try:
        report = solve_job(program, job)
        printed = run_order(program, report, folder)
    except InputError as error:
        return f"refused: {error.reason.partition(';')[0]}"
    except subprocess.SubprocessError as error:
        return f"failed: {describe_failure(error)}"
    order = report.rank_order
    places = program.read(printed, folder)
    wrong = list_differences(order, places)
    if not wrong:
        return f"all{describe_devices(order.bindings, printed) if job.gpus else ''}"
    hosts = {rank: RankPlace(place.host, None) for rank, place in places.items()}
    if list_differences(order, hosts):
        return f"{job.ranks - len(wrong)}, as {wrong[0]}"
    said = describe_use(program.emit, order).splitlines()[1:]
    why = said[0].partition(":")[0] if said else wrong[0]
    return f"all as to hosts, {job.ranks - len(wrong)} as to cores: {why}"


def solve_job(program: Program, job: Job) -> Report:
    """Return the order of a ring whose ranks are numbered at random, so that no simple order is as good."""
    numbers = list(range(job.ranks))
    random.Random(SEED).shuffle(numbers)
    ring = nx.Graph(zip(numbers, numbers[1:] + numbers[:1], strict=True))
    tasks = nx.Graph()
    tasks.add_nodes_from(range(job.ranks))
    tasks.add_edges_from(ring.edges)
    with TemporaryDirectory() as folder:
        machine = Path(folder, "machine.xml")
        machine.write_text(describe_machine(program.packages, GPUS if job.gpus else 0))
        network = nx.path_graph(list(program.hosts))
        return tiger.assign(tasks, network, node_topology=machine, emit=program.emit, **job.options)


def run_order(program: Program, report: Report, folder: Path) -> str:
    """Return what the ranks print that the command printed for an order starts."""
    file, script = folder / "order", folder / "say"
    file.write_text(report.emit(program.emit))
    script.write_text(SAY.format(python=sys.executable, where=ROOT / "examples" / "where.py"))
    script.chmod(0o755)
    command, start = describe_use(program.emit, report.rank_order).splitlines()[0], str(script)
    if program.wrapped:
        wrapper = folder / "wrapper"
        wrapper.write_text(report.emit("wrapper"))
        start = f"sh {wrapper} {script}"
        command = find_launcher(program.emit).use(report.rank_order).splitlines()[0]
    if program.emit == "torchrun":
        lines = [line.split(maxsplit=1) for line in file.read_text().splitlines()]
        return "".join(run_words([*program.words, host, f"env {words} {script}"], program) for host, words in lines)
    command = re.sub(rf"\b{program.executable}\b", " ".join(program.words), command, count=1)
    command = re.sub(r"\bFILE\b", str(file), command).replace("PROGRAM", start)
    command = command.replace("python examples", f"{sys.executable} {ROOT}/examples")
    return run_words([*program.inside, "sh", "-c", command], program)


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
    """Say of ranks that are where the order says whether they have their GPUs, which a simulator does not start."""
    lines = re.findall(r"^(\d+) \S+ \S+ ([0-9,]+) (\d+)$", printed, re.MULTILINE)
    if not lines:
        return ", the GPU being left to the program"
    seen = {int(rank): visible.split(",")[int(local)] for rank, visible, local in lines}
    wrong = sum(seen.get(rank) != str(binding.number("gpu")) for rank, binding in enumerate(bindings))
    return ", each with its GPU" if not wrong else f", {wrong} with another GPU"
