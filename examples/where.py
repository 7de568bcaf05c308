"""Say where a rank runs, for `tiger ranks --check`: srun -n 64 python where.py > FILE, or mpiexec, flux run, torchrun.

The line is `RANK HOST CORES`, with cores counted as hwloc does: package by package, those that share a cache together.
No MPI is needed: every launcher tells a process its rank.
"""

import os
import socket
import sys
from pathlib import Path

# Open MPI, PMIx, MPICH and Intel MPI, PALS, Flux, Slurm, torchrun.
RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID", "FLUX_TASK_RANK", "SLURM_PROCID", "RANK")
CPUS = Path("/sys/devices/system/cpu")
# What cores are inside of, from the outside in: each is the processors of one, as Linux lists them.
LEVELS = ("topology/package_cpus_list", "cache/index3/shared_cpu_list", "topology/core_cpus_list")


def number_cores() -> dict[int, int]:
    """Return the core of every processor."""
    online = expand((CPUS / "online").read_text())
    order = sorted(online, key=lambda cpu: [min(siblings(cpu, level)) for level in LEVELS])
    first = dict.fromkeys(min(siblings(cpu, LEVELS[-1])) for cpu in order)
    number = {cpu: core for core, cpu in enumerate(first)}
    return {cpu: number[min(siblings(cpu, LEVELS[-1]))] for cpu in online}


def siblings(cpu: int, level: str) -> list[int]:
    """Return the processors that share a level with one; that alone where Linux does not tell."""
    file = CPUS / f"cpu{cpu}" / level
    return expand(file.read_text()) if file.exists() else [cpu]


def expand(text: str) -> list[int]:
    """Return the numbers of a list such as 0-3,8."""
    ends = [[int(end) for end in part.split("-")] for part in text.strip().split(",") if part]
    return [number for pair in ends for number in range(pair[0], pair[-1] + 1)]


rank = next((os.environ[name] for name in RANKS if name in os.environ), None)
if rank is None:
    sys.exit(f"expected one of {', '.join(RANKS)} in the environment, got none")
cores = number_cores()
used = ",".join(map(str, sorted({cores[cpu] for cpu in os.sched_getaffinity(0)})))
# One write, as launchers mix what several write.
sys.stdout.write(f"{rank} {socket.gethostname()} {used}\n")
